//! The metered service: the order of checks that every call goes through, written once.
//!
//! ```text
//! key → window → fields → idempotency → balance ≥ least price → look up
//!     → price of what was found → charge → answer
//! ```
//!
//! The order is that of the interface decisions, section 1. The answer's bytes exist before the
//! charge is asked for, and leave only after the ledger says that the charge is durable.

mod picked;

use std::num::NonZeroU64;
use std::sync::Arc;

use jiff::Timestamp;

use crate::account::{AccountId, KeyInfo};
use crate::api_key::ApiKey;
use crate::credits::{Credits, Price};
use crate::in_flight::InFlight;
use crate::ledger_entry::ChargeId;
use crate::port::accounts::Accounts;
use crate::port::clock::Clock;
use crate::port::directory::Directory;
use crate::port::error::StoreError;
use crate::port::ledger::{Charge, ChargeError, Charged, Ledger};
use crate::port::misses::Misses;
use crate::port::rate_limiter::RateLimiter;
use crate::port::usage::{Usage, Use, UseOutcome};
use crate::question::{CompanyRef, Projection, Question};
use crate::rate::{RateLimit, RateLimitStatus, RatePolicy};
use crate::refusal::{InvalidFields, Needed, Refusal};
use crate::repeat::{IdempotencyKey, IdempotencyRecord, RequestId, StoredResponse};
use crate::response_template::ResponseTemplate;
use crate::shortfall::Shortfalls;
use crate::subject::{DirectoryRevision, Found};
use crate::suppressed::holds_suppressed;

pub use picked::Picked;

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

/// What a caller asks, its fields read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The question.
    pub question: Question,
    /// What of the subject the answer needs.
    pub projection: Projection,
    /// The input, as the answer echoes it.
    pub echo: String,
    /// The most items to return and charge; `None` for all.
    pub limit: Option<u64>,
    /// The question in a form that does not depend on how it was sent; with the endpoint it is
    /// [`IdempotencyRecord::asked`].
    pub asked: Vec<u8>,
}

impl Ask {
    /// Whether an answer may cost more than there is: a list, unless its limit bounds it.
    fn may_cost_more_than(&self, balance: Credits, price: Price) -> bool {
        price.is_per_item() && self.limit.is_none_or(|limit| price.of(limit) > balance)
    }

    /// The same where an answer whose price does not grow with its items holds at most `most` of
    /// each list.
    #[must_use]
    pub fn bounded(self, price: Price, most: Option<NonZeroU64>) -> Self {
        let Some(most) = most.filter(|_| !price.is_per_item()) else {
            return self;
        };
        let limit = self.limit.map_or(most.get(), |limit| limit.min(most.get()));
        Self { limit: Some(limit), ..self }
    }

    /// The items of a list that are returned, and charged.
    pub fn first_items<'a, T>(&self, items: &'a [T]) -> &'a [T] {
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        &items[..limit.unwrap_or(usize::MAX).min(items.len())]
    }
}

/// A call, before anything of it is checked.
pub struct Call<'a> {
    /// The API key as sent.
    pub key: Option<&'a str>,
    /// The endpoint's path, by which charges and counters name it.
    pub endpoint: &'static str,
    /// The endpoint's rule.
    pub price: Price,
    /// The request's id.
    pub request_id: &'a RequestId,
    /// The idempotency key as sent.
    pub idempotency_key: Option<&'a str>,
    /// Reads the fields; called once the key is known and the request counted.
    pub read: &'a (dyn Fn(&KeyInfo) -> Result<Ask, InvalidFields> + Sync),
    /// Writes the answer for what was found, or for nothing. Zero items in the draft say that
    /// nothing was found, even where a subject was: it lacks the attribute.
    pub write: &'a (dyn Fn(&Ask, Option<&Found>) -> ResponseTemplate + Sync),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its bytes.
    pub body: Vec<u8>,
    /// What it cost: 0 for a miss or a repeat.
    pub used: Credits,
    /// The items it holds: 0 where nothing was found, 1 for a single answer.
    pub items: u64,
    /// Whether something was found.
    pub is_found: bool,
    /// Whether it is the first answer once more.
    pub is_replayed: bool,
}

