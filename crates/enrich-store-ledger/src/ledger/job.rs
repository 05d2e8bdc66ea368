//! The jobs of the writing thread (charges, grants and requests for a balance), and how a group of
//! jobs is decided.

use enrich_core::port::ledger::{Charge, ChargeError, Charged, Grant, Granted};
use enrich_core::{AccountId, Credits, Timestamp};
use enrich_ledger::SealedResponse;
use tokio::sync::oneshot;

use crate::ledger::decide::{GroupDecider, GroupFailed};
use crate::ledger::idempotency_store::{self, RecordCount};

#[derive(Debug)]
pub(super) enum Job {
    /// A charge. If its call has an idempotency key, also the encrypted response, which is stored
    /// together with the charge.
    Charge(Open<(Charge, Option<SealedResponse>), Charged>),
    /// A grant of credits, or an adjustment (a ledger row that corrects an earlier ledger row).
    Grant(Open<Grant, Granted>),
    /// A request for the balance of an account. The balance includes the charges and grants that
    /// other processes have written. The request writes nothing.
    Balance(Open<AccountId, Option<Credits>>),
}

/// A request to the writing thread. It contains what the caller asks, the decision (`None` until it
/// is made), and the channel on which the caller waits for the decision.
#[derive(Debug)]
pub(super) struct Open<A, T> {
    asked: A,
    decided: Option<Result<T, ChargeError>>,
    reply: oneshot::Sender<Result<T, ChargeError>>,
}

/// The receiver on which the caller waits for a decision.
pub(super) type Awaited<T> = oneshot::Receiver<Result<T, ChargeError>>;

impl<A, T> Open<A, T> {
    /// Creates a request without a decision, and the receiver on which the caller waits for the
    /// decision.
    pub(super) fn new(asked: A) -> (Self, Awaited<T>) {
        let (reply, decision) = oneshot::channel();
        (Self { asked, decided: None, reply }, decision)
    }

    /// Sends the decision to the caller; if the caller no longer waits, the decision is dropped. If
    /// there is no decision, the caller gets [`ChargeError::Unknown`].
    fn deliver(self) {
        let _ = self.decided.map(|decided| self.reply.send(decided));
    }
}

impl Job {
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::Charge(_) | Self::Grant(_) => true,
            Self::Balance(_) => false,
        }
    }

    /// If the job is a charge with a response to store, returns the time of the charge.
    fn response_requested_at(&self) -> Option<Timestamp> {
        match self {
            Self::Charge(open) => open.asked.1.is_some().then_some(open.asked.0.at),
            Self::Grant(_) | Self::Balance(_) => None,
        }
    }
}

/// Decides all jobs of a group of charges in order of arrival. Grants and requests for a balance
/// can be in the group too. If any job stores an idempotency record, first removes expired records.
pub(super) fn decide(decider: &mut GroupDecider<'_>, group: &mut [Job]) -> Result<(), GroupFailed> {
    if let Some(now) = group.iter().filter_map(Job::response_requested_at).max() {
        let wanted = group.iter().filter_map(Job::response_requested_at).count() as u64;
        let record_count = RecordCount::up_to_date(
            decider.connection,
            decider.record_count,
            wanted,
            decider.max_idempotency_records,
        )
        .map_err(GroupFailed)?;
        // The group of charges can add at most one idempotency record for each job. Up to twice as
        // many expired records are removed, so that the number of expired records falls over time.
        // The limit keeps the removal short, because the group waits for it.
        let limit = 2 * group.len() + 16;
        let grown =
            idempotency_store::prune(decider.connection, now, limit).map_err(GroupFailed)?;
        decider.record_count = Some(record_count.after_growing(grown));
    }
    for job in group {
        match job {
            Job::Charge(open) => {
                let (charge, record) = &open.asked;
                open.decided = Some(decider.charge(charge, record.as_ref())?);
            }
            Job::Grant(open) => open.decided = Some(decider.grant(&open.asked)?),
            Job::Balance(open) => open.decided = Some(decider.balance(open.asked)?),
        }
    }
    Ok(())
}

/// Sends each decision of a group of charges to its caller, and empties the group.
pub(super) fn deliver(group: &mut Vec<Job>) {
    for job in group.drain(..) {
        match job {
            Job::Charge(open) => open.deliver(),
            Job::Grant(open) => open.deliver(),
            Job::Balance(open) => open.deliver(),
        }
    }
}

/// Sends an error to the callers of all jobs in a group of charges, and empties the group.
pub(super) fn refuse(group: &mut Vec<Job>, why: impl Fn() -> ChargeError) {
    for job in group.iter_mut() {
        match job {
            Job::Charge(open) => open.decided = Some(Err(why())),
            Job::Grant(open) => open.decided = Some(Err(why())),
            Job::Balance(open) => open.decided = Some(Err(why())),
        }
    }
    deliver(group);
}
