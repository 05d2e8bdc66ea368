//! The table of idempotency records. A record contains the response that repeated calls get.
//! `enrich-ledger` calculates the names of records (keyed hashes of the idempotency key and of the
//! request), and encrypts the responses.

use std::time::{Duration, Instant};

use enrich_core::{AccountId, ChargeId, IdempotencyRecord, StoredResponse, Timestamp};
use enrich_ledger::{
    RecordedCharge, ResponseName, SealedResponse, StoredRecord, has_expired, share_of,
};
use enrich_secrets::{CannotDecrypt, Secrets};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::{Connection, Row, named_params};

/// A count of the idempotency records becomes inexact when another connection writes to the
/// database. This is the maximum age of an inexact count that is still used. The rule is in
/// [`RecordCount::up_to_date`].
const RECOUNT: Duration = Duration::from_secs(1);

/// The columns of an idempotency record, in the order in which [`read`] reads them.
macro_rules! record_columns {
    () => {
        "account, key_hash, asked_hash, secret, sealed, balance, charge, at"
    };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordState {
    /// No idempotency record with this name exists, so a new one can be stored.
    Free,
    /// An idempotency record with this name exists, but it has expired.
    Expired,
    /// An idempotency record with this name exists and is valid; this is its response.
    StoredResponse(StoredResponse),
}

/// The number of idempotency records, as one connection has counted it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordCount {
    pub(super) records: u64,
    /// SQLite's `data_version` when the idempotency records were counted. If it has changed,
    /// another connection of this or another process has written to the database since then.
    version: i64,
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

/// Finds the idempotency record that has one of `names`, and returns its state at `now`.
///
/// All `names` stand for the same call: there is one name for each secret in `secret.key`. The
/// record may have the name of an older secret, which was in use when the record was stored.
pub(super) fn find(
    connection: &Connection,
    secrets: &Secrets,
    account: AccountId,
    names: &[ResponseName],
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
        let record = read(row)?;
        if has_expired(record.at, now) {
            record_state = RecordState::Expired;
            continue;
        }
        let body = record.open(secrets)?;
        return Ok(RecordState::StoredResponse(if record.name.asked_hash == name.asked_hash {
            let items = charged_items(connection, record.recorded)?;
            StoredResponse::Answer { body, balance: record.recorded.balance, items }
        } else {
            StoredResponse::OtherRequest
        }));
    }
    Ok(record_state)
}

/// Returns the number of items (values) in a stored response; 0 if the response was not charged.
/// The number is in the ledger row of the charge.
fn charged_items(connection: &Connection, recorded: RecordedCharge) -> rusqlite::Result<u64> {
    let Some(charge) = recorded.charge else {
        return Ok(0);
    };
    let items =
        connection.find("SELECT items FROM entry WHERE id = ?1", [Column(charge)], |row| {
            row.get::<_, Option<u64>>(0)
        })?;
    // If the ledger row of the charge is missing, this function does not fail: it returns one item.
    // Verifying the ledger reports the missing row.
    Ok(items.flatten().unwrap_or(1))
}

/// Reads an idempotency record from the columns of [`record_columns`].
fn read<'r>(row: &'r Row<'_>) -> rusqlite::Result<StoredRecord<'r>> {
    let Column(account) = row.get(0)?;
    let name = ResponseName { key_hash: row.get(1)?, asked_hash: row.get(2)?, secret: row.get(3)? };
    let (sealed, Column(balance)) = (row.get_ref(4)?.as_blob()?, row.get(5)?);
    let charge: Option<Column<ChargeId>> = row.get(6)?;
    let recorded = RecordedCharge { balance, charge: charge.map(|Column(charge)| charge) };
    let Column(at) = row.get(7)?;
    Ok(StoredRecord { account, name, sealed, recorded, at })
}

/// Reads all idempotency records, and checks that they were not altered. For each altered record,
/// calls `altered` with the record's account, or with `None` if the account cannot be read.
pub(super) fn check(
    connection: &Connection,
    secrets: &Secrets,
    mut altered: impl FnMut(Option<AccountId>),
) -> rusqlite::Result<()> {
    connection.each(concat!("SELECT ", record_columns!(), " FROM kept"), [], |row| {
        let opens = read(row).is_ok_and(|record| record.open(secrets).is_ok());
        if !opens {
            altered(row.get(0).map(|Column(account)| account).ok());
        }
        Ok(())
    })
}

/// Stores a response. If an expired record has the same name, the response replaces that record.
///
/// Returns by how many records the table has grown; 0 if the response has replaced a record.
pub(super) fn write(
    connection: &Connection,
    secrets: &Secrets,
    account: AccountId,
    response: &SealedResponse,
    recorded: RecordedCharge,
    at: Timestamp,
) -> rusqlite::Result<i64> {
    let mut replaced = 0;
    let delete = "DELETE FROM kept WHERE account = ?1 AND key_hash = ?2";
    for name in &response.names {
        replaced += connection.run(delete, (Column(account), name.key_hash))?;
    }
    let Some(name) = response.names.first() else {
        return Ok(0);
    };
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
            ":sealed": response.bytes_with(secrets, account, recorded, at),
            ":balance": Column(recorded.balance),
            ":charge": recorded.charge.map(Column),
            ":at": Column(at),
        },
    )?;
    Ok(1 - i64::try_from(replaced).unwrap_or(i64::MAX))
}

/// Removes at most `limit` idempotency records that have expired at `now`, the oldest first.
/// Returns the change of the number of records: 0, or a negative number.
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

/// Whether an account may store one more idempotency record. `records` is the number of records of
/// all accounts, and `most` is the limit for all accounts together. The rule is in [`share_of`].
pub(super) fn has_share(
    connection: &Connection,
    account: AccountId,
    records: u64,
    most: u64,
) -> rusqlite::Result<bool> {
    let Some(share) = share_of(most, records) else {
        return Ok(true);
    };
    let held: Option<u64> = connection.find(
        "SELECT answers FROM kept_count WHERE account = ?1",
        [Column(account)],
        |row| row.get(0),
    )?;
    Ok(held.unwrap_or_default() < share)
}

impl RecordCount {
    /// Returns the number of idempotency records. The caller must be in a write transaction, so
    /// that no other process can change the number.
    ///
    /// `known` is the number after this connection's last change. To count all records takes
    /// milliseconds if there are a million. So this function returns `known` in two cases:
    ///
    /// - No other connection has written since the last count. Then `known` is exact.
    /// - The last count is less than a second old, and `wanted` more records would not exceed the
    ///   limit `most`. Then `known` can be a little wrong. This is acceptable, because the number
    ///   only limits the size of the table.
    ///
    /// In all other cases, it counts the records.
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

    /// Returns the number of idempotency records after this connection has added `by` records, or
    /// has removed records if `by` is negative.
    pub(super) fn after_growing(self, by: i64) -> Self {
        Self { records: self.records.saturating_add_signed(by), ..self }
    }
}
