//! `enrich ledger export`: an account's rows as CSV.

use clap::Args;
use csv::Writer;
use enrich_bulk::neutralised;
use enrich_core::port::ledger::Ledger;
use enrich_core::{Entry, EntryKind};

use super::super::named::AccountArg;
use super::super::{Console, DataFolder, Failure, Verdict};

/// Rows read at once.
const PAGE: u32 = 1000;

const COLUMNS: [&str; 15] = [
    "account",
    "sequence",
    "id",
    "time",
    "kind",
    "credits",
    "balance",
    "endpoint",
    "items",
    "rule",
    "key_id",
    "request_id",
    "generation",
    "corrects",
    "note",
];

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The account's id or name
    account: AccountArg,
    #[command(flatten)]
    data: DataFolder,
}

impl Export {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.data.open()?;
        let account = self.account.find(&store)?.id;
        let mut csv = Writer::from_writer(&mut *console.out);
        csv.write_record(COLUMNS).map_err(output_failure)?;
        let mut after = 0;
        loop {
            let page = pollster::block_on(store.ledger.entries(account, after, PAGE))?;
            let Some(last) = page.last() else { break };
            after = last.sequence;
            for entry in &page {
                csv.write_record(row(entry)).map_err(output_failure)?;
            }
        }
        csv.flush()?;
        Ok(Verdict::Yes)
    }
}

fn output_failure(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        // The other kinds are errors of readers, or rows of unequal length, which do not occur.
        kind => Failure::Impossible(format!("the rows cannot be written: {kind:?}")),
    }
}

/// A row, in the order of [`COLUMNS`].
fn row(entry: &Entry) -> [String; COLUMNS.len()] {
    let mut row = [
        entry.account.to_string(),
        entry.sequence.to_string(),
        entry.id.to_string(),
        entry.at.to_string(),
        String::new(),
        entry.credits.to_string(),
        entry.balance.to_string(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        neutral(&entry.note),
    ];
    match &entry.kind {
        EntryKind::Grant => row[4] = "grant".to_owned(),
        EntryKind::Charge { endpoint, items, price, key, request_id, revision } => {
            row[4] = "charge".to_owned();
            row[7] = neutral(endpoint);
            row[8] = items.to_string();
            row[9] = price.to_string();
            row[10] = key.to_string();
            row[11] = neutral(request_id);
            row[12] = revision.0.to_string();
        }
        EntryKind::Adjustment { corrects } => {
            row[4] = "adjustment".to_owned();
            row[13] = corrects.to_string();
        }
    }
    row
}

/// The text with formulas escaped: callers choose their request ids.
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
