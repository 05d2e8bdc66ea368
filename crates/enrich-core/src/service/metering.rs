//! The steps of a call from the parsed request to the charged answer.

use jiff::Timestamp;

use crate::account::KeyInfo;
use crate::credits::{Credits, Price};
use crate::idempotency::{IdempotencyKey, IdempotencyRecord, StoredResponse};
use crate::ledger_entry::ChargeId;
use crate::port::error::StoreError;
use crate::port::ledger::{Charge, ChargeError, Charged};
use crate::question::{CompanyRef, Question};
use crate::refusal::{Needed, Refusal};
use crate::response_template::ResponseTemplate;
use crate::subject::DirectoryRevision;
use crate::suppressed::holds_suppressed;

use super::call::{Answer, Ask, Call, WriteAnswer};
use super::{AdmittedCall, Service};

/// A call whose key and rate limit are already checked, together with its parsed request.
pub(super) struct MeteredCall<'a> {
    service: &'a Service,
    call: &'a Call<'a>,
    key: &'a KeyInfo,
    now: Timestamp,
    ask: &'a Ask,
    write: WriteAnswer<'a>,
    /// The last balance that this call has read from the ledger; `None` if it has read none yet.
    balance: &'a mut Option<Credits>,
}

/// An answer whose text is ready, except for the balance in it. It is not charged yet.
struct WrittenAnswer {
    template: ResponseTemplate,
    /// The revision (version number) of the look-up data from which the answer was read.
    revision: DirectoryRevision,
    balance: Credits,
}

impl<'a> MeteredCall<'a> {
    pub(super) fn new(
        admitted: &'a AdmittedCall<'a>,
        ask: &'a Ask,
        write: WriteAnswer<'a>,
        balance: &'a mut Option<Credits>,
    ) -> Self {
        let AdmittedCall { service, call, key, now, .. } = admitted;
        Self { service, call, key, now: *now, ask, write, balance }
    }

    fn not_enough(&self, needed: Needed, balance: Credits) -> Refusal {
        Refusal::NotEnoughCredits { price: self.call.price, needed, balance }
    }

