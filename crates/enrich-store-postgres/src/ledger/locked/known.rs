//! Locks the accounts of a group of charges, and reads everything that the decisions on its jobs
//! depend on.

use enrich_core::{AccountId, ChargeId, Credits, Timestamp};
use enrich_ledger::{LastRow, share_of};
use enrich_secrets::Secrets;
use futures_util::future::{OptionFuture, join, join4};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio_postgres::Client;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{Value, unsigned};
use crate::failure::Failure;
use crate::ledger::compare::expired_at;
use crate::ledger::job::{Job, Request};
use crate::ledger::locked::{Locking, RecordSpace};
use crate::ledger::rows::{LAST_ROWS, RECORDS, Record, check_last_rows};
use crate::ledger::seen::SeenRows;
use crate::ledger::statements::{LOCK, LOCK_FREE};
use crate::ledger::transaction::BEGIN;

/// Finds ledger rows by their ids.
const IDS: &str = "SELECT id, account, balance FROM entry WHERE id = ANY($1)";
/// Removes idempotency records with the time `$1` or an earlier time, the oldest first, at most
/// `$2`.
const PRUNE: &str = "DELETE FROM kept WHERE (account, key_hash) IN (
    SELECT account, key_hash FROM kept WHERE at <= $1 ORDER BY at LIMIT $2)";
const COUNT_RECORDS: &str = "SELECT count(*) FROM kept";
const COUNT_RECORDS_OF: &str =
    "SELECT account, count(*) FROM kept WHERE account = ANY($1) GROUP BY account";

/// The last ledger row of an account was altered.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the account's last ledger row is not as it was written")]
pub(super) struct Altered;

/// The content of the database that the decisions on a group of charges depend on.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The accounts that exist and are locked. If `last_rows` does not contain such an account,
    /// the account has no ledger rows.
    pub(super) accounts: FxHashSet<AccountId>,
    /// The last rows of the locked accounts.
    pub(super) last_rows: FxHashMap<AccountId, Result<LastRow, Altered>>,
    pub(super) ids: FxHashMap<ChargeId, (AccountId, Credits)>,
    pub(super) records: FxHashMap<(AccountId, [u8; 32]), Record>,
    pub(super) records_of: FxHashMap<AccountId, u64>,
    pub(super) counted: Option<u64>,
    pub(super) pruned: u64,
}

impl Known {
    /// Whether the database still has all rows of the locked accounts that this process has read.
    pub(super) fn is_as_new_as(&self, seen: &SeenRows) -> bool {
        self.accounts.iter().all(|account| {
            let sequence = match self.last_rows.get(account) {
                Some(Ok(last)) => last.sequence,
                // The last row was altered, so its sequence number cannot be trusted. But this does
                // not show that rows are missing. With `u64::MAX`, the check succeeds. The jobs of
                // the account are refused later.
                Some(Err(Altered)) => u64::MAX,
                None => 0,
            };
            seen.has_all(*account, sequence)
        })
    }
}

