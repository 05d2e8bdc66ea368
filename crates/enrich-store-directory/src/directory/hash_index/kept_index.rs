//! Keeps the hash index that is stored in a file up to date, while a load (one import) changes the
//! directory.

use std::io;
use std::path::{Path, PathBuf};

use enrich_store_sqlite as sqlite;
use rusqlite::Connection;
use tracing::debug;

use super::making;
use super::stored::{self, DirectoryState, EntryChange};
use super::{HashKeys, KINDS};
use crate::directory::codes::IdentifierKind;
use crate::directory::unwritten::Change;
use crate::directory::view::View;

/// Maximum number of changed identifiers that are collected in memory; they take 64 MB. If a load
/// (one import) makes more changes, it does not change the stored index, but may build a new one at
/// its end ([`SUBJECTS_EACH`]).
const MAX: usize = 1 << 21;
/// If a load (one import) cannot change the stored hash index, it may build a new one at its end.
/// It does so only if it has changed at least one identifier for every eight companies and people
/// in the directory. Then the building takes only a small part of the load's time. After a load
/// with fewer changes, the next server builds the index.
const SUBJECTS_EACH: usize = 8;

#[derive(Debug)]
pub(crate) struct KeptIndex {
    directory: PathBuf,
    /// The state of the directory before the load; `None` before the first transaction.
    before: Option<DirectoryState>,
    /// The state of the directory after the last transaction of the load; `None` before the first
    /// transaction has ended.
    now: Option<DirectoryState>,
    /// The keys with which the stored identifiers are hashed; `None` if the load cannot change the
    /// stored index.
    keys: Option<HashKeys>,
    changes: Vec<EntryChange>,
    /// The number of changes of identifiers in this load. Changes are counted even when they are no
    /// longer collected in `changes`.
    changed: usize,
}

impl KeptIndex {
    /// Begins to collect the changes that a load (one import) makes in the directory at
    /// `directory`.
    pub(crate) fn new(directory: &Path) -> Self {
        let directory = directory.to_owned();
        Self { directory, before: None, now: None, keys: None, changes: Vec::new(), changed: 0 }
    }

    /// Checks that no other writer has changed the directory since the previous transaction of the
    /// load. If one has, gives up changing the stored index. Must be called when a transaction
    /// begins. `connection` is in the transaction.
    pub(crate) fn begin(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let now = DirectoryState::read(connection)?;
        if self.before.is_none() {
            self.before = Some(now);
            self.keys = stored::keys(&self.directory, &now);
        } else if self.now != Some(now) {
            // Another writer has changed the directory between two transactions of the load.
            self.give_up();
        }
        Ok(())
    }

    /// Collects the change of an identifier. If an identifier changes several times, only one
    /// change is collected. This change contains no subject, so look-ups will read the identifier
    /// from the directory instead of the index.
    ///
    /// The caller must pass all changes of one identifier directly one after the other, because
    /// this method compares the hash of each change only with the hash of the previous change.
    pub(crate) fn note(&mut self, kind: IdentifierKind, key: &str, change: Change) {
        if !KINDS.contains(&kind) {
            return;
        }
        self.changed += 1;
        let Some(keys) = self.keys else { return };
        let hash = keys.hash(kind, key);
        let added = change.confidence.map(|confidence| (change.subject, confidence));
        if let Some(last) = self.changes.last_mut().filter(|last| last.hash == hash) {
            last.added = None;
        } else if self.changes.len() == MAX {
            self.give_up();
        } else {
            self.changes.push(EntryChange { hash, added });
        }
    }

    /// Remembers the state of the directory after a transaction of the load. Must be called
    /// directly before the commit. `connection` is in the transaction.
    pub(crate) fn end(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.now = Some(DirectoryState::read(connection)?);
        Ok(())
    }

    /// Changes the stored index to the state after the load. All transactions of the load must be
    /// durable already. If the stored index cannot be changed, this method builds a new one after a
    /// load with many changes ([`SUBJECTS_EACH`]). After a load with few changes, the next server
    /// builds it.
    pub(crate) fn store(mut self) {
        let (Some(before), Some(now)) = (self.before, self.now) else { return };
        if before == now {
            return;
        }
        let is_changed = self.keys.is_some()
            && stored::change(&self.directory, [&before, &now], &mut self.changes)
                .inspect_err(|error| debug!(%error, "the stored hash index cannot be changed"))
                .unwrap_or(false);
        if !is_changed && let Err(error) = self.build(&now) {
            debug!(%error, "the hash index cannot be built");
        }
    }

    fn build(&self, now: &DirectoryState) -> Result<(), BuildError> {
        let connection = sqlite::mapped_reader(&self.directory)?;
        let subjects = View::of(&connection).subjects_ever()?;
        if self.changed < subjects / SUBJECTS_EACH {
            return Ok(());
        }
        // This build makes no pauses for other threads, unlike the build in a server, which runs
        // beside look-ups.
        let index = making::build(&connection, |_| true)?;
        if let Some(index) = index.filter(|index| index.revision == now.revision) {
            stored::store(&self.directory, &index, now)?;
        }
        Ok(())
    }

    fn give_up(&mut self) {
        self.keys = None;
        self.changes = Vec::new();
    }
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum BuildError {
    Sqlite(#[from] rusqlite::Error),
    Io(#[from] io::Error),
}
