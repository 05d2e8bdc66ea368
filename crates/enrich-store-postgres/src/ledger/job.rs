//! Jobs: charges and grants that wait for a decision. Each is either written or refused.

use std::sync::Arc;
use std::time::Instant;

use enrich_core::port::ledger::{Charge, ChargeError, Charged, Grant, Granted};
use enrich_core::{AccountId, ChargeId};
use enrich_ledger::SealedResponse;
use tokio::sync::oneshot;

/// A charge or a grant, and where its decision is sent.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) request: Request,
    reply: Reply,
    pub(super) arrived: Instant,
    /// When the reply to a `COMMIT` of this job was lost for the first time; `None` if it is
    /// certain that nothing was written.
    pub(super) doubted: Option<Instant>,
}

/// The charge or grant of a job.
#[derive(Debug)]
pub(super) enum Request {
    /// A charge, and the encrypted response that is stored with it.
    Charge(Box<Charge>, Option<SealedResponse>),
    Grant(Grant),
}

/// A decision on a job. It must be durable before it is sent to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Charged(Charged),
    Granted(Granted),
}

impl From<Charged> for Decision {
    fn from(charged: Charged) -> Self {
        Self::Charged(charged)
    }
}

impl From<Granted> for Decision {
    fn from(granted: Granted) -> Self {
        Self::Granted(granted)
    }
}

#[derive(Debug)]
enum Reply {
    Charge(oneshot::Sender<Result<Charged, ChargeError>>),
    Grant(oneshot::Sender<Result<Granted, ChargeError>>),
}

/// An error that all jobs of a group of charges get.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the group of charges could not be written")]
pub(super) struct SharedError(#[source] Arc<dyn std::error::Error + Send + Sync>);

impl SharedError {
    pub(super) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// Returns a copy of the error, as the result of one job.
    pub(super) fn boxed(&self) -> Box<dyn std::error::Error + Send + Sync> {
        Box::new(self.clone())
    }
}

impl Job {
    /// Returns a job for a charge, and the receiver of its decision.
    pub(super) fn charge(
        charge: Charge,
        response: Option<SealedResponse>,
    ) -> (Self, oneshot::Receiver<Result<Charged, ChargeError>>) {
        let (reply, decision) = oneshot::channel();
        (Self::new(Request::Charge(Box::new(charge), response), Reply::Charge(reply)), decision)
    }

    /// Returns a job for a grant, and the receiver of its decision.
    pub(super) fn grant(grant: Grant) -> (Self, oneshot::Receiver<Result<Granted, ChargeError>>) {
        let (reply, decision) = oneshot::channel();
        (Self::new(Request::Grant(grant), Reply::Grant(reply)), decision)
    }

    fn new(request: Request, reply: Reply) -> Self {
        Self { request, reply, arrived: Instant::now(), doubted: None }
    }

    pub(super) fn account(&self) -> AccountId {
        match &self.request {
            Request::Charge(charge, _) => charge.account,
            Request::Grant(grant) => grant.account,
        }
    }

    pub(super) fn id(&self) -> ChargeId {
        match &self.request {
            Request::Charge(charge, _) => charge.id,
            Request::Grant(grant) => grant.id,
        }
    }

    /// Returns the charge and the response to store; `None` if the job has no response.
    pub(super) fn response(&self) -> Option<(&Charge, &SealedResponse)> {
        match &self.request {
            Request::Charge(charge, Some(response)) => Some((charge, response)),
            Request::Charge(..) | Request::Grant(_) => None,
        }
    }

    /// Sends the decision to the caller, if the caller still waits.
    pub(super) fn tell(self, decision: Result<Decision, ChargeError>) {
        match (self.reply, decision) {
            (Reply::Charge(reply), Ok(Decision::Charged(charged))) => {
                let _ = reply.send(Ok(charged));
            }
            (Reply::Grant(reply), Ok(Decision::Granted(granted))) => {
                let _ = reply.send(Ok(granted));
            }
            (Reply::Charge(reply), Err(error)) => {
                let _ = reply.send(Err(error));
            }
            (Reply::Grant(reply), Err(error)) => {
                let _ = reply.send(Err(error));
            }
            // Unreachable: a charge never gets the decision of a grant, and a grant never gets the
            // decision of a charge. If it happened, `reply` would be dropped, and the caller would
            // get the error that the decision was lost.
            (Reply::Charge(_), Ok(Decision::Granted(_)))
            | (Reply::Grant(_), Ok(Decision::Charged(_))) => {}
        }
    }
}
