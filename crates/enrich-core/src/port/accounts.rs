//! Accounts and their API keys.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{
    Account, AccountChange, AccountId, KeyId, KeyInfo, KeyLimit, NewKey, RateOverride,
};
use crate::api_key::ApiKey;
use crate::port::error::StoreError;

/// The result of storing a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStored {
    /// The key is stored.
    Stored,
    /// The account, or the key to rotate, does not exist; nothing changed.
    NotThere,
    /// The account has as many keys in use as it may have; nothing changed.
    TooManyActive,
    /// The account has as many keys as it may have, including recently ended ones; nothing changed.
    TooMany,
}

/// The result of changing an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountChanged {
    /// The change was made. Contains the changed account.
    Done(Account),
    /// The account does not exist.
    NoAccount,
    /// The account is closed for good; nothing changed.
    Closed,
}

/// Stores accounts and keys. A secret is stored twice: as a keyed hash for finding it, and
/// encrypted for showing it again.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Stores an account and its first key; both or neither.
    async fn create(&self, account: Account, first_key: NewKey) -> Result<(), StoreError>;

    /// The account with this id; `None` if it does not exist.
    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError>;

    /// All accounts, oldest first.
    async fn accounts(&self) -> Result<Vec<Account>, StoreError>;

    /// Changes an account atomically. A running server sees the change within a second.
    async fn change(
        &self,
        id: AccountId,
        change: AccountChange,
    ) -> Result<AccountChanged, StoreError>;

    /// Stores a key, unless `limit` is reached. Concurrent calls run one after the other, so that
    /// together they respect the limit.
    async fn add_key(&self, key: NewKey, limit: KeyLimit) -> Result<KeyStored, StoreError>;

    /// Stores `successor` and ends `old` at `old_until`; both or neither. If `old` already ends
    /// earlier, its end does not change. If the end of `old` has passed when the successor is
    /// created, the end becomes final. `old` counts towards `limit` only if `old` stays valid.
    async fn rotate_key(
        &self,
        old: KeyId,
        old_until: Timestamp,
        successor: NewKey,
        limit: KeyLimit,
    ) -> Result<KeyStored, StoreError>;

    /// Finds the key for a secret, even if the key has ended; `None` if the key was never issued. A
    /// change by any process is visible within a second.
    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError>;

    /// The key with this id; `None` if it does not exist.
    async fn key(&self, id: KeyId) -> Result<Option<KeyInfo>, StoreError>;

    /// The keys of an account, also those that have ended, oldest first.
    async fn keys(&self, account: AccountId) -> Result<Vec<KeyInfo>, StoreError>;

    /// Decrypts the secret of a key; `None` if the key does not exist.
    async fn reveal(&self, id: KeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Sets a key's own rate limit. `false` if the key does not exist.
    async fn set_rate(&self, id: KeyId, rate: RateOverride) -> Result<bool, StoreError>;

    /// Changes a key's label. `false` if the key does not exist.
    async fn set_label(&self, id: KeyId, label: &str) -> Result<bool, StoreError>;

    /// Ends a key at `at`, unless the key already ends earlier. An end that has passed at `now` is
    /// [final](KeyInfo::has_ended). `false` if the key does not exist.
    async fn expire_key(
        &self,
        id: KeyId,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Makes the ends of all keys that have ended at `now` final. Returns the number of these keys.
    /// `now` must be correct: see [`ClockWatch`](crate::ClockWatch).
    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError>;
}
