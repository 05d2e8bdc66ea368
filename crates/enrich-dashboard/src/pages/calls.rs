//! The page with the account's charges, newest first. The charges are shown in pages, can be
//! searched by request id, and can be downloaded as CSV. Inputs and answers of calls are not
//! stored, so they cannot be shown.
//!
//! There is no index of request ids. So a search by request id reads the ledger entries of the
//! selected days, the newest first. The search stops after [`LOOKED_THROUGH`] entries, shows how
//! far it has read, and lets the user continue.

use std::sync::Arc;

use askama::Template;
use bytes::Bytes;
use enrich_core::{AccountId, Entry, EntryKind, KeyInfo, Service};
use futures_util::stream::{self, StreamExt};

use crate::csv_file;
use crate::days::{Day, Days};
use crate::fault::Fault;
use crate::form::query;
use crate::http::Response;
use crate::page_context::{Frame, OwnerContext, render_page};
use crate::shown::{Number, Time, key_name_in};

const ON_A_PAGE: usize = 50;
/// Number of ledger rows that are read in one step.
const AT_ONCE: u32 = 1_000;
/// Maximum number of ledger rows that are read for one page. A search that needs more rows lets
/// the user continue on the next page.
const LOOKED_THROUGH: u64 = 20_000;

const COLUMNS: [&str; 8] =
    ["time (UTC)", "endpoint", "items", "credits", "balance", "key", "request id", "charge id"];

#[derive(Template)]
#[template(path = "calls.html")]
struct CallsPage<'a> {
    frame: Frame,
    fault: Option<String>,
    days: Days,
    wanted: &'a str,
    calls: Vec<CallRow>,
    /// The query string of the link to the first page, for the same range and search; `None` if
    /// this is the first page.
    newest: Option<String>,
    /// The query string of the link to the next page; `None` if this is the last page.
    older: Option<String>,
    /// The query string of the link to the CSV file with the charges of the range.
    export: String,
    /// How far the search by request id has read; `None` if the user does not search by request id.
    progress: Option<SearchProgress>,
}

struct SearchProgress {
    rows: Number,
    back_to: Option<Time>,
    is_whole: bool,
}

struct CallRow {
    at: Time,
    endpoint: String,
    title: &'static str,
    items: Number,
    credits: Number,
    balance: Number,
    key: String,
    request_id: String,
}

impl CallRow {
    /// Returns the table row for an entry of the ledger; `None` if the entry is not a charge.
    fn of(entry: Entry, keys: &[KeyInfo]) -> Option<Self> {
        let EntryKind::Charge { endpoint, items, key, request_id, .. } = entry.kind else {
            return None;
        };
        Some(Self {
            at: Time(entry.at),
            endpoint,
            title: "",
            items: Number(items),
            credits: Number(entry.credits.unsigned_abs()),
            balance: Number(entry.balance.0),
            key: key_name_in(keys, key),
            request_id,
        })
    }
}

/// The ledger entries in a range of days: those with a sequence number from `first` up to `end`,
/// without `end`. If the clock was set back, some of these entries may belong to other days.
#[derive(Clone, Copy)]
struct Rows {
    first: u64,
    end: u64,
    days: Days,
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let (days, fault) = Days::read_or_usual(&context.query, Day::of(context.now));
    let wanted = context.query.text("id");
    let (service, account) = (Arc::clone(&context.dashboard.service), context.session.account.id);
    let (searched, before) = (wanted.to_owned(), context.query.text("before").parse().ok());
    let read = move || async move {
        let rows = rows(&service, account, days).await?;
        let before = before.filter(|before| *before < rows.end);
        let from = Rows { end: before.unwrap_or(rows.end), ..rows };
        let gathered = gather(&service, account, from, &searched).await?;
        Ok((before, gathered, service.accounts.keys(account).await?))
    };
    let (before, gathered, keys) = context.dashboard.scans.read(account, read).await?;
    let (first, last) = (days.first.to_string(), days.last.to_string());
    let range = [("from", first.as_str()), ("to", &last), ("id", wanted)];
    let at = |before: u64| query(&[&range[..], &[("before", &before.to_string())]].concat());
    let template = CallsPage {
        frame: context.frame("/account/calls").await?,
        fault,
        days,
        wanted,
        newest: before.map(|_| query(&range)),
        older: gathered.goes_on_before.map(at),
        export: query(&range[..2]),
        progress: (!wanted.is_empty()).then_some(SearchProgress {
            rows: Number(gathered.looked_through),
            back_to: gathered.back_to,
            is_whole: gathered.goes_on_before.is_none(),
        }),
        calls: gathered
            .charges
            .into_iter()
            .filter_map(|row| CallRow::of(row, &keys))
            .map(|row| CallRow { title: context.title(&row.endpoint), ..row })
            .collect(),
    };
    render_page(if template.fault.is_some() { 422 } else { 200 }, &template)
}

