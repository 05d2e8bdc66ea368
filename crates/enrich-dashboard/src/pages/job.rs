//! The page of one uploaded list: its order (endpoint, columns, API key), its progress and its
//! results.

mod order;
mod reading;
mod terms;

use std::error::Error;
use std::io::Read;
use std::sync::Arc;

use askama::Template;
use bytes::Bytes;
use enrich_bulk::Jobs;
use enrich_bulk::jobs::{Job, JobError, JobId, Order, Sample, State, Written};
use enrich_core::{AccountId, RateLimit};
use futures_util::stream::{self, StreamExt};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::fault::Fault;
use crate::http::{Response, ResponseBody};
use crate::page_context::{Frame, OwnerContext, PageContext, render_page};
use crate::scans::Download;
use crate::shown::span;

use super::bulk::JobRow;
use super::keys::{KeyChoice, active_keys, key_choices};
use super::{EndpointChoice, endpoint_choices};
use order::{OrderForm, order_form};
use reading::Reading;
use terms::{Ceiling, Complaint, chosen};

/// Number of sample rows that are shown for a new list.
const SAMPLE_ROWS: usize = 5;
/// Number of bytes of a download that are read and sent in one step.
const PIECE_BYTES: u64 = 64 * 1024;

#[derive(Template)]
#[template(path = "job.html")]
struct JobPage {
    frame: Frame,
    fault: Option<String>,
    job: JobRow,
    choices: Vec<EndpointChoice>,
    sample: Sample,
    reading: Reading,
    asked: Option<OrderForm>,
    held_up: Option<HeldUp>,
    /// The ceiling (the most credits that the list may cost), as the form that continues a stopped
    /// list shows it.
    ceiling: Ceiling,
    keys: Vec<KeyChoice>,
}

/// The content of the page for a list that waits because its key has reached the rate limit.
struct HeldUp {
    limit: RateLimit,
    continues_in: String,
    /// The estimated time for the remaining rows under the rate limit `limit`.
    left: String,
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    shown(context, None).await
}

/// Starts the list with the ceiling (the most credits that it may cost) and the key in the form.
pub(crate) async fn start(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let id = id(context)?;
    let endpoint = context.form.text("endpoint").to_owned();
    let mapping = match order::of_form(context, &endpoint, &context.form) {
        Some(Ok(mapping)) => mapping,
        Some(Err(said)) => return refused(context, said).await,
        None => return refused(context, "Choose an endpoint first.").await,
    };
    let (key, max_credits) = match chosen(context).await? {
        Ok(chosen) => chosen,
        Err(complaint) => return shown(context, Some(complaint)).await,
    };
    let candidates = order::candidates(&context.form);
    let order = Order { endpoint, mapping, key, max_credits, candidates };
    if let Some(complaint) = order::refused(context, id, &order).await? {
        return shown(context, Some(complaint)).await;
    }
    let started = on_list(context, move |jobs, account| jobs.start(account, id, order));
    acted(context, started.await?).await
}

/// Changes how the file of the list is read: its delimiter or its encoding.
pub(crate) async fn read_as(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let id = id(context)?;
    let Some(read_as) = reading::of_form(&context.form) else {
        return refused(context, "Choose how to read the list from the choices there are.").await;
    };
    let read = on_list(context, move |jobs, account| jobs.read_as(account, id, read_as));
    acted(context, read.await?).await
}

pub(crate) async fn stop(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let id = id(context)?;
    act(context, move |jobs, account| jobs.stop(account, id)).await
}

pub(crate) async fn go_on(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let id = id(context)?;
    let (key, max_credits) = match chosen(context).await? {
        Ok(chosen) => chosen,
        Err(complaint) => return shown(context, Some(complaint)).await,
    };
    let job = on_files(context, move |jobs, account| jobs.get(account, id)).await?;
    if let Some(order) = job.and_then(|job| job.order) {
        let order = Order { max_credits, ..order };
        if let Some(complaint) = order::refused(context, id, &order).await? {
            return shown(context, Some(complaint)).await;
        }
    }
    act(context, move |jobs, account| jobs.go_on(account, id, key, max_credits)).await
}

