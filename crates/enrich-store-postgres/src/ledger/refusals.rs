//! Jobs that are not decided now: those that wait for an earlier one, and those that are refused.

use std::time::Duration;

use enrich_core::port::ledger::ChargeError;
use rustc_hash::FxHashSet;

use crate::ledger::job::Job;

/// How long a job waits for a primary before it is refused.
const WAIT_FOR_PRIMARY: Duration = Duration::from_secs(3);
/// How long the outcome of a job may be unknown before its caller gets that answer.
const DOUBT_FOR: Duration = Duration::from_secs(8);

/// The outcome could not be found out in time.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the reply of the database was lost")]
struct ReplyLost;

/// Takes out the jobs that must wait for an earlier one of the group, because they have the same
/// idempotency key, with all later jobs of their accounts.
pub(super) fn take_repeated(group: &mut Vec<Job>) -> Vec<Job> {
    let (mut keys, mut held) = (FxHashSet::default(), FxHashSet::default());
    let is_later = |job: &mut Job| {
        let repeats = job.response().is_some_and(|(_, response)| {
            response.names.first().is_some_and(|name| !keys.insert(name.key_hash))
        });
        if repeats {
            held.insert(job.account());
        }
        held.contains(&job.account())
    };
    group.extract_if(.., is_later).collect()
}

/// Refuses jobs that have waited for too long. A job in doubt is refused as unknown.
pub(super) fn give_up(group: Vec<Job>) -> Vec<Job> {
    let mut left = Vec::with_capacity(group.len());
    for job in group {
        match job.doubted {
            Some(since) if since.elapsed() >= DOUBT_FOR => {
                job.tell(Err(ChargeError::Unknown(Box::new(ReplyLost))));
            }
            None if job.arrived.elapsed() >= WAIT_FOR_PRIMARY => {
                job.tell(Err(ChargeError::Overloaded));
            }
            _ => left.push(job),
        }
    }
    left
}

/// Refuses the jobs that are certainly not written. Returns those in doubt: a refusal of nothing
/// written would be a false promise for them.
pub(super) fn refuse(group: Vec<Job>, error: impl Fn() -> ChargeError) -> Vec<Job> {
    let (doubted, certain): (Vec<_>, Vec<_>) =
        group.into_iter().partition(|job| job.doubted.is_some());
    certain.into_iter().for_each(|job| job.tell(Err(error())));
    doubted
}
