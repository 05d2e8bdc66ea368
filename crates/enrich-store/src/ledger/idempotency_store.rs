//! The answers kept for repeats: what they are found by, and how they are sealed.
//!
//! Neither the caller's idempotency key nor what was asked stands in the table, only keyed hashes
//! of them, made together with the account so that equal keys of two accounts look different. The
//! answer is sealed together with these hashes and its time, by who asks. What it was told with, its
//! balance and its charge, is known when it is decided, and a keyed hash behind the sealed answer
//! vouches for that. So a record opens only as it was written: one that was altered is an error for
//! its repeat, and a fault for `verify`.

use std::time::{Duration, Instant};

use enrich_core::{
    AccountId, ChargeId, Credits, IdempotencyKey, IdempotencyRecord, StoredResponse, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::columns::Column;
use crate::secret::{NotOurs, Purpose, SealError, Secret, Secrets};

/// How long the hash is that vouches for what an answer was told with.
const VOUCHER_BYTES: usize = 32;
/// As many accounts can have a share of the room each; the other half of it is anybody's.
const SHARES: u64 = 16;
/// How old a count may be while there is room.
const RECOUNT: Duration = Duration::from_secs(1);

/// What a record is found by and compared with, under one secret.
#[derive(Clone, Debug)]
pub(super) struct Name {
    secret: u32,
    key_hash: [u8; 32],
    asked_hash: [u8; 32],
}

/// What an answer was told with.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedCharge {
    /// The balance that it names.
    pub(super) balance: Credits,
    /// What was charged for it; absent where nothing was found.
    pub(super) charge: Option<ChargeId>,
}

/// A record as it stands in the table.
struct Record<'r> {
    account: AccountId,
    name: Name,
    /// The answer, and the hash that vouches for what it was told with.
    sealed: &'r [u8],
    told: RecordedCharge,
    at: Timestamp,
}

/// What a record is read from.
macro_rules! record_columns {
    () => {
        "account, key_hash, asked_hash, secret, sealed, balance, charge, at"
    };
}

/// An answer ready to be kept, but for what it is told with.
#[derive(Debug)]
pub(super) struct ToKeep {
    /// Under every secret, the current one first; never empty.
    pub(super) names: Vec<Name>,
    sealed: Vec<u8>,
}

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordState {
    /// Nothing.
    Free,
    /// A record that has outlived its time.
    Expired,
    /// A record that holds.
    StoredResponse(StoredResponse),
}

/// How many records one connection counted, and when that was.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordCount {
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
    idempotency: &IdempotencyRecord,
    at: Timestamp,
) -> Result<ToKeep, SealError> {
    let names = names(secrets, account, &idempotency.key, &idempotency.asked);
    let place = names.first().map(|name| place(account, name, at)).unwrap_or_default();
    let sealed = secrets.current().seal(Purpose::KeptAnswer, &place, &idempotency.body)?;
    Ok(ToKeep { names, sealed })
}

/// What stands under the names at `now`.
pub(super) fn find(
    connection: &Connection,
    secrets: &Secrets,
    account: AccountId,
    names: &[Name],
    now: Timestamp,
) -> Result<RecordState, KeepError> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        record_columns!(),
        " FROM kept WHERE account = ?1 AND key_hash = ?2"
    ))?;
    let mut record_state = RecordState::Free;
    for name in names {
        let mut rows = statement.query((Column(account), name.key_hash))?;
        let Some(row) = rows.next()? else {
            continue;
        };
        let record = Record::read(row)?;
        if has_expired(record.at, now) {
            record_state = RecordState::Expired;
            continue;
        }
        let body = record.open(secrets)?;
        return Ok(RecordState::StoredResponse(if record.name.asked_hash == name.asked_hash {
            let items = charged_items(connection, record.told)?;
            StoredResponse::Answer { body, balance: record.told.balance, items }
        } else {
            StoredResponse::OtherQuestion
        }));
    }
    Ok(record_state)
}

