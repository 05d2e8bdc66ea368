//! Accounts and API keys in `ledger.sqlite`.
//!
//! An API key is found by its keyed hash, which nobody can calculate without the secret. So the
//! time of a search reveals nothing about the key, and hashes need not be compared in constant
//! time. Recently used keys are cached in memory (`accounts/recent.rs`).

mod change;
mod keys;
mod recent;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::accounts::{AccountChanged, Accounts, KeyStored};
use enrich_core::port::error::StoreError;
use enrich_core::{
    Account, AccountChange, AccountId, AccountStatus, ApiKey, KeyId, KeyInfo, KeyLimit, NewKey,
    RateOverride, Timestamp,
};
use enrich_ledger::{key_hash, open_key};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, Column, Durability, OpenError, Readers, Statements};
use enrich_text::Country;
use rusqlite::types::Type;
use rusqlite::{Connection, Row};

use crate::changes::{Changes, NotChanged};
use crate::ledger::LedgerFiles;
use keys::{KEY_BY_HASH, KEY_BY_ID, KEYS_OF_ACCOUNT, end_key, find_full, insert_key, read_key};
use recent::RecentKeys;

/// The accounts and their API keys in `ledger.sqlite`.
#[derive(Debug)]
pub struct SqliteAccounts {
    readers: Readers,
    changes: Changes,
    secrets: Secrets,
    recent: Arc<RecentKeys>,
}

/// Why an account or a key cannot be changed as requested.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("the new key belongs to another account")]
    OtherAccount,
}

macro_rules! account {
    ($rest:literal) => {
        concat!("SELECT id, name, created_at, status, status_reason, country FROM account ", $rest)
    };
}

const ACCOUNT_BY_ID: &str = account!("WHERE id = ?1");
const ACCOUNTS: &str = account!("ORDER BY created_at, id");
const KEY_CHANGES: &str = "SELECT number FROM key_changes";

impl SqliteAccounts {
    /// Opens the accounts of the ledger at `path`, which must already have its tables.
    pub(crate) fn open(
        path: &Path,
        secrets: &Secrets,
        files: &Arc<LedgerFiles>,
    ) -> Result<Self, OpenError> {
        Ok(Self {
            readers: Readers::open(path, sqlite::reader)?,
            changes: Changes::open(path, Durability::Commit, files)?,
            secrets: secrets.clone(),
            recent: Arc::default(),
        })
    }

    /// Makes a change in a transaction, and then clears the cache of keys.
    async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection, &Secrets) -> Result<T, NotChanged> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (secrets, recent) = (self.secrets.clone(), Arc::clone(&self.recent));
        let change = move |connection: &Connection| change(connection, &secrets);
        self.changes.make(change, move || recent.keys.clear()).await
    }
}

