//! Accounts and their keys.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{
    Account, AccountChange, AccountId, KeyId, KeyInfo, KeyLimit, NewKey, RateOverride,
};
use crate::api_key::ApiKey;
use crate::port::error::StoreError;

/// What became of a key that was to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStored {
    /// It is stored.
    Stored,
    /// There is no such account, or no such key to rotate; nothing changed.
    NotThere,
    /// The account has as many keys in use as it may have; nothing changed.
    TooManyActive,
    /// The account has as many keys, those counted that ended lately, as it may have; nothing changed.
    TooMany,
}

/// What became of a change of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountChanged {
    /// It was made; the account as it is now.
    Done(Account),
    /// There is no such account.
    NoAccount,
    /// The account is closed, which is final; nothing changed.
    Closed,
}

/// Keeps accounts and keys. Secrets are kept as a keyed hash, to find them by, and encrypted, to
/// show them again.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Stores an account and its first key, both or neither.
    async fn create(&self, account: Account, first_key: NewKey) -> Result<(), StoreError>;

    /// The account with this id; `None` when there is none.
    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError>;

    /// Every account, oldest first.
    async fn accounts(&self) -> Result<Vec<Account>, StoreError>;

    /// Changes an account, all of the change or nothing. A server sees it within a second.
    async fn change(
        &self,
        id: AccountId,
        change: AccountChange,
    ) -> Result<AccountChanged, StoreError>;

    /// Stores a key, unless its account has as many as `limit` allows: however many are stored at
    /// once, they are counted one after the other.
    async fn add_key(&self, key: NewKey, limit: KeyLimit) -> Result<KeyStored, StoreError>;

    /// Stores `successor` and lets `old` live until `old_until`, both or neither; an earlier end
    /// stays, and one that has come when the successor is made is final. `old` counts for `limit`
    /// only if it lives on.
    async fn rotate_key(
        &self,
        old: KeyId,
        old_until: Timestamp,
        successor: NewKey,
        limit: KeyLimit,
    ) -> Result<KeyStored, StoreError>;

    /// The record of a secret a caller sent, whether or not it has expired; `None` when it was
    /// never issued. A change made by any process shows within a second.
    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError>;

    /// The key with this id.
    async fn key(&self, id: KeyId) -> Result<Option<KeyInfo>, StoreError>;

    /// The keys of an account, oldest first.
    async fn keys(&self, account: AccountId) -> Result<Vec<KeyInfo>, StoreError>;

    /// The secret itself, decrypted; `None` when there is no such key.
    async fn reveal(&self, id: KeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Gives a key a limit of its own. `false` when there is no such key.
    async fn set_rate(&self, id: KeyId, rate: RateOverride) -> Result<bool, StoreError>;

    /// Gives a key another label. `false` when there is no such key.
    async fn set_label(&self, id: KeyId, label: &str) -> Result<bool, StoreError>;

    /// Ends a key at `at`; an earlier end stays. An end that has come at `now` is
    /// [final](KeyInfo::has_ended). `false` when there is no such key.
    async fn expire_key(
        &self,
        id: KeyId,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Makes the ends of all keys final that have come at `now`; of how many. `now` has to be right:
    /// see [`ClockWatch`](crate::ClockWatch).
    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError>;
}