pub(crate) async fn delete(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let id = id(context)?;
    if !context.form.has("sure") {
        let said = "Tick the box to confirm: a deleted list cannot be restored.";
        return refused(context, said).await;
    }
    let deleted = on_files(context, move |jobs, account| jobs.delete(account, id)).await?;
    match deleted.map_err(Fault::of_job) {
        Ok(()) => Ok(Response::see_other("/account/bulk")),
        Err(said) => refused(context, said?).await,
    }
}

/// Downloads the rows with their answers. If the list is still running, downloads the rows that are
/// complete so far.
pub(crate) async fn output(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let id = id(context)?;
    let output = move |jobs: &Jobs, account: AccountId| jobs.output(account, id);
    let is_ready = on_files(context, move |jobs, account| jobs.is_output_ready(account, id));
    let written = match is_ready.await? {
        _ if context.query.text("as") == "csv" => {
            on_list(context, move |jobs, account| jobs.output_as_csv(account, id)).await?
        }
        Ok(true) => on_files(context, output).await?,
        // Preparing the output may take long: rows with suppressed values (data that must be
        // erased) are searched for and removed. If rows are removed from a workbook, the whole
        // workbook is written again. If `is_output_ready` failed, `output` fails again and returns
        // the same error.
        Ok(false) | Err(_) => on_list(context, output).await?,
    };
    match written.map_err(Fault::of_job) {
        Ok(Some(written)) => {
            Ok(file(context.dashboard.files.download(context.session.account.id)?, written))
        }
        Ok(None) => refused(context, "There are no results yet.").await,
        Err(said) => refused(context, said?).await,
    }
}

fn id(context: &PageContext<'_>) -> Result<JobId, Fault> {
    context.path_parameter().parse().map_err(|_| Fault::NoSuchPage)
}

/// Runs `work` on the account's jobs, on a separate thread for reading and writing files. So the
/// server's worker threads, which answer requests, never wait for a disk.
async fn on_files<T: Send + 'static>(
    context: &OwnerContext<'_>,
    work: impl FnOnce(&Jobs, AccountId) -> T + Send + 'static,
) -> Result<T, Fault> {
    let (jobs, account) = (Arc::clone(&context.dashboard.jobs), context.session.account.id);
    context.dashboard.files.run(account, move || work(&jobs, account)).await
}

/// Runs work on the threads for long reads. The work reads a whole uploaded list, which may take
/// long. For short work there is [`on_files`].
async fn on_list<T: Send + 'static>(
    context: &OwnerContext<'_>,
    work: impl FnOnce(&Jobs, AccountId) -> T + Send + 'static,
) -> Result<T, Fault> {
    let (jobs, account) = (Arc::clone(&context.dashboard.jobs), context.session.account.id);
    context.dashboard.scans.run(account, move || work(&jobs, account)).await
}

/// Applies `change` to a list, and redirects to the page of the list.
async fn act(
    context: &OwnerContext<'_>,
    change: impl FnOnce(&Jobs, AccountId) -> Result<(), JobError> + Send + 'static,
) -> Result<Response, Fault> {
    let changed = on_files(context, change).await?;
    acted(context, changed).await
}

async fn acted(
    context: &OwnerContext<'_>,
    changed: Result<(), JobError>,
) -> Result<Response, Fault> {
    match changed.map_err(Fault::of_job) {
        Ok(()) => Ok(Response::see_other(format!("/account/bulk/{}", context.path_parameter()))),
        Err(said) => refused(context, said?).await,
    }
}

/// Shows the page of the list with the text `said`, which says why nothing was changed.
async fn refused(context: &OwnerContext<'_>, said: impl Into<String>) -> Result<Response, Fault> {
    shown(context, Some(Complaint::Page(said.into()))).await
}

