//! Reads how many companies an import has committed.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

/// Minimum time between two reads of the number of companies.
const INTERVAL: Duration = Duration::from_millis(200);

/// Reads the number of companies in look-up data that another process writes.
#[derive(Debug, Default)]
pub(super) struct CommittedCompanies {
    connection: Option<Connection>,
    last_read: Option<Instant>,
}

impl CommittedCompanies {
    /// Returns the number of companies in the database at `path`; `None` if the database does not
    /// exist yet, if it cannot be read at this moment, or if it was read less than [`INTERVAL`]
    /// ago.
    pub(super) fn read(&mut self, path: &Path) -> Option<u64> {
        if self.last_read.is_some_and(|last| last.elapsed() < INTERVAL) {
            return None;
        }
        self.last_read = Some(Instant::now());
        if self.connection.is_none() {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            self.connection = Connection::open_with_flags(path, flags).ok();
        }
        let select = "SELECT companies FROM state";
        let companies: i64 =
            self.connection.as_ref()?.query_row(select, [], |row| row.get(0)).ok()?;
        u64::try_from(companies).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companies_are_read_once_they_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("directory.sqlite");
        assert_eq!(CommittedCompanies::default().read(&path), None);
        let create = "CREATE TABLE state (companies INTEGER); INSERT INTO state VALUES (3)";
        Connection::open(&path).unwrap().execute_batch(create).unwrap();
        let mut committed = CommittedCompanies::default();
        assert_eq!(committed.read(&path), Some(3));
        assert_eq!(committed.read(&path), None);
    }
}
