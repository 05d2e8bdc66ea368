//! Runs a list: sends many rows at the same time, and writes them in the order of the list.

mod counts;
mod error;
mod identity;
mod pace;
mod slot;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use enrich_import::{Halt, ReadError, Row};
use enrich_wire::Endpoint;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::time::timeout;

use crate::caller::Caller;
use crate::export::{Added, AddedNames, Export};
use crate::input::{self, Input};
use crate::mapping::Bound;
use crate::part::{Checkpoint, Output, Purpose};
use crate::row::{self, CandidatesOfRow, Waiting};
pub use crate::stop::End;
use crate::stop::Stop;
pub use counts::{Counts, Progress};
pub use error::RunError;
pub(crate) use identity::chained;
use identity::{idempotency, skip};
use pace::Ceiling;
use slot::Slot;

/// Maximum number of rows in memory. These are the first unanswered row and the rows after it that
/// were already read.
const MAX_AHEAD: usize = 4096;
/// Maximum size of the rows in memory, in bytes.
const MAX_AHEAD_BYTES: usize = 32 * 1024 * 1024;
/// Minimum time between two commits, which sync written rows to disk. A commit is made earlier if
/// `COMMIT_BYTES` are reached.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// Maximum time for which the next commit is put off. After a slow commit, the next one is put off
/// for longer than `COMMIT_EVERY` (see `COMMIT_SHARE`), but never for longer than this time.
const COMMIT_AT_LAST: Duration = Duration::from_secs(10);
/// Number of bytes of written rows after which they are committed, even before `COMMIT_EVERY` has
/// passed.
const COMMIT_BYTES: usize = 4 * 1024 * 1024;
/// Minimum time until the next commit, as a multiple of the duration of the last commit. So commits
/// to a slow disk take at most about a twentieth of the run's time, unless `COMMIT_AT_LAST` or
/// `COMMIT_BYTES` makes them more frequent.
const COMMIT_SHARE: u32 = 20;

/// Interval between progress reports while the run waits for the answer to a row.
const WAIT_EACH: Duration = Duration::from_millis(200);

/// After this number of passes, the loop of a run lets other async tasks continue. Otherwise a run
/// that never waits for an answer would block them.
const TURNS_OF_ITS_OWN: u64 = 64;

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Maximum number of rows in flight (sent and not yet answered). 0 counts as 1.
    pub concurrency: usize,
    /// The ceiling: the most credits that all rows of the job may cost, including the rows of
    /// earlier runs. `None` means no ceiling.
    pub max_credits: Option<u64>,
    /// How long a run continues when it gets no answer.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { concurrency: 16, max_credits: None, patience: Duration::from_secs(120) }
    }
}

/// Everything that a run needs: the list, how its rows are answered, and the output.
pub struct Work<'a> {
    /// The list. None of its rows has been read yet. The run itself skips the rows that earlier
    /// runs of the job have written.
    pub input: Input,
    /// Sends each row to the endpoint, and returns the answer.
    pub caller: &'a dyn Caller,
    /// The endpoint that answers the rows.
    pub endpoint: &'static Endpoint,
    /// The output that the rows are written to.
    pub output: Output,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The counts of the rows, including those of earlier runs of the job.
    pub counts: Counts,
    /// How the run ended. If the output is not complete, a later run of the same job can continue.
    pub end: End,
}

/// Sends the rows of a list, and writes them with their answers. Ends at the end of the list, when
/// the run is stopped, or when no further row may be sent.
///
/// Before a run ends, it waits for the rows in flight and keeps their answers, so that the next run
/// of the job does not send them again. After a crash, the next run does send them again, with the
/// same idempotency keys.
///
/// This function blocks while it reads and writes files, so it needs its own thread.
///
/// # Errors
///
/// When the list cannot be read, or the output cannot be written.
pub async fn run(
    work: Work<'_>,
    options: Options,
    stop: &Stop,
    progress: &mut dyn Progress,
) -> Result<Outcome, RunError> {
    let before = work.output.counts();
    let mut engine = match Engine::begin(work, options, stop) {
        // The run was stopped while it skipped the rows that are already written.
        Err(RunError::Input(ReadError::Halted(Halt::Stopped))) => {
            return Ok(Outcome { counts: before, end: End::Stopped });
        }
        begun => begun?,
    };
    progress.advance(&engine.checkpoint.counts, engine.input.read_bytes());
    for turn in 1_u64.. {
        engine.fill(stop);
        engine.write(progress)?;
        let next = loop {
            let next = timeout(WAIT_EACH, engine.on_their_way.next()).await;
            match next {
                Ok(next) => break next,
                Err(_) => progress.wait(engine.waiting.limited_for()),
            }
        };
        match next {
            Some((number, answered)) => engine.take(number, answered),
            None if engine.is_read || engine.end.is_some() || stop.is_set() => break,
            // No row is in flight: all rows that were read are invalid, or an earlier run has their
            // answers. The loop reads further rows.
            None => {}
        }
        if turn % TURNS_OF_ITS_OWN == 0 {
            tokio::task::yield_now().await;
        }
    }
    engine.finish()
}

