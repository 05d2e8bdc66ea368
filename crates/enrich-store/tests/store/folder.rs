//! Tests of opening data folders: which folders can be opened, and which error the opening of any
//! other folder returns.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use enrich_store::{DataFile, OpenError, SecretError, Store};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::customer::{Customer, open};

/// Returns a data folder with an account and credits. No process has the folder open.
fn used() -> TempDir {
    let Customer { folder, store, .. } = Customer::with(5);
    drop(store);
    folder
}

fn refused(folder: &Path) -> OpenError {
    let before = contents(folder);
    let error = Store::open_or_create(folder).unwrap_err();
    assert_eq!(contents(folder), before, "what is refused is left as it is");
    error
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut all: Vec<_> = files
        .map(|file| file.unwrap().path())
        // Lock files and SQLite's `-shm` and `-wal` files are left out, because they come and go
        // with the processes that use the folder.
        .filter(|path| path.extension().is_none_or(|extension| extension != "lock"))
        .filter(|path| !path.to_string_lossy().ends_with("-shm"))
        .filter(|path| !path.to_string_lossy().ends_with("-wal"))
        .map(|path| (path.to_string_lossy().into_owned(), fs::read(&path).unwrap_or_default()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_new_folder_is_made_for_its_owner_alone() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("deep/data");
    drop(open(&folder));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        for file in ["secret.key", "directory.sqlite", "ledger.sqlite"] {
            assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
        }
    }
    drop(open(&folder));
}

#[test]
fn an_empty_folder_becomes_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lost+found")).unwrap();
    let report = open(folder.path()).check().unwrap();
    assert_eq!((report.ledger.schema_version, report.ledger.problems), (8, Vec::new()));
    assert_eq!(report.ledger.counts[0], ("accounts", 0));
    assert_eq!(report.directory.problems, Vec::<String>::new());
}

#[test]
fn a_copy_without_its_log_gets_one_again() {
    let folder = used();
    for file in ["directory.sqlite", "ledger.sqlite"] {
        let path = folder.path().join(file);
        let copy = folder.path().join("copy");
        let copy_name = copy.to_str().unwrap();
        Connection::open(&path).unwrap().execute("VACUUM INTO ?1", [copy_name]).unwrap();
        fs::rename(&copy, &path).unwrap();
        for side in ["-wal", "-shm"] {
            let _ = fs::remove_file(folder.path().join(format!("{file}{side}")));
        }
    }
    drop(open(folder.path()));
    for file in ["directory.sqlite", "ledger.sqlite"] {
        let database = Connection::open(folder.path().join(file)).unwrap();
        let mode: String =
            database.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal", "{file}");
    }
}

#[test]
fn a_check_counts_what_is_there() {
    let customer = Customer::with(5);
    customer.take(customer.keyed("k"));
    let counts = customer.store.check().unwrap().ledger.counts;
    assert_eq!(counts[..4], [("accounts", 1), ("keys", 1), ("entries", 2), ("kept answers", 1)]);
}

#[test]
fn a_check_names_what_is_damaged() {
    let customer = Customer::with(5);
    let file = customer.file();
    file.execute("DELETE FROM account", []).unwrap();
    let problems = customer.store.check().unwrap().ledger.problems;
    assert!(problems.iter().any(|problem| problem.contains("api_key")), "{problems:?}");
}

#[test]
fn a_folder_that_is_not_there_is_opened_only_to_be_made() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("data");
    let missing = || Store::open(&folder).unwrap_err();
    assert!(matches!(missing(), OpenError::Missing { .. }));
    assert!(!folder.exists());
    fs::create_dir_all(folder.join("lost+found")).unwrap();
    assert!(matches!(missing(), OpenError::Missing { .. }), "it is empty");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    drop(open(&folder));
    drop(Store::open(&folder).unwrap());
}

#[test]
fn a_folder_with_other_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("letter.txt"), "dear").unwrap();
    assert!(matches!(refused(folder.path()), OpenError::NotOurs { .. }));
}

#[test]
fn a_folder_that_lacks_a_file_is_refused() {
    for file in [DataFile::Secrets, DataFile::Directory, DataFile::Ledger] {
        let folder = used();
        fs::remove_file(folder.path().join(file.name())).unwrap();
        match refused(folder.path()) {
            OpenError::Incomplete { missing, .. } => assert_eq!(missing, [file]),
            other => panic!("{file}: {other:?}"),
        }
        assert!(!folder.path().join(file.name()).exists(), "{file} is not made anew");
    }
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    for file in ["directory.sqlite", "ledger.sqlite"] {
        let folder = used();
        fs::write(folder.path().join(file), vec![b'x'; 8192]).unwrap();
        assert!(matches!(refused(folder.path()), OpenError::Damaged { .. }), "{file}");
        fs::write(folder.path().join(file), []).unwrap();
        assert!(matches!(refused(folder.path()), OpenError::Foreign { .. }), "{file}, empty");
    }
}

#[test]
fn a_database_of_another_program_is_refused() {
    let folder = used();
    let path = folder.path().join("ledger.sqlite");
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE account (id)").unwrap();
    assert!(matches!(refused(folder.path()), OpenError::Foreign { .. }));
}

