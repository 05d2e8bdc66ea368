use enrich_ledger::{UsageKey, UsageSum};
use enrich_testkit::tcp_proxy::{TcpProxy, Trigger};
use pollster::block_on;

use super::*;
use crate::test_database::TestDatabase;

const CALLS: &str = "SELECT coalesce(sum(calls), 0)::bigint FROM used";

fn used(account: AccountId, key: KeyId) -> Use {
    let (endpoint, outcome, at) = ("/v1/cuf", UseOutcome::Found, Timestamp::UNIX_EPOCH);
    Use { account, key, endpoint, outcome, credits: Credits(1), at }
}

fn ids() -> (AccountId, KeyId) {
    (AccountId::new(Timestamp::UNIX_EPOCH), KeyId::new(Timestamp::UNIX_EPOCH))
}

fn writer(node: &Node, heartbeat: &Heartbeat) -> UsageWriter {
    let lineage = node.pulse.last().state.lineage;
    let writer = BatchWriter::new(node.database.connections(), heartbeat.id(), lineage);
    UsageWriter::new(Arc::default(), writer, None)
}

/// Counts three calls, and writes the counts on the node's thread, as the background task does.
fn write_three(node: &Node, mut writer: UsageWriter, pace: Pace) -> UsageWriter {
    let (account, key) = ids();
    let (endpoint, outcome) = ("/v1/cuf", UseOutcome::Found);
    let counted = UsageKey { account, day: 0, key, endpoint, outcome };
    let sum = UsageSum { calls: 3, credits: 3, last_at: Timestamp::UNIX_EPOCH };
    writer.gathered.lock().add(counted, sum);
    let writing = async move {
        writer.write(pace).await.unwrap();
        writer
    };
    node.database.runtime().block_on(writing).unwrap()
}

#[test]
fn a_batch_that_is_written_again_counts_nothing_twice() {
    let Some(database) = TestDatabase::create() else { return };
    let (node, heartbeat) = database.live_node();
    let (account, key) = ids();
    let counted =
        UsageKey { account, day: 0, key, endpoint: "/v1/cuf", outcome: UseOutcome::Found };
    let sum = UsageSum { calls: 3, credits: 3, last_at: Timestamp::UNIX_EPOCH };
    let batch = Arc::new(Batch::of(&mut [(counted, sum)].into_iter(), &mut [].into_iter()));
    let (connections, lineage) = (node.database.connections(), node.pulse.last().state.lineage);
    let writing = async move {
        // The second writer does not know that the first one has written the batch, like a writer
        // that has lost the reply. So it writes the batch again.
        for _ in 0..2 {
            let mut writer = BatchWriter::new(Arc::clone(&connections), heartbeat.id(), lineage);
            writer.write(&batch).await.unwrap();
        }
    };
    node.database.runtime().block_on(writing).unwrap();
    assert_eq!(database.number(CALLS), 3);
}

#[test]
fn a_flush_whose_reply_is_lost_counts_once_whether_it_was_committed_or_not() {
    let Some(database) = TestDatabase::create() else { return };
    let proxy = TcpProxy::start(database.address(), Duration::ZERO).unwrap();
    let node = database.node_at(proxy.address());
    // The heartbeat belongs to a second node, so that its commits do not pass the proxy.
    let (_direct, heartbeat) = database.live_node();
    let usage = PostgresUsage::start(&node, &heartbeat, None);
    let (account, key) = ids();
    for (round, trigger) in (1..).zip([Trigger::CutBefore, Trigger::CutAfter, Trigger::LoseReply]) {
        usage.count(used(account, key));
        proxy.cut_when(b"COMMIT\0", trigger);
        block_on(usage.flush()).unwrap();
        assert!(!proxy.disarm(), "{trigger:?}");
        assert_eq!(database.number(CALLS), round, "{trigger:?}");
    }
}

#[test]
fn counts_go_on_after_the_database_lost_the_last_batches() {
    let Some(database) = TestDatabase::create() else { return };
    let (node, heartbeat) = database.live_node();
    let writer = write_three(&node, writer(&node, &heartbeat), Pace::Steady);
    let writer = write_three(&node, writer, Pace::Steady);
    database.execute("UPDATE node SET flush = 0");
    write_three(&node, writer, Pace::Steady);
    assert_eq!(database.number(CALLS), 9);
}

#[test]
fn counts_of_charges_that_may_be_lost_are_discarded() {
    let Some(database) = TestDatabase::create() else { return };
    let (node, heartbeat) = database.live_node();
    let writer = write_three(&node, writer(&node, &heartbeat), Pace::Steady);
    database.execute("UPDATE state SET lineage = '00000000-0000-7000-8000-000000000001'");
    let writer = write_three(&node, writer, Pace::Steady);
    assert_eq!(database.number(CALLS), 3);
    write_three(&node, writer, Pace::Steady);
    assert_eq!(database.number(CALLS), 6);
}

#[test]
fn counts_wait_while_the_node_has_no_row() {
    let Some(database) = TestDatabase::create() else { return };
    let (node, heartbeat) = database.live_node();
    let usage = PostgresUsage::start(&node, &heartbeat, None);
    let (account, key) = ids();
    database.execute("DELETE FROM node");
    usage.count(used(account, key));
    assert!(matches!(block_on(usage.flush()), Err(StoreError::Failed(_))));
    // The heartbeat adds the row of the node again.
    while database.number("SELECT count(*) FROM node") == 0 {
        std::thread::sleep(Duration::from_millis(50));
    }
    usage.count(used(account, key));
    block_on(usage.flush()).unwrap();
    assert_eq!(database.number(CALLS), 2);
}

#[test]
fn a_round_writes_counts_and_leaves_the_last_use_for_later() {
    let Some(database) = TestDatabase::create() else { return };
    let (node, heartbeat) = database.live_node();
    let marks = || database.number("SELECT count(*) FROM key_used");
    let writer = write_three(&node, writer(&node, &heartbeat), Pace::Steady);
    assert_eq!((database.number(CALLS), marks()), (3, 0));
    write_three(&node, writer, Pace::Hurried);
    assert_eq!((database.number(CALLS), marks()), (6, 2));
}

#[test]
fn counts_of_several_nodes_add_up_and_the_last_are_written_at_the_end() {
    let Some(database) = TestDatabase::create() else { return };
    let (account, key) = ids();
    let nodes = [database.live_node(), database.live_node(), database.live_node()];
    let usages =
        nodes.each_ref().map(|(node, heartbeat)| PostgresUsage::start(node, heartbeat, None));
    for usage in &usages {
        for _ in 0..7 {
            usage.count(used(account, key));
        }
        block_on(usage.flush()).unwrap();
        usage.count(used(account, key));
    }
    let days = block_on(usages[0].days(account, 0, 0)).unwrap();
    assert_eq!(days.iter().map(|day| day.calls).sum::<u64>(), 21);
    drop(usages);
    let expected = DayCount {
        day: 0,
        key,
        endpoint: "/v1/cuf".to_owned(),
        outcome: UseOutcome::Found,
        calls: 24,
        credits: Credits(24),
    };
    let usage = PostgresUsage::start(&nodes[0].0, &nodes[0].1, None);
    assert_eq!(block_on(usage.days(account, 0, 0)).unwrap(), [expected]);
}
