//! Decides and writes a group of charges in one round trip to the database. The node decides from
//! the last rows of accounts that it remembers. The database compares these rows with its own last
//! rows. If an account's last row is the same in both, the database adds the new rows of this
//! account.
//!
//! An account that another transaction has locked is treated as if its last row had changed. The
//! group does not wait for the lock. Otherwise, all its charges would wait for another node's
//! commit.

use enrich_core::AccountId;
use enrich_core::port::ledger::Charged;
use enrich_core::{IdempotencyRecord, Timestamp};
use enrich_ledger::{ChargeDecision, LastRow, RecordedCharge, decide_charge};
use enrich_secrets::Secrets;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::clamped;
use crate::connect::Connection;
use crate::failure::Failure;
use crate::ledger::job::{Decision, Job, Request};
use crate::ledger::statements::{
    COMPARE_AND_ADD, COMPARE_AND_ADD_WITH_RECORDS, LOCK_FREE_FOR_NEXT, NewRecord, NewRow,
    RecordColumns, RowColumns,
};
use crate::ledger::transaction::{NotWritten, write_and_commit};

/// The decisions of this node on a group of charges, before the database has compared the last rows
/// of the accounts.
#[derive(Debug, Default)]
pub(super) struct Plan<'g> {
    /// For each account: its last row before this group of charges, and its last row after it.
    accounts: FxHashMap<AccountId, Expected>,
    /// The decision of each job; `None` if the node must first lock the job's account and read its
    /// last row, which takes two round trips.
    decisions: Vec<Option<Decision>>,
    rows: Vec<NewRow<'g>>,
    records: Vec<NewRecord<'g>>,
    /// The accounts and key hashes of the new idempotency records. A record has one key hash for
    /// each secret in `secret.key`. The database looks for existing records with these hashes.
    names: Vec<(AccountId, &'g [u8])>,
    /// Stored idempotency records with this time or an earlier time have expired, so new records
    /// may replace them. For one charge, this time is the time of the charge minus the lifetime of
    /// a record. For the group, it is the earliest of these times. So no charge replaces a record
    /// that was still valid at the time of the charge. `None` if the group adds no record.
    expired_at: Option<Timestamp>,
    /// The accounts whose jobs the plan does not decide: it contains no decisions, rows or records
    /// of them. The node must lock these accounts and read their last rows instead, which takes two
    /// round trips.
    locked: FxHashSet<AccountId>,
}

/// The answer of the database after it has compared the last rows of the accounts of a group of
/// charges.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// The accounts whose last rows in the database were the expected ones. Their new rows are
    /// stored, so the decisions on their charges (accepted or refused) are durable.
    pub(super) stood: FxHashSet<AccountId>,
    /// The accounts for which nothing was added, because an idempotency key was already in use: the
    /// database already has a record with the key of one of the account's new records.
    pub(super) has_record: FxHashSet<AccountId>,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    before: LastRow,
    after: LastRow,
}

impl<'g> Plan<'g> {
    /// Decides the jobs of the accounts whose last rows are in `heads`. Three kinds of jobs cannot
    /// be decided here: charges that the balance does not pay for, second uses of an idempotency
    /// key, and grants. The first two kinds need more than the last row. Grants are rare, and their
    /// rows have other columns than charges. If an account has such a job, none of its jobs is
    /// decided here: the node must first lock the account and read its last row.
    pub(super) fn new(
        jobs: &'g [Job],
        heads: &FxHashMap<AccountId, LastRow>,
        secrets: &Secrets,
    ) -> Self {
        let mut plan = Self::default();
        let mut keys_seen: FxHashSet<&[u8]> = FxHashSet::default();
        for job in jobs {
            let account = job.account();
            let known = plan.accounts.get(&account).map(|expected| expected.after);
            let decision = match known.or_else(|| heads.get(&account).copied()) {
                Some(last) if !plan.locked.contains(&account) => {
                    plan.decide(job, last, secrets, &mut keys_seen)
                }
                _ => None,
            };
            if decision.is_none() {
                plan.locked.insert(account);
            }
            plan.decisions.push(decision);
        }
        let locked = &plan.locked;
        for (job, decision) in jobs.iter().zip(&mut plan.decisions) {
            if locked.contains(&job.account()) {
                *decision = None;
            }
        }
        plan.rows.retain(|new| !locked.contains(&new.row.account));
        plan.records.retain(|new| !locked.contains(&new.account));
        plan.names.retain(|(account, _)| !locked.contains(account));
        plan.accounts.retain(|account, _| !locked.contains(account));
        plan
    }

    /// Whether the plan contains no decisions: the accounts of all jobs must first be locked.
    pub(super) fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Returns the decision of each job, and the last row of each account after the group of
    /// charges.
    pub(super) fn into_decisions(self) -> (Vec<Option<Decision>>, FxHashMap<AccountId, LastRow>) {
        let after = self.accounts.into_iter().map(|(account, expected)| (account, expected.after));
        (self.decisions, after.collect())
    }

