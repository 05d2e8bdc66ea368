//! Accounts and API keys in PostgreSQL.
//!
//! An API key is found by its keyed hash, which nobody can compute without the secret. So the
//! duration of a look-up reveals nothing about the key, and hashes need not be compared in constant
//! time. Recently used keys are cached in memory (`accounts/recent.rs`). Other keys are read in
//! groups (`accounts/find.rs`).
//!
//! Every change of a key, and every change of an account's status or country, raises `key_changes`
//! in the table `state`, in the same transaction. The higher number makes all nodes empty their
//! caches.

mod change;
mod find;
mod keys;
mod recent;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::accounts::{AccountChanged, Accounts, KeyStored};
use enrich_core::port::error::StoreError;
use enrich_core::{
    Account, AccountChange, AccountId, AccountStatus, ApiKey, KeyId, KeyInfo, KeyLimit, NewKey,
    RateOverride, Timestamp,
};
use enrich_ledger::{key_hash, open_key};
use enrich_text::Country;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use crate::columns::{Value, micros, secret_id, timestamp, unreadable};
use crate::database::Statements;
use crate::failure::Failure;
use crate::node::Node;
use crate::statements::{find, list, lock_account, run, write_and_settle};
use find::KeyReads;
use keys::{
    KEY_BY_ID, KEYS_OF_ACCOUNT, NewKeyRow, count_key_change, end_key, find_full, insert_key,
    is_stored, read_key,
};
use recent::{Changes, RecentKeys};

/// Maximum number of accounts in one read.
const PAGE: i64 = 1_000;

macro_rules! account {
    ($rest:literal) => {
        concat!("SELECT id, name, created_at, status, status_reason, country FROM account ", $rest)
    };
}

const ACCOUNT_BY_ID: &str = account!("WHERE id = $1");
const ACCOUNT_FOR_CHANGE: &str = account!("WHERE id = $1 FOR UPDATE");
/// Reads at most `$3` accounts, the oldest first. They come after the account with the creation
/// time `$1` and the id `$2`.
const ACCOUNTS_AFTER: &str =
    account!("WHERE (created_at, id) > ($1, $2) ORDER BY created_at, id LIMIT $3");

/// Stores accounts and keys in PostgreSQL.
pub struct PostgresAccounts {
    node: Node,
    recent: Arc<RecentKeys>,
    key_reads: KeyReads,
}

/// Why the store refuses a change that an operator makes.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("the new key belongs to another account")]
    OtherAccount,
    #[error("there is another account with this id")]
    AccountExists,
}

impl PostgresAccounts {
    pub(crate) fn new(node: Node) -> Self {
        let recent = Arc::new(RecentKeys::default());
        let key_reads = KeyReads::start(&node.database, &recent);
        Self { node, recent, key_reads }
    }

    /// Makes a change, and then empties the cache of keys. Empties the cache even after an error,
    /// because the change may have been written nevertheless.
    async fn write<T: Send + 'static>(
        &self,
        change: impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        let result = write_and_settle(&self.node.database, change).await;
        self.recent.clear();
        result
    }
}

#[async_trait]
impl Accounts for PostgresAccounts {
    async fn create(&self, account: Account, first_key: NewKey) -> Result<(), StoreError> {
        if first_key.account != account.id {
            return Err(StoreError::failed(Unfit::OtherAccount));
        }
        let key = NewKeyRow::of(self.node.secrets.current(), first_key)?;
        let row = Arc::new((account, key));
        self.write(move |client| {
            let row = Arc::clone(&row);
            Box::pin(async move {
                let (account, key) = &*row;
                if insert_account(client, account).await? {
                    return insert_key(client, key).await;
                }
                // An earlier attempt of this call may have stored the key, although its reply was
                // lost. Then the call succeeds.
                if is_stored(client, key).await? {
                    return Ok(());
                }
                Err(Failure::of(Unfit::AccountExists))
            })
        })
        .await
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        self.node
            .database
            .read(move |client| {
                Box::pin(async move {
                    find(client, ACCOUNT_BY_ID, &[(&id.0, Type::UUID)], read_account).await
                })
            })
            .await
    }

