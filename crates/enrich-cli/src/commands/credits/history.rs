//! `enrich credits history`: the grants and charges of an account.

use std::io::{self, Write};

use clap::Args;
use enrich_core::port::ledger::Ledger;
use enrich_core::{AccountId, Entry, EntryKind};
use enrich_store::Store;
use serde::Serialize;

use super::super::named::AccountArg;
use super::super::table::{Side, Table};
use super::super::{Console, DataFolder, Failure, Format, Shown, named};

/// Rows read at once.
const PAGE: u32 = 1000;

#[derive(Debug, Args)]
pub(crate) struct History {
    /// The account's id or name
    #[arg(value_parser = named::account)]
    account: AccountArg,
    /// How many rows, the newest
    #[arg(long, value_name = "ROWS", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Serialize)]
#[serde(transparent)]
struct Rows(Vec<EntryRecord>);

#[derive(Serialize)]
struct EntryRecord {
    time: String,
    id: String,
    kind: &'static str,
    credits: i64,
    balance: u64,
    endpoint: Option<String>,
    items: Option<u64>,
    note: String,
    #[serde(skip)]
    time_to_the_second: String,
}

impl History {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), Failure> {
        let store = self.data.open()?;
        let account = self.account.find(&store)?.id;
        let mut entries = newest(&store, account, self.limit)?;
        entries.reverse();
        if entries.is_empty() {
            console.note("the account was granted and charged nothing so far");
        }
        console.show(&Rows(entries.into_iter().map(EntryRecord::from).collect()), self.format)
    }
}

/// The last `limit` rows, newest first.
fn newest(store: &Store, account: AccountId, limit: u32) -> Result<Vec<Entry>, Failure> {
    let (mut entries, mut before, mut rest) = (Vec::new(), None, limit);
    while rest > 0 {
        let page =
            pollster::block_on(store.ledger.newest_entries(account, before, rest.min(PAGE)))?;
        let Some(last) = page.last() else { break };
        before = Some(last.sequence);
        rest = rest.saturating_sub(u32::try_from(page.len()).unwrap_or(rest));
        entries.extend(page);
    }
    Ok(entries)
}

impl From<Entry> for EntryRecord {
    fn from(entry: Entry) -> Self {
        let (kind, endpoint, items) = match entry.kind {
            EntryKind::Grant => ("grant", None, None),
            EntryKind::Charge { endpoint, items, .. } => ("charge", Some(endpoint), Some(items)),
            EntryKind::Adjustment { .. } => ("adjustment", None, None),
        };
        Self {
            time: entry.at.to_string(),
            id: entry.id.to_string(),
            kind,
            credits: entry.credits,
            balance: entry.balance.0,
            endpoint,
            items,
            note: entry.note,
            time_to_the_second: named::to_the_second(entry.at),
        }
    }
}

impl Shown for Rows {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("TIME", Side::Left),
            ("KIND", Side::Left),
            ("CREDITS", Side::Right),
            ("BALANCE", Side::Right),
            ("ENDPOINT", Side::Left),
            ("NOTE", Side::Left),
        ]);
        for row in &self.0 {
            table.push([
                row.time_to_the_second.clone(),
                row.kind.to_owned(),
                format!("{:+}", row.credits),
                row.balance.to_string(),
                row.endpoint.clone().unwrap_or_default(),
                row.note.clone(),
            ]);
        }
        table.write(out)
    }
}
