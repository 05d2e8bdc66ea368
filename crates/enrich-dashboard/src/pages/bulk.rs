//! The page with the account's uploaded lists, and the upload of a new list.

use std::sync::Arc;

use askama::Template;
use enrich_bulk::End;
use enrich_bulk::jobs::{Job, RemoteList, State};

use crate::fault::Fault;
use crate::http::{Body, Response};
use crate::page_context::{Frame, OwnerContext, PageContext, render_page};
use crate::shown::{Number, Time, number, span};
use crate::upload::{UploadError, take};

#[derive(Template)]
#[template(path = "bulk.html")]
struct BulkPage {
    frame: Frame,
    fault: Option<String>,
    jobs: Vec<JobRow>,
    elsewhere: Vec<RemoteRow>,
    max_mebibytes: Number,
    max_bytes: u64,
    kept: String,
}

/// An uploaded list, as a row of the table of lists.
pub(crate) struct JobRow {
    pub(crate) id: String,
    pub(crate) file_name: String,
    pub(crate) endpoint: String,
    pub(crate) title: &'static str,
    pub(crate) created: Time,
    pub(crate) kept_until: Option<Time>,
    pub(crate) state: String,
    /// The reason why the list is not running, as the page shows it; empty if there is no reason.
    pub(crate) reason: String,
    /// A sentence that says how many rows were emptied or left out, because they contained a
    /// suppressed value (one that must not be stored any more); empty if there are no such rows.
    pub(crate) erased: String,
    pub(crate) is_under_way: bool,
    pub(crate) can_go_on: bool,
    pub(crate) is_new: bool,
    pub(crate) done: u64,
    pub(crate) rows: u64,
    pub(crate) found: Number,
    pub(crate) not_found: Number,
    pub(crate) invalid: Number,
    pub(crate) failed: Number,
    pub(crate) credits: Number,
    /// The number of cells whose text was truncated in the result, because a cell of a workbook
    /// (`.xlsx`) has a maximum length. Always 0 for other formats.
    pub(crate) cut_cells: Number,
    /// Whether rows that are not found get candidates (companies that the name may mean).
    pub(crate) has_candidates: bool,
    pub(crate) ceiling: Option<Number>,
    /// The ceiling (the most credits that the list may cost), as the form field shows it, without
    /// separators.
    pub(crate) ceiling_typed: String,
}

/// An uploaded list that this server cannot show, because its files are on another server (`node`).
struct RemoteRow {
    file_name: String,
    node: String,
    created: Time,
}

impl JobRow {
    pub(crate) fn of(context: &PageContext<'_>, job: &Job) -> Self {
        let keep_seconds = context.dashboard.job_settings.keep_seconds;
        let (state, reason) = in_words(&job.state);
        let is_under_way = matches!(job.state, State::Waiting | State::Running);
        let since = job.ended_at.unwrap_or(job.created_at);
        let until = since.checked_add(jiff::SignedDuration::from_secs(keep_seconds)).ok();
        let order = job.order.as_ref();
        let ceiling = order.and_then(|order| order.max_credits);
        Self {
            id: job.id.to_string(),
            file_name: job.file_name.clone(),
            title: order.map_or("", |order| context.title(&order.endpoint)),
            endpoint: order.map_or_else(String::new, |order| order.endpoint.clone()),
            created: Time(job.created_at),
            kept_until: until.filter(|_| !is_under_way).map(Time),
            state: state.to_owned(),
            reason,
            erased: erased(job.removed_rows),
            is_under_way,
            can_go_on: job.state.can_go_on(),
            is_new: job.state == State::New,
            done: job.counts.rows,
            rows: job.rows.unwrap_or_default(),
            found: Number(job.counts.found),
            not_found: Number(job.counts.not_found),
            invalid: Number(job.counts.invalid),
            failed: Number(job.counts.failed),
            credits: Number(job.counts.credits),
            cut_cells: Number(job.counts.cut_cells),
            has_candidates: order.is_some_and(|order| order.candidates > 0),
            ceiling: ceiling.map(Number),
            ceiling_typed: ceiling.map_or_else(String::new, |credits| credits.to_string()),
        }
    }
}

fn erased(rows: u64) -> String {
    match rows {
        0 => String::new(),
        1 => "One row held data that has been erased from this service: it was emptied, or left \
              out of the results."
            .to_owned(),
        rows => format!(
            "{} rows held data that has been erased from this service: they were emptied, or left \
             out of the results.",
            number(&rows)
        ),
    }
}

fn in_words(state: &State) -> (&'static str, String) {
    let (word, reason) = match state {
        State::New => ("Not started", ""),
        State::Waiting => {
            ("Waiting", "Other lists are running. This one starts when one of them has finished.")
        }
        State::Running => ("Running", ""),
        State::Ended(End::Whole) => ("Done", ""),
        State::Ended(End::Stopped) => ("Stopped", ""),
        State::Ended(End::Ceiling) => {
            ("Stopped at the ceiling", "The next row could cost more than the ceiling allows.")
        }
        State::Ended(End::OutOfCredits(said)) => ("Out of credits", said.as_str()),
        State::Ended(End::Refused(said)) => ("Refused", said.as_str()),
        State::Ended(End::Unreachable(said)) => ("Interrupted", said.as_str()),
        State::Broken(said) => ("Failed", said.as_str()),
    };
    (word, reason.to_owned())
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    shown(context, 200, None).await
}

/// Stores an uploaded list and redirects to its page.
pub(crate) async fn upload(context: &OwnerContext<'_>, body: Body) -> Result<Response, Fault> {
    let content_type = context.request.content_type.as_deref();
    match take(context.dashboard, context.session.account.id, content_type, body).await {
        Ok(job) => Ok(Response::see_other(format!("/account/bulk/{}", job.id))),
        Err(UploadError::Message(status, said)) => shown(context, status, Some(said)).await,
        Err(UploadError::Fault(fault)) => Err(fault),
    }
}

async fn shown(
    context: &OwnerContext<'_>,
    status: u16,
    fault: Option<String>,
) -> Result<Response, Fault> {
    let settings = context.dashboard.job_settings;
    let (jobs, account) = (Arc::clone(&context.dashboard.jobs), context.session.account.id);
    let read = move || (jobs.of_account(account), jobs.elsewhere(account));
    let (own, elsewhere) = context.dashboard.files.run(account, read).await?;
    let elsewhere = elsewhere.map_err(Fault::of_lists)?;
    let template = BulkPage {
        frame: context.frame("/account/bulk").await?,
        jobs: own.iter().map(|job| JobRow::of(context, job)).collect(),
        elsewhere: elsewhere
            .into_iter()
            .map(|RemoteList { file_name, created_at, node }| RemoteRow {
                file_name,
                node,
                created: Time(created_at),
            })
            .collect(),
        max_bytes: settings.max_upload_bytes,
        max_mebibytes: Number(settings.max_upload_bytes / (1024 * 1024)),
        kept: span(settings.keep_seconds),
        fault,
    };
    render_page(status, &template)
}
