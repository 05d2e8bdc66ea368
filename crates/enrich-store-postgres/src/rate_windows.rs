//! Rate-limit windows for which all nodes count requests together.
//!
//! A node counts requests in memory. From time to time, it exchanges the count of a window with the
//! other nodes through the table `rate_count`: it adds its own requests to the row of the window,
//! and gets the sum of all nodes. One statement exchanges the windows of many API keys and
//! accounts.
//!
//! - With [`RatePolicy::Observe`], a node exchanges changed windows every 200 ms. A window that
//!   is far below its limit is not exchanged. The rate-limit status may be 200 ms old.
//! - With [`RatePolicy::Reject`], a node reserves places in a window, several at a time, before
//!   it admits requests. A place is room for one request. The node uses only those reserved
//!   places that are within the limit, so all nodes together never admit more requests than the
//!   limit. A node may refuse a request although other nodes still have reserved places.
//!
//! While the database cannot be reached, a node counts alone, starting from the last known sums. A
//! failover of the database may lose the last exchanges. Then the nodes may admit more requests
//! than the limit in the current windows. The number of a window is computed from the database's
//! clock, so that all nodes count in the same window.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::rate_limiter::RateLimiter;
use enrich_core::{AccountId, KeyId, RateLimit, RateLimitStatus, RatePolicy, RateScope, Timestamp};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;
use uuid::Uuid;

use crate::background::Background;
use crate::database::Database;
use crate::failure::Failure;
use crate::heartbeat::{Heartbeat, LiveNodes};
use crate::node::Node;
use crate::pulse::Reading;

mod exchange;
mod window;
mod window_counts;

use window::Counted;
use window_counts::WindowCounts;

/// Interval between exchanges of counts with the database, with [`RatePolicy::Observe`].
const INTERVAL: Duration = Duration::from_millis(200);
/// Interval between attempts to reach the database, while this node counts alone.
const RETRY: Duration = Duration::from_millis(500);
/// Time limit for an exchange of counts. After this time, this node counts alone.
const LONGEST: Duration = Duration::from_secs(2);
/// The largest step back of the database's clock that is ignored, in microseconds. A slow poll
/// measures the clock less exactly, so the clock may seem to go back a little. Then the latest time
/// that was seen is still used. A larger step means that somebody has set the clock back.
const JITTER: i64 = 1_000_000;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// Counts requests in windows that all nodes share.
pub struct PostgresRateLimiter {
    counter: Arc<Counter>,
    /// Keeps alive the thread that exchanges counts with the database.
    _database: Database,
}

/// The data that the rate limiter shares with the task that writes the counts of this node to the
/// database, and reads those of the other nodes.
struct Counter {
    policy: RatePolicy,
    windows: Mutex<WindowCounts>,
    live_nodes: LiveNodes,
    clock: DatabaseClock,
    /// Wakes the task when the counts must be written and read immediately.
    due: Notify,
}

/// Computes the present time of the database's clock: the time in the newest reading (the result of
/// the last successful poll of the database), plus the time that has passed since then.
struct DatabaseClock {
    readings: watch::Receiver<Arc<Reading>>,
    /// The latest time that this clock has shown, in microseconds since 1970.
    latest: AtomicI64,
}

impl PostgresRateLimiter {
    /// Starts the task that exchanges counts with the database. `policy` must be the rate policy of
    /// the service.
    pub(crate) fn start(node: &Node, heartbeat: &Heartbeat, policy: RatePolicy) -> Self {
        let counter = Arc::new(Counter {
            policy,
            windows: Mutex::new(WindowCounts::new(policy)),
            live_nodes: heartbeat.live_nodes().clone(),
            clock: DatabaseClock { readings: node.pulse.readings(), latest: AtomicI64::new(0) },
            due: Notify::new(),
        });
        let background = Background::new(node.database.connections(), LONGEST);
        node.database.runtime().spawn(run(Arc::clone(&counter), background));
        Self { counter, _database: node.database.clone() }
    }

    async fn count_in(&self, id: Uuid, limit: RateLimit) -> Result<RateLimitStatus, StoreError> {
        let (now, live_nodes) = (self.counter.clock.now(), self.counter.live_nodes.number());
        let counted = self.counter.windows.lock().count(id, limit, now, live_nodes);
        match counted {
            Counted::Decided(status) => Ok(status),
            Counted::Waits(decision) => {
                self.counter.due.notify_one();
                decision.await.map_err(StoreError::failed)
            }
            Counted::Overloaded => Err(StoreError::Overloaded),
        }
    }
}

/// The parameter `now` is not used, because all nodes count by the database's clock.
#[async_trait]
impl RateLimiter for PostgresRateLimiter {
    async fn count(
        &self,
        key: KeyId,
        limit: RateLimit,
        _now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError> {
        self.count_in(key.0, limit).await
    }

    async fn count_account(
        &self,
        account: AccountId,
        limit: RateLimit,
        _now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError> {
        let status = self.count_in(account.0, limit).await?;
        Ok(RateLimitStatus { scope: RateScope::Account, ..status })
    }
}

impl DatabaseClock {
    /// Returns the time of the database's clock, in seconds since 1970. The time goes back only if
    /// the database's clock was set back.
    fn now(&self) -> i64 {
        let now = self.readings.borrow().database_now();
        let latest = self.latest.fetch_max(now, Ordering::Relaxed);
        if latest.saturating_sub(now) > JITTER {
            // The time went back by more than a slow poll can explain. So the database's clock was
            // set back.
            self.latest.store(now, Ordering::Relaxed);
            return now.div_euclid(MICROS_PER_SECOND);
        }
        latest.max(now).div_euclid(MICROS_PER_SECOND)
    }
}

/// Exchanges the counts of windows with the database, until the store is closed.
async fn run(counter: Arc<Counter>, background: Background) {
    let mut is_alone = false;
    loop {
        match counter.policy {
            RatePolicy::Observe => sleep(INTERVAL).await,
            RatePolicy::Reject if is_alone => sleep(RETRY).await,
            RatePolicy::Reject => counter.due.notified().await,
        }
        match counter.exchange_due(&background).await {
            Ok(exchanged) => {
                if is_alone && exchanged > 0 {
                    tracing::info!("rate limits are counted over all nodes again");
                    is_alone = false;
                }
            }
            Err(error) => {
                if !is_alone {
                    tracing::warn!(%error, "this node counts rate limits alone");
                    is_alone = true;
                }
            }
        }
    }
}

impl Counter {
    /// Exchanges counts with the database, for all windows that are due. Adds this node's requests
    /// and reservations to the database's counts, and stores the sums of all nodes in
    /// `self.windows`. Returns the number of exchanged windows.
    async fn exchange_due(&self, background: &Background) -> Result<usize, Failure> {
        let mut exchanged = 0;
        loop {
            let additions = self.windows.lock().additions(self.live_nodes.number());
            if additions.is_empty() {
                return Ok(exchanged);
            }
            match exchange::exchange(background, &additions).await {
                Ok(sums) => self.windows.lock().exchanged(&additions, &sums, self.clock.now()),
                Err(error) => {
                    self.windows.lock().count_alone(&additions, self.clock.now());
                    return Err(error);
                }
            }
            exchanged += additions.len();
        }
    }
}

#[cfg(test)]
mod tests;
