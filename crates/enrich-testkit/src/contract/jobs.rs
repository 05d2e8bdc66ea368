//! Contract tests of the job records that several nodes share. Every store of job records must pass
//! them.

use enrich_core::port::jobs::{
    JobChange, JobLease, JobPhase, JobRecords, JobRow, LocalJob, RemoteJob,
};
use enrich_core::{AccountId, Timestamp};

fn change(id: u128, turn: u64, phase: JobPhase, record: &str) -> JobChange {
    JobChange { id, turn, phase, record: record.to_owned(), progress: "0 rows".to_owned() }
}

fn account() -> AccountId {
    AccountId::new(Timestamp::UNIX_EPOCH)
}

async fn row(jobs: &dyn JobRecords, id: u128) -> JobRow {
    jobs.find(id).await.unwrap().unwrap()
}

/// Checks that at most one node at a time holds a job, which means that the node has the job's
/// lease. After another node has taken the job, the earlier holder can change nothing. `expire`
/// makes all leases expire.
pub async fn one_node_at_a_time_holds_a_job(
    one: &dyn JobRecords,
    other: &dyn JobRecords,
    expire: &(dyn Fn() + Sync),
) {
    let owner = account();
    assert_eq!(one.find(1).await.unwrap(), None);
    one.create(owner, &change(1, 1, JobPhase::Idle, "new")).await.unwrap();
    one.create(owner, &change(1, 9, JobPhase::Waiting, "again")).await.unwrap();
    one.create(account(), &change(2, 1, JobPhase::Idle, "")).await.unwrap();
    let found = row(other, 1).await;
    assert_eq!((found.account, found.turn, found.lease), (owner, 1, JobLease::Free));
    assert_eq!((found.phase, found.record.as_str()), (JobPhase::Idle, "new"));
    let found = [found];
    assert_eq!(other.of_account(owner).await.unwrap(), found);
    assert_eq!(other.rows_after(1, 9).await.unwrap(), [row(one, 2).await]);
    assert_eq!(other.rows_after(0, 1).await.unwrap(), found);

    // A call of `change` succeeds only with the job's current turn (a number), and increases the
    // turn by 1. So a second call with the old number is refused.
    assert_eq!(one.take_next().await.unwrap(), None);
    assert!(!one.change(&change(1, 2, JobPhase::Waiting, "ordered")).await.unwrap());
    assert!(one.change(&change(1, 1, JobPhase::Waiting, "ordered")).await.unwrap());
    assert!(!other.change(&change(1, 1, JobPhase::Idle, "other")).await.unwrap());
    assert!(!one.stop(1).await.unwrap());

    // The node that has taken the job is the only one that can change it. Its calls must give the
    // job's current turn (a number).
    let taken = one.take_next().await.unwrap().unwrap();
    assert_eq!((taken.turn, taken.phase, taken.lease), (3, JobPhase::Running, JobLease::Free));
    assert_eq!((taken.id, taken.record.as_str()), (1, "ordered"));
    assert_eq!(other.take_next().await.unwrap(), None);
    assert!(!other.hold(1, 3, JobPhase::Idle).await.unwrap());
    assert!(!other.change(&change(1, 3, JobPhase::Idle, "other")).await.unwrap());
    assert_eq!(one.renew(1, 3, "5 rows").await.unwrap(), Some(JobPhase::Running));
    let found = row(other, 1).await;
    assert_eq!((found.lease, found.progress.as_str()), (JobLease::Held, "5 rows"));
    assert!(one.save(&change(1, 3, JobPhase::Idle, "saved")).await.unwrap());
    let found = row(other, 1).await;
    assert_eq!((found.phase, found.record.as_str()), (JobPhase::Running, "saved"));
    assert!(other.stop(1).await.unwrap());
    assert!(other.stop(1).await.unwrap());
    assert_eq!(one.renew(1, 3, "6 rows").await.unwrap(), Some(JobPhase::Stopping));

    // A job that must stop stays in the phase `Stopping` when it is released. The next node that
    // takes it must stop it.
    assert!(one.release(&change(1, 3, JobPhase::Waiting, "yielded")).await.unwrap());
    assert_eq!(one.renew(1, 3, "7 rows").await.unwrap(), None);
    let taken = other.take_next().await.unwrap().unwrap();
    assert_eq!((taken.turn, taken.phase, taken.lease), (4, JobPhase::Stopping, JobLease::Free));
    assert!(other.release(&change(1, 4, JobPhase::Idle, "stopped")).await.unwrap());
    assert_eq!(other.take_next().await.unwrap(), None);

    // When a lease has ended and another node has taken the job, the earlier holder can change
    // nothing.
    assert!(one.change(&change(1, 4, JobPhase::Waiting, "continued")).await.unwrap());
    assert_eq!(one.take_next().await.unwrap().unwrap().turn, 6);
    expire();
    assert!(!other.change(&change(1, 6, JobPhase::Idle, "other")).await.unwrap());
    let taken = other.take_next().await.unwrap().unwrap();
    assert_eq!((taken.turn, taken.lease), (7, JobLease::Expired));
    assert_eq!(one.renew(1, 6, "late").await.unwrap(), None);
    assert!(!one.save(&change(1, 6, JobPhase::Running, "late")).await.unwrap());
    assert!(!one.release(&change(1, 6, JobPhase::Idle, "late")).await.unwrap());
    assert!(!one.remove(1, 6).await.unwrap());
    // If a lease has ended and no other node has taken the job, the holder can renew the lease.
    expire();
    assert_eq!(other.renew(1, 7, "8 rows").await.unwrap(), Some(JobPhase::Running));
    assert_eq!(row(one, 1).await.lease, JobLease::Held);
    assert!(other.release(&change(1, 7, JobPhase::Idle, "done")).await.unwrap());

    assert!(!one.remove(1, 7).await.unwrap(), "only a holder removes a job");
    assert!(one.hold(1, 7, JobPhase::Removing).await.unwrap());
    assert!(!other.hold(1, 8, JobPhase::Removing).await.unwrap());
    expire();
    assert!(other.hold(1, 8, JobPhase::Removing).await.unwrap());
    assert!(!one.remove(1, 8).await.unwrap());
    assert!(other.remove(1, 9).await.unwrap());
    assert!(other.remove(1, 9).await.unwrap());
    assert_eq!(one.find(1).await.unwrap(), None);
}

