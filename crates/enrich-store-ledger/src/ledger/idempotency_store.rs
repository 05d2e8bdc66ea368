//! Stores responses for repeats: how they are found, and how they are encrypted.
//!
//! The table holds neither the caller's idempotency key nor the question, only keyed hashes of
//! them. The account is part of both hashes, so that equal keys of two accounts look different. The
//! caller's thread encrypts the response and binds it to these hashes and its time. The balance and
//! the charge are known only when the call is decided; a keyed hash after the encrypted response
//! authenticates them. So an altered record cannot be opened: it is an error for its repeat, and a
//! fault for `verify`.

use std::time::{Duration, Instant};

use enrich_core::{
    AccountId, BodyTemplate, ChargeId, Credits, IdempotencyKey, IdempotencyRecord, StoredResponse,
    Timestamp,
};
use enrich_secrets::{CannotDecrypt, Purpose, SealError, Secret, Secrets};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::{Connection, Row, named_params};

/// Length of the hash that authenticates a record's balance and charge.
const TAG_BYTES: usize = 32;
/// Marks the place of the balance in an encrypted response. It occurs nowhere before it: JSON
/// escapes control characters, and the answers to programs begin with the balance.
const BALANCE_MARK: u8 = 0;
/// Once half of the space is used, an account may have at most a sixteenth of it.
const SHARES: u64 = 16;
/// Maximum age of a count while there is space.
const RECOUNT: Duration = Duration::from_secs(1);

/// What finds and identifies a record, under one secret.
#[derive(Clone, Debug)]
pub(super) struct Name {
    secret: u32,
    key_hash: [u8; 32],
    asked_hash: [u8; 32],
}

/// What a response reported beside its content.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedCharge {
    /// The reported balance.
    pub(super) balance: Credits,
    /// The charge for the response; absent when nothing was found.
    pub(super) charge: Option<ChargeId>,
}

/// A record as stored in the table.
struct Record<'r> {
    account: AccountId,
    name: Name,
    /// The encrypted response, and the hash that authenticates its balance and charge.
    sealed: &'r [u8],
    recorded: RecordedCharge,
    at: Timestamp,
}

/// The columns of a record.
macro_rules! record_columns {
    () => {
        "account, key_hash, asked_hash, secret, sealed, balance, charge, at"
    };
}

/// A response ready to be stored, without its balance and charge.
#[derive(Debug)]
pub(super) struct SealedRecord {
    /// The names under every secret, the current one first; never empty.
    pub(super) names: Vec<Name>,
    sealed: Vec<u8>,
}

/// The state of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordState {
    /// There is no record.
    Free,
    /// The record has expired.
    Expired,
    /// The record is valid.
    StoredResponse(StoredResponse),
}

