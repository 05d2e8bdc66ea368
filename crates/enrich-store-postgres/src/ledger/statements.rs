//! The statements that write a group of charges. The new rows and records are passed as arrays, so
//! that one statement writes a group of any size.

use enrich_core::AccountId;
use enrich_core::Timestamp;
use enrich_ledger::{Chain, RecordedCharge, ResponseName, Row};
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use crate::columns::{Value, clamped};

/// A complete new ledger row, and its hash.
#[derive(Debug)]
pub(super) struct NewRow<'a> {
    pub(super) row: Row<'a>,
    pub(super) chain: Chain,
}

/// A new idempotency record: the encrypted response to a call, the id of the call's charge, and the
/// balance after the charge.
#[derive(Debug)]
pub(super) struct NewRecord<'a> {
    pub(super) account: AccountId,
    pub(super) name: &'a ResponseName,
    pub(super) sealed: Vec<u8>,
    pub(super) recorded: RecordedCharge,
    pub(super) at: Timestamp,
}

/// Locks accounts by their rows in the table `purse`, always in the order of their ids, which
/// prevents deadlocks. Returns the accounts that exist.
pub(super) const LOCK: &str =
    "SELECT account FROM purse WHERE account = ANY($1) ORDER BY account FOR UPDATE";

/// Locks only the accounts that no other transaction has locked, in the order of their ids. Returns
/// the locked accounts.
pub(super) const LOCK_FREE: &str =
    "SELECT account FROM purse WHERE account = ANY($1) ORDER BY account FOR UPDATE SKIP LOCKED";

/// Locks only those accounts of the array `$1` that no other transaction has locked. Passes the
/// positions of the locked accounts to the next statement in `enrich.locked`, a setting of the
/// transaction. For example, `1,3` means that the first and the third account of `$1` are locked.
///
/// Locking and comparing are two statements, because only a later statement sees what other
/// transactions committed before they released the locks.
pub(super) const LOCK_FREE_FOR_NEXT: &str =
    "SELECT set_config('enrich.locked', COALESCE(string_agg(l.number::text, ','), ''), true)
     FROM (SELECT n.number FROM unnest($1::uuid[]) WITH ORDINALITY AS n (account, number)
           JOIN purse ON purse.account = n.account ORDER BY n.account
           FOR UPDATE OF purse SKIP LOCKED) l";

/// The SQL of the subquery `stood`, which returns the accounts to which rows may be added. These
/// are the accounts that [`LOCK_FREE_FOR_NEXT`] has locked and whose last row is the expected one.
/// `$condition` is SQL text that can leave out more accounts.
///
/// Parameter 15 is the array of accounts, in the same order as in [`LOCK_FREE_FOR_NEXT`].
/// Parameters 16 and 17 are arrays of the sequences and the hashes of the expected last rows.
macro_rules! stood {
    ($condition:literal) => {
        concat!(
            "locked AS MATERIALIZED (
                 SELECT unnest(string_to_array(current_setting('enrich.locked'), ',')::bigint[])
                     AS number),
             stood AS MATERIALIZED (
                 SELECT n.account
                 FROM unnest($15::uuid[], $16::bigint[], $17::bytea[]) WITH ORDINALITY
                     AS n (account, sequence, chain, number)
                 JOIN locked ON locked.number = n.number
                 LEFT JOIN LATERAL (SELECT sequence, chain FROM entry e
                                    WHERE e.account = n.account
                                    ORDER BY sequence DESC LIMIT 1) l ON true
                 WHERE COALESCE(l.sequence, 0) = n.sequence AND COALESCE(l.chain, n.chain) = n.chain",
            $condition,
            ")"
        )
    };
}

/// The columns of a ledger row, in the order of [`RowColumns`].
macro_rules! row_columns {
    () => {
        "account, sequence, id, kind, corrects, credits, balance, endpoint, items, price, api_key, \
         request_id, generation, note, at, secret, chain"
    };
}
pub(super) use row_columns;

macro_rules! record_columns {
    () => {
        "account, key_hash, asked_hash, sealed, secret, balance, charge, at"
    };
}

/// Converts the arrays of [`RowColumns`] (parameters 1 to 17) to rows.
macro_rules! new_rows {
    () => {
        concat!(
            "unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::uuid[], $6::bigint[], \
             $7::bigint[], $8::text[], $9::bigint[], $10::text[], $11::uuid[], $12::text[], \
             $13::bigint[], $14::text[], $15::bigint[], $16::int[], $17::bytea[]) AS r (",
            row_columns!(),
            ")"
        )
    };
}

