//! The janitor: a task that counts the idempotency records and removes expired rows. It works on
//! one node at a time.
//!
//! The node that has the janitor's lease does the work. If this node does not extend the lease for
//! thirty seconds by the database's clock, another node takes the lease. It does no harm if two
//! nodes do the same work. So a node that was frozen need not check whether its lease has ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::port::misses::CountMisses;
use enrich_core::{IdempotencyRecord, Timestamp};
use enrich_ledger::expired_day_of_misses;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::background::Background;
use crate::columns::{Value, timestamp};
use crate::failure::Failure;
use crate::heartbeat::Heartbeat;
use crate::node::Node;
use crate::pulse::Reading;

/// Interval between two rounds of the janitor. In each round, this task counts the idempotency
/// records and removes expired rows.
const INTERVAL: Duration = Duration::from_secs(10);
/// Interval between removals of old rows from the table `missed_name`, which counts the look-ups of
/// each name that was not found.
const MISSES_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// Time limit for one statement. It is also the time after which a round of the janitor begins no
/// further statement to remove rows of the same table. It is shorter than the janitor's lease of 30
/// seconds.
const LONGEST: Duration = Duration::from_secs(10);
/// Maximum number of rows that one statement removes.
const PER_STATEMENT: i64 = 1_000;
/// The time for which an expired row is still kept, in seconds. The janitor decides by the
/// database's clock whether a row has expired. A node whose clock is behind may still use the row.
/// So the clock of a node must not be behind by more than this time.
const MARGIN_SECONDS: i64 = 60;
const MICROS_PER_SECOND: i64 = 1_000_000;

const TAKE_LEASE: &str = "INSERT INTO lease (name, node, turn, until)
    VALUES ('janitor', $1, 1, clock_timestamp() + INTERVAL '30 seconds')
    ON CONFLICT (name) DO UPDATE
    SET node = excluded.node, until = excluded.until,
        turn = CASE WHEN lease.node = excluded.node THEN lease.turn ELSE lease.turn + 1 END
    WHERE lease.node = excluded.node OR lease.until < clock_timestamp()
    RETURNING turn";
const NEWEST_KEPT: &str = "SELECT max(at) FROM kept";
const COUNT_KEPT: &str = "SELECT count(*) FROM kept";
const NOTE_KEPT: &str = "UPDATE state SET kept = $1 WHERE id = 1 AND kept <> $1";
/// Removes expired idempotency records. The inner query finds them. Then the statement may have to
/// wait for the lock of a record's row. During this time, a charge may replace the expired record
/// by a new one. The outer condition checks the time `at` again, so the new record is not removed.
const REMOVE_KEPT: &str = "DELETE FROM kept WHERE at <= $1 AND (account, key_hash) IN
    (SELECT account, key_hash FROM kept WHERE at <= $1 ORDER BY at LIMIT $2) RETURNING at";
const REMOVE_WINDOWS: &str = "DELETE FROM rate_count WHERE (scope, seconds, number) IN
    (SELECT scope, seconds, number FROM rate_count WHERE (number + 1) * seconds <= $1 LIMIT $2)
    RETURNING number";
const REMOVE_NODES: &str = "DELETE FROM node WHERE seen_at < clock_timestamp() - INTERVAL '1 day'";
/// Removes old rows of the table `local_job`. Each of its rows names an uploaded list, whose files
/// are in the folder of a node. At least every hour, each node announces the lists in its own
/// folder, which renews the time `seen_at` of their rows. If no node has announced a list for seven
/// days, its row is removed.
const REMOVE_LOCAL_JOBS: &str =
    "DELETE FROM local_job WHERE seen_at < clock_timestamp() - INTERVAL '7 days'";

const REMOVE_MISSES: &str = "DELETE FROM missed_name WHERE day <= $1";
const REMOVE_TEXTS: &str = "UPDATE missed_name SET name = NULL WHERE name IS NOT NULL";