/// The result of a row, or the reason why the run ended before the row had a result.
type Answered = Result<Added, End>;

struct Engine<'a> {
    input: Input,
    bound: Bound,
    caller: &'a dyn Caller,
    endpoint: &'static Endpoint,
    output: Output,
    checkpoint: Checkpoint,
    export: Export,
    options: Options,
    ceiling: Ceiling,
    waiting: Rc<Waiting>,
    /// The rows that were read and are not written yet, in the order of the list. A row that has a
    /// result is written as soon as all rows before it are written. So the first row in this queue
    /// usually has no result yet.
    ahead: VecDeque<Slot>,
    ahead_bytes: usize,
    /// A row that was read but cannot be sent yet, because it could exceed the ceiling (the maximum
    /// cost of the list).
    held: Option<Row>,
    on_their_way: FuturesUnordered<LocalBoxFuture<'a, (u64, Answered)>>,
    is_read: bool,
    unreadable: Option<ReadError>,
    end: Option<End>,
    committed_at: Instant,
    commit_took: Duration,
}

impl<'a> Engine<'a> {
    fn begin(work: Work<'a>, options: Options, stop: &Stop) -> Result<Self, RunError> {
        let Work { mut input, caller, endpoint, output } = work;
        let (checkpoint, format) = match &output {
            Output::Part(part) => (part.checkpoint.clone(), part.format()),
            Output::Stream { format, purpose, .. } => {
                let begun = Checkpoint::begin(purpose.clone()).map_err(RunError::Stream)?;
                (begun, *format)
            }
        };
        let bound = checkpoint.purpose.mapping.bind(endpoint, input.columns())?;
        let layout = input.layout();
        let Purpose { prefix, candidates, .. } = &checkpoint.purpose;
        let names = AddedNames { endpoint, prefix, candidates: *candidates };
        let mut export = Export::new(format, input.shape(), layout.as_ref(), &names);
        skip(&mut input, &checkpoint)?;
        if checkpoint.output_bytes == 0 {
            export.header().map_err(written)?;
        }
        let ahead: u64 = checkpoint.ahead.iter().map(|(_, added)| added.credits).sum();
        let max = options.max_credits.filter(|_| caller.is_metered());
        Ok(Self {
            input,
            bound,
            caller,
            endpoint,
            output,
            export,
            options: Options { concurrency: options.concurrency.max(1), ..options },
            ceiling: Ceiling::new(max, checkpoint.counts.credits + ahead),
            checkpoint,
            waiting: Rc::new(Waiting::new(options.patience, stop)),
            ahead: VecDeque::new(),
            ahead_bytes: 0,
            held: None,
            on_their_way: FuturesUnordered::new(),
            is_read: false,
            unreadable: None,
            end: None,
            committed_at: Instant::now(),
            commit_took: Duration::ZERO,
        })
    }

    /// Sends rows until the maximum number of rows is in flight or in memory, or the list has no
    /// more rows.
    fn fill(&mut self, stop: &Stop) {
        while self.end.is_none()
            && !self.is_read
            && !stop.is_set()
            && self.on_their_way.len() < self.options.concurrency
            && self.ahead.len() < MAX_AHEAD
            && self.ahead_bytes < MAX_AHEAD_BYTES
        {
            let next = match self.held.take() {
                Some(row) => Ok(Some(row)),
                None => self.input.next_row(),
            };
            match next {
                Ok(Some(row)) => {
                    self.held = self.send(row);
                    if self.held.is_some() {
                        break;
                    }
                }
                Ok(None) => self.is_read = true,
                Err(ReadError::Halted(Halt::Stopped)) => self.end = Some(End::Stopped),
                Err(error) => {
                    // The list cannot be read further, so the run sends no more rows. It still
                    // waits for the rows in flight and keeps their answers.
                    self.unreadable = Some(error);
                    self.end = Some(End::Stopped);
                }
            }
        }
    }