    async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        let mut accounts: Vec<Account> = Vec::new();
        let mut after = (i64::MIN, Uuid::nil());
        loop {
            let page =
                self.node.database.read(move |client| Box::pin(read_page(client, after))).await?;
            let Some(last) = page.last() else { return Ok(accounts) };
            after = (micros(last.created_at), last.id.0);
            accounts.extend(page);
        }
    }

    async fn change(
        &self,
        id: AccountId,
        change: AccountChange,
    ) -> Result<AccountChanged, StoreError> {
        let change = Arc::new(change);
        self.write(move |client| {
            let change = Arc::clone(&change);
            Box::pin(async move { change::change(client, id, &change).await })
        })
        .await
    }

    async fn add_key(&self, key: NewKey, limit: KeyLimit) -> Result<KeyStored, StoreError> {
        let row = Arc::new(NewKeyRow::of(self.node.secrets.current(), key)?);
        self.write(move |client| {
            let row = Arc::clone(&row);
            Box::pin(async move {
                if !lock_account(client, row.key.account).await? {
                    return Ok(KeyStored::NotThere);
                }
                if is_stored(client, &row).await? {
                    return Ok(KeyStored::Stored);
                }
                if let Some(full) = find_full(client, &row.key, limit).await? {
                    return Ok(full);
                }
                insert_key(client, &row).await?;
                Ok(KeyStored::Stored)
            })
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
        let successor = Arc::new(NewKeyRow::of(self.node.secrets.current(), successor)?);
        self.write(move |client| {
            let successor = Arc::clone(&successor);
            Box::pin(async move { rotate(client, old, old_until, &successor, limit).await })
        })
        .await
    }

    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError> {
        let reading = self.node.pulse.believed().await?;
        self.recent.confirm(Changes::from(&*reading));
        let hash = key_hash(self.node.secrets.current(), key);
        if let Some(cached) = self.recent.get(&hash) {
            return Ok(cached);
        }
        let hashes = self.node.secrets.newest_first().map(|secret| key_hash(secret, key));
        self.key_reads.read(hashes.collect()).await
    }

    async fn key(&self, id: KeyId) -> Result<Option<KeyInfo>, StoreError> {
        self.node
            .database
            .read(move |client| {
                Box::pin(
                    async move { find(client, KEY_BY_ID, &[(&id.0, Type::UUID)], read_key).await },
                )
            })
            .await
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<KeyInfo>, StoreError> {
        self.node
            .database
            .read(move |client| {
                Box::pin(async move {
                    list(client, KEYS_OF_ACCOUNT, &[(&account.0, Type::UUID)], read_key).await
                })
            })
            .await
    }

    async fn reveal(&self, id: KeyId) -> Result<Option<ApiKey>, StoreError> {
        let row = self.node.database.read(move |client| {
            let query = "SELECT sealed, secret FROM api_key WHERE id = $1";
            let read = |row: &Row| Ok((row.try_get::<_, Vec<u8>>(0)?, secret_id(row.try_get(1)?)?));
            Box::pin(async move { find(client, query, &[(&id.0, Type::UUID)], read).await })
        });
        let Some((sealed, secret)) = row.await? else {
            return Ok(None);
        };
        open_key(&self.node.secrets, id, &sealed, secret).map(Some).map_err(StoreError::failed)
    }

    async fn set_rate(&self, id: KeyId, rate: RateOverride) -> Result<bool, StoreError> {
        let (requests, seconds) =
            (rate.requests.map(i64::from), rate.window_seconds.map(i64::from));
        self.write(move |client| {
            let set = "UPDATE api_key SET requests = $2, window_seconds = $3 WHERE id = $1";
            Box::pin(async move {
                let values: [Value<'_>; 3] =
                    [(&id.0, Type::UUID), (&requests, Type::INT8), (&seconds, Type::INT8)];
                count_key_change(client, run(client, set, &values).await?).await
            })
        })
        .await
    }

    async fn set_label(&self, id: KeyId, label: &str) -> Result<bool, StoreError> {
        let label: Arc<str> = label.into();
        self.write(move |client| {
            let label = Arc::clone(&label);
            let set = "UPDATE api_key SET label = $2 WHERE id = $1";
            Box::pin(async move {
                let values: [Value<'_>; 2] = [(&id.0, Type::UUID), (&&*label, Type::TEXT)];
                count_key_change(client, run(client, set, &values).await?).await
            })
        })
        .await
    }

    async fn expire_key(
        &self,
        id: KeyId,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |client| {
            Box::pin(async move {
                let ended = end_key(client, id, at, now).await?;
                count_key_change(client, ended).await
            })
        })
        .await
    }

    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError> {
        let now = micros(now);
        let is_due = self.node.database.read(move |client| {
            let due = "SELECT 1 FROM api_key WHERE NOT ended AND expires_at <= $1 LIMIT 1";
            Box::pin(async move {
                Ok(!client.query_typed(due, &[(&now, Type::INT8)]).await?.is_empty())
            })
        });
        if !is_due.await? {
            return Ok(0);
        }
        self.write(move |client| {
            let settle = "UPDATE api_key SET ended = true WHERE NOT ended AND expires_at <= $1";
            Box::pin(async move {
                let settled = run(client, settle, &[(&now, Type::INT8)]).await?;
                count_key_change(client, settled).await?;
                Ok(settled)
            })
        })
        .await
    }
}

/// Stores an account and its purse (the row that every charge of the account locks). Returns
/// `false` if the id is already in use.
async fn insert_account(client: &Client, account: &Account) -> Result<bool, Failure> {
    let insert = "INSERT INTO account (id, name, created_at, status, status_reason, country)
                  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
    let created_at = micros(account.created_at);
    let (status, reason) = (account.status.as_str(), status_reason(&account.status));
    let country = account.country.map(Country::alpha2);
    let values: [Value<'_>; 6] = [
        (&account.id.0, Type::UUID),
        (&account.name, Type::TEXT),
        (&created_at, Type::INT8),
        (&status, Type::TEXT),
        (&reason, Type::TEXT),
        (&country, Type::TEXT),
    ];
    if run(client, insert, &values).await? == 0 {
        return Ok(false);
    }
    let purse = "INSERT INTO purse (account) VALUES ($1)";
    run(client, purse, &[(&account.id.0, Type::UUID)]).await?;
    Ok(true)
}

/// Reads the next page of accounts. `after` is the creation time (in microseconds since 1970) and
/// the id of the last account on the previous page.
async fn read_page(client: &Client, after: (i64, Uuid)) -> Result<Vec<Account>, Failure> {
    let (created_at, id) = after;
    let values: [Value<'_>; 3] =
        [(&created_at, Type::INT8), (&id, Type::UUID), (&PAGE, Type::INT8)];
    list(client, ACCOUNTS_AFTER, &values, read_account).await
}

async fn rotate(
    client: &Client,
    old: KeyId,
    old_until: Timestamp,
    successor: &NewKeyRow,
    limit: KeyLimit,
) -> Result<KeyStored, Failure> {
    let now = successor.key.created_at;
    let owner = "SELECT account FROM api_key WHERE id = $1";
    let read = |row: &Row| Ok(AccountId(row.try_get(0)?));
    let Some(account) = find(client, owner, &[(&old.0, Type::UUID)], read).await? else {
        return Ok(KeyStored::NotThere);
    };
    if successor.key.account != account {
        return Err(Failure::of(Unfit::OtherAccount));
    }
    lock_account(client, account).await?;
    if is_stored(client, successor).await? {
        return Ok(KeyStored::Stored);
    }
    let is_active = "SELECT NOT ended AND (expires_at IS NULL OR expires_at > $2)
                     FROM api_key WHERE id = $1 FOR UPDATE";
    let values: [Value<'_>; 2] = [(&old.0, Type::UUID), (&micros(now), Type::INT8)];
    let is_active = find(client, is_active, &values, |row| Ok(row.try_get(0)?)).await?;
    // If the old key is active and ends immediately, the new key replaces it. So the number of
    // active keys stays the same.
    let takes_its_place = is_active == Some(true) && old_until <= now;
    match find_full(client, &successor.key, limit).await? {
        Some(KeyStored::TooManyActive) if takes_its_place => {}
        Some(full) => return Ok(full),
        None => {}
    }
    end_key(client, old, old_until, now).await?;
    insert_key(client, successor).await?;
    Ok(KeyStored::Stored)
}

fn read_account(row: &Row) -> Result<Account, Failure> {
    let (status, reason): (&str, String) = (row.try_get(3)?, row.try_get(4)?);
    let status = AccountStatus::named(status, reason);
    Ok(Account {
        id: AccountId(row.try_get(0)?),
        name: row.try_get(1)?,
        created_at: timestamp(row.try_get(2)?)?,
        status: status.ok_or_else(|| unreadable("an account's status"))?,
        country: read_country(row, 5)?,
    })
}

fn read_country(row: &Row, index: usize) -> Result<Option<Country>, Failure> {
    let code: Option<&str> = row.try_get(index)?;
    let read = |code| Country::from_code(code).map_err(|_| unreadable("a country's code"));
    code.map(read).transpose()
}

fn status_reason(status: &AccountStatus) -> &str {
    match status {
        AccountStatus::Suspended { reason } => reason,
        AccountStatus::Active | AccountStatus::Closed => "",
    }
}
