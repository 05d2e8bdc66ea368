//! The metered service: the fixed order of checks for every call.
//!
//! ```text
//! key → window → fields → idempotency → balance ≥ least price → look up
//!     → price of the result → charge → answer
//! ```
//!
//! Section 1 of the interface decisions defines this order. The answer's bytes exist before the
//! charge is requested. They are sent only after the ledger reports the charge as durable.

mod call;
mod canonical;
mod look_up;
mod look_up_value;
mod metering;

use std::num::NonZeroU64;
use std::sync::Arc;

use jiff::Timestamp;

use crate::account::KeyInfo;
use crate::api_key::ApiKey;
use crate::credits::Credits;
use crate::in_flight::InFlight;
use crate::port::accounts::Accounts;
use crate::port::clock::Clock;
use crate::port::directory::Directory;
use crate::port::error::StoreError;
use crate::port::ledger::Ledger;
use crate::port::misses::Misses;
use crate::port::rate_limiter::RateLimiter;
use crate::port::usage::{Usage, Use, UseOutcome};
use crate::rate::{RateLimit, RateLimitStatus, RatePolicy};
use crate::refusal::Refusal;
use crate::shortfall::Shortfalls;

use metering::{MeteredCall, store_refusal};

pub use call::{Answer, Ask, Call, Outcome};
pub use look_up::{LookUp, LookUpAnswer};
pub use look_up_value::LookUpValue;

/// Answers and meters calls.
pub struct Service {
    /// The look-up data.
    pub directory: Arc<dyn Directory>,
    /// Accounts and keys.
    pub accounts: Arc<dyn Accounts>,
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// The rate-limit windows.
    pub rate_limiter: Arc<dyn RateLimiter>,
    /// The usage counters.
    pub usage: Arc<dyn Usage>,
    /// Counts missed company names; `None` if that is switched off.
    pub misses: Option<Arc<dyn Misses>>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The default rate limit of a key.
    pub rate_limit: RateLimit,
    /// The rate limit for all keys of an account together; `None` for no limit.
    pub account_rate_limit: Option<RateLimit>,
    /// What happens to requests beyond the limits.
    pub rate_policy: RatePolicy,
    /// The most items of each list in an answer whose price does not depend on its items; `None`
    /// for all, as the interface specifies.
    pub max_enrichment_items: Option<NonZeroU64>,
    in_flight: InFlight,
    shortfalls: Shortfalls,
}

/// The ports that a service needs.
pub struct ServicePorts {
    /// The look-up data.
    pub directory: Arc<dyn Directory>,
    /// Accounts and keys.
    pub accounts: Arc<dyn Accounts>,
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// The rate-limit windows.
    pub rate_limiter: Arc<dyn RateLimiter>,
    /// The usage counters.
    pub usage: Arc<dyn Usage>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl Service {
    /// Creates a service with the interface's default limit, which is counted but not enforced.
    pub fn new(ports: ServicePorts) -> Self {
        let ServicePorts { directory, accounts, ledger, rate_limiter, usage, clock } = ports;
        Self {
            directory,
            accounts,
            ledger,
            rate_limiter,
            usage,
            misses: None,
            clock,
            rate_limit: RateLimit::default(),
            account_rate_limit: None,
            rate_policy: RatePolicy::Observe,
            max_enrichment_items: None,
            in_flight: InFlight::default(),
            shortfalls: Shortfalls::default(),
        }
    }

    /// Runs all checks of a call and returns its answer.
    pub async fn answer(&self, call: &Call<'_>) -> Outcome {
        let now = self.clock.now();
        let key = match self.identify(call.key, now).await {
            Ok(key) => key,
            Err(refusal) => {
                return Outcome {
                    result: Err(refusal),
                    key: None,
                    rate_limit_status: None,
                    remaining: None,
                };
            }
        };
        let rate_limit_status = match self.count_in_windows(&key, now).await {
            Ok(rate_limit_status) => rate_limit_status,
            Err(error) => {
                return self.close(call, key, None, None, Err(store_refusal(error)), now).await;
            }
        };
        if rate_limit_status.is_over && self.rate_policy == RatePolicy::Reject {
            let refused = Err(Refusal::OverRate(rate_limit_status));
            return self.close(call, key, Some(rate_limit_status), None, refused, now).await;
        }
        let mut balance = None;
        let metered = MeteredCall { call, key: &key, now };
        let result = self.run(&metered, &mut balance).await;
        self.close(call, key, Some(rate_limit_status), balance, result, now).await
    }

    /// Counts a request of a key, and of its account if it has a limit. Returns the status of the
    /// tighter limit.
    async fn count_in_windows(
        &self,
        key: &KeyInfo,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError> {
        let limit = self.rate_limit.with(key.rate);
        let of_key = self.rate_limiter.count(key.id, limit, now).await?;
        match self.account_rate_limit {
            None => Ok(of_key),
            Some(limit) => {
                let of_account = self.rate_limiter.count_account(key.account, limit, now).await?;
                Ok(of_key.tighter(of_account))
            }
        }
    }

    /// Finds the key. All invalid keys get the same refusal.
    async fn identify(&self, key: Option<&str>, now: Timestamp) -> Result<Arc<KeyInfo>, Refusal> {
        let key = key.and_then(|text| ApiKey::parse(text).ok()).ok_or(Refusal::InvalidKey)?;
        let found = self.accounts.find_key(&key).await.map_err(store_refusal)?;
        let info = found.ok_or(Refusal::InvalidKey)?;
        if info.is_accepted(now) {
            return Ok(info);
        }
        Err(Refusal::InvalidKey)
    }

    /// Counts the call and builds its outcome.
    async fn close(
        &self,
        call: &Call<'_>,
        key: Arc<KeyInfo>,
        rate_limit_status: Option<RateLimitStatus>,
        balance: Option<Credits>,
        result: Result<Answer, Refusal>,
        now: Timestamp,
    ) -> Outcome {
        let remaining = match balance {
            Some(balance) => Some(balance),
            None => self.ledger.cached_balance(key.account).await.ok().flatten(),
        };
        self.usage.count(Use {
            account: key.account,
            key: key.id,
            endpoint: call.endpoint,
            outcome: match &result {
                Ok(answer) if answer.is_replayed => UseOutcome::Replayed,
                Ok(answer) if answer.is_found => UseOutcome::Found,
                Ok(_) => UseOutcome::NotFound,
                Err(_) => UseOutcome::Refused,
            },
            credits: result.as_ref().map_or(Credits::ZERO, |answer| answer.used),
            at: now,
        });
        Outcome { result, key: Some(key), rate_limit_status, remaining }
    }
}
