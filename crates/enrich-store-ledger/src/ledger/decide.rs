//! Decides the charges and grants of a group, inside the group's transaction: writes or refuses
//! each. Every decision starts from the account's head: its state after its last row. This state
//! includes the rows of other processes, and the rows of earlier decisions in the group.

use enrich_core::port::ledger::{Charge, ChargeError, Charged, Grant, Granted};
use enrich_core::{AccountId, ChargeId, Credits};
use enrich_ledger::{ChargeDecision, RecordedCharge, SealedResponse, decide_charge, decide_grant};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{Column, Statements};
use rusqlite::{Connection, ErrorCode};

use crate::ledger::idempotency_store::{self, RecordCount, RecordError, RecordState};
use crate::ledger::ledger_state::WriteBatch;
use crate::ledger::ledger_state_error::LedgerStateError;

/// Decides the charges and grants of one group.
pub(super) struct GroupDecider<'a> {
    /// The connection to the database. It is inside the group's transaction.
    pub(super) connection: &'a Connection,
    pub(super) secrets: &'a Secrets,
    /// The rows that the group adds.
    pub(super) batch: WriteBatch<'a>,
    /// The number of idempotency records, including the records that this group has stored so far;
    /// `None` if the records were never counted. If a job of the group has a record to store,
    /// `job::decide` updates this number before the first decision.
    pub(super) record_count: Option<RecordCount>,
    /// Maximum number of idempotency records that the ledger may store.
    pub(super) max_idempotency_records: u64,
}

/// The error for a group that cannot be decided. Its transaction must be rolled back.
#[derive(Debug)]
pub(super) struct GroupFailed(pub(super) rusqlite::Error);

/// Why a decision could not be made.
enum DecisionError {
    /// Only this job is refused.
    Refused(ChargeError),
    /// A statement has failed. [`GroupDecider::settle`] finds out whether this affects only this
    /// job or the whole group.
    Statement(rusqlite::Error),
    /// The whole group must be rolled back.
    Group(GroupFailed),
}

impl From<rusqlite::Error> for DecisionError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Statement(error)
    }
}

impl From<RecordError> for DecisionError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Read(error) => Self::Statement(error),
            altered => Self::Refused(ChargeError::NotTaken(altered.into())),
        }
    }
}

impl From<LedgerStateError> for DecisionError {
    fn from(error: LedgerStateError) -> Self {
        match error {
            LedgerStateError::Read(error) => Self::Statement(error),
            altered => Self::Refused(ChargeError::NotTaken(altered.into())),
        }
    }
}

/// The decision on one job, or why it is refused. The outer error affects the whole group.
type Decided<T> = Result<Result<T, ChargeError>, GroupFailed>;

impl GroupDecider<'_> {
    /// Decides a charge, and stores its response if it has one.
    pub(super) fn charge(
        &mut self,
        charge: &Charge,
        record: Option<&SealedResponse>,
    ) -> Decided<Charged> {
        let charged = self.try_charge(charge, record);
        self.settle(charged)
    }

    /// Decides a grant.
    pub(super) fn grant(&mut self, grant: &Grant) -> Decided<Granted> {
        let granted = self.try_grant(grant);
        self.settle(granted)
    }

    /// Returns the account's balance; `None` when there is no such account.
    pub(super) fn balance(&mut self, account: AccountId) -> Decided<Option<Credits>> {
        let head = self.batch.head(account);
        self.settle(head.map(|head| head.map(|head| head.last.balance)).map_err(Into::into))
    }

    fn try_charge(
        &mut self,
        charge: &Charge,
        record: Option<&SealedResponse>,
    ) -> Result<Charged, DecisionError> {
        let (connection, secrets) = (self.connection, self.secrets);
        let (account, at) = (charge.account, charge.at);
        if let Some(record) = record {
            match idempotency_store::find(connection, secrets, account, &record.names, at)? {
                RecordState::StoredResponse(kept) => return Ok(Charged::Replayed(kept)),
                RecordState::Free if !self.has_room(account)? => {
                    return Err(DecisionError::Refused(ChargeError::IdempotencyStoreFull));
                }
                RecordState::Free | RecordState::Expired => {}
            }
        }
        let Some(head) = self.batch.head(account)? else {
            return Ok(Charged::Insufficient { balance: Credits::ZERO });
        };
        let before = head.last.balance;
        let (balance, is_charged) = match decide_charge(charge, before) {
            ChargeDecision::Insufficient => return Ok(Charged::Insufficient { balance: before }),
            ChargeDecision::Free => (before, false),
            ChargeDecision::Row(row) => {
                let balance = row.balance;
                self.batch.add(row, &head)?;
                (balance, true)
            }
        };
        if let Some(record) = record {
            let recorded = RecordedCharge { balance, charge: is_charged.then_some(charge.id) };
            let written =
                idempotency_store::write(connection, secrets, account, record, recorded, at);
            let grown = written.map_err(|error| match is_charged {
                // The row of the charge is already written in this transaction, so only a rollback
                // of the whole group can remove it.
                true => DecisionError::Group(GroupFailed(error)),
                false => error.into(),
            })?;
            self.record_count = self.record_count.map(|count| count.after_growing(grown));
        }
        Ok(Charged::Taken { balance })
    }

    /// Whether the account may store one more response, so that a repeated call can get it.
    fn has_room(&self, account: AccountId) -> rusqlite::Result<bool> {
        match self.record_count {
            Some(count) if count.records >= self.max_idempotency_records => Ok(false),
            Some(count) => {
                let most = self.max_idempotency_records;
                idempotency_store::has_share(self.connection, account, count.records, most)
            }
            None => Ok(true),
        }
    }

    fn try_grant(&mut self, grant: &Grant) -> Result<Granted, DecisionError> {
        let Some(head) = self.batch.head(grant.account)? else {
            return Ok(Granted::NoAccount);
        };
        if let Some(corrects) = grant.corrects
            && !self.has_entry(grant.account, corrects)?
        {
            return Ok(Granted::NoSuchEntry);
        }
        let Some(row) = decide_grant(grant, head.last.balance) else {
            return Ok(Granted::OutOfRange { balance: head.last.balance });
        };
        let balance = row.balance;
        self.batch.add(row, &head)?;
        Ok(Granted::Written { balance })
    }

    fn has_entry(&self, account: AccountId, id: ChargeId) -> rusqlite::Result<bool> {
        self.connection.has(
            "SELECT 1 FROM entry WHERE id = ?1 AND account = ?2",
            (Column(id), Column(account)),
        )
    }

    /// Finds out whether an error affects only one decision, or the whole group.
    ///
    /// An error affects only one decision if a row breaks a constraint, or contains a value of a
    /// wrong type. In these cases, the failed statement has changed nothing in the transaction. But
    /// if SQLite has ended the transaction because of the error, the error affects the whole group.
    fn settle<T>(&self, decided: Result<T, DecisionError>) -> Decided<T> {
        match decided {
            Ok(decision) => Ok(Ok(decision)),
            Err(DecisionError::Refused(refusal)) => Ok(Err(refusal)),
            Err(DecisionError::Statement(error)) => {
                let is_of_one = match &error {
                    rusqlite::Error::SqliteFailure(failure, _) => {
                        failure.code == ErrorCode::ConstraintViolation
                    }
                    _ => true,
                };
                if is_of_one && !self.connection.is_autocommit() {
                    Ok(Err(ChargeError::NotTaken(error.into())))
                } else {
                    Err(GroupFailed(error))
                }
            }
            Err(DecisionError::Group(failed)) => Err(failed),
        }
    }
}