async fn rows(service: &Service, account: AccountId, days: Days) -> Result<Rows, Fault> {
    let first = service.ledger.first_entry_at(account, days.first.start()).await?;
    let end = service.ledger.end_of_entries_before(account, days.end()).await?;
    Ok(Rows { first, end, days })
}

/// The charges of one page, and how far back the ledger was read to find them.
struct Gathered {
    charges: Vec<Entry>,
    looked_through: u64,
    back_to: Option<Time>,
    /// The next page contains charges with a sequence number below this number; `None` if there is
    /// no next page.
    goes_on_before: Option<u64>,
}

/// Collects the newest charges of the range, at most as many as a page shows. If `wanted` is not
/// empty, collects only charges with this request id. Reads at most [`LOOKED_THROUGH`] entries.
async fn gather(
    service: &Service,
    account: AccountId,
    rows: Rows,
    wanted: &str,
) -> Result<Gathered, Fault> {
    let mut gathered =
        Gathered { charges: Vec::new(), looked_through: 0, back_to: None, goes_on_before: None };
    let mut before = rows.end;
    while before > rows.first {
        let read = service.ledger.newest_entries(account, Some(before), AT_ONCE).await?;
        let is_end = read.last().is_none_or(|entry| entry.sequence <= rows.first);
        for entry in read.into_iter().take_while(|entry| entry.sequence >= rows.first) {
            if gathered.charges.len() == ON_A_PAGE || gathered.looked_through == LOOKED_THROUGH {
                gathered.goes_on_before = Some(before);
                return Ok(gathered);
            }
            before = entry.sequence;
            gathered.looked_through += 1;
            gathered.back_to = Some(Time(entry.at));
            if rows.days.hold(entry.at) && is_wanted(&entry, wanted) {
                gathered.charges.push(entry);
            }
        }
        if is_end {
            break;
        }
    }
    Ok(gathered)
}

fn is_wanted(entry: &Entry, wanted: &str) -> bool {
    match &entry.kind {
        EntryKind::Charge { request_id, .. } => wanted.is_empty() || request_id == wanted,
        EntryKind::Grant | EntryKind::Adjustment { .. } => false,
    }
}

/// Returns all charges of the range as CSV, newest first. The lines are sent while further
/// charges are read.
pub(crate) async fn export(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let Ok(days) = Days::read(&context.query, Day::of(context.now)) else {
        return show(context).await;
    };
    let service = Arc::clone(&context.dashboard.service);
    let account = context.session.account.id;
    let download = Arc::new(context.dashboard.scans.download(account)?);
    let keys = Arc::new(service.accounts.keys(account).await?);
    let rows = {
        let service = Arc::clone(&service);
        download.read(move || async move { rows(&service, account, days).await }).await?
    };
    let head = csv_file::rows([COLUMNS.map(Into::into).to_vec()]);
    let body = stream::unfold(Some(rows.end), move |before| {
        let (service, keys) = (Arc::clone(&service), Arc::clone(&keys));
        let download = Arc::clone(&download);
        async move {
            let end = before.filter(|before| *before > rows.first)?;
            let rows = Rows { end, ..rows };
            let read = move || async move { lines(&service, account, &keys, rows).await };
            match download.read(read).await {
                Ok((lines, next)) => Some((Ok(lines), next)),
                Err(error) => Some((Err(error), None)),
            }
        }
    });
    let name = format!("calls-{}-{}.csv", days.first, days.last);
    Ok(csv_file::response(&name, stream::iter([head]).chain(body)))
}

/// Returns the next lines of the CSV file, and where the next call continues: the new value of
/// `rows.end`, or `None` if the range has no further entry.
async fn lines(
    service: &Service,
    account: AccountId,
    keys: &[KeyInfo],
    rows: Rows,
) -> Result<(Bytes, Option<u64>), Fault> {
    let read = service.ledger.newest_entries(account, Some(rows.end), AT_ONCE).await?;
    let next = read.last().map(|entry| entry.sequence).filter(|last| *last > rows.first);
    let of_range =
        read.into_iter().filter(|entry| entry.sequence >= rows.first && rows.days.hold(entry.at));
    let lines = of_range.filter_map(|entry| {
        let (id, credits) = (entry.id.to_string(), entry.credits.unsigned_abs().to_string());
        let balance = entry.balance.to_string();
        let row = CallRow::of(entry, keys)?;
        let items = row.items.0.to_string();
        let cells = [
            row.at.to_string(),
            row.endpoint,
            items,
            credits,
            balance,
            row.key,
            row.request_id,
            id,
        ];
        Some(cells.into_iter().map(Into::into).collect())
    });
    Ok((csv_file::rows(lines)?, next))
}