impl Answer {
    fn first(body: Vec<u8>, used: Credits, items: u64) -> Self {
        Self { body, used, items, is_found: items > 0, is_replayed: false }
    }
}

/// What came of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The answer, or why there is none.
    pub result: Result<Answer, Refusal>,
    /// The key that asked, once it is known.
    pub key: Option<Arc<KeyInfo>>,
    /// How the key stands in its rate window, once it is known.
    pub rate_limit_status: Option<RateLimitStatus>,
    /// The credits left, once the key is known.
    pub remaining: Option<Credits>,
}

/// A call on its way, past the key and the window.
struct MeteredCall<'a> {
    call: &'a Call<'a>,
    key: &'a KeyInfo,
    now: Timestamp,
}

impl MeteredCall<'_> {
    /// What a draft costs the account, and what of it is kept under an idempotency key.
    fn charge(
        &self,
        template: &ResponseTemplate,
        revision: DirectoryRevision,
        named: Option<(&IdempotencyKey, &[u8])>,
    ) -> Charge {
        let idempotency = named.map(|(key, asked)| IdempotencyRecord {
            key: key.clone(),
            asked: asked.to_vec(),
            body: template.body.clone(),
        });
        Charge {
            id: ChargeId::new(self.now),
            account: self.key.account,
            key: self.key.id,
            endpoint: self.call.endpoint,
            items: template.items,
            price: self.call.price,
            request_id: self.call.request_id.clone(),
            revision,
            at: self.now,
            idempotency,
        }
    }
}

