//! The port (a trait) that stores accounts and their API keys.

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
    /// The key was stored.
    Stored,
    /// The account does not exist, or the key that is to be replaced does not exist. Nothing was
    /// changed.
    NotThere,
    /// The account already has the maximum number of active keys. Nothing was changed.
    TooManyActive,
    /// The account already has the maximum number of keys, including the keys that ended within the
    /// last [`KeyLimit::ENDED_DAYS`] days. Nothing was changed.
    TooMany,
}

/// The result of changing an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountChanged {
    /// The change was made. The value is the account after the change.
    Done(Account),
    /// The account does not exist.
    NoAccount,
    /// The account is permanently closed. Nothing was changed.
    Closed,
}

/// Stores accounts and API keys. The secret text of a key is stored in two forms. A keyed hash is
/// used to find the key by its text. An encrypted copy is used to show the text again.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Stores an account together with its first key. If the call fails, neither is stored. The
    /// call fails if the key belongs to another account.
    async fn create(&self, account: Account, first_key: NewKey) -> Result<(), StoreError>;

    /// Returns the account with this id; `None` if it does not exist.
    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError>;

    /// Returns all accounts, the oldest first.
    async fn accounts(&self) -> Result<Vec<Account>, StoreError>;

    /// Changes an account. The change is made completely or not at all. All running servers use
    /// the changed account after at most one second.
    async fn change(
        &self,
        id: AccountId,
        change: AccountChange,
    ) -> Result<AccountChanged, StoreError>;

    /// Stores an API key, unless the account has reached `limit`. Concurrent calls are made one
    /// after the other, so that together they do not exceed the limit.
    async fn add_key(&self, key: NewKey, limit: KeyLimit) -> Result<KeyStored, StoreError>;

    /// Replaces a key: stores `successor`, and ends the key `old` at `old_until`. If the call
    /// fails, nothing is changed. For `old`, these rules apply:
    ///
    /// - If it already ends before `old_until`, its end is not changed.
    /// - If it ends before or at the creation of `successor`, its end becomes
    ///   [final](KeyInfo::has_ended).
    /// - If it stays valid after this call, it counts towards the maximum number of active keys.
    async fn rotate_key(
        &self,
        old: KeyId,
        old_until: Timestamp,
        successor: NewKey,
        limit: KeyLimit,
    ) -> Result<KeyStored, StoreError>;

    /// Finds the key with this text, even if the key has ended; `None` if no key with this text
    /// was ever stored. If a process changes a key, all other processes see the change within one
    /// second.
    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError>;

    /// Returns the key with this id; `None` if it does not exist.
    async fn key(&self, id: KeyId) -> Result<Option<KeyInfo>, StoreError>;

    /// Returns all keys of an account, the oldest first. Keys that have ended are included.
    async fn keys(&self, account: AccountId) -> Result<Vec<KeyInfo>, StoreError>;

    /// Decrypts the text of a key; `None` if the key does not exist.
    async fn reveal(&self, id: KeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Sets the rate limit of one key. Returns `false` if the key does not exist.
    async fn set_rate(&self, id: KeyId, rate: RateOverride) -> Result<bool, StoreError>;

    /// Changes the label of a key. Returns `false` if the key does not exist.
    async fn set_label(&self, id: KeyId, label: &str) -> Result<bool, StoreError>;

    /// Ends a key at `at`, unless the key already ends earlier. If the key then ends at or before
    /// `now`, its end becomes [final](KeyInfo::has_ended). Returns `false` if the key does not
    /// exist.
    async fn expire_key(
        &self,
        id: KeyId,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Finds the keys whose end has passed at `now`, and makes their ends
    /// [final](KeyInfo::has_ended): the keys stay refused, even if the clock is set back. Returns
    /// the number of these keys. Before the call, the caller must make sure that `now` is correct
    /// (`clock_watch.rs` of `enrich-server`), because a final end cannot be undone.
    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError>;
}
