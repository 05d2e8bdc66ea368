//! Charges and grants that wait for a decision.

use std::sync::Arc;
use std::time::Instant;

use enrich_core::port::ledger::{Charge, ChargeError, Charged, Grant, Granted};
use enrich_core::{AccountId, ChargeId};
use enrich_ledger::SealedResponse;
use tokio::sync::oneshot;

/// A charge or a grant, and where its decision goes.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) request: Request,
    reply: Reply,
    pub(super) arrived: Instant,
    /// When the reply to its `COMMIT` was lost first; `None` if certainly nothing was written.
    pub(super) doubted: Option<Instant>,
}

/// What is asked for.
#[derive(Debug)]
pub(super) enum Request {
    /// A charge, and the response to store for it.
    Charge(Box<Charge>, Option<SealedResponse>),
    Grant(Grant),
}

/// A decision that is durable, or to become it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Charged(Charged),
    Granted(Granted),
}

#[derive(Debug)]
enum Reply {
    Charge(oneshot::Sender<Result<Charged, ChargeError>>),
    Grant(oneshot::Sender<Result<Granted, ChargeError>>),
}

/// One error, shared by the jobs of a group.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the group of charges could not be written")]
pub(super) struct SharedError(#[source] Arc<dyn std::error::Error + Send + Sync>);

impl SharedError {
    pub(super) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The error as the result of one job.
    pub(super) fn boxed(&self) -> Box<dyn std::error::Error + Send + Sync> {
        Box::new(self.clone())
    }
}

impl Job {
    /// A charge, and where its decision will arrive.
    pub(super) fn charge(
        charge: Charge,
        response: Option<SealedResponse>,
    ) -> (Self, oneshot::Receiver<Result<Charged, ChargeError>>) {
        let (reply, decision) = oneshot::channel();
        (Self::new(Request::Charge(Box::new(charge), response), Reply::Charge(reply)), decision)
    }

    /// A grant, and where its decision will arrive.
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

    /// The response to store, if there is one.
    pub(super) fn response(&self) -> Option<(&Charge, &SealedResponse)> {
        match &self.request {
            Request::Charge(charge, Some(response)) => Some((charge, response)),
            Request::Charge(..) | Request::Grant(_) => None,
        }
    }

    /// Sends the decision, also when nobody waits for it any more.
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
            // A decision of the other kind does not occur. Its waiter would learn that it is lost.
            (Reply::Charge(_), Ok(Decision::Granted(_)))
            | (Reply::Grant(_), Ok(Decision::Charged(_))) => {}
        }
    }
}