impl Service {
    /// A service with the interface's own limit, which it counts and does not enforce.
    pub fn new(
        directory: Arc<dyn Directory>,
        accounts: Arc<dyn Accounts>,
        ledger: Arc<dyn Ledger>,
        rate_limiter: Arc<dyn RateLimiter>,
        usage: Arc<dyn Usage>,
        clock: Arc<dyn Clock>,
    ) -> Self {
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

    /// Counts a request of a key, and of its account where that has a limit; tells how the tighter of
    /// them stands.
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

    /// Answers a question of a program that has no request to read and no shape to write: through
    /// the same checks, at the same price. `pick` takes the attribute from what was found, and says
    /// how many items it is; `None` is free, and an empty body in the answer.
    pub async fn ask(
        &self,
        key: &str,
        purpose: &'static str,
        price: Price,
        question: Question,
        pick: &(dyn Fn(&Found) -> Option<Picked> + Sync),
    ) -> Outcome {
        let ask = Ask {
            question,
            projection: Projection::Profile,
            echo: String::new(),
            limit: None,
            asked: Vec::new(),
        };
        let call = Call {
            key: Some(key),
            endpoint: purpose,
            price,
            request_id: &RequestId::make(self.clock.now()),
            idempotency_key: None,
            read: &|_| Ok(ask.clone()),
            write: &|_, found| found.and_then(pick).map(Picked::into_draft).unwrap_or_default(),
        };
        self.answer(&call).await
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

    /// From the fields to the answer. `balance` is left at the last one seen, if one was.
    async fn run(
        &self,
        metered: &MeteredCall<'_>,
        balance: &mut Option<Credits>,
    ) -> Result<Answer, Refusal> {
        let ask = (metered.call.read)(metered.key).map_err(Refusal::Fields)?;
        let ask = ask.bounded(metered.call.price, self.max_enrichment_items);
        match metered.call.idempotency_key {
            None => self.look_up(metered, &ask, None, balance).await,
            // A future of its own: most calls have no key, and keep no place for what it takes.
            Some(text) => Box::pin(self.run_once(metered, &ask, text, balance)).await,
        }
    }

    /// From the idempotency key to the answer, which is the first one once more if there was one.
    async fn run_once(
        &self,
        metered: &MeteredCall<'_>,
        ask: &Ask,
        key: &str,
        balance: &mut Option<Credits>,
    ) -> Result<Answer, Refusal> {
        let key = IdempotencyKey::parse(key).map_err(Refusal::BadIdempotencyKey)?;
        // The same fields at another endpoint are another question.
        let asked = [metered.call.endpoint.as_bytes(), &[0], &ask.asked].concat();
        let account = metered.key.account;
        let place = self.in_flight.enter(account, &key);
        let kept = self.ledger.kept(account, &key, &asked, metered.now).await;
        match kept.map_err(store_refusal)? {
            // Also while another repeat has the place: the first call has ended.
            Some(kept) => self.replay(metered, ask, kept).await,
            None if place.is_none() => Err(Refusal::StillRunning),
            None => {
                let named = Some((&key, &asked[..]));
                let result = self.look_up(metered, ask, named, balance).await;
                if !matches!(result, Err(Refusal::NotEnoughCredits { .. })) {
                    return result;
                }
                // Another process may have answered the first call, and taken the last credits
                // for it, since the kept answers were looked at.
                let kept = self.ledger.kept(account, &key, &asked, metered.now).await;
                match kept.map_err(store_refusal)? {
                    Some(kept) => self.replay(metered, ask, kept).await,
                    None => result,
                }
            }
        }
    }

    /// From the balance to the answer. `named` is the idempotency key and what it is compared by.
    async fn look_up(
        &self,
        metered: &MeteredCall<'_>,
        ask: &Ask,
        named: Option<(&IdempotencyKey, &[u8])>,
        balance: &mut Option<Credits>,
    ) -> Result<Answer, Refusal> {
        let call = metered.call;
        let account = metered.key.account;
        let before = self.enough(account, call.price.least()).await.map_err(store_refusal)?;
        let mut before = before.ok_or(Refusal::InvalidKey)?;
        *balance = Some(before);
        let not_enough =
            |needed, balance| Refusal::NotEnoughCredits { price: call.price, needed, balance };
        if before < call.price.least() {
            return Err(not_enough(Needed::Least(call.price.least()), before));
        }
        if ask.may_cost_more_than(before, call.price)
            && let Some(left) = self.probes_too_often(account, metered.now).await?
        {
            *balance = Some(left);
            return Err(not_enough(Needed::PerhapsMore, left));
        }

        let (template, revision) = loop {
            let most = most_items(call.price, before);
            let projection = ask.projection.at_most(most);
            // What was found is not kept any longer than its answer is written.
            let (template, revision) = {
                let found =
                    self.directory.find_for(account.into(), &ask.question, projection).await;
                let found = found.map_err(store_refusal)?;
                if found.is_none() {
                    self.count_miss(&ask.question, metered.now);
                }
                let template = (call.write)(ask, found.as_ref());
                (template, found.map(|found| found.revision).unwrap_or_default())
            };
            if projection == ask.projection || template.items < most {
                break (template, revision);
            }
            // There may be more than was read, which costs more than there was. So it is no answer,
            // also where credits were granted since.
            let now = self.ledger.balance(account).await.map_err(store_refusal)?;
            let now = now.ok_or(Refusal::InvalidKey)?;
            *balance = Some(now);
            let used = call.price.of(template.items);
            if now < used {
                // Nothing granted since charging stopped is seen.
                if !self.ledger.is_charging() {
                    return Err(Refusal::NotCharging);
                }
                self.shortfalls.count(account, now, metered.now);
                return Err(not_enough(Needed::MoreThanLeft, now));
            }
            before = now;
        };
        if template.items == 0 && named.is_none() {
            let body = ResponseTemplate::fill(&template.body, before);
            return Ok(Answer::first(body, Credits::ZERO, 0));
        }

        let used = call.price.of(template.items);
        let charged = self.ledger.charge(metered.charge(&template, revision, named));
        match charged.await.map_err(charge_refusal)? {
            Charged::Taken { balance: after } => {
                *balance = Some(after);
                self.shortfalls.note(account, after);
                let body = ResponseTemplate::fill(&template.body, after);
                Ok(Answer::first(body, used, template.items))
            }
            Charged::Replayed(kept) => {
                *balance = None;
                self.replay(metered, ask, kept).await
            }
            Charged::Insufficient { balance: left } => {
                *balance = Some(left);
                self.shortfalls.count(account, left, metered.now);
                Err(not_enough(Needed::MoreThanLeft, left))
            }
        }
    }

    /// Counts the name of a company that was asked for and that nobody bears.
    fn count_miss(&self, question: &Question, now: Timestamp) {
        let Some(misses) = &self.misses else { return };
        if let Question::Company(CompanyRef::Name { name, .. }) = question {
            misses.count(name, now);
        }
    }

    /// Whether an account has had all the refusals that it may have in a day for what it could not
    /// pay once that was found, and no credits since: what it has left then.
    async fn probes_too_often(
        &self,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<Credits>, Refusal> {
        let Some(least) = self.shortfalls.used_up(account, now) else { return Ok(None) };
        // Read after what it had: charges on their way lower it, and only credits raise it.
        let left = self.ledger.balance(account).await.map_err(store_refusal)?;
        let left = left.ok_or(Refusal::InvalidKey)?;
        if left > least {
            self.shortfalls.forget(account);
            return Ok(None);
        }
        self.shortfalls.note(account, left);
        Ok(Some(left))
    }

    /// The first answer once more. Where it holds a value that was forgotten since, nothing is
    /// found any more; the repeat costs nothing in either case.
    async fn replay(
        &self,
        metered: &MeteredCall<'_>,
        ask: &Ask,
        kept: StoredResponse,
    ) -> Result<Answer, Refusal> {
        if let StoredResponse::Answer { body, balance, .. } = &kept {
            let suppressed = self.directory.suppressed().await.map_err(store_refusal)?;
            let suppressed = suppressed.filter(|values| values.count() > 0);
            let text = String::from_utf8_lossy(body);
            if suppressed.is_some_and(|values| holds_suppressed(&*values, &text)) {
                let body = (metered.call.write)(ask, None).body;
                return replay(StoredResponse::Answer { body, balance: *balance, items: 0 });
            }
        }
        replay(kept)
    }

    /// The balance: a glance at it where it covers `least`, else counted, since what was granted a
    /// moment ago has to count.
    async fn enough(
        &self,
        account: AccountId,
        least: Credits,
    ) -> Result<Option<Credits>, StoreError> {
        match self.ledger.cached_balance(account).await? {
            Some(seen) if seen >= least => Ok(Some(seen)),
            Some(_) | None => self.ledger.balance(account).await,
        }
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

/// How many items are worth reading for a caller with `balance`: one more than can be paid, so
/// that a list too long for it is noticed and not read on for nothing.
fn most_items(price: Price, balance: Credits) -> u64 {
    price.most_items(balance).saturating_add(1)
}

fn replay(kept: StoredResponse) -> Result<Answer, Refusal> {
    match kept {
        StoredResponse::Answer { body, balance, items } => {
            let first = Answer::first(ResponseTemplate::fill(&body, balance), Credits::ZERO, items);
            Ok(Answer { is_replayed: true, ..first })
        }
        StoredResponse::OtherQuestion => Err(Refusal::IdempotencyKeyReused),
    }
}

fn store_refusal(error: StoreError) -> Refusal {
    match error {
        StoreError::Overloaded => Refusal::Overloaded,
        StoreError::Failed(source) => Refusal::Failed(source),
    }
}

fn charge_refusal(error: ChargeError) -> Refusal {
    match error {
        ChargeError::NotTaken(source) => Refusal::Failed(source),
        ChargeError::Overloaded => Refusal::Overloaded,
        ChargeError::IdempotencyStoreFull => Refusal::IdempotencyStoreFull,
        ChargeError::Unknown(source) => Refusal::OutcomeUnknown(source),
        ChargeError::Stopped => Refusal::NotCharging,
    }
}