/// A statement that adds charges to the table `entry`. Parameters 1 to 14 are the values of
/// [`RowColumns::charge_values`]. A column with the same value in every charge, such as `kind`, is
/// not passed as an array, because each array costs time.
macro_rules! add_charges {
    () => {
        concat!(
            "INSERT INTO entry (",
            row_columns!(),
            ") SELECT r.account, r.sequence, r.id, 'charge', NULL::uuid, r.credits, r.balance, \
             r.endpoint, r.items, r.price, r.api_key, r.request_id, r.generation, '', r.at, $14::int, \
             r.chain
             FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], \
             $6::text[], $7::bigint[], $8::text[], $9::uuid[], $10::text[], $11::bigint[], \
             $12::bigint[], $13::bytea[]) AS r (account, sequence, id, credits, balance, endpoint, \
             items, price, api_key, request_id, generation, at, chain)"
        )
    };
}

/// The SQL of the subquery `written`, which adds the charges of the accounts in `stood`: the locked
/// accounts whose last row is the expected one.
macro_rules! written {
    () => {
        concat!("written AS (", add_charges!(), " JOIN stood ON stood.account = r.account)")
    };
}

/// Converts the arrays of [`RecordColumns`] (parameters 18 to 25) to rows.
macro_rules! new_records {
    () => {
        concat!(
            "unnest($18::uuid[], $19::bytea[], $20::bytea[], $21::bytea[], $22::int[], \
             $23::bigint[], $24::uuid[], $25::bigint[]) AS k (",
            record_columns!(),
            ")"
        )
    };
}

macro_rules! replace_expired {
    ($condition:literal) => {
        concat!(
            " ON CONFLICT (account, key_hash) DO UPDATE SET asked_hash = excluded.asked_hash, \
             sealed = excluded.sealed, secret = excluded.secret, balance = excluded.balance, \
             charge = excluded.charge, at = excluded.at",
            $condition
        )
    };
}

/// Adds the new charges of each account that [`LOCK_FREE_FOR_NEXT`] has locked and whose last row
/// is the expected one. Returns these accounts, each with `true`, because their charges were added.
pub(super) const COMPARE_AND_ADD: &str =
    concat!("WITH ", stood!(""), ", ", written!(), " SELECT account, true FROM stood");

/// Adds charges as [`COMPARE_AND_ADD`] does, and also their idempotency records. If an account
/// already has a valid record with the idempotency key of a new record, adds nothing for this
/// account, and returns it with `false`.
///
/// Parameters 26 and 27 are the accounts and key hashes by which existing records are found.
/// Parameter 28 is a time. Existing records with this time or an earlier time have expired, so new
/// records replace them.
pub(super) const COMPARE_AND_ADD_WITH_RECORDS: &str = concat!(
    "WITH there AS MATERIALIZED (
         SELECT k.account FROM unnest($26::uuid[], $27::bytea[]) AS q (account, key_hash)
         JOIN kept k ON k.account = q.account AND k.key_hash = q.key_hash WHERE k.at > $28), ",
    stood!(" AND n.account NOT IN (SELECT account FROM there)"),
    ", ",
    written!(),
    ", recorded AS (INSERT INTO kept (",
    record_columns!(),
    ") SELECT k.* FROM ",
    new_records!(),
    " JOIN stood ON stood.account = k.account",
    replace_expired!(" WHERE kept.at <= $28"),
    ")
     SELECT account, true FROM stood UNION ALL SELECT account, false FROM there"
);

/// Adds charges. The transaction must have locked their accounts.
pub(super) const ADD_CHARGES: &str = add_charges!();

/// Adds ledger rows and idempotency records. The transaction must have locked their accounts.
pub(super) const ADD: &str = concat!(
    "WITH written AS (INSERT INTO entry (",
    row_columns!(),
    ") SELECT r.* FROM ",
    new_rows!(),
    ") INSERT INTO kept (",
    record_columns!(),
    ") SELECT k.* FROM ",
    new_records!(),
    replace_expired!("")
);

/// New ledger rows, as one array for each column.
#[derive(Debug, Default)]
pub(super) struct RowColumns<'a> {
    account: Vec<Uuid>,
    sequence: Vec<i64>,
    id: Vec<Uuid>,
    kind: Vec<&'a str>,
    corrects: Vec<Option<Uuid>>,
    credits: Vec<i64>,
    balance: Vec<i64>,
    endpoint: Vec<Option<&'a str>>,
    items: Vec<Option<i64>>,
    price: Vec<Option<&'a str>>,
    api_key: Vec<Option<Uuid>>,
    request_id: Vec<Option<&'a str>>,
    revision: Vec<Option<i64>>,
    note: Vec<&'a str>,
    at: Vec<i64>,
    secret: Vec<i32>,
    chain: Vec<&'a [u8]>,
}

/// New idempotency records, as one array for each column.
#[derive(Debug, Default)]
pub(super) struct RecordColumns<'a> {
    account: Vec<Uuid>,
    key_hash: Vec<&'a [u8]>,
    asked_hash: Vec<&'a [u8]>,
    sealed: Vec<&'a [u8]>,
    secret: Vec<i32>,
    balance: Vec<i64>,
    charge: Vec<Option<Uuid>>,
    at: Vec<i64>,
}