/// Checks that accounts take turns: the next job belongs to the account with the fewest running
/// jobs. The jobs of all nodes are counted.
pub async fn jobs_are_taken_in_turns(one: &dyn JobRecords, other: &dyn JobRecords) {
    let (many, few, last) = (account(), account(), account());
    let waiting = |id| change(id, 1, JobPhase::Waiting, "");
    for id in 1..=4 {
        one.create(many, &waiting(id)).await.unwrap();
    }
    assert_eq!(one.contenders().await.unwrap(), 1);
    let next = async |jobs: &dyn JobRecords| jobs.take_next().await.unwrap().unwrap().id;
    assert_eq!(next(one).await, 1, "the first in the queue");
    assert_eq!(other.contenders().await.unwrap(), 0);
    other.create(few, &waiting(5)).await.unwrap();
    assert_eq!(one.contenders().await.unwrap(), 1);
    assert_eq!(next(other).await, 5, "the account without a running job");
    assert_eq!(next(other).await, 2);

    // The account `last` has had no running job yet. So its job comes before the jobs that
    // `release` puts back into the queue.
    other.create(last, &waiting(6)).await.unwrap();
    assert!(one.release(&change(1, 2, JobPhase::Waiting, "")).await.unwrap());
    assert!(one.release(&change(2, 2, JobPhase::Waiting, "")).await.unwrap());
    assert_eq!(one.contenders().await.unwrap(), 2);
    assert_eq!(next(one).await, 6);
    assert_eq!(next(one).await, 3);
}

/// Checks that a node sees an account's jobs that are in the data folders of other nodes.
pub async fn jobs_elsewhere(one: &dyn JobRecords, other: &dyn JobRecords) {
    let owner = account();
    let local = |id, account, summary: &str| LocalJob { id, account, summary: summary.to_owned() };
    let first = [local(1, owner, "a"), local(2, owner, "b"), local(3, account(), "c")];
    one.announce(10, &first).await.unwrap();
    other.announce(20, &[local(4, owner, "d")]).await.unwrap();
    let elsewhere = async |folder| {
        let seen: Vec<RemoteJob> = other.elsewhere(owner, folder).await.unwrap();
        seen.into_iter().map(|seen| seen.job.summary).collect::<Vec<_>>()
    };
    assert_eq!(elsewhere(Some(20)).await, ["a", "b"]);
    assert_eq!(elsewhere(None).await.len(), 3);
    one.announce(10, &[local(2, owner, "changed")]).await.unwrap();
    assert_eq!(elsewhere(Some(20)).await, ["changed"]);
    one.announce(10, &[]).await.unwrap();
    assert!(elsewhere(Some(20)).await.is_empty());
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::fake_ports::MemoryJobs;

    #[test]
    fn jobs_in_memory_keep_the_contract() {
        let jobs = MemoryJobs::default();
        block_on(one_node_at_a_time_holds_a_job(&jobs, &jobs, &|| jobs.expire_leases()));
        let jobs = MemoryJobs::default();
        block_on(jobs_are_taken_in_turns(&jobs, &jobs));
        block_on(jobs_elsewhere(&jobs, &jobs));
    }
}
