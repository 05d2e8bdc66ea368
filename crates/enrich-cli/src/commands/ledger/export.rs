//! `enrich ledger export`: prints the ledger rows of one account, or of all accounts, as CSV.

use std::fmt::Display;
use std::io::Write;

use clap::Args;
use csv::Writer;
use enrich_bulk::neutralised;
use enrich_core::{AccountId, Entry, EntryKind};

use super::super::named::AccountArg;
use super::super::{Console, DataFolder, Failure, Verdict};
use crate::account_ports::AccountPorts;

/// Number of ledger rows that are read in one step.
const PAGE: u32 = 1000;

/// The header of the CSV. The function [`row`] returns the cells in the same order.
const COLUMNS: &str = "account,sequence,id,time,kind,credits,balance,endpoint,items,rule,key_id,\
                       request_id,generation,corrects,note";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The account's id or name
    #[arg(required_unless_present = "all")]
    account: Option<AccountArg>,
    /// Every account, the oldest account first
    #[arg(long, conflicts_with = "account")]
    all: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Export {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let ports = self.data.open_accounts()?;
        let accounts = match &self.account {
            Some(account) => vec![account.find(&ports)?],
            None => pollster::block_on(ports.accounts.accounts())?,
        };
        let mut csv = Writer::from_writer(&mut *console.out);
        csv.write_record(COLUMNS.split(',')).map_err(output_failure)?;
        for account in accounts {
            write_rows(&ports, account.id, &mut csv)?;
        }
        csv.flush()?;
        Ok(Verdict::Yes)
    }
}

fn write_rows(
    ports: &AccountPorts,
    account: AccountId,
    csv: &mut Writer<impl Write>,
) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let page = pollster::block_on(ports.ledger.entries(account, after, PAGE))?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.sequence;
        for entry in &page {
            csv.write_record(row(entry)).map_err(output_failure)?;
        }
    }
}

fn output_failure(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        // The CSV writer has two other kinds of errors: errors of reading, and rows with different
        // numbers of columns. Neither can occur here.
        kind => Failure::Impossible(format!("the rows cannot be written: {kind:?}")),
    }
}

/// Returns the cells of a ledger row, in the order of [`COLUMNS`].
fn row(entry: &Entry) -> impl Iterator<Item = String> {
    let kind = match &entry.kind {
        EntryKind::Grant => "grant",
        EntryKind::Charge { .. } => "charge",
        EntryKind::Adjustment { .. } => "adjustment",
    };
    let charge = match &entry.kind {
        EntryKind::Charge { endpoint, items, price, key, request_id, revision } => [
            neutral(endpoint),
            items.to_string(),
            price.to_string(),
            key.to_string(),
            neutral(request_id),
            revision.0.to_string(),
        ],
        EntryKind::Grant | EntryKind::Adjustment { .. } => Default::default(),
    };
    let corrects = match &entry.kind {
        EntryKind::Adjustment { corrects } => corrects.to_string(),
        EntryKind::Grant | EntryKind::Charge { .. } => String::new(),
    };
    let Entry { account, sequence, id, at, credits, balance, .. } = entry;
    let first: [&dyn Display; 7] = [account, sequence, id, at, &kind, credits, balance];
    let last = [corrects, neutral(&entry.note)];
    first.map(|value| value.to_string()).into_iter().chain(charge).chain(last)
}

/// Returns a text, with an apostrophe before it if a spreadsheet would run it as a formula.
/// Request ids may be such texts, because callers choose them.
fn neutral(text: &str) -> String {
    String::from_utf8_lossy(&neutralised(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_is_text() {
        assert_eq!(neutral("=1+1"), "'=1+1");
        assert_eq!(neutral("hi;=1+1"), "hi;'=1+1");
        for text in ["", "invoice 1042", "/v1/cuf", "a=b", "0-1", "-1"] {
            assert_eq!(neutral(text), text);
        }
    }
}