#[async_trait]
impl Accounts for SqliteAccounts {
    async fn create(&self, account: Account, first_key: NewKey) -> Result<(), StoreError> {
        if first_key.account != account.id {
            return Err(StoreError::failed(Unfit::OtherAccount));
        }
        self.write(move |connection, secrets| {
            connection.run(
                "INSERT INTO account (id, name, created_at, status, status_reason, country)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (
                    Column(account.id),
                    &account.name,
                    Column(account.created_at),
                    account.status.as_str(),
                    status_reason(&account.status),
                    account.country.map(Country::alpha2),
                ),
            )?;
            insert_key(connection, secrets.current(), &first_key)
        })
        .await
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        self.readers.read(|connection| connection.find(ACCOUNT_BY_ID, [Column(id)], read_account))
    }

    async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        self.readers.read(|connection| connection.list(ACCOUNTS, [], read_account))
    }

    async fn change(
        &self,
        id: AccountId,
        change: AccountChange,
    ) -> Result<AccountChanged, StoreError> {
        self.write(move |connection, _| Ok(change::change(connection, id, change)?)).await
    }

    async fn add_key(&self, key: NewKey, limit: KeyLimit) -> Result<KeyStored, StoreError> {
        self.write(move |connection, secrets| {
            if !connection.has("SELECT 1 FROM account WHERE id = ?1", [Column(key.account)])? {
                return Ok(KeyStored::NotThere);
            }
            if let Some(full) = find_full(connection, &key, limit)? {
                return Ok(full);
            }
            insert_key(connection, secrets.current(), &key)?;
            Ok(KeyStored::Stored)
        })
        .await
    }

    async fn rotate_key(
        &self,
        old: KeyId,
        old_until: Timestamp,
        successor: NewKey,
        limit: KeyLimit,
    ) -> Result<KeyStored, StoreError> {
        self.write(move |connection, secrets| {
            let now = successor.created_at;
            let select = "SELECT account, ended = 0 AND (expires_at IS NULL OR expires_at > ?2)
                          FROM api_key WHERE id = ?1";
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let found = connection.find(select, (Column(old), Column(now)), read)?;
            let Some((Column(account), is_active)) = found else {
                return Ok(KeyStored::NotThere);
            };
            if successor.account != account {
                return Err(StoreError::failed(Unfit::OtherAccount).into());
            }
            // If the old key is active and ends now, the number of active keys does not grow. So
            // the new key is allowed even if this number has reached its limit.
            let takes_its_place = is_active && old_until <= now;
            match find_full(connection, &successor, limit)? {
                Some(KeyStored::TooManyActive) if takes_its_place => {}
                Some(full) => return Ok(full),
                None => {}
            }
            end_key(connection, old, old_until, successor.created_at)?;
            insert_key(connection, secrets.current(), &successor)?;
            Ok(KeyStored::Stored)
        })
        .await
    }

    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError> {
        self.recent
            .confirm(|| self.readers.read(|connection| connection.value(KEY_CHANGES, [])))?;
        let hashes = || self.secrets.newest_first().map(|secret| key_hash(secret, key));
        if let Some(info) = hashes().find_map(|hash| self.recent.keys.get(&hash)) {
            return Ok(info);
        }
        let reading = self.recent.keys.begin();
        self.readers.read(|connection| -> rusqlite::Result<_> {
            for hash in hashes() {
                if let Some(info) = connection.find(KEY_BY_HASH, [hash], read_key)? {
                    let info = Arc::new(info);
                    self.recent.keys.remember(hash, Some(&info), reading);
                    return Ok(Some(info));
                }
            }
            Ok(None)
        })
    }

    async fn key(&self, id: KeyId) -> Result<Option<KeyInfo>, StoreError> {
        self.readers.read(|connection| connection.find(KEY_BY_ID, [Column(id)], read_key))
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<KeyInfo>, StoreError> {
        self.readers
            .read(|connection| connection.list(KEYS_OF_ACCOUNT, [Column(account)], read_key))
    }

    async fn reveal(&self, id: KeyId) -> Result<Option<ApiKey>, StoreError> {
        let row: Option<(Vec<u8>, u32)> = self.readers.read(|connection| {
            connection.find(
                "SELECT sealed, secret FROM api_key WHERE id = ?1",
                [Column(id)],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
        })?;
        let Some((sealed, secret)) = row else {
            return Ok(None);
        };
        open_key(&self.secrets, id, &sealed, secret).map(Some).map_err(StoreError::failed)
    }

    async fn set_rate(&self, id: KeyId, rate: RateOverride) -> Result<bool, StoreError> {
        self.write(move |connection, _| {
            let set = "UPDATE api_key SET requests = ?2, window_seconds = ?3 WHERE id = ?1";
            Ok(connection.run(set, (Column(id), rate.requests, rate.window_seconds))? > 0)
        })
        .await
    }

    async fn set_label(&self, id: KeyId, label: &str) -> Result<bool, StoreError> {
        let label = label.to_owned();
        self.write(move |connection, _| {
            let set = "UPDATE api_key SET label = ?2 WHERE id = ?1";
            Ok(connection.run(set, (Column(id), label))? > 0)
        })
        .await
    }

    async fn expire_key(
        &self,
        id: KeyId,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |connection, _| Ok(end_key(connection, id, at, now)?)).await
    }

    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError> {
        let is_due = self.readers.read(|connection| {
            let due = "SELECT 1 FROM api_key WHERE ended = 0 AND expires_at <= ?1";
            connection.has(due, [Column(now)])
        })?;
        if !is_due {
            return Ok(0);
        }
        self.write(move |connection, _| {
            let settle = "UPDATE api_key SET ended = 1 WHERE ended = 0 AND expires_at <= ?1";
            Ok(connection.run(settle, [Column(now)])? as u64)
        })
        .await
    }
}

fn read_account(row: &Row<'_>) -> rusqlite::Result<Account> {
    let (Column(id), Column(created_at)) = (row.get(0)?, row.get(2)?);
    let (status, reason): (String, String) = (row.get(3)?, row.get(4)?);
    let status = AccountStatus::named(&status, reason).ok_or_else(|| unreadable(3))?;
    Ok(Account { id, name: row.get(1)?, created_at, status, country: read_country(row, 5)? })
}

fn read_country(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Country>> {
    let code: Option<String> = row.get(index)?;
    let read = |code: String| Country::from_code(&code).map_err(|_| unreadable(index));
    code.map(read).transpose()
}

/// Returns the error for a column with a value that Enrich never writes.
fn unreadable(index: usize) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(index, "account".to_owned(), Type::Text)
}

fn status_reason(status: &AccountStatus) -> &str {
    match status {
        AccountStatus::Suspended { reason } => reason,
        AccountStatus::Active | AccountStatus::Closed => "",
    }
}