/// The number of records that one connection counted, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordCount {
    pub(super) records: u64,
    /// SQLite's `data_version` at that time. Another value means that another connection, of this
    /// or another process, has written since.
    version: i64,
    /// When they were counted.
    pub(super) counted: Instant,
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum RecordError {
    #[error("an idempotency record could not be read")]
    Read(#[from] rusqlite::Error),
    #[error("an idempotency record is not as it was written")]
    Altered(#[from] CannotDecrypt),
}

/// The names that a record can have, one for each secret.
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

/// Encrypts a response under its name.
pub(super) fn seal(
    secrets: &Secrets,
    account: AccountId,
    idempotency: &IdempotencyRecord,
    at: Timestamp,
) -> Result<SealedRecord, SealError> {
    let names = names(secrets, account, &idempotency.key, &idempotency.question);
    let associated_data =
        names.first().map(|name| associated_data(account, name, at)).unwrap_or_default();
    let sealed = secrets.current().seal(
        Purpose::ResponseSeal,
        &associated_data,
        &encoded(&idempotency.body),
    )?;
    Ok(SealedRecord { names, sealed })
}

/// The state of the names at `now`.
pub(super) fn find(
    connection: &Connection,
    secrets: &Secrets,
    account: AccountId,
    names: &[Name],
    now: Timestamp,
) -> Result<RecordState, RecordError> {
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
        let body = decoded(record.open(secrets)?);
        return Ok(RecordState::StoredResponse(if record.name.asked_hash == name.asked_hash {
            let items = charged_items(connection, record.recorded)?;
            StoredResponse::Answer { body, balance: record.recorded.balance, items }
        } else {
            StoredResponse::OtherQuestion
        }));
    }
    Ok(record_state)
}

/// A response as it is encrypted: with [`BALANCE_MARK`] in the place of the balance.
fn encoded(body: &BodyTemplate) -> Vec<u8> {
    let mut bytes = body.bytes().to_vec();
    if let Some(at) = body.balance_at() {
        bytes.insert(at, BALANCE_MARK);
    }
    bytes
}

fn decoded(mut bytes: Vec<u8>) -> BodyTemplate {
    let balance_at = bytes.iter().position(|&byte| byte == BALANCE_MARK);
    if let Some(at) = balance_at {
        bytes.remove(at);
    }
    BodyTemplate::new(bytes, balance_at)
}

/// The number of items of a response, read from its charge.
fn charged_items(connection: &Connection, recorded: RecordedCharge) -> rusqlite::Result<u64> {
    let Some(charge) = recorded.charge else {
        return Ok(0);
    };
    let items =
        connection.find("SELECT items FROM entry WHERE id = ?1", [Column(charge)], |row| {
            row.get::<_, Option<u64>>(0)
        })?;
    // `verify` reports a missing charge; the response was found all the same.
    Ok(items.flatten().unwrap_or(1))
}

impl<'r> Record<'r> {
    fn read(row: &'r Row<'_>) -> rusqlite::Result<Self> {
        let Column(account) = row.get(0)?;
        let name = Name { key_hash: row.get(1)?, asked_hash: row.get(2)?, secret: row.get(3)? };
        let (sealed, Column(balance)) = (row.get_ref(4)?.as_blob()?, row.get(5)?);
        let charge: Option<Column<ChargeId>> = row.get(6)?;
        let recorded = RecordedCharge { balance, charge: charge.map(|Column(charge)| charge) };
        let Column(at) = row.get(7)?;
        Ok(Self { account, name, sealed, recorded, at })
    }

    /// Decrypts the response.
    fn open(&self, secrets: &Secrets) -> Result<Vec<u8>, CannotDecrypt> {
        let secret = secrets.with_id(self.name.secret).ok_or(CannotDecrypt)?;
        let associated_data = associated_data(self.account, &self.name, self.at);
        match self.sealed.split_last_chunk() {
            Some((sealed, tag)) if *tag == charge_tag(secret, &associated_data, self.recorded) => {
                secret.open(Purpose::ResponseSeal, &associated_data, sealed)
            }
            // Written by a build before schema 4, or altered. Such a record expires within a day,
            // and is deleted by the next call that stores a response.
            _ => secret.open(Purpose::OldResponseSeal, &associated_data, self.sealed),
        }
    }
}

/// Goes through all records. Calls `altered` with the account of each altered record, if the
/// account can be read.
pub(super) fn check(
    connection: &Connection,
    secrets: &Secrets,
    mut altered: impl FnMut(Option<AccountId>),
) -> rusqlite::Result<()> {
    connection.each(concat!("SELECT ", record_columns!(), " FROM kept"), [], |row| {
        let opens = Record::read(row).is_ok_and(|record| record.open(secrets).is_ok());
        if !opens {
            altered(row.get(0).map(|Column(account)| account).ok());
        }
        Ok(())
    })
}

/// Stores a response, in place of an expired one under the same name.
///
/// Returns by how many records the table has grown.
pub(super) fn write(
    connection: &Connection,
    secrets: &Secrets,
    account: AccountId,
    record: &SealedRecord,
    recorded: RecordedCharge,
    at: Timestamp,
) -> rusqlite::Result<i64> {
    let mut replaced = 0;
    let delete = "DELETE FROM kept WHERE account = ?1 AND key_hash = ?2";
    for name in &record.names {
        replaced += connection.run(delete, (Column(account), name.key_hash))?;
    }
    let Some(name) = record.names.first() else {
        return Ok(0);
    };
    let tag = charge_tag(secrets.current(), &associated_data(account, name, at), recorded);
    connection.run(
        concat!(
            "INSERT INTO kept (",
            record_columns!(),
            ") VALUES (:account, :key_hash, :asked_hash, :secret, :sealed, :balance, :charge, :at)"
        ),
        named_params! {
            ":account": Column(account),
            ":key_hash": name.key_hash,
            ":asked_hash": name.asked_hash,
            ":secret": name.secret,
            ":sealed": [&record.sealed[..], &tag].concat(),
            ":balance": Column(recorded.balance),
            ":charge": recorded.charge.map(Column),
            ":at": Column(at),
        },
    )?;
    Ok(1 - i64::try_from(replaced).unwrap_or(i64::MAX))
}

/// Removes at most `limit` records that have expired at `now`, the oldest first. Returns by how many
/// records the table has grown, which is never above 0.
pub(super) fn prune(
    connection: &Connection,
    now: Timestamp,
    limit: usize,
) -> rusqlite::Result<i64> {
    let Ok(until) = now.checked_sub(jiff::SignedDuration::from_secs(IdempotencyRecord::SECONDS))
    else {
        return Ok(0);
    };
    let delete = "DELETE FROM kept WHERE rowid IN
                  (SELECT rowid FROM kept WHERE at <= ?1 ORDER BY at LIMIT ?2)";
    let removed = connection.run(delete, (Column(until), limit))?;
    Ok(-i64::try_from(removed).unwrap_or(i64::MAX))
}

/// Whether an account may store another record when there are `records` of at most `most`.
///
/// The first half of the space is open to every account. After that, an account that has a
/// sixteenth of `most` may store no more, so that the rest is left for the others. There are no
/// shares where a share would be less than one record.
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
    let held: Option<u64> = connection.find(
        "SELECT answers FROM kept_count WHERE account = ?1",
        [Column(account)],
        |row| row.get(0),
    )?;
    Ok(held.unwrap_or_default() < share)
}

