//! From the fields of a call to its charged answer.

use jiff::Timestamp;

use crate::account::{AccountId, KeyInfo};
use crate::credits::{Credits, Price};
use crate::ledger_entry::ChargeId;
use crate::port::error::StoreError;
use crate::port::ledger::{Charge, ChargeError, Charged};
use crate::question::{CompanyRef, Question};
use crate::refusal::{Needed, Refusal};
use crate::repeat::{IdempotencyKey, IdempotencyRecord, StoredResponse};
use crate::response_template::ResponseTemplate;
use crate::subject::DirectoryRevision;
use crate::suppressed::holds_suppressed;

use super::Service;
use super::call::{Answer, Ask, Call};

/// A call on its way, past the key and the window.
pub(super) struct MeteredCall<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) key: &'a KeyInfo,
    pub(super) now: Timestamp,
}

/// An answer that is written and not yet charged.
struct WrittenAnswer {
    template: ResponseTemplate,
    /// The state of the directory it was read from.
    revision: DirectoryRevision,
    /// The balance before its charge, in credits.
    balance: Credits,
}

impl MeteredCall<'_> {
    /// The refusal of an answer that the balance does not pay for.
    fn not_enough(&self, needed: Needed, balance: Credits) -> Refusal {
        Refusal::NotEnoughCredits { price: self.call.price, needed, balance }
    }

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
    /// From the fields to the answer. `balance` is left at the last one seen, if one was.
    pub(super) async fn run(
        &self,
        metered: &MeteredCall<'_>,
        balance: &mut Option<Credits>,
    ) -> Result<Answer, Refusal> {
        let ask = (metered.call.read)(metered.key).map_err(Refusal::Fields)?;
        let ask = ask.bounded(metered.call.price, self.max_enrichment_items);
        match metered.call.idempotency_key {
            None => self.find_and_charge(metered, &ask, None, balance).await,
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
                let result = self.find_and_charge(metered, ask, named, balance).await;
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
    async fn find_and_charge(
        &self,
        metered: &MeteredCall<'_>,
        ask: &Ask,
        named: Option<(&IdempotencyKey, &[u8])>,
        balance: &mut Option<Credits>,
    ) -> Result<Answer, Refusal> {
        let before = self.check_balance(metered, ask, balance).await?;
        let written = self.find_and_write(metered, ask, before, balance).await?;
        let WrittenAnswer { template, revision, balance: before } = written;
        if template.items == 0 && named.is_none() {
            let body = ResponseTemplate::fill(&template.body, before);
            return Ok(Answer::first(body, Credits::ZERO, 0));
        }

        let used = metered.call.price.of(template.items);
        let charged = self.ledger.charge(metered.charge(&template, revision, named));
        match charged.await.map_err(charge_refusal)? {
            Charged::Taken { balance: after } => {
                *balance = Some(after);
                self.shortfalls.note(metered.key.account, after);
                let body = ResponseTemplate::fill(&template.body, after);
                Ok(Answer::first(body, used, template.items))
            }
            Charged::Replayed(kept) => {
                *balance = None;
                self.replay(metered, ask, kept).await
            }
            Charged::Insufficient { balance: left } => {
                *balance = Some(left);
                self.shortfalls.count(metered.key.account, left, metered.now);
                Err(metered.not_enough(Needed::MoreThanLeft, left))
            }
        }
    }

    /// The balance, when it covers the least price and the account may look up what may cost more
    /// than it has.
    async fn check_balance(
        &self,
        metered: &MeteredCall<'_>,
        ask: &Ask,
        balance: &mut Option<Credits>,
    ) -> Result<Credits, Refusal> {
        let (account, price) = (metered.key.account, metered.call.price);
        let before = self.enough(account, price.least()).await.map_err(store_refusal)?;
        let before = before.ok_or(Refusal::InvalidKey)?;
        *balance = Some(before);
        if before < price.least() {
            return Err(metered.not_enough(Needed::Least(price.least()), before));
        }
        if ask.may_cost_more_than(before, price)
            && let Some(left) = self.probes_too_often(account, metered.now).await?
        {
            *balance = Some(left);
            return Err(metered.not_enough(Needed::PerhapsMore, left));
        }
        Ok(before)
    }

    /// Looks up and writes the answer. Reads at most one item more than `before` pays for; reads
    /// again where a longer list can be paid by now.
    async fn find_and_write(
        &self,
        metered: &MeteredCall<'_>,
        ask: &Ask,
        mut before: Credits,
        balance: &mut Option<Credits>,
    ) -> Result<WrittenAnswer, Refusal> {
        let (account, call) = (metered.key.account, metered.call);
        loop {
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
                return Ok(WrittenAnswer { template, revision, balance: before });
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
                return Err(metered.not_enough(Needed::MoreThanLeft, now));
            }
            before = now;
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
                let forgotten = StoredResponse::Answer { body, balance: *balance, items: 0 };
                return replay(metered.call.price, forgotten);
            }
        }
        replay(metered.call.price, kept)
    }

    /// The balance: the cached one where it covers `least`, else counted anew, since credits that
    /// were granted a moment ago have to count.
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
}

/// How many items are worth reading for a caller with `balance`: one more than can be paid, so
/// that a list too long for it is noticed and not read on for nothing.
fn most_items(price: Price, balance: Credits) -> u64 {
    price.most_items(balance).saturating_add(1)
}

fn replay(price: Price, kept: StoredResponse) -> Result<Answer, Refusal> {
    match kept {
        StoredResponse::Answer { body, balance, items } => {
            let body = ResponseTemplate::fill(&body, balance);
            Ok(Answer::first(body, price.of(items), items).repeated())
        }
        StoredResponse::OtherQuestion => Err(Refusal::IdempotencyKeyReused),
    }
}

pub(super) fn store_refusal(error: StoreError) -> Refusal {
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
