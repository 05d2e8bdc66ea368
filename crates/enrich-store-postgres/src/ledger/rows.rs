//! Reads ledger rows and stored responses from rows of PostgreSQL.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;

use enrich_core::port::ledger::Charged;
use enrich_core::{AccountId, ChargeId, Credits, KeyId, StoredResponse, Timestamp};
use enrich_ledger::{
    Chain, DoesNotFollow, LastRow, NO_ROW, RecordedCharge, ResponseName, Row, StoredRecord,
};
use enrich_secrets::{CannotDecrypt, Secrets};
use rustc_hash::FxHashMap;
use uuid::Uuid;

use crate::columns::{hash, timestamp, unsigned};
use crate::failure::Failure;
use crate::ledger::job::{Decision, Job};
use crate::ledger::statements::row_columns;

/// Reads the last row of each account, and the row before it.
pub(super) const LAST_ROWS: &str = concat!(
    "SELECT e.* FROM unnest($1::uuid[]) AS n (id)
     JOIN LATERAL (SELECT ",
    row_columns!(),
    " FROM entry WHERE account = n.id ORDER BY sequence DESC LIMIT 2) e ON true"
);

/// Reads at most `$3` rows of account `$1`: the rows after sequence `$2`, in ascending order.
pub(super) const ROWS_AFTER: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM entry WHERE account = $1 AND sequence > $2 ORDER BY sequence LIMIT $3"
);

/// Reads at most `$3` rows of account `$1`: the rows before sequence `$2`, the newest first.
pub(super) const ROWS_BEFORE: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM entry WHERE account = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3"
);

/// Reads at most `$3` rows of all accounts, in the order of account and sequence. Begins after the
/// row with the account `$1` and the sequence `$2`.
pub(super) const ALL_ROWS_AFTER: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM entry WHERE (account, sequence) > ($1, $2) ORDER BY account, sequence LIMIT $3"
);

/// Reads stored responses by the hashes of their idempotency keys.
pub(super) const RECORDS: &str =
    "SELECT k.account, k.key_hash, k.asked_hash, k.sealed, k.secret, k.balance, k.charge, k.at,
            e.items
     FROM unnest($1::uuid[], $2::bytea[]) AS q (account, key_hash)
     JOIN kept k ON k.account = q.account AND k.key_hash = q.key_hash
     LEFT JOIN entry e ON e.id = k.charge";

/// Reads at most `$3` stored responses of all accounts, in the order of account and key hash.
/// Begins after the response with the account `$1` and the key hash `$2`.
pub(super) const ALL_RECORDS_AFTER: &str =
    "SELECT k.account, k.key_hash, k.asked_hash, k.sealed, k.secret, k.balance, k.charge, k.at,
            NULL::bigint
     FROM kept k WHERE (k.account, k.key_hash) > ($1, $2) ORDER BY k.account, k.key_hash LIMIT $3";

/// The last rows of accounts; an error if an account's last row does not follow the row before it,
/// because one of the two was altered.
pub(super) type LastRows = FxHashMap<AccountId, Result<LastRow, DoesNotFollow>>;

/// A stored response, as it was read from the database.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) account: AccountId,
    pub(super) name: ResponseName,
    sealed: Vec<u8>,
    recorded: RecordedCharge,
    pub(super) at: Timestamp,
    /// The number of items (values in the answer) that the charge for the response pays for. `None`
    /// if there is no such charge, or if the query does not read the charge.
    items: Option<u64>,
}

/// Reads a ledger row and its hash from the columns of `row_columns`.
pub(super) fn read_row(row: &tokio_postgres::Row) -> Result<(Row<'static>, Chain), Failure> {
    let maybe = |number: Option<i64>| number.map(unsigned).transpose();
    let (account, sequence): (Uuid, i64) = (row.try_get(0)?, row.try_get(1)?);
    let (kind, price): (String, Option<String>) = (row.try_get(3)?, row.try_get(9)?);
    let (endpoint, request_id): (Option<String>, Option<String>) =
        (row.try_get(7)?, row.try_get(11)?);
    let note: String = row.try_get(13)?;
    let secret: i32 = row.try_get(15)?;
    let read = Row {
        account: AccountId(account),
        sequence: unsigned(sequence)?,
        id: ChargeId(row.try_get(2)?),
        kind: kind.into(),
        corrects: row.try_get::<_, Option<Uuid>>(4)?.map(ChargeId),
        credits: row.try_get(5)?,
        balance: Credits(unsigned(row.try_get(6)?)?),
        endpoint: endpoint.map(Into::into),
        items: maybe(row.try_get(8)?)?,
        price,
        api_key: row.try_get::<_, Option<Uuid>>(10)?.map(KeyId),
        request_id: request_id.map(Into::into),
        revision: maybe(row.try_get(12)?)?,
        note: note.into(),
        at: timestamp(row.try_get(14)?)?,
        secret: secret.cast_unsigned(),
    };
    Ok((read, hash(row.try_get(16)?)?))
}