#[test]
fn databases_that_were_swapped_are_refused() {
    let folder = used();
    let path = |file| folder.path().join(file);
    fs::rename(path("ledger.sqlite"), path("kept")).unwrap();
    fs::rename(path("directory.sqlite"), path("ledger.sqlite")).unwrap();
    fs::rename(path("kept"), path("directory.sqlite")).unwrap();
    assert!(matches!(refused(folder.path()), OpenError::Foreign { .. }));
}

#[test]
fn a_database_whose_first_page_is_damaged_is_refused() {
    let folder = used();
    let path = folder.path().join("ledger.sqlite");
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(100)).unwrap();
    file.write_all(&[0xA5; 3900]).unwrap();
    drop(file);
    let error = refused(folder.path());
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_database_that_was_cut_off_is_refused() {
    let folder = used();
    let path = folder.path().join("ledger.sqlite");
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_damaged_page_is_noticed_wherever_it_is() {
    const PAGE: usize = 4096;
    let folder = used();
    let path = folder.path().join("ledger.sqlite");
    let sound = fs::read(&path).unwrap();
    for page in 1..sound.len() / PAGE {
        let mut damaged = sound.clone();
        damaged[page * PAGE..][..PAGE].fill(0xA5);
        fs::write(&path, damaged).unwrap();
        let noticed = match Store::open(folder.path()) {
            Ok(store) => store.check().map_or(true, |report| !report.ledger.problems.is_empty()),
            Err(OpenError::Damaged { .. }) => true,
            Err(other) => panic!("page {page}: {other:?}"),
        };
        assert!(noticed, "page {page}");
        for log in ["ledger.sqlite-wal", "ledger.sqlite-shm"] {
            let _ = fs::remove_file(folder.path().join(log));
        }
    }
}

#[test]
fn a_newer_schema_is_refused() {
    for file in ["directory.sqlite", "ledger.sqlite"] {
        let folder = used();
        let connection = Connection::open(folder.path().join(file)).unwrap();
        connection
            .execute(
                "INSERT INTO refinery_schema_history
                     SELECT 99, 'later', applied_on, checksum FROM refinery_schema_history LIMIT 1",
                [],
            )
            .unwrap();
        drop(connection);
        match refused(folder.path()) {
            OpenError::NewerSchema { found: 99, known, .. } => assert!(known < 99),
            other => panic!("{file}: {other:?}"),
        }
    }
}

#[test]
fn a_schema_that_is_not_what_it_says_is_refused() {
    for (change, is_damage) in [
        ("UPDATE refinery_schema_history SET checksum = '1'", false),
        ("UPDATE refinery_schema_history SET checksum = 'x'", true),
        ("UPDATE refinery_schema_history SET applied_on = 'yesterday'", true),
        ("DROP TABLE refinery_schema_history", false),
    ] {
        let folder = used();
        let connection = Connection::open(folder.path().join("ledger.sqlite")).unwrap();
        connection.execute_batch(change).unwrap();
        drop(connection);
        match (Store::open(folder.path()).unwrap_err(), is_damage) {
            (OpenError::Damaged { .. }, true) | (OpenError::Schema { .. }, false) => {}
            (other, _) => panic!("{change}: {other:?}"),
        }
    }
}

#[test]
fn secrets_that_are_not_the_databases_are_refused() {
    let (folder, other) = (used(), used());
    let path = folder.path().join("secret.key");
    let own = fs::read_to_string(&path).unwrap();
    let other = fs::read_to_string(other.path().join("secret.key")).unwrap();
    let secret = |text: &str| {
        fs::write(&path, text).unwrap();
        match refused(folder.path()) {
            OpenError::Secret { source, .. } => source,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(secret(&other), SecretError::Different { id: 1, .. }));
    assert!(matches!(secret(&other.replacen('1', "2", 1)), SecretError::Missing { id: 1, .. }));
    assert!(matches!(secret(&own[..40]), SecretError::Malformed { line: 1 }));
    assert!(matches!(secret(""), SecretError::Empty));
    fs::write(&path, own).unwrap();
    drop(open(folder.path()));
}

#[test]
fn a_database_of_another_folder_is_refused() {
    for (file, name) in [("directory.sqlite", "directory"), ("ledger.sqlite", "ledger")] {
        let (folder, other) = (used(), used());
        fs::copy(other.path().join(file), folder.path().join(file)).unwrap();
        match refused(folder.path()) {
            OpenError::Secret { source, .. } => {
                assert!(
                    matches!(source, SecretError::Different { id: 1, database } if database == name),
                    "{source:?}"
                );
                assert!(source.to_string().contains("from one backup"), "{source}");
            }
            other => panic!("{file}: {other:?}"),
        }
    }
}

#[test]
#[cfg(unix)]
fn secrets_that_others_can_read_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = used();
    let path = folder.path().join("secret.key");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    match refused(folder.path()) {
        OpenError::Secret { source: SecretError::TooOpen { mode: 0o644 }, .. } => {}
        other => panic!("{other:?}"),
    }
}
