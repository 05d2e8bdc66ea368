//! Snapshots: copies of the directory that no process changes.

use std::path::Path;

use enrich_core::port::snapshots::SecretCheck;
use enrich_core::{DirectoryRevision, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, Column, OpenError, Statements};
use rusqlite::{Connection, Row};

use crate::DIRECTORY;
use crate::directory::view::View;
use crate::importer::deriving;

/// The versions of the schema and of the derivation rules of a directory's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The version of the file's schema; 0 if the file has no schema.
    pub schema: u32,
    /// The version of the rules by which the file's look-up data was derived; 0 for the oldest
    /// schema.
    pub derived_by: u32,
}

/// The revision, versions, secrets and suppressed values that a directory's file contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryFile {
    /// The revision of the directory.
    pub revision: DirectoryRevision,
    /// The versions of the file's schema and of the derivation rules of its look-up data.
    pub versions: Versions,
    /// The secrets with which hashes in the file were made. Each element contains the secret's id,
    /// and a hash by which the secret is recognised.
    pub secrets: Vec<SecretCheck>,
    /// The suppressed values as keyed hashes, each with the time from which the value is
    /// suppressed.
    pub suppressed: Vec<([u8; 32], Timestamp)>,
    /// The values that a suppression list named, and whose suppression has ended. Each is a keyed
    /// hash with the time of the end.
    pub taken_back: Vec<([u8; 32], Timestamp)>,
    /// The number of changes of the suppressed values: each suppression of a value is one change,
    /// and each time a value is taken back is another.
    pub suppression_changes: u64,
}

/// Copies the directory at `path` to a new file, as it is at one moment, without unused space.
/// Other processes may use the directory at the same time. The new file is not synced.
///
/// # Errors
///
/// When the directory cannot be read, or the file exists or cannot be written.
pub fn copy_into(path: &Path, to: &Path) -> Result<(), OpenError> {
    let name = to.to_str().ok_or_else(|| OpenError::unusable(to, "its name is not UTF-8"))?;
    // The file is created here, so that only its owner can read it. SQLite accepts an empty file.
    let created = enrich_secrets::private_file().create_new(true).open(to);
    created.map_err(|source| OpenError::unusable(to, source))?;
    // The copy is not synced: a sync of gigabytes would delay the commits of other programs on the
    // same disk.
    let copied = sqlite::reader(path).and_then(|file| {
        file.pragma_update(None, "synchronous", "OFF")?;
        file.execute("VACUUM INTO ?1", [name])
    });
    copied.map(drop).map_err(|source| OpenError::of_sqlite(path, source))
}

impl Versions {
    /// Returns the versions that this build can read.
    pub fn known() -> Self {
        let schema = u32::try_from(sqlite::newest_known(&DIRECTORY)).unwrap_or_default();
        Self { schema, derived_by: deriving::known() }
    }
}

impl DirectoryFile {
    /// Reads the revision, versions, secrets and suppressed values of a directory's file. No
    /// process may change the file at the same time.
    ///
    /// # Errors
    ///
    /// [`OpenError::Foreign`] when the file is not a directory database. Another error when the
    /// file cannot be read.
    pub fn read(path: &Path) -> Result<Self, OpenError> {
        Self::read_by(path, sqlite::immutable_reader)
    }

    /// Like [`read`](Self::read), but for the directory of a data folder, which other processes may
    /// change at the same time.
    ///
    /// # Errors
    ///
    /// The same errors as [`read`](Self::read).
    pub fn read_in_use(path: &Path) -> Result<Self, OpenError> {
        Self::read_by(path, sqlite::reader)
    }

    fn read_by(
        path: &Path,
        connect: fn(&Path) -> rusqlite::Result<Connection>,
    ) -> Result<Self, OpenError> {
        let failed = |source| OpenError::of_sqlite(path, source);
        let connection = connect(path).map_err(failed)?;
        let application = connection.pragma_query_value(None, "application_id", |row| row.get(0));
        let application: i32 = application.map_err(failed)?;
        if application != DIRECTORY.application_id {
            return Err(OpenError::Foreign { path: path.into(), expected: DIRECTORY.name });
        }
        let schema = sqlite::schema_version(&connection).map_err(failed)?.unwrap_or_default();
        let schema = u32::try_from(schema).unwrap_or_default();
        read(&connection, schema).map_err(failed)
    }

