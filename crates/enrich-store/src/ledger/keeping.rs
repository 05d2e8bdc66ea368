//! The answers kept for repeats: what they are found by, and how they are sealed.
//!
//! Neither the caller's idempotency key nor what was asked stands in the table, only keyed hashes
//! of them, made together with the account so that equal keys of two accounts look different. The
//! answer is sealed together with these hashes and its time, so that a record opens only as it was
//! written: one that was altered is an error for its repeat, and a fault for `verify`.

use std::time::{Duration, Instant};

use enrich_core::{AccountId, ChargeId, Credits, IdempotencyKey, Keep, Kept, Timestamp};
use rusqlite::{Connection, named_params};

use crate::columns::Column;
use crate::secret::{NotOurs, Purpose, SealError, Secret, Secrets};

/// How old a count may be while there is room.
const RECOUNT: Duration = Duration::from_secs(1);

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
    /// When they were counted.
    pub(super) counted: Instant,
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
    at: Timestamp,
) -> Result<ToKeep, SealError> {
    let names = names(secrets, account, &keep.key, &keep.asked);
    let place = names.first().map(|name| place(account, name, at)).unwrap_or_default();
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
        let there = Name { asked_hash: row.get(0)?, secret: row.get(2)?, ..*name };
        let body =
            open(secrets, account, &there, at, row.get_ref(1)?.as_blob().unwrap_or_default());
        let (body, Column(balance)) = (body?, row.get(3)?);
        return Ok(Standing::Kept(if there.asked_hash == name.asked_hash {
            Kept::Answer { body, balance }
        } else {
            Kept::OtherQuestion
        }));
    }
    Ok(standing)
}

fn open(
    secrets: &Secrets,
    account: AccountId,
    name: &Name,
    at: Timestamp,
    sealed: &[u8],
) -> Result<Vec<u8>, NotOurs> {
    let secret = secrets.with_id(name.secret).ok_or(NotOurs)?;
    secret.open(Purpose::KeptSeal, &place(account, name, at), sealed)
}

/// Goes through all records and calls `altered` with the account of each that is not as it was
/// written, if that can be read.
pub(super) fn check(
    connection: &Connection,
    secrets: &Secrets,
    mut altered: impl FnMut(Option<AccountId>),
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT account, key_hash, asked_hash, secret, at, sealed FROM kept")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let account = row.get(0).map(|Column(account)| account).ok();
        let name = || -> rusqlite::Result<_> {
            let (key_hash, asked_hash) = (row.get(1)?, row.get(2)?);
            let (secret, Column(at)) = (row.get(3)?, row.get(4)?);
            Ok((Name { secret, key_hash, asked_hash }, at))
        };
        let sealed = row.get_ref(5)?.as_blob().unwrap_or_default();
        let opens = match (account, name()) {
            (Some(account), Ok((name, at))) => open(secrets, account, &name, at, sealed).is_ok(),
            _ => false,
        };
        if !opens {
            altered(account);
        }
    }
    Ok(())
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
    /// them before its end. `known` is what `connection` knew after its own last change. Where
    /// others wrote meanwhile it is counted anew, which takes milliseconds for a million records:
    /// at most once a second, since it keeps a size and not an account, and always before a record
    /// is refused for want of room.
    pub(super) fn up_to_date(
        connection: &Connection,
        known: Option<Self>,
        most: u64,
    ) -> rusqlite::Result<Self> {
        let version =
            connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        match known {
            Some(known) if known.version == version => Ok(known),
            Some(known) if known.counted.elapsed() < RECOUNT && known.records < most => Ok(known),
            _ => {
                let records = connection
                    .prepare_cached("SELECT count(*) FROM kept")?
                    .query_row([], |row| row.get(0))?;
                Ok(Self { records, version, counted: Instant::now() })
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

/// What a sealed answer belongs to: the account, the hashes, the time in microseconds since 1970.
fn place(account: AccountId, name: &Name, at: Timestamp) -> Vec<u8> {
    let at = at.as_microsecond().to_le_bytes();
    [&account.0.as_bytes()[..], &name.key_hash, &name.asked_hash, &at].concat()
}