/// The task that counts idempotency records and removes expired rows, on one node.
struct Janitor {
    node: Uuid,
    background: Background,
    readings: watch::Receiver<Arc<Reading>>,
    /// Whether the texts of missed names (company names that look-ups did not find) are stored.
    keeps_texts: bool,
    /// When expired counts of missed names (names that look-ups did not find) were last removed;
    /// `None` if never.
    misses_removed_at: Option<Instant>,
}

/// Starts the janitor's task. The task ends when the store is closed.
pub(crate) fn start(node: &Node, heartbeat: &Heartbeat) {
    let mut janitor = Janitor::new(node, heartbeat);
    node.database.runtime().spawn(async move {
        loop {
            // The pause comes first, so that a process that ends soon does no work.
            sleep(INTERVAL).await;
            match janitor.round().await {
                Err(error) if error.loses_connection() => {
                    tracing::debug!(%error, "the janitor has no connection to the database");
                }
                Err(error) => tracing::warn!(%error, "expired rows could not be removed"),
                Ok(_) => {}
            }
        }
    });
}

impl Janitor {
    fn new(node: &Node, heartbeat: &Heartbeat) -> Self {
        Self {
            node: heartbeat.id(),
            background: Background::new(node.database.connections(), LONGEST),
            readings: node.pulse.readings(),
            keeps_texts: node.options.count_misses == CountMisses::Texts,
            misses_removed_at: None,
        }
    }

    /// Does the janitor's work once, if this node has the janitor's lease or can take it. Returns
    /// whether the node has the lease.
    async fn round(&mut self) -> Result<bool, Failure> {
        let node = [(&self.node as _, Type::UUID)];
        if self.background.query(TAKE_LEASE, &node).await?.is_empty() {
            return Ok(false);
        }
        let now = self.readings.borrow().database_now() / MICROS_PER_SECOND - MARGIN_SECONDS;
        let day_ago = (now - IdempotencyRecord::SECONDS) * MICROS_PER_SECOND;
        self.remove_kept(day_ago).await?;
        self.count_kept().await?;
        self.remove(REMOVE_WINDOWS, now).await?;
        self.background.query(REMOVE_NODES, &[]).await?;
        self.background.query(REMOVE_LOCAL_JOBS, &[]).await?;
        if self.misses_removed_at.is_none_or(|at| at.elapsed() >= MISSES_INTERVAL) {
            self.remove_misses(timestamp(now * MICROS_PER_SECOND)?).await?;
            self.misses_removed_at = Some(Instant::now());
        }
        Ok(true)
    }

    /// Removes the idempotency records that meet two conditions: their time is `day_ago` or
    /// earlier, and they are at least a day older than the newest record. `day_ago` comes from the
    /// database's clock, but the times of the records come from the clocks of the nodes. If the
    /// database's clock is ahead of the nodes' clocks, a record meets the first condition too
    /// early. Then the second condition keeps it, so that a node can still repeat its answer.
    async fn remove_kept(&self, day_ago: i64) -> Result<(), Failure> {
        let newest = self.background.query(NEWEST_KEPT, &[]).await?;
        let newest: Option<i64> = newest.first().map(|row| row.try_get(0)).transpose()?.flatten();
        let Some(newest) = newest else { return Ok(()) };
        let day = IdempotencyRecord::SECONDS * MICROS_PER_SECOND;
        self.remove(REMOVE_KEPT, day_ago.min(newest.saturating_sub(day))).await
    }

    /// Removes expired counts of missed names: company names that look-ups did not find. If texts
    /// are not stored, also removes the texts of all missed names.
    async fn remove_misses(&self, now: Timestamp) -> Result<(), Failure> {
        let expired = expired_day_of_misses(now);
        self.background.query(REMOVE_MISSES, &[(&expired, Type::INT8)]).await?;
        if !self.keeps_texts {
            self.background.query(REMOVE_TEXTS, &[]).await?;
        }
        Ok(())
    }

    /// Counts the idempotency records, and stores their number for all nodes.
    async fn count_kept(&self) -> Result<(), Failure> {
        // Counting and writing are two statements, so that the row of `state` is not locked while
        // records are counted.
        if let Some(row) = self.background.query(COUNT_KEPT, &[]).await?.first() {
            let kept: i64 = row.try_get(0)?;
            self.background.query(NOTE_KEPT, &[(&kept, Type::INT8)]).await?;
        }
        Ok(())
    }

