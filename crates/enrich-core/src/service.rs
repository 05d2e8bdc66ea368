//! The metered service: it makes the same checks in the same order for every call.
//!
//! ```text
//! API key → rate limit → input fields → idempotency key → balance ≥ lowest price → look-up
//!     → price of the result → charge → answer
//! ```
//!
//! `docs/api-design.md`, "Order of checks", defines this order. The answer is written before the
//! charge is made, but sent only after the ledger has reported that the charge is durable (on
//! disk).

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
use crate::refusal::{InvalidFields, Refusal};
use crate::shortfall::Shortfalls;

use metering::{MeteredCall, store_refusal};

pub use call::{Answer, Ask, Call, Outcome, WriteAnswer};
pub use look_up::{LookUp, LookUpAnswer};
pub use look_up_value::LookUpValue;

/// Answers calls, and meters them: checks, charges and counts each call.
pub struct Service {
    /// The directory, which holds the look-up data.
    pub directory: Arc<dyn Directory>,
    /// The store of accounts and their API keys.
    pub accounts: Arc<dyn Accounts>,
    /// The ledger, which decides charges.
    pub ledger: Arc<dyn Ledger>,
    /// Counts the requests of each key and account for their rate limits.
    pub rate_limiter: Arc<dyn RateLimiter>,
    /// The usage counters: the number of calls by day, account, key, endpoint and outcome.
    pub usage: Arc<dyn Usage>,
    /// Counts the company names that look-ups did not find; `None` if this is switched off.
    pub misses: Option<Arc<dyn Misses>>,
    /// The clock, the only source of the present time.
    pub clock: Arc<dyn Clock>,
    /// The rate limit of a key for which no other limit is set.
    pub rate_limit: RateLimit,
    /// The rate limit of all keys of an account together; `None` if there is none.
    pub account_rate_limit: Option<RateLimit>,
    /// Whether requests beyond a rate limit are answered as usual or refused.
    pub rate_policy: RatePolicy,
    /// Maximum number of items in each list of an answer, for endpoints whose price does not depend
    /// on the number of items. With `None`, answers contain all items, as the API specifies.
    pub max_enrichment_items: Option<NonZeroU64>,
    in_flight: InFlight,
    shortfalls: Shortfalls,
}

/// A call whose API key is identified, and which is already counted for the rate limit. The method
/// [`answer`](Self::answer) must be called next. Only this method counts an admitted call in the
/// usage counters.
#[must_use]
pub struct AdmittedCall<'a> {
    service: &'a Service,
    call: Call<'a>,
    key: Arc<KeyInfo>,
    rate_limit_status: Option<RateLimitStatus>,
    now: Timestamp,
}

/// The ports that a service needs: traits for the stores and the clock.
pub struct ServicePorts {
    /// The directory, which holds the look-up data.
    pub directory: Arc<dyn Directory>,
    /// The store of accounts and their API keys.
    pub accounts: Arc<dyn Accounts>,
    /// The ledger, which decides charges.
    pub ledger: Arc<dyn Ledger>,
    /// Counts the requests of each key and account for their rate limits.
    pub rate_limiter: Arc<dyn RateLimiter>,
    /// The usage counters: the number of calls by day, account, key, endpoint and outcome.
    pub usage: Arc<dyn Usage>,
    /// The clock, the only source of the present time.
    pub clock: Arc<dyn Clock>,
}

impl Service {
    /// Creates a service with the default rate limit ([`RateLimit::default`]).
    /// Requests beyond the limit are counted, but answered as usual ([`RatePolicy::Observe`]).
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

    /// Makes the checks that do not need the input fields: identifies the key, and counts the
    /// request for the rate limit.
    ///
    /// # Errors
    ///
    /// If one of these checks refuses the call. The error is the outcome of the call, and contains
    /// the refusal.
    pub async fn admit<'a>(&'a self, call: Call<'a>) -> Result<AdmittedCall<'a>, Outcome> {
        let now = self.clock.now();
        let key = match self.identify(call.key, now).await {
            Ok(key) => key,
            Err(refusal) => {
                let (key, rate_limit_status, remaining) = (None, None, None);
                return Err(Outcome { result: Err(refusal), key, rate_limit_status, remaining });
            }
        };
        let counted = self.count_in_windows(&key, now).await;
        let mut admitted = AdmittedCall { service: self, call, key, rate_limit_status: None, now };
        let refusal = match counted {
            Ok(status) => {
                admitted.rate_limit_status = Some(status);
                if !status.is_over || self.rate_policy != RatePolicy::Reject {
                    return Ok(admitted);
                }
                Refusal::OverRate(status)
            }
            Err(error) => store_refusal(error),
        };
        let remaining = admitted.remaining(None).await;
        Err(admitted.close(Err(refusal), remaining))
    }

    /// Counts a request for the rate limit of its key. If accounts have a rate limit, also counts
    /// the request for the key's account. Returns the stricter of the two statuses
    /// ([`RateLimitStatus::tighter`]).
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

    /// Finds the API key with this text. The refusal is the same for a malformed, unknown, expired
    /// or revoked key, and for a key of an inactive account. So the refusal does not show whether
    /// the key exists.
    async fn identify(&self, key: &str, now: Timestamp) -> Result<Arc<KeyInfo>, Refusal> {
        let key = ApiKey::parse(key).map_err(|_| Refusal::InvalidKey)?;
        let found = self.accounts.find_key(&key).await.map_err(store_refusal)?;
        let info = found.ok_or(Refusal::InvalidKey)?;
        if info.is_accepted(now) {
            return Ok(info);
        }
        Err(Refusal::InvalidKey)
    }
}

impl AdmittedCall<'_> {
    /// Returns the caller's API key, without its secret text.
    pub fn key(&self) -> &KeyInfo {
        &self.key
    }

    /// Makes the checks that come after those of [`Service::admit`]. Then makes the look-up, writes
    /// the answer with `write`, and charges the answer's price. `ask` is the parsed request, or the
    /// input fields that are invalid.
    pub fn answer(
        self,
        ask: Result<Ask, InvalidFields>,
        write: WriteAnswer<'_>,
    ) -> impl Future<Output = Outcome> {
        let (price, most) = (self.call.price, self.service.max_enrichment_items);
        let mut ask = ask.map(|ask| ask.bounded(price, most));
        // This is not an `async fn`, because the future of an `async fn` would contain its
        // arguments twice.
        async move {
            let mut balance = None;
            let result = match &mut ask {
                Ok(ask) => MeteredCall::new(&self, ask, write, &mut balance).run().await,
                Err(invalid) => Err(Refusal::Fields(std::mem::take(invalid))),
            };
            let remaining = self.remaining(balance).await;
            self.close(result, remaining)
        }
    }

    /// Returns the account's remaining credits. `balance` is the last balance that this call has
    /// read from the ledger. If the call has read none, returns the ledger's cached balance; `None`
    /// if it cannot be read.
    async fn remaining(&self, balance: Option<Credits>) -> Option<Credits> {
        match balance {
            Some(balance) => Some(balance),
            None => self.service.ledger.cached_balance(self.key.account).await.ok().flatten(),
        }
    }

    fn close(self, result: Result<Answer, Refusal>, remaining: Option<Credits>) -> Outcome {
        let Self { service, call, key, rate_limit_status, now } = self;
        service.usage.count(Use {
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