    /// Returns the first secret of this file that is not in `secrets`; `None` if `secrets` contains
    /// all secrets of the file.
    pub fn unknown_secret(&self, secrets: &Secrets) -> Option<SecretCheck> {
        let is_known = |check: &&SecretCheck| {
            secrets.with_id(check.id).is_some_and(|secret| secret.check_hash() == check.hash)
        };
        self.secrets.iter().find(|check| !is_known(check)).copied()
    }
}

/// Reads the columns that exist in the file's schema. Before version 2, there is no `derived_by`,
/// so it is set to 0. Before version 4, no value could be taken back, so each suppressed value
/// counts as one change.
fn read(connection: &Connection, schema: u32) -> rusqlite::Result<DirectoryFile> {
    let revision: i64 = connection.value("SELECT generation FROM state", [])?;
    let derived_by = match schema {
        0 | 1 => 0,
        _ => deriving::version(connection)?,
    };
    let secret = |row: &Row<'_>| Ok(SecretCheck { id: row.get(0)?, hash: row.get(1)? });
    let hashes = |query| {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, Column<_>>(1)?.0));
        connection.list::<_, Vec<_>>(query, [], read)
    };
    let (suppressed, taken_back, suppression_changes) = match schema {
        0..=3 => {
            let suppressed = hashes("SELECT hash, at FROM suppressed")?;
            let changes = suppressed.len() as u64;
            (suppressed, Vec::new(), changes)
        }
        _ => (
            hashes("SELECT hash, at FROM suppressed WHERE taken_back_at IS NULL")?,
            hashes("SELECT hash, taken_back_at FROM suppressed WHERE taken_back_at IS NOT NULL")?,
            View::of(connection).suppression_changes()?,
        ),
    };
    Ok(DirectoryFile {
        revision: DirectoryRevision(u64::try_from(revision).unwrap_or_default()),
        versions: Versions { schema, derived_by },
        secrets: connection.list("SELECT id, check_hash FROM secret", [], secret)?,
        suppressed,
        taken_back,
        suppression_changes,
    })
}

#[cfg(test)]
mod tests {
    use enrich_store_sqlite::Durability;

    use super::*;

    /// Creates a directory, copies it, and changes the copy with `statements`. Returns the folder
    /// and the result of reading the copy.
    fn copy_changed_by(statements: &str) -> (tempfile::TempDir, Result<DirectoryFile, OpenError>) {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join(DIRECTORY.file), folder.path().join("a ?%copy"));
        sqlite::create(&path, &DIRECTORY).unwrap();
        copy_into(&path, &copy).unwrap();
        let writer = sqlite::writer(&copy, Durability::Commit).unwrap();
        writer.execute_batch(statements).unwrap();
        drop(writer);
        let file = DirectoryFile::read(&copy);
        (folder, file)
    }

    #[test]
    fn a_copy_says_what_it_is() {
        let changes =
            "UPDATE state SET generation = 7; INSERT INTO secret VALUES (1, zeroblob(32));
                       INSERT INTO suppressed (hash, at) VALUES (zeroblob(32), 5);
                       INSERT INTO suppressed (hash, at, listed, taken_back_at, changes)
                       VALUES (randomblob(32), 5, zeroblob(32), 6, 2)";
        let (_folder, file) = copy_changed_by(changes);
        let file = file.unwrap();
        let [(taken_back, _)] = file.taken_back[..] else { panic!("{file:?}") };
        let expected = DirectoryFile {
            revision: DirectoryRevision(7),
            versions: Versions::known(),
            secrets: vec![SecretCheck { id: 1, hash: [0; 32] }],
            suppressed: vec![([0; 32], Timestamp::from_microsecond(5).unwrap())],
            taken_back: vec![(taken_back, Timestamp::from_microsecond(6).unwrap())],
            suppression_changes: 3,
        };
        assert_eq!(file, expected);
    }

    #[test]
    fn other_versions_are_read_as_they_are() {
        let older = "DELETE FROM refinery_schema_history
                     WHERE version = (SELECT max(version) FROM refinery_schema_history)";
        let (_folder, file) = copy_changed_by(older);
        assert_eq!(file.unwrap().versions.schema, Versions::known().schema - 1);
        let rules = "INSERT INTO subject (id, kind, profile) VALUES (1, 1, '{}');
                     UPDATE state SET derived_by = 9";
        let (_folder, file) = copy_changed_by(rules);
        assert_eq!(file.unwrap().versions.derived_by, 9);
    }

    #[test]
    fn another_database_is_no_snapshot() {
        let (_folder, file) = copy_changed_by("PRAGMA application_id = 1");
        assert!(matches!(file, Err(OpenError::Foreign { .. })));
    }
}
