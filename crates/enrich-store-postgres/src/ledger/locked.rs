//! Decides and writes a group of charges in two round trips. The first one locks the accounts of
//! the group, and reads everything that the decisions depend on. The second one adds the new rows.
//! While an account is locked, no other transaction can write its rows. So the decisions stay
//! valid.
//!
//! If PostgreSQL's reply to a commit is lost, the jobs of this commit are decided again. Then the
//! first round trip also finds out whether that commit has written the rows of these jobs.

mod known;

use enrich_core::port::ledger::{ChargeError, Charged, Grant, Granted};
use enrich_core::{AccountId, ChargeId, Credits, Timestamp};
use enrich_ledger::{
    ChargeDecision, LastRow, RecordedCharge, SealedResponse, decide_charge, decide_grant,
    has_expired, share_of,
};
use enrich_secrets::Secrets;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::time::timeout;

use crate::connect::Connection;
use crate::failure::Failure;
use crate::ledger::job::{Decision, Job, Request};
use crate::ledger::locked::known::{Altered, Known};
use crate::ledger::seen::SeenRows;
use crate::ledger::statements::{ADD, ADD_CHARGES, NewRecord, NewRow, RecordColumns, RowColumns};
use crate::ledger::transaction::{ANSWER_TIMEOUT, NotWritten, write_and_commit};

/// The number of idempotency records in the table, and the maximum number.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordSpace {
    /// The number of idempotency records in the table, as this node knows it.
    pub(super) records: u64,
    /// The maximum number of idempotency records.
    pub(super) most: u64,
    /// If `true`, and if at least half of the space for idempotency records is used, the group of
    /// charges counts the records. Otherwise, it uses the number in `records`.
    pub(super) counts: bool,
}

/// What a group of charges does with an account that another transaction has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locking {
    /// The group of charges waits until the account is free.
    Wait,
    /// The group of charges leaves the account out, so the jobs of the account are not decided.
    SkipLocked,
}

/// The result of a group of charges that is decided and durable.
#[derive(Debug)]
pub(super) struct Settled {
    /// The decision on each job, in the order of the jobs. `None` if the account of the job was
    /// left out, because another transaction had locked it.
    pub(super) decisions: Vec<Option<Result<Decision, ChargeError>>>,
    /// The last rows of the locked accounts before the group of charges added its rows.
    pub(super) read: Vec<(AccountId, LastRow)>,
    /// For each account to which the group of charges has added rows: its new last row.
    pub(super) heads: Vec<(AccountId, LastRow)>,
    /// The number of idempotency records in the table before the group of charges was written;
    /// `None` if they were not counted.
    pub(super) counted: Option<u64>,
    /// The number of idempotency records that the group of charges has added, minus the number of
    /// expired records that it has removed.
    pub(super) grown: i64,
    /// Whether an account was locked. If so, the success of the commit shows that the standby
    /// confirms commits: PostgreSQL writes the locks to its write-ahead log, and the commit waits
    /// until the standby has confirmed them. A commit without locks or rows does not wait for the
    /// standby.
    pub(super) has_locks: bool,
}

/// A stored response was altered.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("an idempotency record is not as it was written")]
struct AlteredRecord;

/// A ledger row with the id of a new job exists already.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a ledger row with this id exists")]
struct IdExists;

