//! Implements the trait [`Accounts`] in memory, for tests.

use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::accounts::{AccountChanged, Accounts, KeyStored};
use enrich_core::port::error::StoreError;
use enrich_core::{
    Account, AccountChange, AccountId, AccountStatus, ApiKey, KeyId, KeyInfo, KeyLimit, NewKey,
    RateOverride, Timestamp,
};

use super::{FakePorts, key_info};

#[async_trait]
impl Accounts for FakePorts {
    async fn create(&self, account: Account, first_key: NewKey) -> Result<(), StoreError> {
        self.accounts.lock().push(account);
        self.keys.lock().push((key_info(&first_key), first_key.key));
        Ok(())
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        Ok(self.accounts.lock().iter().find(|account| account.id == id).cloned())
    }

    async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        Ok(self.accounts.lock().clone())
    }

    async fn change(
        &self,
        id: AccountId,
        change: AccountChange,
    ) -> Result<AccountChanged, StoreError> {
        let mut accounts = self.accounts.lock();
        let Some(account) = accounts.iter_mut().find(|account| account.id == id) else {
            return Ok(AccountChanged::NoAccount);
        };
        match change {
            AccountChange::Rename(name) => account.name = name,
            AccountChange::SetCountry(country) => account.country = country,
            AccountChange::Suspend { reason } => {
                account.status = AccountStatus::Suspended { reason };
            }
            AccountChange::Resume => account.status = AccountStatus::Active,
            AccountChange::Close { .. } => account.status = AccountStatus::Closed,
        }
        Ok(AccountChanged::Done(account.clone()))
    }

    async fn add_key(&self, key: NewKey, limit: KeyLimit) -> Result<KeyStored, StoreError> {
        let mut keys = self.keys.lock();
        let own = keys.iter().filter(|(info, _)| info.account == key.account);
        let active = own.filter(|(info, _)| info.is_active(key.created_at)).count();
        if active >= limit.active as usize {
            return Ok(KeyStored::TooManyActive);
        }
        keys.push((key_info(&key), key.key));
        Ok(KeyStored::Stored)
    }

    async fn rotate_key(
        &self,
        old: KeyId,
        old_until: Timestamp,
        successor: NewKey,
        limit: KeyLimit,
    ) -> Result<KeyStored, StoreError> {
        let now = successor.created_at;
        let stored = self.add_key(successor, limit).await?;
        if stored == KeyStored::Stored {
            self.expire_key(old, old_until, now).await?;
        }
        Ok(stored)
    }

    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError> {
        let keys = self.keys.lock();
        let found = keys.iter().find(|(_, known)| known.expose() == key.expose());
        Ok(found.map(|(info, _)| Arc::new(info.clone())))
    }

    async fn key(&self, id: KeyId) -> Result<Option<KeyInfo>, StoreError> {
        let keys = self.keys.lock();
        Ok(keys.iter().find(|(info, _)| info.id == id).map(|(info, _)| info.clone()))
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<KeyInfo>, StoreError> {
        let keys = self.keys.lock();
        let own = keys.iter().filter(|(info, _)| info.account == account);
        Ok(own.map(|(info, _)| info.clone()).collect())
    }

    async fn reveal(&self, id: KeyId) -> Result<Option<ApiKey>, StoreError> {
        let keys = self.keys.lock();
        Ok(keys.iter().find(|(info, _)| info.id == id).map(|(_, key)| key.clone()))
    }

    async fn set_rate(&self, id: KeyId, rate: RateOverride) -> Result<bool, StoreError> {
        Ok(self.change_key(id, |key| key.rate = rate))
    }

    async fn set_label(&self, id: KeyId, label: &str) -> Result<bool, StoreError> {
        Ok(self.change_key(id, |key| key.label = label.to_owned()))
    }

    async fn expire_key(
        &self,
        id: KeyId,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(self.change_key(id, |key| (key.expires_at, key.has_ended) = (Some(at), at <= now)))
    }

    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut keys = self.keys.lock();
        let is_over = |key: &KeyInfo| key.expires_at.is_some_and(|at| at <= now) && !key.has_ended;
        let over = keys.iter_mut().map(|(info, _)| info).filter(|info| is_over(info));
        Ok(over.map(|info| info.has_ended = true).count() as u64)
    }
}