    /// Sends a row, unless it is invalid or an earlier run has its answer. Returns the row if it
    /// cannot be sent yet.
    ///
    /// Before a row is sent, its highest cost is reserved. If the reservation would exceed the
    /// ceiling (the maximum cost of the list), the row must wait: rows in flight may cost less than
    /// was reserved for them. If no row is in flight, waiting cannot help, so the run ends.
    fn send(&mut self, row: Row) -> Option<Row> {
        let number = self.checkpoint.counts.rows + self.ahead.len() as u64;
        let fields = match input::fields(&self.bound, self.input.shape(), &row) {
            Ok(fields) => fields,
            Err(error) => {
                self.put(Slot::invalid(row, error));
                return None;
            }
        };
        let key = idempotency(&self.checkpoint.job, number, &fields);
        if let Some(at) = self.checkpoint.ahead.iter().position(|(known, _)| *known == key) {
            let (key, added) = self.checkpoint.ahead.swap_remove(at);
            self.put(Slot { added: Some(added), ..Slot::new(row, key) });
            return None;
        }
        let most = self.checkpoint.purpose.candidates;
        let candidates = CandidatesOfRow::of(self.endpoint, &fields, most);
        let highest = row::highest_price(self.endpoint.price, &fields, candidates.is_some());
        if highest.is_none() && self.ceiling.is_set() {
            let error = "a row without `limit` has no highest price, which a ceiling needs";
            self.put(Slot::invalid(row, error.to_owned()));
            return None;
        }
        let reserved = highest.unwrap_or_default();
        if !self.ceiling.reserve(reserved) {
            if self.on_their_way.is_empty() {
                self.end = Some(End::Ceiling);
            }
            return Some(row);
        }
        self.put(Slot { reserved, ..Slot::new(row, key.clone()) });
        let (caller, waiting) = (self.caller, Rc::clone(&self.waiting));
        self.on_their_way.push(Box::pin(async move {
            (number, row::ask(caller, &fields, candidates, &key, &waiting).await)
        }));
        None
    }

    fn put(&mut self, slot: Slot) {
        self.ahead_bytes += slot.memory_bytes;
        self.ahead.push_back(slot);
    }

    /// Stores the result of the row whose number in the list is `number`.
    fn take(&mut self, number: u64, answered: Answered) {
        let at = number.saturating_sub(self.checkpoint.counts.rows);
        let slot = usize::try_from(at).ok().and_then(|at| self.ahead.get_mut(at));
        let Some(slot) = slot else { return };
        let reserved = std::mem::take(&mut slot.reserved);
        match answered {
            Ok(added) => {
                self.ceiling.settle(reserved, added.credits);
                slot.added = Some(added);
            }
            Err(end) => {
                self.ceiling.settle(reserved, 0);
                // Several rows may report a reason for the end of the run. The first reason is
                // kept, because it has caused the others.
                self.end.get_or_insert(end);
                self.waiting.ended.now();
            }
        }
    }

    /// Writes the rows that have a result, up to the first row that has none.
    fn write(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        let mut has_advanced = false;
        while let Some(Slot { row, added: Some(added), memory_bytes, .. }) = self.ahead.front() {
            self.ahead_bytes -= memory_bytes;
            let cut_cells = self.export.row(row, added).map_err(written)?;
            self.checkpoint.counts.cut_cells += cut_cells;
            self.checkpoint.counts.add(added);
            self.checkpoint.rows_hash = chained(&self.checkpoint.rows_hash, &row.text);
            self.ahead.pop_front();
            has_advanced = true;
        }
        if has_advanced {
            progress.advance(&self.checkpoint.counts, self.input.read_bytes());
        }
        let put_off = COMMIT_EVERY.max(COMMIT_SHARE * self.commit_took).min(COMMIT_AT_LAST);
        let is_due = self.committed_at.elapsed() >= put_off;
        if has_advanced && (is_due || self.export.len() >= COMMIT_BYTES) {
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), RunError> {
        let begun = Instant::now();
        let text = self.export.take().map_err(RunError::Stream)?;
        match &mut self.output {
            Output::Part(part) => {
                self.checkpoint.output_bytes = part.checkpoint.output_bytes;
                part.checkpoint = self.checkpoint.clone();
                // Answers to rows after the first unanswered row are stored too, because these rows
                // may already be paid.
                part.checkpoint.ahead.extend(self.ahead.iter().filter_map(Slot::answered));
                part.commit(&text)?;
                self.checkpoint.output_bytes = part.checkpoint.output_bytes;
            }
            Output::Stream { into, .. } => {
                into.write_all(&text).and_then(|()| into.flush()).map_err(RunError::Stream)?;
            }
        }
        self.committed_at = Instant::now();
        self.commit_took = begun.elapsed();
        Ok(())
    }

    /// Commits the last rows, and renames the output to its final name if it is complete.
    fn finish(mut self) -> Result<Outcome, RunError> {
        let end = match self.end.take() {
            Some(end) => end,
            None if self.is_read && self.ahead.is_empty() => End::Whole,
            None => End::Stopped,
        };
        self.checkpoint.is_whole = end == End::Whole;
        self.commit()?;
        if let (Output::Part(part), End::Whole) = (&self.output, &end) {
            part.name()?;
        }
        match self.unreadable {
            Some(error) => Err(error.into()),
            None => Ok(Outcome { counts: self.checkpoint.counts, end }),
        }
    }
}

fn written(error: csv::Error) -> RunError {
    RunError::Stream(std::io::Error::other(error))
}