/// Decides and writes a group of charges. Each idempotency key may occur only once in `jobs`.
pub(super) async fn settle(
    connection: &Connection,
    jobs: &[Job],
    secrets: &Secrets,
    locking: Locking,
    space: RecordSpace,
    seen: &SeenRows,
) -> Result<Settled, NotWritten> {
    let reading = known::read(&connection.client, jobs, secrets, locking, space);
    let known = match timeout(ANSWER_TIMEOUT, reading).await {
        Ok(Ok(known)) => known,
        Ok(Err(failure)) => {
            // The connection will be used again, so its transaction must be ended.
            if !failure.loses_connection() {
                roll_back(connection).await.map_err(NotWritten::Certainly)?;
            }
            return Err(NotWritten::Certainly(failure));
        }
        Err(_) => return Err(NotWritten::Certainly(Failure::TimedOut)),
    };
    if !known.is_as_new_as(seen) {
        roll_back(connection).await.map_err(NotWritten::Certainly)?;
        return Err(NotWritten::Outdated);
    }
    let records = known.counted.unwrap_or(space.records).saturating_sub(known.pruned);
    let mut decider = Decider {
        secrets,
        known: &known,
        heads: FxHashMap::default(),
        space: RecordSpace { records, ..space },
        own_ids: FxHashSet::default(),
        rows: Vec::new(),
        records: Vec::new(),
    };
    let waits = locking == Locking::Wait;
    let is_decided = |job: &Job| waits || known.accounts.contains(&job.account());
    let decisions: Vec<_> =
        jobs.iter().map(|job| is_decided(job).then(|| decider.decide(job))).collect();
    let (rows, records) =
        (RowColumns::of(decider.rows.iter()), RecordColumns::of(decider.records.iter()));
    let are_charges = jobs.iter().all(|job| matches!(job.request, Request::Charge(..)));
    let (statement, values) = if are_charges && decider.records.is_empty() {
        (ADD_CHARGES, rows.charge_values())
    } else {
        (ADD, [rows.values(), records.values()].concat())
    };
    let adds = !decider.rows.is_empty() || !decider.records.is_empty();
    let adding = async {
        if adds {
            connection.client.execute_typed(statement, &values).await?;
        }
        Ok(())
    };
    let no_statement = None::<std::future::Ready<Result<(), Failure>>>;
    write_and_commit(connection, no_statement, adding).await?;
    let pruned = i64::try_from(known.pruned).unwrap_or(i64::MAX);
    let grown = i64::try_from(decider.records.len()).unwrap_or(i64::MAX).saturating_sub(pruned);
    let last_rows = known.last_rows.iter().filter_map(|(id, row)| Some((*id, row.ok()?)));
    let (read, heads) = (last_rows.collect(), decider.heads.into_iter().collect());
    let has_locks = !known.accounts.is_empty();
    Ok(Settled { decisions, read, heads, counted: known.counted, grown, has_locks })
}

async fn roll_back(connection: &Connection) -> Result<(), Failure> {
    let rollback = timeout(ANSWER_TIMEOUT, connection.client.batch_execute("ROLLBACK"));
    Ok(rollback.await.map_err(|_| Failure::TimedOut)??)
}

/// Decides the jobs of a group of charges, one after the other.
struct Decider<'g> {
    secrets: &'g Secrets,
    known: &'g Known,
    /// For each account to which the decided jobs add rows: its new last row.
    heads: FxHashMap<AccountId, LastRow>,
    space: RecordSpace,
    /// The account and the id of each ledger row that this group of charges adds.
    own_ids: FxHashSet<(AccountId, ChargeId)>,
    rows: Vec<NewRow<'g>>,
    records: Vec<NewRecord<'g>>,
}

type Decided = Result<Decision, ChargeError>;

impl<'g> Decider<'g> {
    /// Decides a job. If this fails, the job gets the error `NotTaken`. But if PostgreSQL's reply
    /// to an earlier commit of the job was lost, that commit may still succeed. Then the job gets
    /// [`ChargeError::Unknown`] instead.
    fn decide(&mut self, job: &'g Job) -> Decided {
        match self.decide_anew(job) {
            Err(ChargeError::NotTaken(error)) if job.doubted.is_some() => {
                Err(ChargeError::Unknown(error))
            }
            decided => decided,
        }
    }

    fn decide_anew(&mut self, job: &'g Job) -> Decided {
        let (account, id) = (job.account(), job.id());
        if let Some(&(_, balance)) = self.known.ids.get(&id) {
            return match &job.request {
                _ if job.doubted.is_none() => Err(not_taken(IdExists)),
                Request::Charge(..) => Ok(Charged::Taken { balance }.into()),
                Request::Grant(_) => Ok(Granted::Written { balance }.into()),
            };
        }
        if self.own_ids.contains(&(account, id)) {
            return Err(not_taken(IdExists));
        }
        match &job.request {
            Request::Charge(charge, response) => {
                if let Some(response) = response
                    && let Some(decided) = self.find_record(job, response, charge.at)
                {
                    return decided;
                }
                let Some(last) = self.last_row(account).map_err(not_taken)? else {
                    return Ok(Charged::Insufficient { balance: Credits::ZERO }.into());
                };
                match decide_charge(charge, last.balance) {
                    ChargeDecision::Insufficient => {
                        Ok(Charged::Insufficient { balance: last.balance }.into())
                    }
                    ChargeDecision::Free => {
                        self.record(job, last.balance, None);
                        Ok(Charged::Taken { balance: last.balance }.into())
                    }
                    ChargeDecision::Row(row) => {
                        let balance = row.balance;
                        self.add(row, last);
                        self.record(job, balance, Some(charge.id));
                        Ok(Charged::Taken { balance }.into())
                    }
                }
            }
            Request::Grant(grant) => self.decide_grant(grant),
        }
    }

