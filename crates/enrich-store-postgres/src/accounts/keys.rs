//! The SQL statements that read, add and end API keys. The functions run them in a transaction that
//! the caller begins and commits.

use enrich_core::port::accounts::KeyStored;
use enrich_core::port::error::StoreError;
use enrich_core::{AccountId, KeyId, KeyInfo, KeyLimit, NewKey, RateOverride, Timestamp};
use enrich_ledger::{key_hash, seal_key};
use enrich_secrets::Secret;
use jiff::SignedDuration;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use super::read_country;
use crate::columns::{Hash, Value, hash, micros, secret_column, timestamp, unreadable};
use crate::failure::Failure;
use crate::statements::{find, run};

macro_rules! key_info {
    ($where:literal) => {
        concat!(
            "SELECT api_key.id, api_key.account, label, hint, requests, window_seconds, ",
            "api_key.created_at, expires_at, key_used.at, ended, account.status = 'active', ",
            "account.country, hash FROM api_key JOIN account ON account.id = api_key.account ",
            "LEFT JOIN key_used ON key_used.api_key = api_key.id WHERE ",
            $where
        )
    };
}

/// Reads the keys that have one of the hashes `$1`.
pub(super) const KEYS_BY_HASH: &str = key_info!("hash = ANY($1)");
pub(super) const KEY_BY_ID: &str = key_info!("api_key.id = $1");
pub(super) const KEYS_OF_ACCOUNT: &str =
    key_info!("api_key.account = $1 ORDER BY api_key.created_at, api_key.id");

/// A new API key, with its keyed hash and its encrypted text. `secret` is the number of the secret
/// (a line of `secret.key`) that was used for both.
pub(super) struct NewKeyRow {
    pub(super) key: NewKey,
    hash: Hash,
    sealed: Vec<u8>,
    secret: i32,
}

impl NewKeyRow {
    pub(super) fn of(secret: &Secret, key: NewKey) -> Result<Self, StoreError> {
        Ok(Self {
            hash: key_hash(secret, &key.key),
            sealed: seal_key(secret, &key).map_err(StoreError::failed)?,
            secret: secret_column(secret.id())?,
            key,
        })
    }
}

/// Adds 1 to `key_changes` in the table `state`, unless `rows` is 0. `rows` is the number of rows
/// that the caller has changed. The higher number makes all nodes empty their caches of keys.
/// Returns `false` if `rows` is 0.
///
/// This function locks the row of `state` until the end of the transaction. Other changes of keys
/// wait for that lock. So call this function at the end of a transaction.
pub(super) async fn count_key_change(client: &Client, rows: u64) -> Result<bool, Failure> {
    if rows > 0 {
        run(client, "UPDATE state SET key_changes = key_changes + 1 WHERE id = 1", &[]).await?;
    }
    Ok(rows > 0)
}

