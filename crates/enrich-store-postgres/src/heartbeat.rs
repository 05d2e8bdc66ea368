//! The heartbeat of a node. It updates this process's row in the table `node` every two seconds,
//! counts the live nodes, and measures how far the node's clock is ahead of the database's clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use enrich_core::Timestamp;
use jiff::SignedDuration;
use tokio::time::sleep;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::background::Background;
use crate::columns::{Value, clamped, micros};
use crate::failure::Failure;
use crate::node::Node;
use crate::open_error::OpenError;
use crate::pulse::Pulse;

/// Interval between heartbeats.
const INTERVAL: Duration = Duration::from_secs(2);

const BEAT: &str = "INSERT INTO node (id, name, build, seen_at, flush, snapshot)
    VALUES ($1, $2, $3, clock_timestamp(), 0, $4)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, snapshot = excluded.snapshot";
/// Counts the live nodes. A node is live if its last heartbeat is less than five seconds ago. So
/// a node is still live after it has missed two heartbeats.
const LIVE: &str =
    "SELECT count(*) FROM node WHERE seen_at > clock_timestamp() - INTERVAL '5 seconds'";

/// Shows other nodes that this process is alive. The clones of a `Heartbeat` use the same row of
/// the table `node`.
#[derive(Clone)]
pub(crate) struct Heartbeat {
    id: Uuid,
    live_nodes: LiveNodes,
    snapshot: Arc<AtomicI64>,
    pulse: Pulse,
}

/// The number of live nodes, as the last heartbeat counted them. A task of the store's thread may
/// own a `LiveNodes`, but must not own a [`Heartbeat`]: the thread ends only when the last
/// `Heartbeat` is dropped.
#[derive(Clone)]
pub(crate) struct LiveNodes(Arc<AtomicU32>);

impl LiveNodes {
    /// Returns the number of live nodes, including this node. A node is live if its last heartbeat
    /// was less than five seconds ago. The result is at least 1.
    pub(crate) fn number(&self) -> u32 {
        self.0.load(Ordering::Relaxed).max(1)
    }
}

struct HeartbeatTask {
    id: Uuid,
    name: String,
    live_nodes: LiveNodes,
    /// The number of the snapshot (published copy of the look-up data) that this node answers from;
    /// 0 if there is none.
    snapshot: Arc<AtomicI64>,
    background: Background,
}

impl Heartbeat {
    /// Adds this process's row to the table `node`, and starts the task that updates the row
    /// every [`INTERVAL`]. The task ends when the store is closed.
    ///
    /// # Errors
    ///
    /// When the row cannot be added.
    pub(crate) fn start(node: &Node) -> Result<Self, OpenError> {
        let id = new_id(node.pulse.last().database_now());
        let live_nodes = LiveNodes(Arc::new(AtomicU32::new(1)));
        let snapshot = Arc::new(AtomicI64::new(0));
        let task = HeartbeatTask {
            id,
            name: node.options.node.clone(),
            live_nodes: live_nodes.clone(),
            snapshot: Arc::clone(&snapshot),
            background: Background::new(node.database.connections(), INTERVAL),
        };
        let first_beat = async move {
            task.beat().await?;
            Ok::<_, Failure>(task)
        };
        let runtime = node.database.runtime();
        let begun = runtime.block_on(first_beat);
        let task = begun.map_err(|lost| OpenError::Statement(lost.into()))??;
        runtime.spawn(async move {
            loop {
                sleep(INTERVAL).await;
                if let Err(error) = task.beat().await {
                    tracing::debug!(%error, "the node could not show that it is alive");
                }
            }
        });
        Ok(Self { id, live_nodes, snapshot, pulse: node.pulse.clone() })
    }

    /// Returns the id of this process in the database.
    pub(crate) fn id(&self) -> Uuid {
        self.id
    }

    pub(crate) fn live_nodes(&self) -> &LiveNodes {
        &self.live_nodes
    }

    /// Stores the number of the snapshot (published copy of the look-up data) that this node
    /// answers from. The next heartbeat writes it to the database.
    pub(crate) fn note_snapshot(&self, number: u64) {
        self.snapshot.store(clamped(number), Ordering::Relaxed);
    }

    /// Returns how far the node's clock is ahead of the database's clock; negative if it is behind.
    /// `now` is the time of the node's clock. The result may be wrong by at most half the time that
    /// the last poll of the database took.
    pub(crate) fn skew(&self, now: Timestamp) -> SignedDuration {
        let database_now = self.pulse.last().database_now();
        SignedDuration::from_micros(micros(now).saturating_sub(database_now))
    }
}

impl HeartbeatTask {
    /// Writes this process's row, and counts the live nodes.
    async fn beat(&self) -> Result<(), Failure> {
        let build = env!("CARGO_PKG_VERSION");
        let snapshot = Some(self.snapshot.load(Ordering::Relaxed)).filter(|number| *number > 0);
        let values: [Value<'_>; 4] = [
            (&self.id, Type::UUID),
            (&self.name, Type::TEXT),
            (&build, Type::TEXT),
            (&snapshot, Type::INT8),
        ];
        self.background.query(BEAT, &values).await?;
        if let Some(row) = self.background.query(LIVE, &[]).await?.first() {
            let live: i64 = row.try_get(0)?;
            self.live_nodes.0.store(u32::try_from(live).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Returns a UUID v7 with the time `now`, in microseconds since 1970.
fn new_id(now: i64) -> Uuid {
    let seconds = u64::try_from(now / 1_000_000).unwrap_or_default();
    let nanos = u32::try_from(now % 1_000_000 * 1_000).unwrap_or_default();
    Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::TestDatabase;

    #[test]
    fn nodes_see_each_other_until_one_is_gone() {
        let Some(database) = TestDatabase::create() else { return };
        let (_node, first) = database.live_node();
        let (other, second) = database.live_node();
        assert_eq!((first.live_nodes().number(), second.live_nodes().number()), (1, 2));
        let wait_for = |count| {
            let begun = std::time::Instant::now();
            while first.live_nodes().number() != count {
                assert!(
                    begun.elapsed() < Duration::from_secs(30),
                    "still {}",
                    first.live_nodes().number()
                );
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        wait_for(2);
        drop((other, second));
        wait_for(1);
    }

    #[test]
    fn the_skew_is_how_far_the_nodes_clock_is_ahead() {
        let Some(database) = TestDatabase::create() else { return };
        let (node, heartbeat) = database.live_node();
        for ahead in [100_000_000, 0, -100_000_000] {
            let now = node.pulse.last().database_now() + ahead;
            let skew = heartbeat.skew(Timestamp::from_microsecond(now).unwrap());
            let error = (skew - SignedDuration::from_micros(ahead)).abs();
            assert!(error < SignedDuration::from_secs(1), "{skew}");
        }
    }

    #[test]
    fn the_databases_clock_goes_on_between_polls() {
        let Some(database) = TestDatabase::create() else { return };
        let node = database.node();
        let first = node.pulse.last();
        std::thread::sleep(Duration::from_millis(1_500));
        let now =
            database.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
        assert!((now - first.database_now()).abs() < 500_000);
    }
}
