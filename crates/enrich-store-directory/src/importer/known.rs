//! Recognises records that were imported before, so that they need not be parsed.

use std::path::Path;

use enrich_core::SourceName;
use enrich_core::port::importer::KnownRecords;
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, Statements};
use rusqlite::{Connection, params};

use super::digests::kinds_of_lists;
use super::origins::content_hash;
use super::threads::{in_parts, processors};

/// Maximum number of threads that look up records. Further threads would mostly wait for the thread
/// that reads the lines.
const MAX_THREADS: usize = 4;
/// Minimum number of records for each thread. If there are few records, one thread looks up all of
/// them.
const FEWEST: usize = 256;

/// The records of one source that were imported before.
pub(crate) struct SourceRecords {
    /// A connection for each thread that looks up records.
    connections: Vec<Connection>,
    secrets: Secrets,
    source: i64,
}

impl SourceRecords {
    /// Opens the SQLite database at `path` to look up the records of a source that were imported
    /// before. An import can skip these records. Returns `None` if the source has no records.
    ///
    /// While any value is suppressed, an import must not skip any record, because every record must
    /// be checked for suppressed values. Then [`are_known`](KnownRecords::are_known) returns
    /// `false` for every record.
    pub(crate) fn of(
        path: &Path,
        secrets: &Secrets,
        source: &SourceName,
    ) -> rusqlite::Result<Option<Self>> {
        let connection = sqlite::mapped_reader(path)?;
        let with_records = "SELECT id FROM source WHERE name = ?1 AND records > 0";
        let source = connection.find(with_records, [source.as_str()], |row| row.get(0))?;
        let Some(source) = source else { return Ok(None) };
        let mut connections = vec![connection];
        for _ in 1..processors(MAX_THREADS) {
            connections.push(sqlite::mapped_reader(path)?);
        }
        Ok(Some(Self { connections, secrets: secrets.clone(), source }))
    }

    fn are_there(&mut self, contents: &[[u8; 16]]) -> rusqlite::Result<Vec<bool>> {
        let part = contents.len().div_ceil(self.connections.len()).max(FEWEST);
        let (secrets, source) = (&self.secrets, self.source);
        let look_up = |(connection, part): (&mut Connection, &[[u8; 16]])| {
            are_there(connection, secrets, source, part)
        };
        let parts = self.connections.iter_mut().zip(contents.chunks(part));
        let are_there: Vec<Vec<bool>> =
            in_parts(parts, look_up, look_up).into_iter().collect::<Result<_, _>>()?;
        Ok(are_there.concat())
    }
}

fn are_there(
    connection: &Connection,
    secrets: &Secrets,
    source: i64,
    contents: &[[u8; 16]],
) -> rusqlite::Result<Vec<bool>> {
    let mut are_there = vec![false; contents.len()];
    if suppresses_any(connection)? {
        return Ok(are_there);
    }
    // The stored hash may have been made with an older secret, so all secrets are tried.
    for secret in secrets.newest_first() {
        let missing = contents.iter().enumerate().filter(|(at, _)| !are_there[*at]);
        let hash = |(at, content): (usize, &[u8; 16])| (content_hash(secret, content), at);
        let mut hashes: Vec<_> = missing.map(hash).collect();
        // The hashes are sorted, so that consecutive queries mostly read the same pages of the
        // database file.
        hashes.sort_unstable();
        for (hash, at) in hashes {
            are_there[at] = connection.has(
                "SELECT 1 FROM record WHERE source = ?1 AND hash = ?2
                 AND (EXISTS (SELECT 1 FROM subject WHERE id = record.subject)
                      OR EXISTS (SELECT 1 FROM merged_company
                                 WHERE merged_company.subject = record.subject))",
                params![source, hash],
            )?;
        }
    }
    Ok(are_there)
}

/// Whether any value is suppressed, or any suppression list is loaded.
fn suppresses_any(connection: &Connection) -> rusqlite::Result<bool> {
    let lists = kinds_of_lists(connection)?;
    Ok(!lists.is_empty() || connection.has("SELECT 1 FROM suppressed LIMIT 1", [])?)
}

impl KnownRecords for SourceRecords {
    fn are_known(&mut self, contents: &[[u8; 16]]) -> Vec<bool> {
        // If the look-up fails, no record counts as known. The import then reads the same table,
        // and reports the error.
        self.are_there(contents).unwrap_or_else(|_| vec![false; contents.len()])
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::port::importer::{Importer, Suppressed};
    use enrich_core::{Record, Timestamp};
    use enrich_store_sqlite::Options;
    use enrich_testkit::loading::load_from;
    use enrich_testkit::records::{company, email, hashed};
    use pollster::block_on;

    use super::*;
    use crate::tests;

    #[test]
    fn records_are_known_from_their_import_until_a_value_is_suppressed() {
        let folder = tempfile::tempdir().unwrap();
        let importer = tests::open(folder.path(), Options::default()).importer;
        let [quill, ink] = ["Quill", "Inkwell"].map(|name| hashed(company(name)));
        let contents = [quill.origin().content, ink.origin().content];
        let known = |source: &str| {
            let source = SourceName::new(source).unwrap();
            let records = block_on(importer.known_records(&source)).unwrap();
            records.map(|mut records| records.are_known(&contents))
        };
        assert_eq!(known("a"), None);
        let mut session = block_on(importer.begin(load_from("a"))).unwrap();
        block_on(session.import_batch(vec![quill])).unwrap();
        block_on(session.finish()).unwrap();
        assert_eq!((known("a"), known("b")), (Some(vec![true, false]), None));
        let suppressed = Suppressed::Email(email("a@quill.example"));
        block_on(importer.forget(&[suppressed], Timestamp::UNIX_EPOCH)).unwrap();
        assert_eq!(known("a"), Some(vec![false, false]));
    }

    #[test]
    fn many_records_are_known_each_at_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let importer = tests::open(folder.path(), Options::default()).importer;
        let records: Vec<Record> =
            (0..FEWEST * 3).map(|number| hashed(company(&format!("Quill {number}")))).collect();
        let contents: Vec<_> = records.iter().map(|record| record.origin().content).collect();
        let stored = records.into_iter().enumerate().filter(|(number, _)| number % 3 != 0);
        let mut session = block_on(importer.begin(load_from("a"))).unwrap();
        block_on(session.import_batch(stored.map(|(_, record)| record).collect())).unwrap();
        block_on(session.finish()).unwrap();
        let mut known =
            block_on(importer.known_records(&SourceName::new("a").unwrap())).unwrap().unwrap();
        let expected: Vec<bool> = (0..FEWEST * 3).map(|number| number % 3 != 0).collect();
        assert_eq!(known.are_known(&contents), expected);
    }
}
