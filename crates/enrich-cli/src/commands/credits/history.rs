//! `enrich credits history`: the grants and charges of an account.

use clap::Args;
use enrich_core::{AccountId, Entry, EntryKind, Timestamp};
use serde::Serialize;

use super::super::named::OnAccount;
use super::super::table::Row;
use super::super::{Console, Failure, Verdict, named};
use crate::account_ports::AccountPorts;

/// Number of ledger rows that are read in one step.
const PAGE: u32 = 1000;

#[derive(Debug, Args)]
pub(crate) struct History {
    /// Maximum number of rows
    #[arg(long, value_name = "ROWS", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
    #[command(flatten)]
    on: OnAccount,
}

#[derive(Serialize)]
struct EntryRecord {
    time: Timestamp,
    id: String,
    kind: &'static str,
    credits: i64,
    balance: u64,
    endpoint: Option<String>,
    items: Option<u64>,
    note: String,
}

impl History {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let (ports, account) = self.on.find()?;
        let mut entries = newest(&ports, account.id, self.limit)?;
        entries.reverse();
        if entries.is_empty() {
            console.note("the account was granted and charged nothing so far");
        }
        let rows: Vec<EntryRecord> = entries.into_iter().map(EntryRecord::from).collect();
        self.on.common.show(&rows, console)
    }
}

/// Returns the last `limit` ledger rows of an account, the newest first.
fn newest(ports: &AccountPorts, account: AccountId, limit: u32) -> Result<Vec<Entry>, Failure> {
    let (mut entries, mut before, mut rest) = (Vec::new(), None, limit);
    while rest > 0 {
        let page =
            pollster::block_on(ports.ledger.newest_entries(account, before, rest.min(PAGE)))?;
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
            time: entry.at,
            id: entry.id.to_string(),
            kind,
            credits: entry.credits,
            balance: entry.balance.0,
            endpoint,
            items,
            note: entry.note,
        }
    }
}

impl Row for EntryRecord {
    const TITLES: &'static [&'static str] =
        &["TIME", "KIND", ">CREDITS", ">BALANCE", "ENDPOINT", "NOTE"];

    fn cells(&self) -> Vec<String> {
        vec![
            named::to_the_second(self.time),
            self.kind.to_owned(),
            format!("{:+}", self.credits),
            self.balance.to_string(),
            self.endpoint.clone().unwrap_or_default(),
            self.note.clone(),
        ]
    }
}
