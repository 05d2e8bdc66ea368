//! Limits the length of the directory's write-ahead log during large imports.
//!
//! SQLite moves the content of the log into the database. Then it can write from the beginning of
//! the log file again, but only at a moment at which no read transaction uses the log. A server
//! nearly always keeps a read transaction open (`directory/hold.rs`), so the log would grow until
//! the import ends. Therefore, if the log is too long after a transaction, the import waits for
//! such a moment, and empties the log. The wait is short: the server soon ends its read
//! transaction, and pauses before it opens the next one.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use enrich_store_sqlite::{self as sqlite, Statements};
use rusqlite::Connection;

/// Maximum length of the log after a transaction, in bytes: 64 MiB.
pub(super) const LONGEST: u64 = 64 * 1024 * 1024;

/// The write-ahead log of a database that is being written.
pub(super) struct Log<'c> {
    connection: &'c Connection,
    path: Option<PathBuf>,
    longest: u64,
    /// If the log is longer than this, the next attempt to empty it is made. In bytes.
    next: Cell<u64>,
}

impl<'c> Log<'c> {
    /// Creates a [`Log`] for the database of `connection`. `longest` is the maximum length of the
    /// log in bytes.
    pub(super) fn of(connection: &'c Connection, longest: u64) -> Self {
        let database = connection.path().map(PathBuf::from);
        let path = database.and_then(|path| path.canonicalize().ok());
        let path = path.map(|path| {
            let [log, _] = sqlite::wal_and_shm_paths(&path);
            log
        });
        Self { connection, path, longest, next: Cell::new(longest) }
    }

    /// Empties the log if it is too long. If another connection still reads an older state of the
    /// directory after many seconds, the log is not emptied, and a warning is logged. The next
    /// attempt is then made when the log has grown by `longest` again.
    pub(super) fn bound(&self) -> rusqlite::Result<()> {
        let length = self.path.as_ref().and_then(|path| fs::metadata(path).ok());
        let length = length.map_or(0, |log| log.len());
        if length <= self.next.get() {
            return Ok(());
        }
        let is_busy: bool = self.connection.value("PRAGMA wal_checkpoint(TRUNCATE)", [])?;
        if is_busy {
            tracing::warn!(bytes = length, "the directory's log grows: others read an older state");
            self.next.set(length.saturating_add(self.longest));
        } else {
            self.next.set(self.longest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use enrich_core::Record;
    use enrich_core::port::importer::Importer as _;
    use enrich_store_sqlite::Options;
    use enrich_testkit::loading::load_from;
    use enrich_testkit::records::{company, hashed};
    use pollster::block_on;

    use super::*;
    use crate::{DIRECTORY, tests};

    #[test]
    fn an_import_beside_an_idle_server_keeps_the_log_short() {
        const LIMIT: u64 = 512 * 1024;
        let folder = tempfile::tempdir().unwrap();
        let open = || tests::open(folder.path(), Options::default());
        let server = open();
        server.directory.prepare().unwrap();
        let command = open();
        let mut importer = Arc::into_inner(command.importer).unwrap();
        importer.target.longest_log = LIMIT;
        let log = folder.path().join(format!("{}-wal", DIRECTORY.file));
        let mut lengths = Vec::new();
        for batch in 0..20 {
            let names = (0..100).map(|number| format!("Quill {batch} {number} works"));
            let records: Vec<Record> = names.map(|name| hashed(company(&name))).collect();
            let mut session = block_on(importer.begin(load_from("a"))).unwrap();
            block_on(session.import_batch(records)).unwrap();
            block_on(session.finish()).unwrap();
            lengths.push(fs::metadata(&log).unwrap().len());
        }
        assert!(lengths.iter().all(|length| *length <= LIMIT), "{lengths:?}");
        drop(server);
    }
}