impl RecordCount {
    /// The number of records, seen inside a write transaction, in which no other process changes
    /// them. `known` is the count after the connection's own last change. If others have written
    /// since, the records are counted again, which takes milliseconds for a million records. So
    /// while there is space for `wanted` more within `most`, they are counted at most once a
    /// second: this limits a size, not an account. Otherwise they are counted each time.
    pub(super) fn up_to_date(
        connection: &Connection,
        known: Option<Self>,
        wanted: u64,
        most: u64,
    ) -> rusqlite::Result<Self> {
        let version = connection.value("PRAGMA data_version", [])?;
        match known {
            Some(known) if known.version == version => Ok(known),
            Some(known) if known.counted.elapsed() < RECOUNT && known.has_room(wanted, most) => {
                Ok(known)
            }
            _ => {
                let records = connection.value("SELECT count(*) FROM kept", [])?;
                Ok(Self { records, version, counted: Instant::now() })
            }
        }
    }

    fn has_room(self, wanted: u64, most: u64) -> bool {
        self.records.saturating_add(wanted) <= most
    }

    /// The count after the connection has added `by` records, or removed them.
    pub(super) fn after_growing(self, by: i64) -> Self {
        Self { records: self.records.saturating_add_signed(by), ..self }
    }
}

/// Whether a record made at `at` has expired at `now`: after 24 hours.
fn has_expired(at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(at) >= jiff::SignedDuration::from_secs(IdempotencyRecord::SECONDS)
}

/// The keyed hash of the balance and charge of the record with this associated data.
fn charge_tag(
    secret: &Secret,
    associated_data: &[u8],
    recorded: RecordedCharge,
) -> [u8; TAG_BYTES] {
    let balance = recorded.balance.0.to_le_bytes();
    let charge = recorded.charge.as_ref().map(|charge| &charge.0.as_bytes()[..]);
    secret.hash(Purpose::ResponseTag, &[associated_data, &balance, charge.unwrap_or_default()])
}

/// The associated data of an encrypted response: account, hashes, and time in microseconds since
/// 1970.
fn associated_data(account: AccountId, name: &Name, at: Timestamp) -> Vec<u8> {
    let at = at.as_microsecond().to_le_bytes();
    [&account.0.as_bytes()[..], &name.key_hash, &name.asked_hash, &at].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_keeps_the_place_of_its_balance() {
        for (stored, filled) in
            [(&b"{\"n\":\0}"[..], &b"{\"n\":7}"[..]), (b"{}", b"{}"), (b"\0", b"7")]
        {
            let body = decoded(stored.to_vec());
            assert_eq!(encoded(&body), stored);
            assert_eq!(body.fill(Credits(7)), filled);
        }
    }

    #[test]
    fn a_record_opens_without_a_voucher_only_if_a_build_before_sealed_it() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::create(&folder.path().join("secret.key")).unwrap();
        let at = Timestamp::UNIX_EPOCH;
        let account = AccountId::new(at);
        let key = IdempotencyKey::parse("k").unwrap();
        let name = names(&secrets, account, &key, b"asked").remove(0);
        let associated_data = associated_data(account, &name, at);
        let recorded = RecordedCharge { balance: Credits(3), charge: None };
        let open = |sealed: &[u8], recorded| {
            Record { account, name: name.clone(), sealed, recorded, at }.open(&secrets)
        };
        let seal = |purpose| secrets.current().seal(purpose, &associated_data, b"answer").unwrap();
        assert_eq!(open(&seal(Purpose::OldResponseSeal), recorded).unwrap(), b"answer");

        let mut sealed = seal(Purpose::ResponseSeal);
        assert_eq!(open(&sealed, recorded), Err(CannotDecrypt));
        sealed.extend(charge_tag(secrets.current(), &associated_data, recorded));
        assert_eq!(open(&sealed, recorded).unwrap(), b"answer");
        assert_eq!(
            open(&sealed, RecordedCharge { balance: Credits(4), ..recorded }),
            Err(CannotDecrypt)
        );
    }
}
