//! Imports a source into the directory. One thread reads and parses the source, and the caller's
//! thread stores the records.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};

use enrich_core::port::error::StoreError;
use enrich_core::port::importer::{
    Atomic, Effect, ImportOptions, ImportSession, Importer, KnownRecords,
};
use enrich_core::{Record, SourceName};

use crate::batch::{self, Batch, ReadOptions, SourceLine, Texts};
use crate::expected_records::ExpectedRecords;
use crate::import_source::ImportSource;
use crate::read_error::ReadError;
use crate::record;
use crate::rejection::Rejection;
use crate::rejects;
use crate::report::Report;

/// Maximum number of parsed batches that wait to be stored.
const WAITING_BATCHES: usize = 4;

/// Receives the progress of an import.
pub trait Progress: Send {
    /// Reports the number of bytes (before decompression) and of records that were read since the
    /// last call of this method.
    fn advance(&mut self, bytes: u64, records: u64);
}

/// For callers that show no progress: ignores the reports.
impl Progress for () {
    fn advance(&mut self, _bytes: u64, _records: u64) {}
}

/// The error of an import that stopped before the end of its source.
#[derive(Debug, thiserror::Error)]
#[error("the import stopped")]
pub struct ImportError {
    /// The results of the import until it stopped.
    ///
    /// - If the whole import is one transaction, nothing is stored, and the numbers of stored
    ///   records are 0.
    /// - With [`Atomic::InParts`] and [`Cause::Store`], the numbers may count records that are not
    ///   stored: the store chooses when it commits, and an error undoes the batches that are not
    ///   committed yet.
    pub report: Box<Report>,
    /// Why the import stopped.
    #[source]
    pub cause: Cause,
}

