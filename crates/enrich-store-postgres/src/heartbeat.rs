//! The heartbeat: this process's row in `node`, the number of live nodes, and the difference of the
//! node's clock from the database's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use enrich_core::{Clock, Timestamp};
use jiff::SignedDuration;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::background::Background;
use crate::columns::{Value, micros};
use crate::failure::Failure;
use crate::open_error::OpenError;
use crate::pulse::Reading;
use crate::store::Node;

/// Interval between heartbeats.
const INTERVAL: Duration = Duration::from_secs(2);
/// The longest poll whose reading of the database's clock is used: half of it is the error.
const LONGEST_POLL: Duration = Duration::from_millis(500);

const BEAT: &str = "INSERT INTO node (id, name, build, seen_at, flush)
    VALUES ($1, $2, $3, clock_timestamp(), 0)
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at";
/// A node counts as live until it misses two heartbeats.
const LIVE: &str =
    "SELECT count(*) FROM node WHERE seen_at > clock_timestamp() - INTERVAL '5 seconds'";

/// Shows that this process is alive. Clones share it.
#[derive(Clone)]
pub(crate) struct Heartbeat {
    id: Uuid,
    vitals: Arc<Vitals>,
}

struct Vitals {
    live_nodes: AtomicU32,
    /// The node's clock minus the database's, in microseconds.
    skew: AtomicI64,
}

/// The row that shows it.
struct NodeRow {
    id: Uuid,
    name: String,
}

impl Heartbeat {
    /// Adds this process's row, then keeps it fresh until the store is closed.
    ///
    /// # Errors
    ///
    /// When the row cannot be added.
    pub(crate) fn start(node: &Node, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let id = new_id(clock.now());
        let first = node.pulse.last();
        let vitals = Arc::new(Vitals {
            live_nodes: AtomicU32::new(1),
            skew: AtomicI64::new(skew(&first, clock.now())),
        });
        let row = NodeRow { id, name: node.options.node.clone() };
        let background = Background::new(node.database.connections(), INTERVAL);
        let (runtime, counting) = (node.database.runtime(), Arc::clone(&vitals));
        let first_beat = async move {
            row.beat(&background, &counting).await?;
            Ok::<_, Failure>((row, background, counting))
        };
        let begun = runtime.block_on(first_beat);
        let (row, background, counting) =
            begun.map_err(|lost| OpenError::Statement(lost.into()))??;
        runtime.spawn(async move {
            loop {
                sleep(INTERVAL).await;
                if let Err(error) = row.beat(&background, &counting).await {
                    tracing::debug!(%error, "the node could not show that it is alive");
                }
            }
        });
        runtime.spawn(follow_skew(node.pulse.readings(), clock, Arc::clone(&vitals)));
        Ok(Self { id, vitals })
    }

    /// The id of this process in the database.
    pub(crate) fn id(&self) -> Uuid {
        self.id
    }

    /// The number of nodes that were alive in the last seconds, this one included; at least 1.
    pub(crate) fn live_nodes(&self) -> u32 {
        self.vitals.live_nodes.load(Ordering::Relaxed).max(1)
    }

    /// The time by which the node's clock is ahead of the database's; negative if it is behind.
    pub(crate) fn skew(&self) -> SignedDuration {
        SignedDuration::from_micros(self.vitals.skew.load(Ordering::Relaxed))
    }
}

impl NodeRow {
    /// Shows that the node is alive, and counts the live ones.
    async fn beat(&self, background: &Background, vitals: &Vitals) -> Result<(), Failure> {
        let build = env!("CARGO_PKG_VERSION");
        let values: [Value<'_>; 3] =
            [(&self.id, Type::UUID), (&self.name, Type::TEXT), (&build, Type::TEXT)];
        background.query(BEAT, &values).await?;
        if let Some(row) = background.query(LIVE, &[]).await?.first() {
            let live: i64 = row.try_get(0)?;
            vitals.live_nodes.store(u32::try_from(live).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Compares the clocks at each reading of the database's.
async fn follow_skew(
    mut readings: watch::Receiver<Arc<Reading>>,
    clock: Arc<dyn Clock>,
    vitals: Arc<Vitals>,
) {
    while readings.changed().await.is_ok() {
        let reading = Arc::clone(&readings.borrow_and_update());
        if reading.took <= LONGEST_POLL {
            vitals.skew.store(skew(&reading, clock.now()), Ordering::Relaxed);
        }
    }
}

fn skew(reading: &Reading, now: Timestamp) -> i64 {
    micros(now).saturating_sub(reading.database_now())
}

/// A UUID v7 with the time `now`.
fn new_id(now: Timestamp) -> Uuid {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanos = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::TestDatabase;
    use enrich_testkit::fake_clock::FakeClock;

    #[test]
    fn nodes_see_each_other_until_one_is_gone() {
        let database = TestDatabase::create();
        let (_node, first) = database.live_node();
        let (other, second) = database.live_node();
        assert_eq!((first.live_nodes(), second.live_nodes()), (1, 2));
        let wait_for = |count| {
            let begun = std::time::Instant::now();
            while first.live_nodes() != count {
                assert!(begun.elapsed() < Duration::from_secs(30), "still {}", first.live_nodes());
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        wait_for(2);
        drop(other);
        wait_for(1);
    }

    #[test]
    fn the_skew_is_how_far_the_nodes_clock_is_ahead() {
        let database = TestDatabase::create();
        let node = database.node();
        let second = node.pulse.last().database_now() / 1_000_000;
        let clock = Arc::new(FakeClock::default());
        clock.set(second + 100);
        let heartbeat = Heartbeat::start(&node, Arc::clone(&clock) as _).unwrap();
        let near = |seconds: i64| (heartbeat.skew().as_secs() - seconds).abs() < 20;
        assert!(near(100), "{}", heartbeat.skew());
        clock.set(second - 100);
        while !near(-100) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
