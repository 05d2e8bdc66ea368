//! The overview page: the balance, the usage, and the results by day.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use enrich_core::KeyInfo;
use enrich_core::port::usage::{DayCount, UseOutcome};

use crate::curl;
use crate::days::{Day, Days};
use crate::fault::Fault;
use crate::http::Response;
use crate::page_context::{Frame, OwnerContext, PageContext, render_page};
use crate::shown::{Number, Share};

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    left: Number,
    today: Number,
    in_30_days: Number,
    share: Share,
    has_keys: bool,
    first_call: Option<FirstCall>,
    days: Vec<DayRow>,
}

/// The suggested first call, which is shown if the account has no calls and an active key.
struct FirstCall {
    command: String,
    /// Whether `command` contains the full API key. Otherwise it contains only the first characters
    /// of the key.
    has_key: bool,
}

struct DayRow {
    day: Day,
    found: u64,
    not_found: u64,
    credits: u64,
}

pub(crate) async fn redirect(_: &OwnerContext<'_>) -> Result<Response, Fault> {
    Ok(Response::see_other("/account/"))
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    shown(context, false).await
}

/// Shows the overview with the full key in the suggested first call.
pub(crate) async fn first_call(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    shown(context, true).await
}

async fn shown(context: &OwnerContext<'_>, shows_key: bool) -> Result<Response, Fault> {
    let (service, account) = (Arc::clone(&context.dashboard.service), context.session.account.id);
    let range = Days::last_30(Day::of(context.now));
    let read = move || async move {
        let counts = service.usage.days(account, range.first.0, range.last.0).await?;
        Ok((counts, service.accounts.keys(account).await?))
    };
    let (counts, keys) = context.dashboard.scans.read(account, read).await?;
    let is_unused = counts.is_empty() && keys.iter().all(|key| key.last_used_at.is_none());
    let newest = keys.iter().rev().find(|key| key.is_active(context.now));
    let first_call = match newest.filter(|_| is_unused) {
        Some(key) => call_with(context, key, shows_key).await?,
        None => None,
    };
    let days = by_day(range, &counts);
    let found: u64 = days.iter().map(|row| row.found).sum();
    let not_found: u64 = days.iter().map(|row| row.not_found).sum();
    let template = OverviewPage {
        frame: context.frame("/account/").await?,
        left: Number(context.balance().await?.0),
        today: Number(days.last().map_or(0, |row| row.credits)),
        in_30_days: Number(days.iter().map(|row| row.credits).sum()),
        share: Share { part: found, whole: found + not_found },
        first_call,
        has_keys: keys.iter().any(|key| key.is_active(context.now)),
        days,
    };
    render_page(200, &template)
}

/// Returns the suggested first call. The command contains the full key if `shows_key` is `true`;
/// otherwise it contains only the first characters of the key.
async fn call_with(
    context: &PageContext<'_>,
    key: &KeyInfo,
    shows_key: bool,
) -> Result<Option<FirstCall>, Fault> {
    let dashboard = context.dashboard;
    let secret = match shows_key {
        true => dashboard.service.accounts.reveal(key.id).await?,
        false => None,
    };
    let cut = format!("{}…", key.hint);
    let text = secret.as_ref().map_or(cut.as_str(), |key| key.expose());
    let address = dashboard.address(context.request);
    let command = curl::first_call(&address, dashboard.api_versions, text);
    Ok(command.map(|command| FirstCall { command, has_key: secret.is_some() }))
}

/// Returns a row for each day of the range, including days without calls.
fn by_day(range: Days, counts: &[DayCount]) -> Vec<DayRow> {
    let empty = |day| (day, DayRow { day, found: 0, not_found: 0, credits: 0 });
    let mut rows: BTreeMap<Day, DayRow> = range.each().map(empty).collect();
    for count in counts {
        let Some(row) = rows.get_mut(&Day(count.day)) else { continue };
        match count.outcome {
            UseOutcome::Found => row.found += count.calls,
            UseOutcome::NotFound => row.not_found += count.calls,
            UseOutcome::Replayed | UseOutcome::Refused => {}
        }
        row.credits += count.credits.0;
    }
    rows.into_values().collect()
}
