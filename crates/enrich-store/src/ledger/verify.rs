//! Walking the whole ledger and adding everything up.

use std::fmt;

use enrich_core::port::ledger::Verification;
use enrich_core::{AccountId, ChargeId, Credits, EntryKind};
use rusqlite::{Connection, OptionalExtension};

use crate::columns::Column;
use crate::ledger::row::{CHAIN_COLUMN, Chain, NO_ROW, Row, row_columns};
use crate::secret::Secrets;

/// The most faults that are told apart; a wrong file would have one a row.
const MAX_FAULTS: usize = 1000;

const ROWS: &str =
    concat!("SELECT ", row_columns!(), ", chain FROM entry ORDER BY account, sequence");

/// Walks every row, as the ledger is at one moment, while charging goes on.
///
/// # Errors
///
/// When the file itself cannot be read. What is wrong with a row is a fault, not an error.
pub(super) fn verify(
    connection: &mut Connection,
    secrets: &Secrets,
) -> rusqlite::Result<Verification> {
    let moment = connection.transaction()?;
    let mut walk = Walk { connection: &moment, secrets, found: Found::default(), place: None };
    let mut rows = moment.prepare(ROWS)?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        walk.row(row)?;
    }
    let mut found = walk.found;
    repeated_ids(&moment, &mut found)?;
    kept_without_charge(&moment, &mut found)?;
    let accounts = moment.query_row("SELECT count(*) FROM account", [], |row| row.get(0))?;
    Ok(found.told(accounts))
}

/// What has been found so far.
#[derive(Default)]
struct Found {
    entries: u64,
    granted: i128,
    charged: i128,
    charges: u64,
    faults: Vec<String>,
    more_faults: u64,
}

/// A walk along the rows, account after account.
struct Walk<'a> {
    connection: &'a Connection,
    secrets: &'a Secrets,
    found: Found,
    place: Option<Place>,
}

/// Where the walk stands: behind a row, or at the beginning of an account.
#[derive(Clone, Copy)]
struct Place {
    account: AccountId,
    sequence: u64,
    /// The balance there; absent behind a row that is missing or cannot be read.
    balance: Option<Credits>,
    /// The hash there; absent likewise.
    chain: Option<Chain>,
}

impl Walk<'_> {
    /// Takes a step. Fails only when the file cannot be read.
    fn row(&mut self, row: &rusqlite::Row<'_>) -> rusqlite::Result<()> {
        self.found.entries += 1;
        let at: rusqlite::Result<(Column<AccountId>, u64)> =
            row.get(0).and_then(|account| Ok((account, row.get(1)?)));
        let Ok((Column(account), sequence)) = at else {
            self.found.fault("a row without a readable account and number");
            self.place = None;
            return Ok(());
        };
        let before = self.step_to(account, sequence)?;
        let at = At(account, sequence);
        let chain: Option<Chain> = row.get(CHAIN_COLUMN).ok();
        let Ok(row) = Row::read(row) else {
            self.found.fault(format_args!("{at}: cannot be read"));
            self.place = Some(Place { account, sequence, balance: None, chain });
            return Ok(());
        };
        self.place = Some(Place { account, sequence, balance: Some(row.balance), chain });
        self.check_chain(&row, before.chain, chain);
        if let Some(balance) = before.balance
            && balance.changed_by(row.credits) != Some(row.balance)
        {
            self.found.fault(format_args!(
                "{at}: {} and {:+} credits do not make the balance {}",
                balance, row.credits, row.balance
            ));
        }
        self.check_kind(row)
    }

    /// The place right before a row; names what is missing between.
    fn step_to(&mut self, account: AccountId, sequence: u64) -> rusqlite::Result<Place> {
        let start =
            Place { account, sequence: 0, balance: Some(Credits::ZERO), chain: Some(NO_ROW) };
        let before = match self.place {
            Some(place) if place.account == account => place,
            _ => {
                if !exists(self.connection, "SELECT 1 FROM account WHERE id = ?1", account)? {
                    self.found.fault(format_args!("account {account}: has rows and is not there"));
                }
                start
            }
        };
        if sequence == before.sequence.saturating_add(1) {
            return Ok(before);
        }
        let from = At(account, before.sequence.saturating_add(1));
        self.found.fault(format_args!("{from}: missing, the next row is {sequence}"));
        Ok(Place { balance: None, chain: None, ..before })
    }

    fn check_chain(&mut self, row: &Row<'_>, before: Option<Chain>, chain: Option<Chain>) {
        let at = At(row.account, row.sequence);
        let Some(secret) = self.secrets.with_id(row.secret) else {
            let number = row.secret;
            return self.found.fault(format_args!("{at}: secret {number} is not in secret.key"));
        };
        if let Some(before) = before
            && chain != Some(row.chain(&before, secret))
        {
            self.found.fault(format_args!("{at}: is not as it was written"));
        }
    }

    /// Checks what a row says by itself, and adds it up.
    fn check_kind(&mut self, row: Row<'_>) -> rusqlite::Result<()> {
        let at = At(row.account, row.sequence);
        let Ok(entry) = row.entry() else {
            self.found.fault(format_args!("{at}: is no row of its kind"));
            return Ok(());
        };
        match entry.kind {
            EntryKind::Charge { items, price, .. } => {
                self.found.charges += 1;
                self.found.charged -= i128::from(entry.credits);
                let cost = i128::from(price.of(items).0);
                if i128::from(entry.credits) != -cost || items == 0 {
                    let credits = entry.credits;
                    self.found.fault(format_args!(
                        "{at}: {credits:+} credits for {items} items at {price}"
                    ));
                }
            }
            EntryKind::Grant => self.found.granted += i128::from(entry.credits),
            EntryKind::Adjustment { corrects } => {
                self.found.granted += i128::from(entry.credits);
                let earlier = self
                    .connection
                    .prepare_cached("SELECT sequence FROM entry WHERE account = ?1 AND id = ?2")?
                    .query_row((Column(entry.account), Column(corrects)), |row| row.get(0))
                    .optional()?;
                if earlier.is_none_or(|earlier: u64| earlier >= entry.sequence) {
                    self.found.fault(format_args!("{at}: corrects {corrects}, no row before it"));
                }
            }
        }
        Ok(())
    }
}

