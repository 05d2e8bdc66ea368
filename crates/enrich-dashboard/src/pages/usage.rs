//! The usage page: calls by endpoint and key over a range of days, and by day as CSV.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use bytes::Bytes;
use enrich_core::port::usage::{DayCount, UseOutcome};
use enrich_core::{AccountId, KeyId, KeyInfo, Service};
use futures_util::stream::{self, StreamExt};

use crate::csv_file;
use crate::days::{Day, Days};
use crate::fault::Fault;
use crate::form::query;
use crate::http::Response;
use crate::page_context::{Frame, OwnerContext, render_page};
use crate::shown::{Number, Share, key_name_in};

const DAYS_AT_ONCE: usize = 31;

const COLUMNS: [&str; 9] = [
    "day (UTC)",
    "endpoint",
    "key",
    "key id",
    "found",
    "not found",
    "repeated",
    "refused",
    "credits",
];

#[derive(Template)]
#[template(path = "usage.html")]
struct UsagePage {
    frame: Frame,
    fault: Option<String>,
    days: Days,
    query: String,
    /// Whether the numbers may still grow, because the range ends today or later.
    is_growing: bool,
    rows: Vec<Row>,
    sum: Row,
}

/// The calls with one key to one endpoint, counted by result.
#[derive(Clone, Default)]
struct Row {
    endpoint: String,
    title: &'static str,
    key: String,
    found: u64,
    not_found: u64,
    replayed: u64,
    refused: u64,
    credits: u64,
}

impl Row {
    fn add(&mut self, count: &DayCount) {
        let sum = match count.outcome {
            UseOutcome::Found => &mut self.found,
            UseOutcome::NotFound => &mut self.not_found,
            UseOutcome::Replayed => &mut self.replayed,
            UseOutcome::Refused => &mut self.refused,
        };
        *sum += count.calls;
        self.credits += count.credits.0;
    }

    fn calls(&self) -> Number {
        Number(self.found + self.not_found + self.replayed + self.refused)
    }

    fn share(&self) -> Share {
        Share { part: self.found, whole: self.found + self.not_found }
    }
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let today = Day::of(context.now);
    let (days, fault) = Days::read_or_usual(&context.query, today);
    let (service, account) = (Arc::clone(&context.dashboard.service), context.session.account.id);
    let lived = lived(days, context, today);
    let read = move || async move {
        let (sums, sum) = added_up(&service, account, lived).await?;
        Ok((sums, sum, service.accounts.keys(account).await?))
    };
    let (sums, sum, keys) = context.dashboard.scans.read(account, read).await?;
    let named = |((endpoint, key), row): ((String, KeyId), Row)| Row {
        title: context.title(&endpoint),
        endpoint,
        key: key_name_in(&keys, key),
        ..row
    };
    let template = UsagePage {
        frame: context.frame("/account/usage").await?,
        days,
        is_growing: days.last >= today,
        query: query(&[("from", &days.first.to_string()), ("to", &days.last.to_string())]),
        rows: sums.into_iter().map(named).collect(),
        sum,
        fault,
    };
    render_page(if template.fault.is_some() { 422 } else { 200 }, &template)
}

type Sums = BTreeMap<(String, KeyId), Row>;

/// Returns the usage on these days, for each endpoint and key, and the total.
async fn added_up(
    service: &Service,
    account: AccountId,
    days: Option<Days>,
) -> Result<(Sums, Row), Fault> {
    let (mut sums, mut sum) = (Sums::new(), Row::default());
    for piece in days.into_iter().flat_map(|days| days.pieces(DAYS_AT_ONCE)) {
        for count in service.usage.days(account, piece.first.0, piece.last.0).await? {
            sum.add(&count);
            sums.entry((count.endpoint.clone(), count.key)).or_default().add(&count);
        }
    }
    Ok((sums, sum))
}

/// Returns the part of a range of days in which the account existed; `None` if the account existed
/// on none of these days.
fn lived(days: Days, context: &OwnerContext<'_>, today: Day) -> Option<Days> {
    days.within(Day::of(context.session.account.created_at), today)
}

pub(crate) async fn export(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let today = Day::of(context.now);
    let Ok(days) = Days::read(&context.query, today) else { return show(context).await };
    let service = Arc::clone(&context.dashboard.service);
    let account = context.session.account.id;
    let download = Arc::new(context.dashboard.scans.download(account)?);
    let keys = Arc::new(service.accounts.keys(account).await?);
    let head = csv_file::rows([COLUMNS.map(Into::into).to_vec()]);
    let pieces: Vec<Days> = lived(days, context, today)
        .into_iter()
        .flat_map(|days| days.pieces(DAYS_AT_ONCE))
        .collect();
    let body = stream::iter(pieces).then(move |piece| {
        let (service, keys) = (Arc::clone(&service), Arc::clone(&keys));
        let download = Arc::clone(&download);
        let read = move || async move { lines(&service, account, &keys, piece).await };
        async move { download.read(read).await }
    });
    let name = format!("usage-{}-{}.csv", days.first, days.last);
    Ok(csv_file::response(&name, stream::iter([head]).chain(body)))
}

async fn lines(
    service: &Service,
    account: AccountId,
    keys: &[KeyInfo],
    days: Days,
) -> Result<Bytes, Fault> {
    let mut rows: BTreeMap<(i64, String, KeyId), Row> = BTreeMap::new();
    for count in service.usage.days(account, days.first.0, days.last.0).await? {
        rows.entry((count.day, count.endpoint.clone(), count.key)).or_default().add(&count);
    }
    csv_file::rows(rows.into_iter().map(|((day, endpoint, key), row)| {
        let numbers = [row.found, row.not_found, row.replayed, row.refused, row.credits];
        let texts = [Day(day).to_string(), endpoint, key_name_in(keys, key), key.to_string()];
        texts.into_iter().chain(numbers.map(|n| n.to_string())).map(Into::into).collect()
    }))
}