/// Checks the last row of each account against the row before it. `rows` is the result of the query
/// [`LAST_ROWS`].
pub(super) fn check_last_rows(
    rows: &[tokio_postgres::Row],
    secrets: &Secrets,
) -> Result<LastRows, Failure> {
    // For each account, two indexes in `rows`: of the account's last ledger row, and of the ledger
    // row before that one.
    let mut found: FxHashMap<Uuid, (usize, Option<usize>)> = FxHashMap::default();
    let sequence = |at: usize| rows.get(at).map_or(Ok(0), |row| row.try_get::<_, i64>(1));
    for (at, row) in rows.iter().enumerate() {
        let account = row.try_get(0)?;
        match found.entry(account) {
            Entry::Vacant(entry) => {
                entry.insert((at, None));
            }
            Entry::Occupied(mut entry) => {
                let (other, _) = *entry.get();
                match sequence(at)?.cmp(&sequence(other)?) {
                    Ordering::Greater => entry.insert((at, Some(other))),
                    Ordering::Less => entry.insert((other, Some(at))),
                    // `rows` contains the same row twice, because the account was requested twice.
                    Ordering::Equal => continue,
                };
            }
        }
    }
    let mut last_rows = LastRows::default();
    for (last, before) in found.into_values() {
        let Some(row) = rows.get(last) else { continue };
        let (last, chain) = read_row(row)?;
        let before = match before.and_then(|before| rows.get(before)) {
            Some(row) => LastRow {
                sequence: unsigned(row.try_get(1)?)?,
                balance: Credits(unsigned(row.try_get(6)?)?),
                chain: hash(row.try_get(16)?)?,
            },
            // `rows` has no row before the last row. This is correct if the last row is the
            // account's first row. If an earlier row was lost, `follow` returns an error, because
            // the sequence of the last row is not 1.
            None => LastRow { chain: NO_ROW, ..LastRow::NONE },
        };
        last_rows.insert(last.account, before.follow(&last, &chain, secrets));
    }
    Ok(last_rows)
}

impl Record {
    /// Reads a stored response from a row that [`RECORDS`] or [`ALL_RECORDS_AFTER`] returns.
    pub(super) fn read(row: &tokio_postgres::Row) -> Result<Self, Failure> {
        let secret: i32 = row.try_get(4)?;
        let name = ResponseName {
            secret: secret.cast_unsigned(),
            key_hash: hash(row.try_get(1)?)?,
            asked_hash: hash(row.try_get(2)?)?,
        };
        let recorded = RecordedCharge {
            balance: Credits(unsigned(row.try_get(5)?)?),
            charge: row.try_get::<_, Option<Uuid>>(6)?.map(ChargeId),
        };
        let items = row.try_get::<_, Option<i64>>(8)?.map(unsigned).transpose()?;
        let (account, sealed) = (AccountId(row.try_get(0)?), row.try_get(3)?);
        Ok(Self { account, name, sealed, recorded, at: timestamp(row.try_get(7)?)?, items })
    }

    /// Returns the stored response. If the idempotency key was used for another request, returns
    /// [`StoredResponse::OtherRequest`]. `name` contains the keyed hashes of the key and of the
    /// request.
    pub(super) fn response(
        &self,
        name: &ResponseName,
        secrets: &Secrets,
    ) -> Result<StoredResponse, CannotDecrypt> {
        let record = StoredRecord {
            account: self.account,
            name: self.name.clone(),
            sealed: &self.sealed,
            recorded: self.recorded,
            at: self.at,
        };
        let body = record.open(secrets)?;
        if self.name.asked_hash != name.asked_hash {
            return Ok(StoredResponse::OtherRequest);
        }
        // If the charge is missing, the response is returned nevertheless, with 1 item. `verify`
        // reports the missing charge.
        let items = self.recorded.charge.map_or(0, |_| self.items.unwrap_or(1));
        Ok(StoredResponse::Answer { body, balance: self.recorded.balance, items })
    }

    /// Decides the charge in `job`, whose idempotency key belongs to this record. The record must
    /// not have expired. If an earlier attempt of the same job wrote the record, the result is
    /// [`Charged::Taken`]. Otherwise, the result is [`Charged::Replayed`], and nothing is charged.
    pub(super) fn decide(
        &self,
        name: &ResponseName,
        job: &Job,
        secrets: &Secrets,
    ) -> Result<Decision, CannotDecrypt> {
        // If the reply to an earlier commit of this job was lost, that commit may have written the
        // record.
        if job.doubted.is_some()
            && let Some((charge, response)) = job.response()
            && response.bytes_with(secrets, self.account, self.recorded, charge.at) == self.sealed
        {
            return Ok(Charged::Taken { balance: self.recorded.balance }.into());
        }
        Ok(Charged::Replayed(self.response(name, secrets)?).into())
    }
}
