//! Reads, adds and ends keys, inside one transaction.

use enrich_core::port::accounts::KeyStored;
use enrich_core::port::error::StoreError;
use enrich_core::{KeyId, KeyInfo, KeyLimit, NewKey, RateOverride, Timestamp};
use enrich_ledger::{key_hash, seal_key};
use enrich_secrets::Secret;
use enrich_store_sqlite::{Column, Statements};
use jiff::SignedDuration;
use rusqlite::{Connection, Row, named_params};

use super::read_country;
use crate::changes::NotChanged;

macro_rules! key_info {
    ($where:literal) => {
        concat!(
            "SELECT api_key.id, account, label, hint, requests, window_seconds, ",
            "api_key.created_at, expires_at, last_used_at, ended, account.status = 'active', ",
            "account.country FROM api_key JOIN account ON account.id = api_key.account WHERE ",
            $where
        )
    };
}

pub(super) const KEY_BY_HASH: &str = key_info!("hash = ?1");
pub(super) const KEY_BY_ID: &str = key_info!("api_key.id = ?1");
pub(super) const KEYS_OF_ACCOUNT: &str =
    key_info!("account = ?1 ORDER BY api_key.created_at, api_key.id");

/// Returns which limit a new key would exceed; `None` if it would exceed none.
pub(super) fn find_full(
    connection: &Connection,
    new: &NewKey,
    limit: KeyLimit,
) -> Result<Option<KeyStored>, NotChanged> {
    let count = "SELECT count(*) FILTER (WHERE expires_at IS NULL OR expires_at > ?3),
                     count(*) FILTER (WHERE ended = 0 AND (expires_at IS NULL OR expires_at > ?2))
                 FROM api_key WHERE account = ?1";
    let now = new.created_at;
    let ended = now.saturating_sub(SignedDuration::from_hours(24 * KeyLimit::ENDED_DAYS));
    let ended = ended.map_err(StoreError::failed)?;
    let values = (Column(new.account), Column(now), Column(ended));
    let (all, active): (u32, u32) =
        connection.query_row(count, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match () {
        () if all >= limit.all => Some(KeyStored::TooMany),
        () if active >= limit.active => Some(KeyStored::TooManyActive),
        () => None,
    })
}

/// Ends a key at `at`, unless it already ends earlier. If the key then ends at or before `now`, its
/// end is final: the key stays ended even if the clock is set back. Returns whether the key exists.
pub(super) fn end_key(
    connection: &Connection,
    id: KeyId,
    at: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let changed = connection.run(
        "UPDATE api_key SET
             expires_at = CASE WHEN expires_at < ?2 THEN expires_at ELSE ?2 END,
             ended = ended OR ?2 <= ?3 OR coalesce(expires_at <= ?3, 0)
         WHERE id = ?1",
        (Column(id), Column(at), Column(now)),
    )?;
    Ok(changed > 0)
}

pub(super) fn insert_key(
    connection: &Connection,
    secret: &Secret,
    key: &NewKey,
) -> Result<(), NotChanged> {
    let sealed = seal_key(secret, key).map_err(StoreError::failed)?;
    connection.run(
        "INSERT INTO api_key (id, account, label, hint, hash, sealed, secret, requests,
             window_seconds, created_at, expires_at)
         VALUES (:id, :account, :label, :hint, :hash, :sealed, :secret, :requests,
             :window_seconds, :created_at, :expires_at)",
        named_params! {
            ":id": Column(key.id),
            ":account": Column(key.account),
            ":label": key.label,
            ":hint": key.key.hint(),
            ":hash": key_hash(secret, &key.key),
            ":sealed": sealed,
            ":secret": secret.id(),
            ":requests": key.rate.requests,
            ":window_seconds": key.rate.window_seconds,
            ":created_at": Column(key.created_at),
            ":expires_at": key.expires_at.map(Column),
        },
    )?;
    Ok(())
}

/// Reads a key from a row of the query [`KEY_BY_HASH`], [`KEY_BY_ID`] or [`KEYS_OF_ACCOUNT`].
pub(super) fn read_key(row: &Row<'_>) -> rusqlite::Result<KeyInfo> {
    let time = |index| row.get::<_, Option<Column<Timestamp>>>(index);
    let (Column(id), Column(account), Column(created_at)) = (row.get(0)?, row.get(1)?, row.get(6)?);
    Ok(KeyInfo {
        id,
        account,
        label: row.get(2)?,
        hint: row.get(3)?,
        rate: RateOverride { requests: row.get(4)?, window_seconds: row.get(5)? },
        created_at,
        expires_at: time(7)?.map(|Column(at)| at),
        has_ended: row.get(9)?,
        last_used_at: time(8)?.map(|Column(at)| at),
        is_account_active: row.get(10)?,
        country: read_country(row, 11)?,
    })
}