async fn shown(
    context: &OwnerContext<'_>,
    complaint: Option<Complaint>,
) -> Result<Response, Fault> {
    let id = id(context)?;
    let job = on_files(context, move |jobs, account| jobs.get(account, id)).await?;
    let job = job.ok_or(Fault::NoSuchPage)?;
    let (sample, unread) = match sample(context, &job).await?.map_err(Fault::of_job) {
        Ok(sample) => (sample, None),
        Err(said) => (Sample::default(), Some(said?)),
    };
    // Before the sample is read, suppressed values (data that must be erased) are removed from the
    // list. This may change or even delete the job, so the job is read again.
    let job = on_files(context, move |jobs, account| jobs.get(account, id)).await?;
    let job = job.ok_or(Fault::NoSuchPage)?;
    // If the form was refused, the page shows the submitted values again.
    let is_sent = context.form.has("endpoint") || context.form.has("ceiling");
    let fields = if is_sent { &context.form } else { &context.query };
    let asked = if job.state == State::New {
        order_form(context, id, &sample.columns, fields, complaint.as_ref()).await?
    } else {
        None
    };
    let row = JobRow::of(context, &job);
    let ordered_with = job.order.as_ref().map(|order| order.key.to_string()).unwrap_or_default();
    let key = if fields.has("key") { fields.text("key") } else { &ordered_with };
    let held_up = held_up(context, &job).await?;
    let status = if complaint.is_some() || unread.is_some() { 422 } else { 200 };
    let template = JobPage {
        frame: context.frame("/account/bulk").await?,
        choices: endpoint_choices(context, fields.text("endpoint")),
        reading: Reading::of(&sample),
        sample,
        asked,
        held_up,
        ceiling: Ceiling::of(fields, row.ceiling_typed.clone(), complaint.as_ref()),
        keys: key_choices(&active_keys(context).await?, key),
        fault: match complaint {
            Some(Complaint::Page(said)) => Some(said),
            _ => unread,
        },
        job: row,
    };
    render_page(status, &template)
}

/// Returns how long the list is delayed because its API key has reached the rate limit; `None` if
/// the list is not delayed.
async fn held_up(context: &PageContext<'_>, job: &Job) -> Result<Option<HeldUp>, Fault> {
    let until = job.rate_limited_until.filter(|until| *until > context.now);
    let (Some(until), Some(order)) = (until, &job.order) else { return Ok(None) };
    let service = &context.dashboard.service;
    let key = service.accounts.key(order.key).await?;
    let limit = key.map_or(service.rate_limit, |key| service.rate_limit.with(key.rate));
    let rows = job.rows.unwrap_or_default().saturating_sub(job.counts.rows);
    let windows = rows.div_ceil(limit.requests().into());
    let seconds = windows.saturating_mul(limit.window_seconds().into());
    Ok(Some(HeldUp {
        limit,
        continues_in: span(context.now.duration_until(until).as_secs() + 1),
        left: span(i64::try_from(seconds).unwrap_or(i64::MAX)),
    }))
}

/// Returns the first rows of a list that has not started. For any other list, returns no rows.
async fn sample(context: &OwnerContext<'_>, job: &Job) -> Result<Result<Sample, JobError>, Fault> {
    if job.state != State::New {
        return Ok(Ok(Sample::default()));
    }
    let id = job.id;
    on_list(context, move |jobs, account| jobs.sample(account, id, SAMPLE_ROWS)).await
}

/// Returns a response that sends a file in pieces.
fn file(download: Download, Written { rows, file_name, is_whole }: Written) -> Response {
    let content_type = match file_name.rsplit('.').next() {
        Some("jsonl") => "application/x-ndjson",
        Some("tsv") => "text/tab-separated-values; charset=utf-8",
        Some("xlsx") => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _ => "text/csv; charset=utf-8",
    };
    let name = if is_whole { file_name } else { format!("begun-{file_name}") };
    let encoded = utf8_percent_encode(&name, NON_ALPHANUMERIC);
    let download = Arc::new(download);
    let pieces = stream::unfold(Some(rows), move |rows| {
        let download = Arc::clone(&download);
        async move {
            let mut rows = rows?;
            let read = download.run(move || {
                let mut piece = Vec::new();
                let read = rows.by_ref().take(PIECE_BYTES).read_to_end(&mut piece);
                read.map(|_| (piece, rows))
            });
            match read.await {
                Ok(Ok((piece, _))) if piece.is_empty() => None,
                Ok(Ok((piece, rows))) => Some((Ok(Bytes::from(piece)), Some(rows))),
                Ok(Err(error)) => Some((Err(Box::<dyn Error>::from(error)), None)),
                Err(busy) => Some((Err(busy.into()), None)),
            }
        }
    });
    Response::new(200, content_type, ResponseBody::Pieces(pieces.boxed_local()))
        .with("content-disposition", format!("attachment; filename*=UTF-8''{encoded}"))
}
