use std::thread;
use std::time::Instant;

use pollster::block_on;

use super::*;
use crate::test_database::TestDatabase;

/// The length in seconds of a window that does not end during a test.
const LONG: u32 = 1 << 31;

fn key() -> KeyId {
    KeyId::new(Timestamp::UNIX_EPOCH)
}

fn count(limiter: &PostgresRateLimiter, key: KeyId, limit: RateLimit) -> RateLimitStatus {
    block_on(limiter.count(key, limit, Timestamp::UNIX_EPOCH)).unwrap()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the rate limiters of three nodes on one database. Each node already knows that three
/// nodes are live.
fn three(database: &TestDatabase, policy: RatePolicy) -> [PostgresRateLimiter; 3] {
    let nodes = [database.live_node(), database.live_node(), database.live_node()];
    for (_, heartbeat) in &nodes {
        wait_until("the nodes see each other", || heartbeat.live_nodes().number() == 3);
    }
    nodes.map(|(node, heartbeat)| PostgresRateLimiter::start(&node, &heartbeat, policy))
}

/// Counts requests until one is over the limit. Returns the number of admitted requests.
fn exhaust(limiter: &PostgresRateLimiter, key: KeyId, limit: RateLimit) -> u32 {
    let mut admitted = 0;
    while !count(limiter, key, limit).is_over {
        admitted += 1;
    }
    admitted
}

#[test]
fn three_nodes_asked_to_the_end_admit_exactly_the_limit() {
    let Some(database) = TestDatabase::create() else { return };
    let limiters = three(&database, RatePolicy::Reject);
    for requests in [1, 7, 100, 2_000] {
        let (key, limit) = (key(), RateLimit::new(requests, LONG).unwrap());
        let admitted: u32 = thread::scope(|scope| {
            let callers = limiters.iter().cycle().take(24);
            let callers: Vec<_> =
                callers.map(|limiter| scope.spawn(move || exhaust(limiter, key, limit))).collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).sum()
        });
        assert_eq!(admitted, requests);
    }
}

#[test]
fn places_that_other_nodes_hold_are_at_most_their_chunks() {
    let Some(database) = TestDatabase::create() else { return };
    let limiters = three(&database, RatePolicy::Reject);
    let (key, limit) = (key(), RateLimit::new(240, LONG).unwrap());
    let first = limiters.each_ref().map(|limiter| count(limiter, key, limit));
    assert!(first.iter().all(|status| !status.is_over));
    let admitted = 3 + exhaust(&limiters[0], key, limit);
    let chunk = 240 / (4 * 3);
    assert!((240 - 2 * chunk..=240).contains(&admitted), "{admitted}");
    let rest = exhaust(&limiters[1], key, limit) + exhaust(&limiters[2], key, limit);
    assert_eq!(admitted + rest, 240);
}

#[test]
fn a_refusal_tells_once_per_node_that_it_is_the_first() {
    let Some(database) = TestDatabase::create() else { return };
    let (node, heartbeat) = database.live_node();
    let limiter = PostgresRateLimiter::start(&node, &heartbeat, RatePolicy::Reject);
    let (account, limit) = (AccountId::new(Timestamp::UNIX_EPOCH), RateLimit::new(2, LONG));
    let told = [(); 4].map(|()| {
        let counted = limiter.count_account(account, limit.unwrap(), Timestamp::UNIX_EPOCH);
        let status = block_on(counted).unwrap();
        assert_eq!(status.scope, RateScope::Account);
        (status.remaining, status.is_over, status.is_first_over)
    });
    let expected = [(1, false, false), (0, false, false), (0, true, true), (0, true, false)];
    assert_eq!(told, expected);
}

#[test]
fn observing_nodes_learn_of_each_other() {
    let Some(database) = TestDatabase::create() else { return };
    let [first, second, _] = three(&database, RatePolicy::Observe);
    let (key, limit) = (key(), RateLimit::new(100, LONG).unwrap());
    let told = |limiter, requests: u32| {
        let counted: Vec<_> = (0..requests).map(|_| count(limiter, key, limit)).collect();
        counted.last().unwrap().remaining
    };
    let wait_for_sum = |sum| {
        wait_until("the windows are exchanged", || {
            database.number("SELECT coalesce(sum(taken), 0)::bigint FROM rate_count") == sum
        });
    };
    assert_eq!(told(&first, 50), 50);
    wait_for_sum(50);
    assert_eq!(told(&second, 30), 70);
    wait_for_sum(80);
    wait_until("the sum arrives", || {
        let counter = &second.counter;
        counter.windows.lock().known(key.0) == 80
    });
    assert_eq!(told(&second, 1), 19);
    let over = (0..40).map(|_| count(&second, key, limit)).filter(|status| status.is_over);
    assert_eq!(over.map(|status| status.is_first_over).filter(|is_first| *is_first).count(), 1);
}

#[test]
fn windows_far_below_the_limit_are_not_exchanged() {
    let Some(database) = TestDatabase::create() else { return };
    let [limiter, ..] = three(&database, RatePolicy::Observe);
    let (far, near, limit) = (key(), key(), RateLimit::new(100, LONG).unwrap());
    for _ in 0..6 {
        count(&limiter, far, limit);
    }
    for _ in 0..7 {
        count(&limiter, near, limit);
    }
    let rows = || database.number("SELECT count(*) FROM rate_count");
    wait_until("the other window is exchanged", || rows() > 0);
    thread::sleep(2 * INTERVAL);
    assert_eq!(rows(), 1);
    assert_eq!(database.number("SELECT taken FROM rate_count"), 7);
}

#[test]
fn a_node_without_the_database_counts_alone_and_tells_later() {
    let Some(database) = TestDatabase::create() else { return };
    let (node, heartbeat) = database.live_node();
    let limiter = PostgresRateLimiter::start(&node, &heartbeat, RatePolicy::Reject);
    let (key, limit) = (key(), RateLimit::new(8, LONG).unwrap());
    assert!(!count(&limiter, key, limit).is_over);
    database.close();
    assert_eq!(exhaust(&limiter, key, limit), 7, "as many as one node may admit");
    database.reopen();
    wait_until("the others are told", || {
        // Each call of `KeyId::new` returns a new key. A request with a new key makes an exchange
        // with the database due. This exchange also adds the requests of `key`.
        count(&limiter, KeyId::new(Timestamp::UNIX_EPOCH), limit);
        database.number("SELECT coalesce(max(taken), 0) FROM rate_count") >= 8
    });
    assert!(count(&limiter, key, limit).is_over);
}