/// Why an import stopped.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// The source can't be read to its end. With [`Atomic::InParts`], the records before the
    /// failure stay in the directory.
    #[error("the source can't be read completely")]
    Read(#[from] ReadError),
    /// A line was rejected, and the whole import is one transaction.
    #[error("line {line} is rejected, so nothing of the source was imported")]
    Rejected {
        /// The number of the rejected line, from 1.
        line: u64,
        /// Why the line was rejected.
        #[source]
        reason: Rejection,
    },
    /// The directory can't be written. With [`Atomic::InParts`], the batches that the store had
    /// committed before stay in the directory.
    #[error("the directory can't be written")]
    Store(#[from] StoreError),
    /// The rejected lines can't be written.
    #[error("the rejected lines can't be written")]
    Rejects(#[source] io::Error),
}

/// Imports a source.
///
/// With [`Atomic::InParts`], rejected lines are skipped. The store chooses when it commits, and may
/// commit several batches together. If the source can't be read further, all records before the
/// failure are stored. If the store fails, only the batches that it has committed are stored. If
/// such an import was interrupted, run the same import again: it stores the missing records, and
/// counts the stored records as unchanged. A line of JSON whose record the directory already has is
/// not parsed again, so the report has no dropped values and no ignored fields of this line.
///
/// With [`Atomic::Whole`], the first rejected line stops the import, and nothing is stored. A
/// suppressed record (a record of forgotten data) also counts as rejected. To import several
/// sources, call this function once for each source and add the reports.
///
/// `rejects` receives a JSON object for each rejected line: `source`, `line`, `reason`, `record`.
///
/// The future blocks while it waits for the reading thread, so it must not run on a server's
/// executor. If the import stops early, the reading thread still runs until its pending read of the
/// input returns.
///
/// # Errors
///
/// See [`Cause`].
pub async fn import(
    source: impl Into<ImportSource>,
    importer: &dyn Importer,
    load: ImportOptions,
    rejects: Option<&mut (dyn Write + Send)>,
    progress: &mut dyn Progress,
) -> Result<Report, ImportError> {
    let is_whole = load.atomic == Atomic::Whole;
    let mut import =
        Import { source: load.source.clone(), is_whole, rejects, report: Report::default() };
    match import.run(source.into(), importer, load, progress).await {
        Ok(()) => Ok(import.report),
        Err(cause) => {
            let report = if is_whole { import.report.undone() } else { import.report };
            Err(ImportError { report: Box::new(report), cause })
        }
    }
}

/// The result of reading a source without storing anything.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The first records that can be imported, each as JSON in Enrich's own import format.
    pub records: Vec<String>,
    /// The report that [`import`] would return if the directory were empty and no value were
    /// suppressed (forgotten). Every record that can be imported counts as added.
    pub report: Report,
}

/// Reads a source as [`import`] does, but stores nothing. The result has at most `most` records.
///
/// # Errors
///
/// When the source can't be read to its end. The cause is [`Cause::Read`].
pub fn preview(
    source: impl Into<ImportSource>,
    most: usize,
    progress: &mut dyn Progress,
) -> Result<Preview, ImportError> {
    let mut preview = Preview { records: Vec::new(), report: Report::default() };
    let result = previewed(source.into(), most, progress, &mut preview);
    match result {
        Ok(()) => Ok(preview),
        Err(error) => {
            Err(ImportError { report: Box::new(preview.report), cause: Cause::Read(error) })
        }
    }
}

fn previewed(
    source: ImportSource,
    most: usize,
    progress: &mut dyn Progress,
    preview: &mut Preview,
) -> Result<(), ReadError> {
    let options = ReadOptions { texts: Texts::Native, until_rejected: false };
    let (batches, reading) = start_reading(source, options, None)?;
    while let Ok(batch) = batches.recv() {
        let Batch { records, source_lines, rejected, notes, read_bytes, .. } = batch;
        let report = &mut preview.report;
        report.read += (records.len() + rejected.len()) as u64;
        report.added += records.len() as u64;
        report.name_only +=
            records.iter().filter(|record| record::is_name_only(record)).count() as u64;
        report.note(notes);
        for (place, reason) in rejected {
            report.reject(place.line, reason);
        }
        let room = most.saturating_sub(preview.records.len());
        let texts =
            source_lines.iter().take(room).map(|place| String::from_utf8_lossy(&place.text));
        preview.records.extend(texts.map(std::borrow::Cow::into_owned));
        progress.advance(read_bytes, records.len() as u64);
    }
    match reading.join() {
        Ok(ended) => ended,
        Err(_) => Err(ReadError::Failed(io::Error::other("the reading thread failed"))),
    }
}

struct Import<'a> {
    source: SourceName,
    is_whole: bool,
    rejects: Option<&'a mut (dyn Write + Send)>,
    report: Report,
}

