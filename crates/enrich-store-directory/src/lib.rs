#![doc = include_str!("../README.md")]

mod compaction;
mod directory;
mod importer;
mod noted;
mod snapshot_file;
mod statistics;
#[cfg(test)]
mod tests;
mod varint;

use std::path::Path;
use std::sync::Arc;

use enrich_secrets::Secrets;
use enrich_store_sqlite::{
    self as sqlite, DataFile, Database, DatabaseReport, OpenError, Options, in_use::InUse,
};

pub use compaction::{CompactError, CompactReport, compact};
pub use directory::{SqliteDirectory, SuppressedHashes};
pub use importer::{
    CompanyKey, CompanyRecords, Decided, DuplicateCount, DuplicatePair, DuplicateSearch,
    Duplicates, SqliteImporter, StoredDecision, derive_all, find_duplicates,
};
pub use snapshot_file::{DirectoryFile, Versions, copy_into};
pub use statistics::{DirectoryStatistics, KindStatistics, SharedNames, directory_statistics};

mod schema {
    refinery::embed_migrations!("migrations");
}

/// The database of look-up data.
pub const DIRECTORY: Database = Database {
    name: "directory",
    file: DataFile::Directory.name(),
    application_id: i32::from_be_bytes(*b"EnrD"),
    migrations: schema::migrations::runner,
};

/// The name under which a check reports the number of all values. The query in [`COUNTS`] counts
/// only the values of domains. [`check`] adds the number of values of companies and people.
const VALUES: &str = "values";

/// The row counts that a check reports. Each has a name and a query.
const COUNTS: [(&str, &str); 10] = [
    ("companies", "SELECT count(*) FROM subject WHERE kind = 1"),
    ("people", "SELECT count(*) FROM subject WHERE kind = 2"),
    ("domains with facts", "SELECT count(DISTINCT domain) FROM domain_fact"),
    // This query counts only the values of domains. `check` adds the values of companies and
    // people.
    (VALUES, "SELECT count(*) FROM domain_fact"),
    ("external ids", "SELECT count(DISTINCT key) FROM identifier WHERE kind = 9"),
    (
        "shared ids",
        "SELECT count(*) FROM (SELECT 1 FROM identifier WHERE kind = 9 GROUP BY key
                               HAVING count(*) > 1)",
    ),
    ("sources", "SELECT count(*) FROM source"),
    ("suppressed values", "SELECT count(*) FROM suppressed WHERE taken_back_at IS NULL"),
    ("suppression lists", "SELECT count(*) FROM suppression_list WHERE complete"),
    ("entries of lists", "SELECT count(*) FROM listed"),
];

/// The two parts of an opened directory: one for look-ups and one for imports.
#[derive(Debug)]
pub struct DirectoryPorts {
    /// Answers look-ups.
    pub directory: Arc<SqliteDirectory>,
    /// Imports records.
    pub importer: Arc<SqliteImporter>,
}

/// Opens the directory at `path`, which must exist and have the current schema. Until both parts of
/// the result are dropped, `in_use` marks the data folder as in use.
///
/// # Errors
///
/// [`OpenError::DerivedBefore`] when the look-up data was derived by other rules than those of this
/// program; [`derive_all`] derives it again. Another error when the file cannot be read.
pub fn open(
    path: &Path,
    secrets: &Secrets,
    options: &Options,
    in_use: InUse,
) -> Result<DirectoryPorts, OpenError> {
    let (index, in_use) = (Arc::default(), Arc::new(in_use));
    let importer = SqliteImporter::open(path, secrets, Arc::clone(&index), Arc::clone(&in_use));
    let directory = SqliteDirectory::open(path, secrets, options, index, in_use)?;
    Ok(DirectoryPorts { directory: Arc::new(directory), importer: Arc::new(importer) })
}

/// Checks the directory at `path`: runs SQLite's own checks, checks the index of words, and counts
/// rows. The index of words is not checked if the file is damaged, or if [`derive_all`] must run
/// first. The notes of the report list each external id that several companies have, because these
/// companies may be the same organisation.
///
/// # Errors
///
/// When the file cannot be read at all. Faults inside the file are in the report.
pub fn check(path: &Path) -> rusqlite::Result<DatabaseReport> {
    let connection = sqlite::reader(path)?;
    let mut report = sqlite::examine(&connection, &COUNTS)?;
    // If SQLite's checks have found damage, the report already says so, and the index of words may
    // be unreadable.
    if report.problems.is_empty() && !importer::deriving::is_due(&connection)? {
        for (_, count) in report.counts.iter_mut().filter(|(name, _)| *name == VALUES) {
            *count += importer::count_values(&connection)?;
        }
        report.problems = directory::index_check::problems(&connection)?;
        report.notes = directory::shared_ids::shared_ids(&connection)?;
    }
    Ok(report)
}