/// Locks the accounts of `jobs`, and reads everything that the decisions depend on, in one round
/// trip.
pub(super) async fn read(
    client: &Client,
    jobs: &[Job],
    secrets: &Secrets,
    locking: Locking,
    space: RecordSpace,
) -> Result<Known, Failure> {
    let accounts: FxHashSet<Uuid> = jobs.iter().map(|job| job.account().0).collect();
    let accounts: Vec<Uuid> = accounts.into_iter().collect();
    let (named, names) = names_to_find(jobs);
    let ids: Vec<Uuid> = jobs.iter().flat_map(ids_to_find).map(|id| id.0).collect();
    let newest = jobs.iter().filter_map(|job| Some(job.response()?.0.at)).max();
    let is_scarce = newest.is_some() && share_of(space.most, space.records).is_some();
    let of_accounts: [Value<'_>; 1] = [(&accounts, Type::UUID_ARRAY)];
    let of_names: [Value<'_>; 2] = [(&named, Type::UUID_ARRAY), (&names, Type::BYTEA_ARRAY)];
    let of_ids: [Value<'_>; 1] = [(&ids, Type::UUID_ARRAY)];
    let expired = expired_at(newest.unwrap_or(Timestamp::MIN)).as_microsecond();
    let max_pruned = i64::try_from(2 * jobs.len() + 16).unwrap_or(i64::MAX);
    let to_prune: [Value<'_>; 2] = [(&expired, Type::INT8), (&max_pruned, Type::INT8)];
    // The statements are sent in the order in which the futures are polled. Each statement sees
    // what was committed before it starts. All reads come after the locks, so they see everything
    // that other transactions committed before they released the locks.
    let lock = lock_statement(locking);
    let locking = join(client.batch_execute(BEGIN), client.query_typed(lock, &of_accounts));
    let pruning = OptionFuture::from(is_scarce.then(|| client.execute_typed(PRUNE, &to_prune)));
    let counting = async {
        let of_each = is_scarce.then(|| client.query_typed(COUNT_RECORDS_OF, &of_accounts));
        let of_all = (is_scarce && space.counts).then(|| client.query_typed(COUNT_RECORDS, &[]));
        join(OptionFuture::from(of_each), OptionFuture::from(of_all)).await
    };
    let finding = join(
        OptionFuture::from((!names.is_empty()).then(|| client.query_typed(RECORDS, &of_names))),
        OptionFuture::from((!ids.is_empty()).then(|| client.query_typed(IDS, &of_ids))),
    );
    let ((begun, locked), pruned, (last_rows, (of_each, of_all)), (records, found_ids)) = join4(
        locking,
        pruning,
        join(client.query_typed(LAST_ROWS, &of_accounts), counting),
        finding,
    )
    .await;
    begun?;
    let mut known = Known { pruned: pruned.transpose()?.unwrap_or_default(), ..Known::default() };
    for row in locked? {
        known.accounts.insert(AccountId(row.try_get(0)?));
    }
    let last_rows = check_last_rows(&last_rows?, secrets)?;
    let altered = |(account, last): (AccountId, Result<_, _>)| (account, last.map_err(|_| Altered));
    let locked = last_rows.into_iter().filter(|(account, _)| known.accounts.contains(account));
    known.last_rows = locked.map(altered).collect();
    for row in records.transpose()?.unwrap_or_default() {
        let record = Record::read(&row)?;
        known.records.insert((record.account, record.name.key_hash), record);
    }
    for row in found_ids.transpose()?.unwrap_or_default() {
        let balance = Credits(unsigned(row.try_get(2)?)?);
        known.ids.insert(ChargeId(row.try_get(0)?), (AccountId(row.try_get(1)?), balance));
    }
    for row in of_each.transpose()?.unwrap_or_default() {
        known.records_of.insert(AccountId(row.try_get(0)?), unsigned(row.try_get(1)?)?);
    }
    if let Some(row) = of_all.transpose()?.unwrap_or_default().first() {
        // The database counted the idempotency records after it had removed `pruned` records. But
        // `counted` must be the number before the removal.
        known.counted = Some(unsigned(row.try_get(0)?)?.saturating_add(known.pruned));
    }
    Ok(known)
}

fn lock_statement(locking: Locking) -> &'static str {
    match locking {
        Locking::Wait => LOCK,
        Locking::SkipLocked => LOCK_FREE,
    }
}

/// Returns the idempotency records to look for: the account and the key hash of each. If a job has
/// a response to store, there is one key hash for each secret in `secret.key`, because an earlier
/// record of the same idempotency key may have been stored under an older secret.
fn names_to_find(jobs: &[Job]) -> (Vec<Uuid>, Vec<&[u8]>) {
    let responses = jobs.iter().filter_map(|job| Some((job.account().0, job.response()?.1)));
    let names = responses.flat_map(|(account, response)| {
        response.names.iter().map(move |name| (account, &name.key_hash[..]))
    });
    names.unzip()
}

/// Returns the ids of the ledger rows that the decision on a job depends on:
///
/// - The id of the job itself, if the reply to an earlier commit of the job was lost. That commit
///   may have written the job's row.
/// - The id of the row that the job corrects, if the job is a correction.
fn ids_to_find(job: &Job) -> impl Iterator<Item = ChargeId> {
    let own = job.doubted.is_some().then(|| job.id());
    let corrected = match &job.request {
        Request::Grant(grant) => grant.corrects,
        Request::Charge(..) => None,
    };
    own.into_iter().chain(corrected)
}