impl Import<'_> {
    async fn run(
        &mut self,
        source: ImportSource,
        importer: &dyn Importer,
        load: ImportOptions,
        progress: &mut dyn Progress,
    ) -> Result<(), Cause> {
        let known = importer.known_records(&load.source).await?;
        let mut loading = importer.begin(load).await?;
        let texts = if self.rejects.is_some() { Texts::AsRead } else { Texts::Dropped };
        let options = ReadOptions { texts, until_rejected: self.is_whole };
        let mut expected = ExpectedRecords::new(source.total_bytes());
        let (batches, reading) = start_reading(source, options, known)?;
        while let Ok(batch) = batches.recv() {
            let bytes = batch.read_bytes;
            let before = self.report.read;
            loading.expect(expected.after(bytes, batch.count()));
            self.take(batch, loading.as_mut()).await?;
            progress.advance(bytes, self.report.read - before);
        }
        match reading.join() {
            Ok(Ok(())) => Ok(loading.finish().await?),
            Ok(Err(error)) => self.give_up(loading, error).await,
            Err(_) => {
                let error = ReadError::Failed(io::Error::other("the reading thread failed"));
                self.give_up(loading, error).await
            }
        }
    }

    /// Ends an import whose source can't be read further. Makes the store commit the batches that
    /// it was given, unless the whole import is one transaction. Always returns an error.
    async fn give_up(
        &self,
        loading: Box<dyn ImportSession>,
        error: ReadError,
    ) -> Result<(), Cause> {
        if !self.is_whole && self.report.took_anything() {
            loading.finish().await?;
        }
        Err(error.into())
    }

    async fn take(&mut self, batch: Batch, loading: &mut dyn ImportSession) -> Result<(), Cause> {
        let read = batch.count();
        let Batch { records, source_lines, mut rejected, known, notes, .. } = batch;
        if known > 0 {
            // This call stores no record. It only stores that the source was imported again.
            loading.import_batch(Vec::new()).await?;
        }
        self.store(records, source_lines, &mut rejected, loading).await?;
        self.report.read += read;
        self.report.unchanged += known;
        self.report.note(notes);
        rejected.sort_by_key(|(source_line, _)| source_line.line);
        for (source_line, reason) in rejected {
            if let Some(into) = self.rejects.as_mut() {
                rejects::write(*into, &self.source, &source_line, &reason)
                    .map_err(Cause::Rejects)?;
            }
            self.report.reject(source_line.line, reason.clone());
            if self.is_whole {
                self.flush_rejects()?;
                return Err(Cause::Rejected { line: source_line.line, reason });
            }
        }
        self.flush_rejects()
    }

    /// Passes the records of a batch to the store, and counts the results, such as added or merged.
    /// If the store refuses a record because it is suppressed (forgotten), adds it to `rejected`.
    async fn store(
        &mut self,
        records: Vec<Record>,
        source_lines: Vec<SourceLine>,
        rejected: &mut Vec<(SourceLine, Rejection)>,
        loading: &mut dyn ImportSession,
    ) -> Result<(), Cause> {
        if records.is_empty() {
            return Ok(());
        }
        let is_name_only: Vec<bool> = records.iter().map(record::is_name_only).collect();
        let taken = loading.import_batch(records).await?;
        if taken.len() != source_lines.len() {
            let error = StoreError::failed("the store did not return one result for each record");
            return Err(error.into());
        }
        for ((taken, source_line), is_name_only) in
            taken.into_iter().zip(source_lines).zip(is_name_only)
        {
            match taken.effect {
                Effect::Added => self.report.added += 1,
                Effect::Merged => self.report.merged += 1,
                Effect::Unchanged => self.report.unchanged += 1,
                Effect::Suppressed => {
                    rejected.push((source_line, Rejection::Suppressed));
                    continue;
                }
                Effect::NotHeld => {
                    self.report.not_held += 1;
                    continue;
                }
            }
            self.report.name_only += u64::from(is_name_only);
            self.report.suppressed_values += u64::from(taken.suppressed_values);
            self.report.dropped += u64::from(taken.suppressed_values);
        }
        Ok(())
    }

    /// Writes the buffered rejected lines to their file. This happens before the next batch is
    /// stored, so the file has the rejected lines of all earlier batches.
    fn flush_rejects(&mut self) -> Result<(), Cause> {
        match self.rejects.as_mut() {
            Some(into) => into.flush().map_err(Cause::Rejects),
            None => Ok(()),
        }
    }
}

type Reading = JoinHandle<Result<(), ReadError>>;

/// Starts the thread that reads and parses the source. The thread waits while [`WAITING_BATCHES`]
/// of its batches are not yet stored.
fn start_reading(
    source: ImportSource,
    options: ReadOptions,
    known: Option<Box<dyn KnownRecords>>,
) -> Result<(Receiver<Batch>, Reading), ReadError> {
    let (into, batches) = sync_channel(WAITING_BATCHES);
    let reading = Builder::new()
        .name("import-reading".to_owned())
        .spawn(move || batch::read(source, options, known, &into))
        .map_err(ReadError::Failed)?;
    Ok((batches, reading))
}
