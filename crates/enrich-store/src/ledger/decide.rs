//! Deciding a charge or a grant, inside the transaction of its group.
//!
//! Every decision starts from the account's last row as the transaction sees it, so that what
//! another process wrote counts, and what came earlier in the same group.

use enrich_core::port::ledger::{Charge, ChargeError, Charged, Grant, Granted};
use enrich_core::{AccountId, ChargeId, Credits};
use rusqlite::{Connection, ErrorCode, OptionalExtension};

use crate::columns::Column;
use crate::ledger::keeping::{self, KeepError, Shelf, Standing, ToKeep};
use crate::ledger::row::{self, Chain, NO_ROW, Row, kind};
use crate::secret::Secrets;

/// What a group is decided with.
pub(super) struct Desk<'a> {
    /// The connection, in a transaction.
    pub(super) connection: &'a Connection,
    pub(super) secrets: &'a Secrets,
    /// The idempotency records, this group's counted; up to date in a group that keeps any.
    pub(super) shelf: Option<Shelf>,
    /// How many there may be.
    pub(super) max_kept: u64,
}

/// A group cannot be decided: its transaction has to be rolled back.
#[derive(Debug)]
pub(super) struct GroupFailed(pub(super) rusqlite::Error);

type Decided<T> = Result<Result<T, ChargeError>, GroupFailed>;

/// Where an account stands.
struct Last {
    sequence: u64,
    balance: Credits,
    chain: Chain,
}

impl Desk<'_> {
    /// Decides a charge, and keeps its answer.
    pub(super) fn charge(&mut self, charge: &Charge, to_keep: Option<&ToKeep>) -> Decided<Charged> {
        if let Some(to_keep) = to_keep {
            let names = &to_keep.names;
            match keeping::find(self.connection, self.secrets, charge.account, names, charge.at) {
                Ok(Standing::Kept(kept)) => return Ok(Ok(Charged::Replayed(kept))),
                Ok(Standing::Free) if self.has_no_room() => {
                    return Ok(Err(ChargeError::KeepsFull));
                }
                Ok(Standing::Free | Standing::Expired) => {}
                Err(KeepError::Read(error)) => return self.sort_out(error),
                Err(altered) => return Ok(Err(ChargeError::NotTaken(altered.into()))),
            }
        }
        let last = match self.last(charge.account) {
            Ok(last) => last,
            Err(error) => return self.sort_out(error),
        };
        let price = charge.credits();
        let Some(balance) = last.balance.minus(price) else {
            return Ok(Ok(Charged::Insufficient { balance: last.balance }));
        };
        let is_charged = charge.items > 0;
        if is_charged
            && let Err(error) = self.insert(&last, charge_row(charge, price, balance, &last))
        {
            return self.sort_out(error);
        }
        if let Some(to_keep) = to_keep {
            let (account, at) = (charge.account, charge.at);
            let charge = is_charged.then_some(charge.id);
            match keeping::write(self.connection, account, to_keep, balance, charge, at) {
                Ok(grown) => self.shelf = self.shelf.map(|shelf| shelf.after_growing(grown)),
                // The row of the charge is written: only the group's end can take it back.
                Err(error) if is_charged => return Err(GroupFailed(error)),
                Err(error) => return self.sort_out(error),
            }
        }
        Ok(Ok(Charged::Taken { balance }))
    }

    fn has_no_room(&self) -> bool {
        self.shelf.is_some_and(|shelf| shelf.records >= self.max_kept)
    }

    /// Decides a grant.
    pub(super) fn grant(&mut self, grant: &Grant) -> Decided<Granted> {
        match self.try_grant(grant) {
            Ok(granted) => Ok(Ok(granted)),
            Err(error) => self.sort_out(error),
        }
    }

    fn try_grant(&self, grant: &Grant) -> rusqlite::Result<Granted> {
        let mut account = self.connection.prepare_cached("SELECT 1 FROM account WHERE id = ?1")?;
        if !account.exists([Column(grant.account)])? {
            return Ok(Granted::NoAccount);
        }
        if let Some(corrects) = grant.corrects
            && !self.has_entry(grant.account, corrects)?
        {
            return Ok(Granted::NoSuchEntry);
        }
        let last = self.last(grant.account)?;
        let Some(balance) = last.balance.changed_by(grant.credits) else {
            return Ok(Granted::OutOfRange { balance: last.balance });
        };
        self.insert(&last, grant_row(grant, balance, &last))?;
        Ok(Granted::Written { balance })
    }

    /// The account's last row; where it has none, a place before its first.
    fn last(&self, account: AccountId) -> rusqlite::Result<Last> {
        let mut statement = self.connection.prepare_cached(
            "SELECT sequence, balance, chain FROM entry
             WHERE account = ?1 ORDER BY sequence DESC LIMIT 1",
        )?;
        let last = statement.query_row([Column(account)], |row| {
            let Column(balance) = row.get(1)?;
            Ok(Last { sequence: row.get(0)?, balance, chain: row.get(2)? })
        });
        let none = || Last { sequence: 0, balance: Credits::ZERO, chain: NO_ROW };
        Ok(last.optional()?.unwrap_or_else(none))
    }

    fn has_entry(&self, account: AccountId, id: ChargeId) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached("SELECT 1 FROM entry WHERE account = ?1 AND id = ?2")?
            .exists((Column(account), Column(id)))
    }

    fn insert(&self, last: &Last, mut row: Row<'_>) -> rusqlite::Result<()> {
        let secret = self.secrets.current();
        row.secret = secret.id();
        row.insert(self.connection, &last.chain, secret)
    }

    /// Whether an error is that of one decision, or of the whole group.
    ///
    /// A row that breaks a constraint, or that cannot be read, leaves the transaction as it was
    /// before the statement: the others of the group are none the worse for it.
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

fn charge_row<'a>(charge: &'a Charge, price: Credits, balance: Credits, last: &Last) -> Row<'a> {
    Row {
        account: charge.account,
        sequence: last.sequence.saturating_add(1),
        id: charge.id,
        kind: kind::CHARGE.into(),
        corrects: None,
        // A price that was taken from a balance fits: a balance is at most `i64::MAX`.
        credits: i64::try_from(price.0).map_or(i64::MIN, |price| -price),
        balance,
        endpoint: Some(charge.endpoint.into()),
        items: Some(charge.items),
        price: Some(row::price_text(charge.price)),
        api_key: Some(charge.key),
        request_id: Some(charge.request_id.as_str().into()),
        generation: Some(charge.generation.0),
        note: "".into(),
        at: charge.at,
        secret: 0,
    }
}

fn grant_row<'a>(grant: &'a Grant, balance: Credits, last: &Last) -> Row<'a> {
    let kind = if grant.corrects.is_some() { kind::ADJUSTMENT } else { kind::GRANT };
    Row {
        account: grant.account,
        sequence: last.sequence.saturating_add(1),
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
        generation: None,
        note: grant.note.as_str().into(),
        at: grant.at,
        secret: 0,
    }
}