    /// Creates the charge for an answer. If the call has an idempotency key, the charge contains an
    /// idempotency record.
    fn new_charge(
        &self,
        template: &ResponseTemplate,
        revision: DirectoryRevision,
        keyed: Option<(&IdempotencyKey, &[u8])>,
    ) -> Charge {
        let idempotency = keyed.map(|(key, request_bytes)| IdempotencyRecord {
            key: key.clone(),
            request_bytes: request_bytes.to_vec(),
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

    /// Finds the company, person or domain, charges the price, and returns the answer.
    pub(super) async fn run(&mut self) -> Result<Answer, Refusal> {
        match self.call.idempotency_key {
            None => self.find_and_charge(None).await,
            // Most calls have no idempotency key. The future of `run_once` is boxed, so that it
            // does not make the futures of these calls larger.
            Some(text) => Box::pin(self.run_once(text)).await,
        }
    }

    /// Runs a call with an idempotency key. If the call repeats an earlier call, returns the
    /// stored answer to that call.
    async fn run_once(&mut self, key: &str) -> Result<Answer, Refusal> {
        let key = IdempotencyKey::parse(key).map_err(Refusal::BadIdempotencyKey)?;
        // The bytes begin with the endpoint, because a call with the same input fields at another
        // endpoint is another request.
        let request_bytes = [self.call.endpoint.as_bytes(), &[0], &self.ask.canonical].concat();
        let guard = self.service.in_flight.enter(self.key.account, &key);
        match self.stored_response(&key, &request_bytes).await? {
            // An earlier call with this idempotency key has ended, and its response is stored. The
            // stored response is returned, even if another call with this key is still running.
            Some(stored) => self.replay(stored).await,
            None if guard.is_none() => Err(Refusal::StillRunning),
            None => {
                let keyed = Some((&key, &request_bytes[..]));
                let result = self.find_and_charge(keyed).await;
                if !matches!(result, Err(Refusal::NotEnoughCredits { .. })) {
                    return result;
                }
                // The balance was too low. Perhaps another process has answered the same call in
                // the meantime, and charged the last credits for it. In this case, the response of
                // that process is stored now, and is returned.
                match self.stored_response(&key, &request_bytes).await? {
                    Some(stored) => self.replay(stored).await,
                    None => result,
                }
            }
        }
    }

    async fn stored_response(
        &self,
        key: &IdempotencyKey,
        request_bytes: &[u8],
    ) -> Result<Option<StoredResponse>, Refusal> {
        let (ledger, account) = (&self.service.ledger, self.key.account);
        ledger.stored_response(account, key, request_bytes, self.now).await.map_err(store_refusal)
    }

    /// Checks the balance, makes the look-up, writes the answer and charges the answer's price.
    /// `keyed` is the idempotency key and the bytes of the request; `None` if the call has no
    /// idempotency key.
    async fn find_and_charge(
        &mut self,
        keyed: Option<(&IdempotencyKey, &[u8])>,
    ) -> Result<Answer, Refusal> {
        let before = self.check_balance().await?;
        let written = self.find_and_write(before).await?;
        let WrittenAnswer { template, revision, balance: before } = written;
        if template.items == 0 && keyed.is_none() {
            return Ok(Answer::first(template.body.fill(before), Credits::ZERO, 0));
        }

        let used = self.call.price.of(template.items);
        let charged = self.service.ledger.charge(self.new_charge(&template, revision, keyed));
        match charged.await.map_err(charge_refusal)? {
            Charged::Taken { balance: after } => {
                *self.balance = Some(after);
                self.service.shortfalls.note(self.key.account, after);
                Ok(Answer::first(template.body.fill(after), used, template.items))
            }
            Charged::Replayed(stored) => {
                *self.balance = None;
                self.replay(stored).await
            }
            Charged::Insufficient { balance: left } => {
                *self.balance = Some(left);
                self.service.shortfalls.count(self.key.account, left, self.now);
                Err(self.not_enough(Needed::MoreThanLeft, left))
            }
        }
    }

    /// Returns the balance, if the account may make this look-up. The look-up is refused in two
    /// cases:
    ///
    /// - The balance is below the endpoint's lowest price.
    /// - The answer may cost more than the balance, and the account has already reached the daily
    ///   maximum of answers that it could not pay for.
    async fn check_balance(&mut self) -> Result<Credits, Refusal> {
        let price = self.call.price;
        let before = self.balance_for_check().await.map_err(store_refusal)?;
        let before = before.ok_or(Refusal::InvalidKey)?;
        *self.balance = Some(before);
        if before < price.least() {
            return Err(self.not_enough(Needed::Least(price.least()), before));
        }
        if self.ask.may_cost_more_than(before, price)
            && let Some(left) = self.probes_too_often().await?
        {
            *self.balance = Some(left);
            return Err(self.not_enough(Needed::PerhapsMore, left));
        }
        Ok(before)
    }

    /// Makes the look-up and writes the answer. `before` is a balance that was read earlier.
    ///
    /// The look-up reads at most one item more than `before` pays for. If this additional item
    /// exists, `before` is too low for the list. But the account may have received credits after
    /// `before` was read, so the present balance is read:
    ///
    /// - If it pays for all items that were read, the list is read again, with this balance as
    ///   `before`.
    /// - Otherwise, the call is refused.
    async fn find_and_write(&mut self, mut before: Credits) -> Result<WrittenAnswer, Refusal> {
        let (service, account, price) = (self.service, self.key.account, self.call.price);
        loop {
            let limit = read_limit(price, before);
            let projection = self.ask.projection.at_most(limit);
            // The company, person or domain that was found is dropped at the end of this block. So
            // it is not in memory while the call waits for the ledger.
            let (template, revision) = {
                let question = &self.ask.question;
                let found = service.directory.find_for(account.into(), question, projection).await;
                let found = found.map_err(store_refusal)?;
                if found.is_none() {
                    self.count_miss();
                }
                let template = (self.write)(self.ask, found.as_ref());
                (template, found.map(|found| found.revision).unwrap_or_default())
            };
            if projection == self.ask.projection || template.items < limit {
                return Ok(WrittenAnswer { template, revision, balance: before });
            }
            // As many items were read as `limit` allows. So the list may have more items, and the
            // answer in `template` may be incomplete. If the present balance pays for the items
            // that were read, the list is read again with a higher limit.
            let now = service.ledger.balance(account).await.map_err(store_refusal)?;
            let now = now.ok_or(Refusal::InvalidKey)?;
            *self.balance = Some(now);
            let used = price.of(template.items);
            if now < used {
                // After charging has stopped, this process no longer sees new grants. So `now`, the
                // balance that was read, may be too low. The refusal must not say that the account
                // has too few credits.
                if !service.ledger.is_charging() {
                    return Err(Refusal::NotCharging);
                }
                service.shortfalls.count(account, now, self.now);
                return Err(self.not_enough(Needed::MoreThanLeft, now));
            }
            before = now;
        }
    }

    /// Counts the requested company name as not found. Does nothing if the call did not ask for a
    /// company by its name, or if the operator has not switched this on.
    fn count_miss(&self) {
        let Some(misses) = &self.service.misses else { return };
        if let Question::Company(CompanyRef::Name { name, .. }) = &self.ask.question {
            misses.count(name, self.now);
        }
    }

    /// Returns the balance if the account has reached the daily maximum of answers that it could
    /// not pay for. Returns `None` if the maximum is not reached, or if the account has received
    /// credits since the last of these answers.
    ///
    /// The refusal of a call shows that there is an answer. So without a maximum, the account could
    /// find out for free which look-ups have an answer.
    async fn probes_too_often(&self) -> Result<Option<Credits>, Refusal> {
        let (service, account) = (self.service, self.key.account);
        let Some(least) = service.shortfalls.used_up(account, self.now) else { return Ok(None) };
        // `least` is an earlier balance: the lowest one since the last answer that the account
        // could not pay for. Charges only lower the balance. So if the balance is now higher than
        // `least`, credits were granted.
        let left = service.ledger.balance(account).await.map_err(store_refusal)?;
        let left = left.ok_or(Refusal::InvalidKey)?;
        if left > least {
            service.shortfalls.forget(account);
            return Ok(None);
        }
        service.shortfalls.note(account, left);
        Ok(Some(left))
    }

    /// Answers a call that repeats an earlier call: returns the stored answer to the earlier call.
    /// If the stored answer contains a value that was suppressed later (no answer may contain it
    /// any more), returns the answer for "nothing found" instead. Both answers are free.
    async fn replay(&self, stored: StoredResponse) -> Result<Answer, Refusal> {
        if let StoredResponse::Answer { body, balance, .. } = &stored {
            let suppressed = self.service.directory.suppressed().await.map_err(store_refusal)?;
            let suppressed = suppressed.filter(|values| !values.is_empty());
            let text = String::from_utf8_lossy(body.bytes());
            if suppressed.is_some_and(|values| holds_suppressed(&*values, &text)) {
                let body = (self.write)(self.ask, None).body;
                let forgotten = StoredResponse::Answer { body, balance: *balance, items: 0 };
                return answer_from_stored(self.call.price, forgotten);
            }
        }
        answer_from_stored(self.call.price, stored)
    }

    /// Returns the cached balance, if it pays for the endpoint's lowest price. Otherwise reads
    /// the exact balance, because the cached balance may lack a grant of the last second.
    async fn balance_for_check(&self) -> Result<Option<Credits>, StoreError> {
        let (ledger, account) = (&self.service.ledger, self.key.account);
        match ledger.cached_balance(account).await? {
            Some(seen) if seen >= self.call.price.least() => Ok(Some(seen)),
            Some(_) | None => ledger.balance(account).await,
        }
    }
}

/// Returns the maximum number of items to read: one more than `balance` pays for. If this
/// additional item exists, the list costs more than the balance, and the rest of the list need
/// not be read.
fn read_limit(price: Price, balance: Credits) -> u64 {
    price.max_items(balance).saturating_add(1)
}

fn answer_from_stored(price: Price, stored: StoredResponse) -> Result<Answer, Refusal> {
    match stored {
        StoredResponse::Answer { body, balance, items } => {
            Ok(Answer::first(body.fill(balance), price.of(items), items).repeated())
        }
        StoredResponse::OtherRequest => Err(Refusal::IdempotencyKeyReused),
    }
}

pub(super) fn store_refusal(error: StoreError) -> Refusal {
    match error {
        StoreError::Overloaded => Refusal::Overloaded,
        StoreError::Unavailable(source) => Refusal::Unavailable(source),
        StoreError::Failed(source) | StoreError::Unknown(source) => Refusal::Failed(source),
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