/// A charge id is unique in its account by the table's own rule; here across accounts.
fn repeated_ids(connection: &Connection, found: &mut Found) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT account, sequence, entry.id FROM entry JOIN
             (SELECT id FROM entry GROUP BY id HAVING count(*) > 1) AS repeated
             ON repeated.id = entry.id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (Column(account), Column::<ChargeId>(id)) = (row.get(0)?, row.get(2)?);
        let at = At(account, row.get(1)?);
        found.fault(format_args!("{at}: its id {id} stands in another row as well"));
    }
    Ok(())
}

/// A kept answer that names a charge was written with it, and names its balance.
fn kept_without_charge(connection: &Connection, found: &mut Found) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT kept.account, kept.charge, entry.sequence FROM kept LEFT JOIN entry
             ON entry.account = kept.account AND entry.id = kept.charge
         WHERE kept.charge IS NOT NULL AND
             (entry.balance IS NULL OR entry.balance <> kept.balance)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (Column::<AccountId>(account), Column::<ChargeId>(charge)) = (row.get(0)?, row.get(1)?);
        match row.get::<_, Option<u64>>(2)? {
            Some(sequence) => found.fault(format_args!(
                "{}: the answer kept for it names another balance",
                At(account, sequence)
            )),
            None => found.fault(format_args!(
                "account {account}: the charge {charge} is missing, its answer is kept"
            )),
        }
    }
    Ok(())
}

impl Found {
    fn fault(&mut self, fault: impl fmt::Display) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault.to_string());
        } else {
            self.more_faults += 1;
        }
    }

    fn told(mut self, accounts: u64) -> Verification {
        if self.more_faults > 0 {
            self.faults.push(format!("and {} more", self.more_faults));
        }
        // Sums that do not fit have long shown as faults of single rows.
        let most = |sum: i128, most: i128, least: i128| sum.clamp(least, most);
        Verification {
            accounts,
            entries: self.entries,
            granted: most(self.granted, i64::MAX.into(), i64::MIN.into()) as i64,
            charged: most(self.charged, u64::MAX.into(), 0) as u64,
            charges: self.charges,
            faults: self.faults,
        }
    }
}

/// A row, as faults name it.
#[derive(Clone, Copy)]
struct At(AccountId, u64);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "account {}, row {}", self.0, self.1)
    }
}

fn exists(connection: &Connection, query: &str, account: AccountId) -> rusqlite::Result<bool> {
    connection.prepare_cached(query)?.exists([Column(account)])
}
