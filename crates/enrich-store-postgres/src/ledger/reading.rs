//! Reads ledger entries and stored responses.

use enrich_core::port::error::StoreError;
use enrich_core::{AccountId, Entry, StoredResponse, Timestamp};
use enrich_ledger::{ResponseName, has_expired};
use enrich_secrets::CannotDecrypt;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{micros, unsigned};
use crate::failure::Failure;
use crate::ledger::rows::{RECORDS, ROWS_AFTER, ROWS_BEFORE, Record, read_row};
use crate::node::Node;

/// Reads the sequence number of an account's first row with a given time or a later time. If there
/// is no such row, returns the account's last sequence number plus one.
const FIRST_AT: &str = "SELECT COALESCE(
    (SELECT sequence FROM entry WHERE account = $1 AND at >= $2 ORDER BY sequence LIMIT 1),
    (SELECT max(sequence) FROM entry WHERE account = $1) + 1, 1)";
/// Finds an account's last row with a time before a given time. Returns the sequence number of this
/// row plus one; 1 if there is no such row.
const END_BEFORE: &str = "SELECT COALESCE(
    (SELECT sequence FROM entry WHERE account = $1 AND at < $2 ORDER BY sequence DESC LIMIT 1) + 1,
    1)";

/// Returns the response that is stored under one of `names`, unless it has expired at `now`. The
/// names contain keyed hashes of one idempotency key, one name for each secret in `secret.key`.
pub(super) async fn stored_response(
    node: &Node,
    account: AccountId,
    names: Vec<ResponseName>,
    now: Timestamp,
) -> Result<Option<StoredResponse>, StoreError> {
    let secrets = node.secrets.clone();
    node.database
        .read(move |client| {
            let (names, secrets) = (names.clone(), secrets.clone());
            Box::pin(async move { find_response(client, account, &names, &secrets, now).await })
        })
        .await
}

async fn find_response(
    client: &tokio_postgres::Client,
    account: AccountId,
    names: &[ResponseName],
    secrets: &enrich_secrets::Secrets,
    now: Timestamp,
) -> Result<Option<StoredResponse>, Failure> {
    let accounts = vec![account.0; names.len()];
    let hashes: Vec<&[u8]> = names.iter().map(|name| &name.key_hash[..]).collect();
    let values = [(&accounts as _, Type::UUID_ARRAY), (&hashes as _, Type::BYTEA_ARRAY)];
    let rows = client.query_typed(RECORDS, &values).await?;
    let records = rows.iter().map(Record::read).collect::<Result<Vec<_>, _>>()?;
    for name in names {
        let is_of = |record: &&Record| record.name.key_hash == name.key_hash;
        let Some(record) = records.iter().find(is_of) else { continue };
        if !has_expired(record.at, now) {
            let altered = |error: CannotDecrypt| Failure::of(error);
            return record.response(name, secrets).map(Some).map_err(altered);
        }
    }
    Ok(None)
}

/// Returns the first `limit` entries of an account whose sequence numbers are greater than `after`.
pub(super) async fn entries_after(
    node: &Node,
    account: AccountId,
    after: u64,
    limit: u32,
) -> Result<Vec<Entry>, StoreError> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    entries(node, ROWS_AFTER, account, after, limit).await
}

/// Returns the last `limit` entries of an account whose sequence numbers are less than `before`,
/// newest first. If `before` is `None`, returns the account's newest entries.
pub(super) async fn entries_before(
    node: &Node,
    account: AccountId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Entry>, StoreError> {
    let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
    entries(node, ROWS_BEFORE, account, before, limit).await
}

async fn entries(
    node: &Node,
    query: &'static str,
    account: AccountId,
    bound: i64,
    limit: u32,
) -> Result<Vec<Entry>, StoreError> {
    let limit = i64::from(limit);
    node.database
        .read(move |client| {
            Box::pin(async move {
                let values = [
                    (&account.0 as _, Type::UUID),
                    (&bound as _, Type::INT8),
                    (&limit as _, Type::INT8),
                ];
                let rows = client.query_typed(query, &values).await?;
                let entry = |row| read_row(row)?.0.entry().map_err(Failure::of);
                rows.iter().map(entry).collect()
            })
        })
        .await
}

/// Returns the sequence number of an account's first entry with the time `at` or a later time. If
/// there is no such entry, returns the account's last sequence number plus one.
///
/// Entries are in the order of their arrival. If a clock was set back, later entries may have
/// earlier times.
pub(super) async fn first_entry_at(
    node: &Node,
    account: AccountId,
    at: Timestamp,
) -> Result<u64, StoreError> {
    sequence(node, FIRST_AT, account, at).await
}

/// Finds an account's last entry with a time before `at`. Returns the sequence number of this entry
/// plus one, which is the end of the range of such entries; 1 if there is no such entry.
pub(super) async fn end_of_entries_before(
    node: &Node,
    account: AccountId,
    at: Timestamp,
) -> Result<u64, StoreError> {
    sequence(node, END_BEFORE, account, at).await
}

async fn sequence(
    node: &Node,
    query: &'static str,
    account: AccountId,
    at: Timestamp,
) -> Result<u64, StoreError> {
    let (account, at): (Uuid, i64) = (account.0, micros(at));
    node.database
        .read(move |client| {
            Box::pin(async move {
                let values = [(&account as _, Type::UUID), (&at as _, Type::INT8)];
                let row = client.query_typed_one(query, &values).await?;
                unsigned(row.try_get(0)?)
            })
        })
        .await
}