    fn decide(
        &mut self,
        job: &'g Job,
        last: LastRow,
        secrets: &Secrets,
        keys_seen: &mut FxHashSet<&'g [u8]>,
    ) -> Option<Decision> {
        let account = job.account();
        let (decision, row) = match &job.request {
            Request::Charge(charge, _) => match decide_charge(charge, last.balance) {
                ChargeDecision::Insufficient => return None,
                ChargeDecision::Free => (Charged::Taken { balance: last.balance }.into(), None),
                ChargeDecision::Row(row) => {
                    (Charged::Taken { balance: row.balance }.into(), Some(row))
                }
            },
            Request::Grant(_) => return None,
        };
        let is_charged = row.is_some();
        let after = match row {
            Some(mut row) => {
                let after = last.append(&mut row, secrets.current());
                self.rows.push(NewRow { row, chain: after.chain });
                after
            }
            None => last,
        };
        if let Some((charge, response)) = job.response() {
            let charge_id = is_charged.then_some(charge.id);
            let recorded = RecordedCharge { balance: after.balance, charge: charge_id };
            for name in &response.names {
                if !keys_seen.insert(&name.key_hash) {
                    return None;
                }
                self.names.push((account, &name.key_hash));
            }
            let sealed = response.bytes_with(secrets, account, recorded, charge.at);
            let name = response.names.first()?;
            self.records.push(NewRecord { account, name, sealed, recorded, at: charge.at });
            let expired = expired_at(charge.at);
            self.expired_at = Some(self.expired_at.map_or(expired, |at| at.min(expired)));
        }
        let before = self.accounts.get(&account).map_or(last, |expected| expected.before);
        self.accounts.insert(account, Expected { before, after });
        Some(decision)
    }

    /// Sends the group of charges to the database in one write. The write locks the accounts that
    /// no other transaction has locked, compares their last rows and adds the new rows.
    pub(super) async fn send(&self, connection: &Connection) -> Result<Compared, NotWritten> {
        let accounts: Vec<Uuid> = self.accounts.keys().map(|account| account.0).collect();
        let sequences: Vec<i64> =
            self.accounts.values().map(|known| clamped(known.before.sequence)).collect();
        let chains: Vec<&[u8]> =
            self.accounts.values().map(|known| &known.before.chain[..]).collect();
        let (rows, records) =
            (RowColumns::of(self.rows.iter()), RecordColumns::of(self.records.iter()));
        let (named, names): (Vec<Uuid>, Vec<&[u8]>) =
            self.names.iter().map(|(account, name)| (account.0, *name)).unzip();
        let expired = self.expired_at.map_or(0, Timestamp::as_microsecond);
        let mut values = rows.charge_values();
        values.push((&accounts, Type::UUID_ARRAY));
        values.push((&sequences, Type::INT8_ARRAY));
        values.push((&chains, Type::BYTEA_ARRAY));
        let has_records = !self.records.is_empty();
        if has_records {
            values.extend(records.values());
            values.push((&named, Type::UUID_ARRAY));
            values.push((&names, Type::BYTEA_ARRAY));
            values.push((&expired, Type::INT8));
        }
        let statement = if has_records { COMPARE_AND_ADD_WITH_RECORDS } else { COMPARE_AND_ADD };
        let client = &connection.client;
        let before = async {
            client.query_typed(LOCK_FREE_FOR_NEXT, &[(&accounts, Type::UUID_ARRAY)]).await?;
            Ok::<_, Failure>(())
        };
        let adding = async { Ok::<_, Failure>(client.query_typed(statement, &values).await?) };
        let rows = write_and_commit(connection, Some(before), adding).await?;
        // The group of charges is committed. If a column of the answer cannot be read, it is
        // unknown for which accounts rows were added.
        read_compared(&rows).map_err(|error| NotWritten::InDoubt(error.into()))
    }
}

fn read_compared(rows: &[tokio_postgres::Row]) -> Result<Compared, tokio_postgres::Error> {
    let mut compared = Compared::default();
    for row in rows {
        let account = AccountId(row.try_get(0)?);
        let accounts = if row.try_get(1)? { &mut compared.stood } else { &mut compared.has_record };
        accounts.insert(account);
    }
    Ok(compared)
}

/// Returns `now` minus the lifetime of an idempotency record. A record with this time or an earlier
/// time has expired at `now`.
pub(super) fn expired_at(now: Timestamp) -> Timestamp {
    let lifetime = jiff::SignedDuration::from_secs(IdempotencyRecord::SECONDS);
    now.saturating_sub(lifetime).unwrap_or(Timestamp::MIN)
}