    fn decide_grant(&mut self, grant: &'g Grant) -> Decided {
        let Some(last) = self.last_row(grant.account).map_err(not_taken)? else {
            return Ok(Granted::NoAccount.into());
        };
        if let Some(corrects) = grant.corrects {
            let stored = self.known.ids.get(&corrects);
            let is_stored = stored.is_some_and(|(account, _)| *account == grant.account);
            if !is_stored && !self.own_ids.contains(&(grant.account, corrects)) {
                return Ok(Granted::NoSuchEntry.into());
            }
        }
        match decide_grant(grant, last.balance) {
            None => Ok(Granted::OutOfRange { balance: last.balance }.into()),
            Some(row) => {
                let balance = row.balance;
                self.add(row, last);
                Ok(Granted::Written { balance }.into())
            }
        }
    }

    /// Returns the account's last row, including the rows that this group of charges adds; `None`
    /// if the account does not exist.
    fn last_row(&self, account: AccountId) -> Result<Option<LastRow>, Altered> {
        if let Some(last) = self.heads.get(&account) {
            return Ok(Some(*last));
        }
        match self.known.last_rows.get(&account) {
            Some(last) => last.map(Some),
            None => Ok(self.known.accounts.contains(&account).then_some(LastRow::NONE)),
        }
    }

    fn add(&mut self, mut row: enrich_ledger::Row<'g>, last: LastRow) {
        let after = last.append(&mut row, self.secrets.current());
        self.own_ids.insert((row.account, row.id));
        self.heads.insert(row.account, after);
        self.rows.push(NewRow { row, chain: after.chain });
    }

    /// If the job has a response to store, adds it to the new idempotency records.
    fn record(&mut self, job: &'g Job, balance: Credits, charge: Option<ChargeId>) {
        let Some((asked, response)) = job.response() else { return };
        let Some(name) = response.names.first() else { return };
        let (account, at) = (asked.account, asked.at);
        let recorded = RecordedCharge { balance, charge };
        let sealed = response.bytes_with(self.secrets, account, recorded, at);
        self.space.records = self.space.records.saturating_add(1);
        self.records.push(NewRecord { account, name, sealed, recorded, at });
    }

    /// Decides a charge from the idempotency records alone: repeats a stored response, or refuses
    /// the charge because there is no space for another record. Returns `None` if neither is the
    /// case, so that the balance decides.
    fn find_record(&self, job: &Job, response: &SealedResponse, now: Timestamp) -> Option<Decided> {
        let account = job.account();
        let mut is_replacement = false;
        for name in &response.names {
            let Some(record) = self.known.records.get(&(account, name.key_hash)) else {
                continue;
            };
            if has_expired(record.at, now) {
                is_replacement = true;
                continue;
            }
            let decided = record.decide(name, job, self.secrets);
            return Some(decided.map_err(|_| not_taken(AlteredRecord)));
        }
        let held = self.known.records_of.get(&account).copied().unwrap_or_default()
            + self.records.iter().filter(|new| new.account == account).count() as u64;
        let RecordSpace { records, most, .. } = self.space;
        let is_full = records >= most || share_of(most, records).is_some_and(|share| held >= share);
        let is_certain = job.doubted.is_none();
        (is_full && is_certain && !is_replacement).then_some(Err(ChargeError::IdempotencyStoreFull))
    }
}

fn not_taken(error: impl std::error::Error + Send + Sync + 'static) -> ChargeError {
    ChargeError::NotTaken(Box::new(error))
}

#[cfg(test)]
mod tests;