    /// Removes the rows that had expired at `until`: a time in microseconds since 1970 for
    /// [`REMOVE_KEPT`], in seconds since 1970 for [`REMOVE_WINDOWS`]. One statement removes at most
    /// [`PER_STATEMENT`] rows. Rows that are left after [`LONGEST`] wait for the janitor's next
    /// round.
    async fn remove(&self, statement: &str, until: i64) -> Result<(), Failure> {
        let begun = Instant::now();
        let values: [Value<'_>; 2] = [(&until, Type::INT8), (&PER_STATEMENT, Type::INT8)];
        while begun.elapsed() < LONGEST {
            let removed = self.background.query(statement, &values).await?.len();
            if i64::try_from(removed).is_ok_and(|removed| removed < PER_STATEMENT) {
                return Ok(());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::TestDatabase;

    const TURN: &str = "SELECT turn FROM lease";

    fn round(node: &Node, heartbeat: &Heartbeat) -> bool {
        let mut janitor = Janitor::new(node, heartbeat);
        let round = async move { janitor.round().await.unwrap() };
        node.database.runtime().block_on(round).unwrap()
    }

    #[test]
    fn one_node_at_a_time_does_the_work() {
        let Some(database) = TestDatabase::create() else { return };
        let (first, second) = (database.live_node(), database.live_node());
        assert!(round(&first.0, &first.1));
        assert!(!round(&second.0, &second.1));
        assert!(round(&first.0, &first.1));
        assert_eq!(database.number(TURN), 1);
        database.execute("UPDATE lease SET until = clock_timestamp()");
        assert!(round(&second.0, &second.1));
        assert_eq!(database.number(TURN), 2);
        assert!(!round(&first.0, &first.1));
    }

    #[test]
    fn expired_rows_are_removed_and_the_kept_ones_counted() {
        let Some(database) = TestDatabase::create() else { return };
        let (node, heartbeat) = database.live_node();
        let now = node.pulse.last().database_now() / MICROS_PER_SECOND;
        let expired = (now - IdempotencyRecord::SECONDS - MARGIN_SECONDS - 1) * MICROS_PER_SECOND;
        let kept = (now - IdempotencyRecord::SECONDS) * MICROS_PER_SECOND;
        let past = (now - MARGIN_SECONDS) / 60 - 1;
        database.execute(&format!(
            "INSERT INTO kept (account, key_hash, asked_hash, sealed, secret, balance, at)
             SELECT '{node}', sha256(number::text::bytea), '', '', 1, 0,
                    CASE WHEN number <= 2500 THEN {expired} WHEN number <= 2506 THEN {kept}
                         ELSE {newest} END
             FROM generate_series(1, 2507) AS number;
             INSERT INTO rate_count (scope, seconds, number, taken)
             VALUES ('{node}', 60, {past}, 7), ('{node}', 60, {next}, 7);
             INSERT INTO node (id, name, build, seen_at, flush)
             VALUES ('{other}', '', '', clock_timestamp() - INTERVAL '25 hours', 3);
             INSERT INTO missed_name (day, hash, name, calls)
             VALUES ({today} - 31, '', 'Quill', 1), ({today} - 20, '', 'Quill', 1)",
            today = now / (24 * 60 * 60),
            node = heartbeat.id(),
            newest = now * MICROS_PER_SECOND,
            next = past + 2,
            other = Uuid::nil(),
        ));
        assert!(round(&node, &heartbeat));
        assert_eq!(database.number("SELECT kept FROM state"), 7);
        assert_eq!(database.number("SELECT count(*) FROM kept"), 7);
        assert_eq!(database.number("SELECT max(number) - min(number) FROM rate_count"), 0);
        assert_eq!(database.number("SELECT max(number) FROM rate_count"), past + 2);
        assert_eq!(database.number("SELECT count(*) FROM node"), 1);
        assert_eq!(database.number("SELECT count(*) FROM missed_name"), 1);
        assert_eq!(database.number("SELECT count(name) FROM missed_name"), 0);
    }
}
