//! Tests of jobs that are stored in PostgreSQL.

use enrich_testkit::contract::jobs::{
    jobs_are_taken_in_turns, jobs_elsewhere, one_node_at_a_time_holds_a_job,
};
use pollster::block_on;

use super::PostgresJobs;
use crate::test_database::TestDatabase;

fn two_nodes(database: &TestDatabase) -> [PostgresJobs; 2] {
    [(); 2].map(|()| PostgresJobs::new(&database.node()))
}

fn expire(database: &TestDatabase) {
    database.execute(
        "UPDATE job SET until = clock_timestamp() - INTERVAL '1 second' WHERE until IS NOT NULL",
    );
}

#[test]
fn holders_keep_the_contract() {
    let Some(database) = TestDatabase::create() else { return };
    let [one, other] = two_nodes(&database);
    block_on(one_node_at_a_time_holds_a_job(&one, &other, &|| expire(&database)));
}

#[test]
fn turns_keep_the_contract() {
    let Some(database) = TestDatabase::create() else { return };
    let [one, other] = two_nodes(&database);
    block_on(jobs_are_taken_in_turns(&one, &other));
}

#[test]
fn jobs_of_other_folders_keep_the_contract() {
    let Some(database) = TestDatabase::create() else { return };
    let [one, other] = two_nodes(&database);
    block_on(jobs_elsewhere(&one, &other));
}

#[test]
fn nodes_that_look_at_once_take_different_jobs() {
    use enrich_core::AccountId;
    use enrich_core::port::jobs::{JobChange, JobPhase, JobRecords as _};
    let Some(database) = TestDatabase::create() else { return };
    let nodes = two_nodes(&database);
    let account = AccountId(uuid::Uuid::from_u128(7));
    for id in 1..=20 {
        let (record, progress) = (String::new(), String::new());
        let job = JobChange { id, turn: 1, phase: JobPhase::Waiting, record, progress };
        block_on(nodes[0].create(account, &job)).unwrap();
    }
    let mut taken: Vec<u128> = std::thread::scope(|scope| {
        let take = |node: &PostgresJobs| {
            std::iter::repeat_with(|| block_on(node.take_next()).unwrap())
                .take(10)
                .flatten()
                .count()
        };
        let counts: Vec<_> = nodes.iter().map(|node| scope.spawn(move || take(node))).collect();
        let counts: usize = counts.into_iter().map(|taken| taken.join().unwrap()).sum();
        assert_eq!(counts, 20, "a job was taken twice, or none");
        let all = block_on(nodes[0].rows_after(0, 100)).unwrap();
        all.into_iter().filter(|job| job.turn == 2).map(|job| job.id).collect()
    });
    taken.sort_unstable();
    assert_eq!(taken, (1..=20).collect::<Vec<u128>>());
}