/// How many items an answer holds: those of its charge, which was written with it.
fn charged_items(connection: &Connection, told: RecordedCharge) -> rusqlite::Result<u64> {
    let Some(charge) = told.charge else {
        return Ok(0);
    };
    let items = connection
        .prepare_cached("SELECT items FROM entry WHERE id = ?1")?
        .query_row([Column(charge)], |row| row.get::<_, Option<u64>>(0))
        .optional()?;
    // A charge that is not there is for `verify` to find; its answer was found all the same.
    Ok(items.flatten().unwrap_or(1))
}

impl<'r> Record<'r> {
    fn read(row: &'r Row<'_>) -> rusqlite::Result<Self> {
        let Column(account) = row.get(0)?;
        let name = Name { key_hash: row.get(1)?, asked_hash: row.get(2)?, secret: row.get(3)? };
        let (sealed, Column(balance)) = (row.get_ref(4)?.as_blob()?, row.get(5)?);
        let charge: Option<Column<ChargeId>> = row.get(6)?;
        let told = RecordedCharge { balance, charge: charge.map(|Column(charge)| charge) };
        let Column(at) = row.get(7)?;
        Ok(Self { account, name, sealed, told, at })
    }

    /// The answer.
    fn open(&self, secrets: &Secrets) -> Result<Vec<u8>, NotOurs> {
        let secret = secrets.with_id(self.name.secret).ok_or(NotOurs)?;
        let place = place(self.account, &self.name, self.at);
        match self.sealed.split_last_chunk() {
            Some((sealed, voucher)) if *voucher == vouch(secret, &place, self.told) => {
                secret.open(Purpose::KeptAnswer, &place, sealed)
            }
            // By a build before schema 4, unless it was altered. What that kept is no longer given
            // out a day later, and stays in the table until a call that keeps an answer prunes it.
            _ => secret.open(Purpose::KeptSeal, &place, self.sealed),
        }
    }
}

