//! An importer in memory, and functions that import into it.

use std::collections::HashSet;
use std::io::Cursor;
use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::{
    Atomic, Effect, ImportOptions, ImportOutcome, ImportSession, Importer, Removed, SourceInfo,
    Suppressed,
};
use enrich_core::{Record, SourceName, Timestamp};
use enrich_import::{ImportError, Report, Source, import};
use parking_lot::Mutex;

/// The records that the importer in memory has stored, and settings by which a test makes it fail
/// or suppress records.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) records: Vec<Record>,
    /// The number of loads (runs of the importer) that were finished.
    pub(crate) finished: usize,
    /// The number of stored batches.
    pub(crate) batches: usize,
    /// The index of the batch that can't be stored, to simulate a failure of the database; `None`
    /// for no failure.
    pub(crate) fails_at: Option<usize>,
    /// The names of suppressed companies, whose data must stay forgotten. Their records are not
    /// imported.
    pub(crate) suppressed_names: Vec<&'static str>,
    /// The names of companies that are not in the directory. Their records are not imported, as in
    /// an import that may not add companies.
    pub(crate) not_held_names: Vec<&'static str>,
    /// The importer reports, for every record, that this number of its values is suppressed.
    pub(crate) suppressed_values: u32,
    contents: HashSet<[u8; 16]>,
}

impl Held {
    fn judge(&mut self, record: &Record) -> ImportOutcome {
        let is_one_of = |names: &[&str]| matches!(record, Record::Company(company) if names.contains(&company.name.display()));
        let effect = if is_one_of(&self.suppressed_names) {
            Effect::Suppressed
        } else if is_one_of(&self.not_held_names) {
            Effect::NotHeld
        } else if self.contents.insert(record.origin().content) {
            Effect::Added
        } else {
            Effect::Unchanged
        };
        ImportOutcome { effect, suppressed_values: self.suppressed_values }
    }
}

#[derive(Clone, Default)]
pub(crate) struct Memory(pub(crate) Arc<Mutex<Held>>);

struct MemorySession {
    held: Arc<Mutex<Held>>,
    atomic: Atomic,
    waiting: Vec<Record>,
}

#[async_trait]
impl Importer for Memory {
    async fn begin(&self, options: ImportOptions) -> Result<Box<dyn ImportSession>, StoreError> {
        let held = self.0.clone();
        Ok(Box::new(MemorySession { held, atomic: options.atomic, waiting: Vec::new() }))
    }

    async fn sources(&self) -> Result<Vec<SourceInfo>, StoreError> {
        Ok(Vec::new())
    }

    async fn source_file(&self, _name: &SourceName) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    async fn remove_source(&self, _name: &SourceName) -> Result<Option<Removed>, StoreError> {
        Ok(None)
    }

    async fn forget(&self, _what: &[Suppressed], _at: Timestamp) -> Result<Removed, StoreError> {
        Ok(Removed::default())
    }
}

#[async_trait]
impl ImportSession for MemorySession {
    async fn import_batch(
        &mut self,
        records: Vec<Record>,
    ) -> Result<Vec<ImportOutcome>, StoreError> {
        let mut held = self.held.lock();
        if held.fails_at == Some(held.batches) {
            return Err(StoreError::failed("the disk is full"));
        }
        held.batches += 1;
        let taken = records.iter().map(|record| held.judge(record)).collect();
        match self.atomic {
            Atomic::InParts => held.records.extend(records),
            Atomic::Whole => self.waiting.extend(records),
        }
        Ok(taken)
    }

    async fn finish(self: Box<Self>) -> Result<(), StoreError> {
        let mut held = self.held.lock();
        held.records.extend(self.waiting);
        held.finished += 1;
        Ok(())
    }
}

pub(crate) fn load(atomic: Atomic) -> ImportOptions {
    ImportOptions { atomic, ..ImportOptions::new("test", Timestamp::UNIX_EPOCH).unwrap() }
}

pub(crate) fn source(file_name: &str, bytes: impl Into<Vec<u8>>) -> Source {
    Source::reader(file_name, Cursor::new(bytes.into()))
}

/// Imports a file in parts, not as one transaction.
pub(crate) fn import_into(
    memory: &Memory,
    file_name: &str,
    bytes: impl Into<Vec<u8>>,
) -> Result<Report, ImportError> {
    let source = source(file_name, bytes);
    pollster::block_on(import(source, memory, load(Atomic::InParts), None, &mut ()))
}

/// Imports a file in batches into an empty directory. Panics if the file cannot be read to its end.
pub(crate) fn imported(file_name: &str, bytes: impl Into<Vec<u8>>) -> (Report, Vec<Record>) {
    let memory = Memory::default();
    let report = import_into(&memory, file_name, bytes).unwrap();
    let records = std::mem::take(&mut memory.0.lock().records);
    (report, records)
}

/// Imports a file with one invalid record. Returns the reason why the record was rejected.
pub(crate) fn rejection(file_name: &str, bytes: impl Into<Vec<u8>>) -> String {
    let (report, records) = imported(file_name, bytes);
    assert_eq!((report.read, report.rejected, records.len()), (1, 1, 0));
    assert_eq!(report.dropped, 0, "nothing is dropped from a rejected record");
    report.first_rejected[0].1.explained()
}

pub(crate) fn texts<T: ToString>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// Returns the dropped values of a report: field, reason and count.
pub(crate) fn dropped(report: &Report) -> Vec<(&'static str, String, u64)> {
    let counts = report.dropped_values.iter();
    counts.map(|values| (values.field, values.reason.to_string(), values.count)).collect()
}
