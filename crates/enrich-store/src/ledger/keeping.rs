//! The answers kept for repeats: what they are found by, and how they are sealed.
//!
//! Neither the caller's idempotency key nor what was asked stands in the table, only keyed hashes
//! of them, made together with the account so that equal keys of two accounts look different.

use enrich_core::{AccountId, ChargeId, Credits, IdempotencyKey, Keep, Kept, Timestamp};
use rusqlite::{Connection, named_params};

use crate::columns::Column;
use crate::secret::{NotOurs, Purpose, SealError, Secret, Secrets};

/// What a record is found by and compared with, under one secret.
#[derive(Clone, Debug)]
pub(super) struct Name {
    secret: u32,
    key_hash: [u8; 32],
    asked_hash: [u8; 32],
}

/// An answer ready to be kept, but for the balance it names.
#[derive(Debug)]
pub(super) struct ToKeep {
    /// Under every secret, the current one first; never empty.
    pub(super) names: Vec<Name>,
    sealed: Vec<u8>,
}

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    Free,
    /// A record that has outlived its time.
    Expired,
    /// A record that holds.
    Kept(Kept),
}

/// How many records one connection counted, and when that was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shelf {
    /// How many there are.
    pub(super) records: u64,
    /// SQLite's `data_version` at that time: another value means that another connection, of this
    /// process or of another one, has written since.
    version: i64,
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeepError {
    #[error("an idempotency record could not be read")]
    Read(#[from] rusqlite::Error),
    #[error("an idempotency record is not as it was written")]
    Altered(#[from] NotOurs),
}

/// The names a record can have, under each secret.
pub(super) fn names(
    secrets: &Secrets,
    account: AccountId,
    key: &IdempotencyKey,
    asked: &[u8],
) -> Vec<Name> {
    let name = |secret: &Secret| {
        let account = &account.0.as_bytes()[..];
        Name {
            secret: secret.id(),
            key_hash: secret.hash(Purpose::IdempotencyKey, &[account, key.as_str().as_bytes()]),
            asked_hash: secret.hash(Purpose::Asked, &[account, asked]),
        }
    };
    secrets.newest_first().map(name).collect()
}

/// Seals an answer under its name.
pub(super) fn seal(
    secrets: &Secrets,
    account: AccountId,
    keep: &Keep,
) -> Result<ToKeep, SealError> {
    let names = names(secrets, account, &keep.key, &keep.asked);
    let place = names.first().map(|name| place(account, &name.key_hash)).unwrap_or_default();
    let sealed = secrets.current().seal(Purpose::KeptSeal, &place, &keep.body)?;
    Ok(ToKeep { names, sealed })
}

/// What stands under the names at `now`.
pub(super) fn find(
    connection: &Connection,
    secrets: &Secrets,
    account: AccountId,
    names: &[Name],
    now: Timestamp,
) -> Result<Standing, KeepError> {
    let mut statement = connection.prepare_cached(
        "SELECT asked_hash, sealed, secret, balance, at FROM kept
         WHERE account = ?1 AND key_hash = ?2",
    )?;
    let mut standing = Standing::Free;
    for name in names {
        let mut rows = statement.query((Column(account), name.key_hash))?;
        let Some(row) = rows.next()? else {
            continue;
        };
        let Column(at) = row.get(4)?;
        if has_expired(at, now) {
            standing = Standing::Expired;
            continue;
        }
        if row.get::<_, [u8; 32]>(0)? != name.asked_hash {
            return Ok(Standing::Kept(Kept::OtherQuestion));
        }
        let secret = secrets.with_id(row.get(2)?).ok_or(NotOurs)?;
        let place = place(account, &name.key_hash);
        let body = secret.open(
            Purpose::KeptSeal,
            &place,
            row.get_ref(1)?.as_blob().unwrap_or_default(),
        )?;
        let Column(balance) = row.get(3)?;
        return Ok(Standing::Kept(Kept::Answer { body, balance }));
    }
    Ok(standing)
}

/// Keeps an answer, in place of an expired one under the same name.
///
/// Gives back by how many records the table has grown.
pub(super) fn write(
    connection: &Connection,
    account: AccountId,
    to_keep: &ToKeep,
    balance: Credits,
    charge: Option<ChargeId>,
    at: Timestamp,
) -> rusqlite::Result<i64> {
    let mut replaced = 0;
    let mut delete =
        connection.prepare_cached("DELETE FROM kept WHERE account = ?1 AND key_hash = ?2")?;
    for name in &to_keep.names {
        replaced += delete.execute((Column(account), name.key_hash))?;
    }
    let Some(name) = to_keep.names.first() else {
        return Ok(0);
    };
    let mut insert = connection.prepare_cached(
        "INSERT INTO kept (account, key_hash, asked_hash, sealed, secret, balance, charge, at)
         VALUES (:account, :key_hash, :asked_hash, :sealed, :secret, :balance, :charge, :at)",
    )?;
    insert.execute(named_params! {
        ":account": Column(account),
        ":key_hash": name.key_hash,
        ":asked_hash": name.asked_hash,
        ":sealed": to_keep.sealed,
        ":secret": name.secret,
        ":balance": Column(balance),
        ":charge": charge.map(Column),
        ":at": Column(at),
    })?;
    Ok(1 - i64::try_from(replaced).unwrap_or(i64::MAX))
}

/// Removes at most `limit` records that have expired at `now`, the oldest first.
pub(super) fn prune(
    connection: &Connection,
    now: Timestamp,
    limit: usize,
) -> rusqlite::Result<usize> {
    let Ok(until) = now.checked_sub(jiff::SignedDuration::from_secs(Keep::SECONDS)) else {
        return Ok(0);
    };
    let mut statement = connection.prepare_cached(
        "DELETE FROM kept WHERE rowid IN
             (SELECT rowid FROM kept WHERE at <= ?1 ORDER BY at LIMIT ?2)",
    )?;
    statement.execute((Column(until), limit))
}

impl Shelf {
    /// How many records there are, seen from inside a transaction that writes: nobody else changes
    /// them before its end. `known` is what `connection` knew after its own last change; it is
    /// counted anew (a few milliseconds for a million records) only where others wrote meanwhile.
    pub(super) fn up_to_date(
        connection: &Connection,
        known: Option<Self>,
    ) -> rusqlite::Result<Self> {
        let version =
            connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        match known {
            Some(known) if known.version == version => Ok(known),
            _ => {
                let records = connection
                    .prepare_cached("SELECT count(*) FROM kept")?
                    .query_row([], |row| row.get(0))?;
                Ok(Self { records, version })
            }
        }
    }

    /// The same after so many more, or fewer, by the connection's own doing.
    pub(super) fn after_growing(self, by: i64) -> Self {
        Self { records: self.records.saturating_add_signed(by), ..self }
    }

    /// The same after so many fewer by the connection's own doing.
    pub(super) fn after_losing(self, records: usize) -> Self {
        Self { records: self.records.saturating_sub(records as u64), ..self }
    }
}

/// Whether a record made at `at` no longer holds at `now`: from 24 hours on.
fn has_expired(at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(at) >= jiff::SignedDuration::from_secs(Keep::SECONDS)
}

/// What a sealed answer belongs to: the account's 16 bytes, then the 32 of the key's hash.
fn place(account: AccountId, key_hash: &[u8; 32]) -> Vec<u8> {
    [&account.0.as_bytes()[..], key_hash].concat()
}