fn value(value: &(dyn ToSql + Sync), kind: Type) -> Value<'_> {
    (value, kind)
}

impl<'a> RowColumns<'a> {
    pub(super) fn of(rows: impl Iterator<Item = &'a NewRow<'a>>) -> Self {
        let mut columns = Self::default();
        for NewRow { row, chain } in rows {
            columns.account.push(row.account.0);
            columns.sequence.push(clamped(row.sequence));
            columns.id.push(row.id.0);
            columns.kind.push(&row.kind);
            columns.corrects.push(row.corrects.map(|id| id.0));
            columns.credits.push(row.credits);
            columns.balance.push(clamped(row.balance.0));
            columns.endpoint.push(row.endpoint.as_deref());
            columns.items.push(row.items.map(clamped));
            columns.price.push(row.price.as_deref());
            columns.api_key.push(row.api_key.map(|id| id.0));
            columns.request_id.push(row.request_id.as_deref());
            columns.revision.push(row.revision.map(clamped));
            columns.note.push(&row.note);
            columns.at.push(row.at.as_microsecond());
            columns.secret.push(row.secret.cast_signed());
            columns.chain.push(chain);
        }
        columns
    }

    /// Returns one array for each column of a ledger row, as parameters in the order of
    /// `row_columns`.
    pub(super) fn values(&self) -> Vec<Value<'_>> {
        vec![
            value(&self.account, Type::UUID_ARRAY),
            value(&self.sequence, Type::INT8_ARRAY),
            value(&self.id, Type::UUID_ARRAY),
            value(&self.kind, Type::TEXT_ARRAY),
            value(&self.corrects, Type::UUID_ARRAY),
            value(&self.credits, Type::INT8_ARRAY),
            value(&self.balance, Type::INT8_ARRAY),
            value(&self.endpoint, Type::TEXT_ARRAY),
            value(&self.items, Type::INT8_ARRAY),
            value(&self.price, Type::TEXT_ARRAY),
            value(&self.api_key, Type::UUID_ARRAY),
            value(&self.request_id, Type::TEXT_ARRAY),
            value(&self.revision, Type::INT8_ARRAY),
            value(&self.note, Type::TEXT_ARRAY),
            value(&self.at, Type::INT8_ARRAY),
            value(&self.secret, Type::INT4_ARRAY),
            value(&self.chain, Type::BYTEA_ARRAY),
        ]
    }

    /// Returns the parameters for adding charges: an array for each column whose values differ
    /// between charges, in the order of `row_columns`. The last parameter is the number of the
    /// secret, which is the same for all new rows.
    pub(super) fn charge_values(&self) -> Vec<Value<'_>> {
        vec![
            value(&self.account, Type::UUID_ARRAY),
            value(&self.sequence, Type::INT8_ARRAY),
            value(&self.id, Type::UUID_ARRAY),
            value(&self.credits, Type::INT8_ARRAY),
            value(&self.balance, Type::INT8_ARRAY),
            value(&self.endpoint, Type::TEXT_ARRAY),
            value(&self.items, Type::INT8_ARRAY),
            value(&self.price, Type::TEXT_ARRAY),
            value(&self.api_key, Type::UUID_ARRAY),
            value(&self.request_id, Type::TEXT_ARRAY),
            value(&self.revision, Type::INT8_ARRAY),
            value(&self.at, Type::INT8_ARRAY),
            value(&self.chain, Type::BYTEA_ARRAY),
            value(self.secret.first().unwrap_or(&0), Type::INT4),
        ]
    }
}

impl<'a> RecordColumns<'a> {
    pub(super) fn of(records: impl Iterator<Item = &'a NewRecord<'a>>) -> Self {
        let mut columns = Self::default();
        for record in records {
            columns.account.push(record.account.0);
            columns.key_hash.push(&record.name.key_hash);
            columns.asked_hash.push(&record.name.asked_hash);
            columns.sealed.push(&record.sealed);
            columns.secret.push(record.name.secret.cast_signed());
            columns.balance.push(clamped(record.recorded.balance.0));
            columns.charge.push(record.recorded.charge.map(|id| id.0));
            columns.at.push(record.at.as_microsecond());
        }
        columns
    }

    /// Returns one array for each column of an idempotency record, as parameters in the order of
    /// `record_columns`.
    pub(super) fn values(&self) -> Vec<Value<'_>> {
        vec![
            value(&self.account, Type::UUID_ARRAY),
            value(&self.key_hash, Type::BYTEA_ARRAY),
            value(&self.asked_hash, Type::BYTEA_ARRAY),
            value(&self.sealed, Type::BYTEA_ARRAY),
            value(&self.secret, Type::INT4_ARRAY),
            value(&self.balance, Type::INT8_ARRAY),
            value(&self.charge, Type::UUID_ARRAY),
            value(&self.at, Type::INT8_ARRAY),
        ]
    }
}
