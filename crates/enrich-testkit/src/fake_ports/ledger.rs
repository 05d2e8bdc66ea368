//! Implements the trait [`Ledger`] in memory, for tests.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::{
    Charge, ChargeError, Charged, Grant, Granted, Ledger, Verification,
};
use enrich_core::{
    AccountId, Credits, Entry, EntryKind, IdempotencyKey, IdempotencyRecord, StoredResponse,
    Timestamp,
};

use super::{FakePorts, Stored};

impl Stored {
    fn response(&self, request_bytes: &[u8]) -> StoredResponse {
        if self.request_bytes != request_bytes {
            return StoredResponse::OtherRequest;
        }
        let body = self.body.clone();
        StoredResponse::Answer { body, balance: self.balance, items: self.items }
    }
}

#[async_trait]
impl Ledger for FakePorts {
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        if self.ledger_is_away.load(Ordering::SeqCst) {
            return Err(StoreError::unavailable("the login was refused"));
        }
        Ok(Some(Credits(self.balance_of(account))))
    }

    async fn cached_balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        if self.ledger_is_away.load(Ordering::SeqCst) {
            return self.balance(account).await;
        }
        let scripted = *self.cached_balance.lock();
        Ok(Some(scripted.unwrap_or_else(|| Credits(self.balance_of(account)))))
    }

    async fn stored_response(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        request_bytes: &[u8],
        _: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        if let Some(scripted) = self.next_stored.lock().pop_front() {
            return Ok(scripted);
        }
        let stored = self.stored.lock();
        Ok(stored
            .get(&(account, key.as_str().to_owned()))
            .map(|stored| stored.response(request_bytes)))
    }

    async fn charge(&self, charge: Charge) -> Result<Charged, ChargeError> {
        self.charges.lock().push(charge.clone());
        let scripted = self.decide_charge.lock().as_ref().map(|decide| decide(&charge));
        if let Some(scripted) = scripted
            && let Some(decided) = scripted.await
        {
            return decided;
        }
        let (account, credits) = (charge.account, charge.credits());
        let idempotency = charge.idempotency;
        if let Some(idempotency) = &idempotency {
            let stored = self.stored.lock();
            if let Some(stored) = stored.get(&(account, idempotency.key.as_str().to_owned())) {
                return Ok(Charged::Replayed(stored.response(&idempotency.request_bytes)));
            }
        }
        let before = Credits(self.balance_of(account));
        let Some(balance) = before.checked_sub(credits) else {
            return Ok(Charged::Insufficient { balance: before });
        };
        if credits.0 > 0 {
            let kind = EntryKind::Charge {
                endpoint: charge.endpoint.to_owned(),
                items: charge.items,
                price: charge.price,
                key: charge.key,
                request_id: charge.request_id.to_string(),
                revision: charge.revision,
            };
            self.add_entry(account, kind, -i64::try_from(credits.0).unwrap(), charge.at);
        }
        if let Some(IdempotencyRecord { key, request_bytes, body }) = idempotency {
            let stored = Stored { request_bytes, body, balance, items: charge.items };
            self.stored.lock().insert((account, key.as_str().to_owned()), stored);
        }
        Ok(Charged::Taken { balance })
    }

    async fn grant(&self, grant: Grant) -> Result<Granted, ChargeError> {
        self.add_entry(grant.account, EntryKind::Grant, grant.credits, grant.at);
        Ok(Granted::Written { balance: Credits(self.balance_of(grant.account)) })
    }

    async fn entries(&self, _: AccountId, _: u64, _: u32) -> Result<Vec<Entry>, StoreError> {
        Err(StoreError::failed("the oldest entries are not read"))
    }

    async fn newest_entries(
        &self,
        account: AccountId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        self.note_thread();
        let entries = self.entries.lock();
        let own = entries.iter().rev().filter(|entry| entry.account == account);
        let older = own.filter(|entry| before.is_none_or(|before| entry.sequence < before));
        Ok(older.take(limit as usize).cloned().collect())
    }

    async fn first_entry_at(&self, account: AccountId, at: Timestamp) -> Result<u64, StoreError> {
        let entries = self.entries.lock();
        let own: Vec<_> = entries.iter().filter(|entry| entry.account == account).collect();
        let first = own.iter().position(|entry| entry.at >= at);
        Ok(first.unwrap_or(own.len()) as u64 + 1)
    }

    async fn end_of_entries_before(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let entries = self.entries.lock();
        let own: Vec<_> = entries.iter().filter(|entry| entry.account == account).collect();
        Ok(own.iter().rposition(|entry| entry.at < at).map_or(1, |last| last as u64 + 2))
    }

    async fn verify(&self) -> Result<Verification, StoreError> {
        Err(StoreError::failed("the fake ledger is not verified"))
    }

    fn is_charging(&self) -> bool {
        !self.has_stopped_charging.load(Ordering::SeqCst)
    }
}
