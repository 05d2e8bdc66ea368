//! What is left, what was used, and what was found day by day.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use enrich_core::port::usage::{DayCount, UseOutcome};

use crate::days::{Day, Days};
use crate::fault::Fault;
use crate::http::Response;
use crate::shown::{Number, Share};
use crate::visit::{Frame, Member, Visit, page};

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    left: Number,
    today: Number,
    in_30_days: Number,
    share: Share,
    has_keys: bool,
    days: Vec<DayRow>,
}

struct DayRow {
    day: Day,
    found: u64,
    not_found: u64,
    credits: u64,
}

pub(crate) async fn redirect(_: &Visit<'_>, _: &Member) -> Result<Response, Fault> {
    Ok(Response::see("/account/"))
}

pub(crate) async fn show(visit: &Visit<'_>, member: &Member) -> Result<Response, Fault> {
    let (service, account) = (Arc::clone(&visit.dashboard.service), member.account.id);
    let range = Days::last_30(Day::of(visit.now));
    let read = move || async move {
        let counts = service.usage.days(account, range.first.0, range.last.0).await?;
        Ok((counts, service.accounts.keys(account).await?))
    };
    let (counts, keys) = visit.dashboard.scans.read(account, read).await?;
    let days = by_day(range, &counts);
    let found: u64 = days.iter().map(|row| row.found).sum();
    let not_found: u64 = days.iter().map(|row| row.not_found).sum();
    let page_of = OverviewPage {
        frame: visit.frame(member, "/account/").await?,
        left: Number(visit.balance(member).await?.0),
        today: Number(days.last().map_or(0, |row| row.credits)),
        in_30_days: Number(days.iter().map(|row| row.credits).sum()),
        share: Share { part: found, whole: found + not_found },
        has_keys: keys.iter().any(|key| key.is_active(visit.now)),
        days,
    };
    page(200, &page_of)
}

/// A row for each day, those without calls among them.
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
