//! The metered service: the order of checks that every call goes through, written once.
//!
//! ```text
//! key → window → fields → idempotency → balance ≥ least price → look up
//!     → price of what was found → charge → answer
//! ```
//!
//! The order is that of the interface decisions, section 1. The answer's bytes exist before the
//! charge is asked for, and leave only after the ledger says that the charge is durable.

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

/// Answers calls and meters them.
pub struct Service {
    /// The look-up data.
    pub directory: Arc<dyn Directory>,
    /// Accounts and keys.
    pub accounts: Arc<dyn Accounts>,
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// The rate windows.
    pub rate_limiter: Arc<dyn RateLimiter>,
    /// The usage counters.
    pub usage: Arc<dyn Usage>,
    /// Counts the names of companies that are missed; `None` where nobody wants to know.
    pub misses: Option<Arc<dyn Misses>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The limit of keys that have none of their own.
    pub rate_limit: RateLimit,
    /// The limit of all keys of an account together; `None` for none.
    pub account_rate_limit: Option<RateLimit>,
    /// What happens beyond it.
    pub rate_policy: RatePolicy,
    /// The most items of each list in an answer whose price does not grow with its items; `None`
    /// for all of them, as the interface says.
    pub max_enrichment_items: Option<NonZeroU64>,
    in_flight: InFlight,
    shortfalls: Shortfalls,
}

/// What a service needs from outside: a port each.
pub struct ServicePorts {
    /// The look-up data.
    pub directory: Arc<dyn Directory>,
    /// Accounts and keys.
    pub accounts: Arc<dyn Accounts>,
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// The rate windows.
    pub rate_limiter: Arc<dyn RateLimiter>,
    /// The usage counters.
    pub usage: Arc<dyn Usage>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Service {
    /// A service with the interface's own limit, which it counts and does not enforce.
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

    /// Takes a call through every check to its answer.
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

    /// Counts a request of a key, and of its account where that has a limit. Returns the status of
    /// the tighter limit.
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

    /// The record of the key that was sent; every way a key can be wrong looks the same.
    async fn identify(&self, key: Option<&str>, now: Timestamp) -> Result<Arc<KeyInfo>, Refusal> {
        let key = key.and_then(|text| ApiKey::parse(text).ok()).ok_or(Refusal::InvalidKey)?;
        let found = self.accounts.find_key(&key).await.map_err(store_refusal)?;
        let info = found.ok_or(Refusal::InvalidKey)?;
        if info.is_accepted(now) {
            return Ok(info);
        }
        Err(Refusal::InvalidKey)
    }

    /// Counts the call and puts together what came of it.
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
