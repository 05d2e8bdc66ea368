//! Imports the companies, people and domains of `fixtures/directory` into a store.

use std::path::Path;

use enrich_core::port::importer::{Atomic, ImportOptions, NewSubjects};
use enrich_core::{SourceName, Timestamp};
use enrich_import::Source;
use enrich_store::Store;

/// Imports a file. Fails if a line is rejected or a value is dropped, because fixtures must be free
/// of errors.
pub(crate) fn import(store: &Store, file: &Path, at: Timestamp) {
    let source = Source::file(file).unwrap();
    let options = ImportOptions {
        source: SourceName::new("fixtures").unwrap(),
        file: None,
        terms: None,
        at,
        atomic: Atomic::Whole,
        new_subjects: NewSubjects::Add,
    };
    let mut unwatched = ();
    let imported = enrich_import::import(source, &*store.importer, options, None, &mut unwatched);
    let report = pollster::block_on(imported).unwrap();
    assert!(report.read > 0 && report.dropped == 0, "{}: {report:?}", file.display());
}
