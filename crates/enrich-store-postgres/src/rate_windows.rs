//! Rate-limit windows over all nodes.
//!
//! A node counts in memory, and exchanges with the other nodes by `rate_count`: it adds its part,
//! and gets the sum of all. One statement exchanges the windows of many keys and accounts.
//!
//! - By [`RatePolicy::Observe`], the windows that changed are exchanged every 200 ms, once they
//!   stand near enough to their limit to matter. The status may lag by that time.
//! - By [`RatePolicy::Reject`], a node reserves places in a window before it admits requests, some
//!   at a time. Only reserved places that fit under the limit are used, so all nodes together never
//!   admit more than the limit. A request may be refused while other nodes still have places.
//!
//! Without the database, a node counts alone, from what it last knew. The number of a window comes
//! from the database's clock, so that all nodes count the same one.

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
use crate::heartbeat::Heartbeat;
use crate::node::Node;
use crate::pulse::Reading;

mod exchange;
mod window;
mod windows;

use window::Counted;
use windows::Windows;

/// Interval between exchanges by [`RatePolicy::Observe`].
const INTERVAL: Duration = Duration::from_millis(200);
/// Interval between attempts to reach the database, while the node counts alone.
const RETRY: Duration = Duration::from_millis(500);
/// How long an exchange may take. Then the node counts alone.
const LONGEST: Duration = Duration::from_secs(2);
/// The clock of the windows does not go back by less than this, in microseconds, as it would where
/// one poll was slower than the next.
const JITTER: i64 = 1_000_000;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// Counts requests in windows that all nodes share.
pub struct PostgresRateLimiter {
    counter: Arc<Counter>,
    /// Keeps the thread that exchanges.
    _database: Database,
}

/// What the port and the task of the store's thread share.
struct Counter {
    policy: RatePolicy,
    windows: Mutex<Windows>,
    heartbeat: Heartbeat,
    clock: DatabaseClock,
    /// Wakes the task when a window is to be exchanged at once.
    due: Notify,
}

/// The database's clock.
struct DatabaseClock {
    readings: watch::Receiver<Arc<Reading>>,
    /// The latest time that it told.
    latest: AtomicI64,
}

impl PostgresRateLimiter {
    /// Starts the task that exchanges the windows. `policy` must be the service's.
    pub(crate) fn start(node: &Node, heartbeat: &Heartbeat, policy: RatePolicy) -> Self {
        let counter = Arc::new(Counter {
            policy,
            windows: Mutex::new(Windows::new(policy)),
            heartbeat: heartbeat.clone(),
            clock: DatabaseClock { readings: node.pulse.readings(), latest: AtomicI64::new(0) },
            due: Notify::new(),
        });
        let background = Background::new(node.database.connections(), LONGEST);
        node.database.runtime().spawn(run(Arc::clone(&counter), background));
        Self { counter, _database: node.database.clone() }
    }

    async fn count_in(&self, id: Uuid, limit: RateLimit) -> Result<RateLimitStatus, StoreError> {
        let (now, live_nodes) = (self.counter.clock.now(), self.counter.heartbeat.live_nodes());
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

/// `now` is not used: all nodes count by the database's clock.
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
    /// Seconds since 1970.
    fn now(&self) -> i64 {
        let now = self.readings.borrow().database_now();
        let latest = self.latest.fetch_max(now, Ordering::Relaxed);
        if latest.saturating_sub(now) > JITTER {
            // The clock was set back.
            self.latest.store(now, Ordering::Relaxed);
            return now.div_euclid(MICROS_PER_SECOND);
        }
        latest.max(now).div_euclid(MICROS_PER_SECOND)
    }
}

/// Exchanges windows until the store is closed.
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
    /// Exchanges all windows that are due. Returns how many.
    async fn exchange_due(&self, background: &Background) -> Result<usize, Failure> {
        let mut exchanged = 0;
        loop {
            let asks = self.windows.lock().asks(self.heartbeat.live_nodes());
            if asks.is_empty() {
                return Ok(exchanged);
            }
            match exchange::exchange(background, &asks).await {
                Ok(sums) => self.windows.lock().exchanged(&asks, &sums, self.clock.now()),
                Err(error) => {
                    self.windows.lock().count_alone(&asks, self.clock.now());
                    return Err(error);
                }
            }
            exchanged += asks.len();
        }
    }
}

#[cfg(test)]
mod tests;