/// Goes through all records and calls `altered` with the account of each that is not as it was
/// written, if that can be read.
pub(super) fn check(
    connection: &Connection,
    secrets: &Secrets,
    mut altered: impl FnMut(Option<AccountId>),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(concat!("SELECT ", record_columns!(), " FROM kept"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let opens = Record::read(row).is_ok_and(|record| record.open(secrets).is_ok());
        if !opens {
            altered(row.get(0).map(|Column(account)| account).ok());
        }
    }
    Ok(())
}

/// Keeps an answer, in place of an expired one under the same name.
///
/// Gives back by how many records the table has grown.
pub(super) fn write(
    connection: &Connection,
    secrets: &Secrets,
    account: AccountId,
    to_keep: &ToKeep,
    told: RecordedCharge,
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
    let voucher = vouch(secrets.current(), &place(account, name, at), told);
    let mut insert = connection.prepare_cached(concat!(
        "INSERT INTO kept (",
        record_columns!(),
        ") VALUES (:account, :key_hash, :asked_hash, :secret, :sealed, :balance, :charge, :at)"
    ))?;
    insert.execute(named_params! {
        ":account": Column(account),
        ":key_hash": name.key_hash,
        ":asked_hash": name.asked_hash,
        ":secret": name.secret,
        ":sealed": [&to_keep.sealed[..], &voucher].concat(),
        ":balance": Column(told.balance),
        ":charge": told.charge.map(Column),
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
    let Ok(until) = now.checked_sub(jiff::SignedDuration::from_secs(IdempotencyRecord::SECONDS))
    else {
        return Ok(0);
    };
    let mut statement = connection.prepare_cached(
        "DELETE FROM kept WHERE rowid IN
             (SELECT rowid FROM kept WHERE at <= ?1 ORDER BY at LIMIT ?2)",
    )?;
    statement.execute((Column(until), limit))
}

/// Whether an account may keep another record where there are `records` and may be `most`.
///
/// Half of the room is for whoever comes first. Once that is taken, an account that holds a sixteenth of
/// all there may be gets no more, so that the rest is there for the others. Where that would be less
/// than one, there are no shares.
pub(super) fn has_share(
    connection: &Connection,
    account: AccountId,
    records: u64,
    most: u64,
) -> rusqlite::Result<bool> {
    let share = most / SHARES;
    if share == 0 || records < most / 2 {
        return Ok(true);
    }
    let mut count =
        connection.prepare_cached("SELECT answers FROM kept_count WHERE account = ?1")?;
    let held: Option<u64> = count.query_row([Column(account)], |row| row.get(0)).optional()?;
    Ok(held.unwrap_or_default() < share)
}

impl RecordCount {
    /// How many records there are, seen from inside a transaction that writes: nobody else changes
    /// them before its end. `known` is what `connection` knew after its own last change. Where
    /// others wrote meanwhile it is counted anew, which takes milliseconds for a million records. So
    /// while there is room for `wanted` more among the `most` that there may be, that is done once a
    /// second, since it keeps a size and not an account; else each time.
    pub(super) fn up_to_date(
        connection: &Connection,
        known: Option<Self>,
        wanted: u64,
        most: u64,
    ) -> rusqlite::Result<Self> {
        let version =
            connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        match known {
            Some(known) if known.version == version => Ok(known),
            Some(known) if known.counted.elapsed() < RECOUNT && known.has_room(wanted, most) => {
                Ok(known)
            }
            _ => {
                let records = connection
                    .prepare_cached("SELECT count(*) FROM kept")?
                    .query_row([], |row| row.get(0))?;
                Ok(Self { records, version, counted: Instant::now() })
            }
        }
    }

    fn has_room(self, wanted: u64, most: u64) -> bool {
        self.records.saturating_add(wanted) <= most
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
    now.duration_since(at) >= jiff::SignedDuration::from_secs(IdempotencyRecord::SECONDS)
}

/// The keyed hash of what an answer was told with, of the record at `place`.
fn vouch(secret: &Secret, place: &[u8], told: RecordedCharge) -> [u8; VOUCHER_BYTES] {
    let balance = told.balance.0.to_le_bytes();
    let charge = told.charge.as_ref().map(|charge| &charge.0.as_bytes()[..]);
    secret.hash(Purpose::KeptTold, &[place, &balance, charge.unwrap_or_default()])
}

/// What a sealed answer belongs to: the account, the hashes, the time in microseconds since 1970.
fn place(account: AccountId, name: &Name, at: Timestamp) -> Vec<u8> {
    let at = at.as_microsecond().to_le_bytes();
    [&account.0.as_bytes()[..], &name.key_hash, &name.asked_hash, &at].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_opens_without_a_voucher_only_if_a_build_before_sealed_it() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::create(&folder.path().join("secret.key")).unwrap();
        let at = Timestamp::UNIX_EPOCH;
        let account = AccountId::new(at);
        let key = IdempotencyKey::parse("k").unwrap();
        let name = names(&secrets, account, &key, b"asked").remove(0);
        let place = place(account, &name, at);
        let told = RecordedCharge { balance: Credits(3), charge: None };
        let open = |sealed: &[u8], told| {
            Record { account, name: name.clone(), sealed, told, at }.open(&secrets)
        };
        let seal = |purpose| secrets.current().seal(purpose, &place, b"answer").unwrap();
        assert_eq!(open(&seal(Purpose::KeptSeal), told).unwrap(), b"answer");

        let mut sealed = seal(Purpose::KeptAnswer);
        assert_eq!(open(&sealed, told), Err(NotOurs));
        sealed.extend(vouch(secrets.current(), &place, told));
        assert_eq!(open(&sealed, told).unwrap(), b"answer");
        assert_eq!(open(&sealed, RecordedCharge { balance: Credits(4), ..told }), Err(NotOurs));
    }
}