/// Returns the limit that a new key would exceed; `None` if the key is within all limits. The
/// caller must have locked the account, so that no other transaction adds a key.
pub(super) async fn find_full(
    client: &Client,
    new: &NewKey,
    limit: KeyLimit,
) -> Result<Option<KeyStored>, Failure> {
    let count = "SELECT count(*) FILTER (WHERE expires_at IS NULL OR expires_at > $3),
                     count(*) FILTER (WHERE NOT ended AND (expires_at IS NULL OR expires_at > $2))
                 FROM api_key WHERE account = $1";
    let now = new.created_at;
    let ended = now.saturating_sub(SignedDuration::from_hours(24 * KeyLimit::ENDED_DAYS));
    let ended = ended.map_err(StoreError::failed)?;
    let (now, ended) = (micros(now), micros(ended));
    let values: [Value<'_>; 3] =
        [(&new.account.0, Type::UUID), (&now, Type::INT8), (&ended, Type::INT8)];
    let read = |row: &Row| Ok((row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?));
    let (all, active) = find(client, count, &values, read).await?.unwrap_or_default();
    Ok(match () {
        () if all >= i64::from(limit.all) => Some(KeyStored::TooMany),
        () if active >= i64::from(limit.active) => Some(KeyStored::TooManyActive),
        () => None,
    })
}

/// Whether exactly this key is already stored. A call whose reply was lost is repeated, and its
/// first attempt may have stored the key.
pub(super) async fn is_stored(client: &Client, row: &NewKeyRow) -> Result<bool, Failure> {
    let query = "SELECT account, hash FROM api_key WHERE id = $1";
    let read = |row: &Row| Ok((row.try_get::<_, Uuid>(0)?, hash(row.try_get(1)?)?));
    let stored = find(client, query, &[(&row.key.id.0, Type::UUID)], read).await?;
    Ok(stored == Some((row.key.account.0, row.hash)))
}

/// Ends a key at `at`, unless it already ends earlier. If the end is `now` or earlier, the end is
/// final: the key stays ended even if the clock is set back. Returns the number of keys with this
/// id: 0 if the key does not exist, else 1.
pub(super) async fn end_key(
    client: &Client,
    id: KeyId,
    at: Timestamp,
    now: Timestamp,
) -> Result<u64, Failure> {
    let end = "UPDATE api_key SET
                   expires_at = CASE WHEN expires_at < $2 THEN expires_at ELSE $2 END,
                   ended = ended OR $2 <= $3 OR coalesce(expires_at <= $3, false)
               WHERE id = $1";
    let (at, now) = (micros(at), micros(now));
    run(client, end, &[(&id.0, Type::UUID), (&at, Type::INT8), (&now, Type::INT8)]).await
}

/// Adds an API key. Also adds 1 to `key_changes` in the table `state`, so that all nodes empty
/// their caches of keys.
pub(super) async fn insert_key(client: &Client, row: &NewKeyRow) -> Result<(), Failure> {
    let insert = "INSERT INTO api_key (id, account, label, hint, hash, sealed, secret, requests,
                      window_seconds, created_at, expires_at, ended)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, false)";
    let key = &row.key;
    let (hint, hash) = (key.key.hint(), &row.hash[..]);
    let (requests, seconds) =
        (key.rate.requests.map(i64::from), key.rate.window_seconds.map(i64::from));
    let (created_at, expires_at) = (micros(key.created_at), key.expires_at.map(micros));
    let values: [Value<'_>; 11] = [
        (&key.id.0, Type::UUID),
        (&key.account.0, Type::UUID),
        (&key.label, Type::TEXT),
        (&hint, Type::TEXT),
        (&hash, Type::BYTEA),
        (&row.sealed, Type::BYTEA),
        (&row.secret, Type::INT4),
        (&requests, Type::INT8),
        (&seconds, Type::INT8),
        (&created_at, Type::INT8),
        (&expires_at, Type::INT8),
    ];
    run(client, insert, &values).await?;
    count_key_change(client, 1).await.map(|_| ())
}

/// Converts a row of [`KEYS_BY_HASH`], or of another query with the same columns, to a key.
pub(super) fn read_key(row: &Row) -> Result<KeyInfo, Failure> {
    let time = |index| row.try_get::<_, Option<i64>>(index)?.map(timestamp).transpose();
    let limit = |index| {
        let limit: Option<i64> = row.try_get(index)?;
        let read = |limit| u32::try_from(limit).map_err(|_| unreadable("a limit"));
        limit.map(read).transpose()
    };
    Ok(KeyInfo {
        id: KeyId(row.try_get(0)?),
        account: AccountId(row.try_get(1)?),
        label: row.try_get(2)?,
        hint: row.try_get(3)?,
        rate: RateOverride { requests: limit(4)?, window_seconds: limit(5)? },
        created_at: timestamp(row.try_get(6)?)?,
        expires_at: time(7)?,
        has_ended: row.try_get(9)?,
        last_used_at: time(8)?,
        is_account_active: row.try_get(10)?,
        country: read_country(row, 11)?,
    })
}

/// Returns the keyed hash of the key in a row of [`KEYS_BY_HASH`], or of another query with the
/// same columns.
pub(super) fn read_hash(row: &Row) -> Result<Hash, Failure> {
    hash(row.try_get(12)?)
}
