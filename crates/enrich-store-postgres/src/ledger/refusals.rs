//! A lane of the ledger decides jobs in groups. A job is a charge or a grant. This module takes out
//! of a group the jobs that cannot be decided now: they wait for an earlier job, or are refused.

use std::time::Duration;

use enrich_core::port::ledger::ChargeError;
use rustc_hash::FxHashSet;

use crate::ledger::doubts::DoubtCounts;
use crate::ledger::job::Job;

/// The time for which a job may wait while the ledger cannot reach a primary (the database server
/// that accepts writes). After this time, the job is refused.
const WAIT_FOR_PRIMARY: Duration = Duration::from_secs(3);
/// The time for which the outcome of a job may stay unknown. After this time, the caller gets the
/// error [`ChargeError::Unknown`].
const DOUBT_FOR: Duration = Duration::from_secs(8);

/// The outcome of a job was still unknown at the end of the time limit.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the reply of the database was lost")]
struct ReplyLost;

/// Removes from `group` each job with the same idempotency key as an earlier job, and all later
/// jobs of its account. Returns the removed jobs. They must wait until the other jobs are decided,
/// because only then is it known which stored response they get.
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

/// Refuses the jobs that have waited for too long. If the database's reply to a job was lost, the
/// job's caller gets the error that the outcome is unknown. Returns the other jobs.
pub(super) fn give_up(group: Vec<Job>, doubts: &DoubtCounts) -> Vec<Job> {
    let mut left = Vec::with_capacity(group.len());
    for job in group {
        match job.doubted {
            Some(since) if since.elapsed() >= DOUBT_FOR => {
                doubts.count_unknown();
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

/// Refuses the jobs that were certainly not written. Returns the jobs for which the database's
/// reply was lost, because they may have been written.
pub(super) fn refuse(group: Vec<Job>, error: impl Fn() -> ChargeError) -> Vec<Job> {
    let (doubted, certain): (Vec<_>, Vec<_>) =
        group.into_iter().partition(|job| job.doubted.is_some());
    certain.into_iter().for_each(|job| job.tell(Err(error())));
    doubted
}
