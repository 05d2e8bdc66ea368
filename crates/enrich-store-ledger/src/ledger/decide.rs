//! Decides charges and grants inside the transaction of their group.
//!
//! Every decision starts from the account's head in the group's write batch. So rows of other
//! processes and earlier rows of the same group count.

use enrich_core::port::ledger::{Charge, ChargeError, Charged, Grant, Granted};
use enrich_core::{AccountId, ChargeId, Credits};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{Column, Statements};
use rusqlite::{Connection, ErrorCode};

use crate::ledger::idempotency_store::{
    self, RecordCount, RecordError, RecordState, RecordedCharge, SealedRecord,
};
use crate::ledger::ledger_state::WriteBatch;
use crate::ledger::ledger_state_error::LedgerStateError;
use crate::ledger::row::{self, Row, kind};

/// Decides the jobs of one group.
pub(super) struct GroupDecider<'a> {
    /// The connection, in a transaction.
    pub(super) connection: &'a Connection,
    pub(super) secrets: &'a Secrets,
    /// The rows of the group.
    pub(super) batch: WriteBatch<'a>,
    /// The number of idempotency records, this group's included; current if the group stores any.
    pub(super) record_count: Option<RecordCount>,
    /// The most idempotency records.
    pub(super) max_kept: u64,
}

/// A group cannot be decided; its transaction must be rolled back.
#[derive(Debug)]
pub(super) struct GroupFailed(pub(super) rusqlite::Error);

type Decided<T> = Result<Result<T, ChargeError>, GroupFailed>;

impl GroupDecider<'_> {
    /// Decides a charge and stores its response.
    pub(super) fn charge(
        &mut self,
        charge: &Charge,
        record: Option<&SealedRecord>,
    ) -> Decided<Charged> {
        if let Some(record) = record {
            let (names, at) = (&record.names, charge.at);
            let (connection, secrets) = (self.connection, self.secrets);
            match idempotency_store::find(connection, secrets, charge.account, names, at) {
                Ok(RecordState::StoredResponse(kept)) => return Ok(Ok(Charged::Replayed(kept))),
                Ok(RecordState::Free) => match self.has_room(charge.account) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Err(ChargeError::IdempotencyStoreFull)),
                    Err(error) => return self.sort_out(error),
                },
                Ok(RecordState::Expired) => {}
                Err(RecordError::Read(error)) => return self.sort_out(error),
                Err(altered) => return Ok(Err(ChargeError::NotTaken(altered.into()))),
            }
        }
        let head = match self.batch.head(charge.account) {
            Ok(Some(head)) => head,
            Ok(None) => return Ok(Ok(Charged::Insufficient { balance: Credits::ZERO })),
            Err(LedgerStateError::Read(error)) => return self.sort_out(error),
            Err(altered) => return Ok(Err(ChargeError::NotTaken(altered.into()))),
        };
        let price = charge.credits();
        let Some(balance) = head.balance.minus(price) else {
            return Ok(Ok(Charged::Insufficient { balance: head.balance }));
        };
        let is_charged = charge.items > 0;
        if is_charged && let Err(error) = self.batch.add(charge_row(charge, price, balance), &head)
        {
            return self.sort_out(error);
        }
        if let Some(record) = record {
            let (account, at) = (charge.account, charge.at);
            let recorded = RecordedCharge { balance, charge: is_charged.then_some(charge.id) };
            let (connection, secrets) = (self.connection, self.secrets);
            match idempotency_store::write(connection, secrets, account, record, recorded, at) {
                Ok(grown) => {
                    self.record_count = self.record_count.map(|count| count.after_growing(grown))
                }
                // The charge's row is written; only a rollback of the group removes it.
                Err(error) if is_charged => return Err(GroupFailed(error)),
                Err(error) => return self.sort_out(error),
            }
        }
        Ok(Ok(Charged::Taken { balance }))
    }

    /// Whether the account may store another response.
    fn has_room(&self, account: AccountId) -> rusqlite::Result<bool> {
        match self.record_count {
            Some(count) if count.records >= self.max_kept => Ok(false),
            Some(count) => {
                let most = self.max_kept;
                idempotency_store::has_share(self.connection, account, count.records, most)
            }
            None => Ok(true),
        }
    }

    /// The account's balance; `None` when there is no such account.
    pub(super) fn balance(&mut self, account: AccountId) -> Decided<Option<Credits>> {
        match self.batch.head(account) {
            Ok(head) => Ok(Ok(head.map(|head| head.balance))),
            Err(LedgerStateError::Read(error)) => self.sort_out(error),
            Err(altered) => Ok(Err(ChargeError::NotTaken(altered.into()))),
        }
    }

    /// Decides a grant.
    pub(super) fn grant(&mut self, grant: &Grant) -> Decided<Granted> {
        match self.try_grant(grant) {
            Ok(granted) => Ok(Ok(granted)),
            Err(LedgerStateError::Read(error)) => self.sort_out(error),
            Err(altered) => Ok(Err(ChargeError::NotTaken(altered.into()))),
        }
    }

    fn try_grant(&mut self, grant: &Grant) -> Result<Granted, LedgerStateError> {
        let Some(head) = self.batch.head(grant.account)? else {
            return Ok(Granted::NoAccount);
        };
        if let Some(corrects) = grant.corrects
            && !self.has_entry(grant.account, corrects)?
        {
            return Ok(Granted::NoSuchEntry);
        }
        let Some(balance) = head.balance.changed_by(grant.credits) else {
            return Ok(Granted::OutOfRange { balance: head.balance });
        };
        self.batch.add(grant_row(grant, balance), &head)?;
        Ok(Granted::Written { balance })
    }

    fn has_entry(&self, account: AccountId, id: ChargeId) -> rusqlite::Result<bool> {
        self.connection.has(
            "SELECT 1 FROM entry WHERE id = ?1 AND account = ?2",
            (Column(id), Column(account)),
        )
    }

    /// Whether an error concerns one decision or the whole group.
    ///
    /// A row that breaks a constraint or cannot be read leaves the transaction as it was before the
    /// statement. The other decisions of the group are not affected.
    fn sort_out<T>(&self, error: rusqlite::Error) -> Decided<T> {
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
}

/// The row of a charge, without its position.
fn charge_row(charge: &Charge, price: Credits, balance: Credits) -> Row<'_> {
    Row {
        account: charge.account,
        sequence: 0,
        id: charge.id,
        kind: kind::CHARGE.into(),
        corrects: None,
        // A price taken from a balance fits: a balance is at most `i64::MAX`.
        credits: i64::try_from(price.0).map_or(i64::MIN, |price| -price),
        balance,
        endpoint: Some(charge.endpoint.into()),
        items: Some(charge.items),
        price: Some(row::price_text(charge.price)),
        api_key: Some(charge.key),
        request_id: Some(charge.request_id.as_str().into()),
        revision: Some(charge.revision.0),
        note: "".into(),
        at: charge.at,
        secret: 0,
    }
}

/// The row of a grant, without its position.
fn grant_row(grant: &Grant, balance: Credits) -> Row<'_> {
    let kind = if grant.corrects.is_some() { kind::ADJUSTMENT } else { kind::GRANT };
    Row {
        account: grant.account,
        sequence: 0,
        id: grant.id,
        kind: kind.into(),
        corrects: grant.corrects,
        credits: grant.credits,
        balance,
        endpoint: None,
        items: None,
        price: None,
        api_key: None,
        request_id: None,
        revision: None,
        note: grant.note.as_str().into(),
        at: grant.at,
        secret: 0,
    }
}
