//! Tests of data folders without the file `ledger.sqlite`. The accounts and the ledger are in a
//! remote store instead.

use std::fs;
use std::path::Path;

use enrich_store::{
    DataFile, DirectoryStore, OpenError, Store, load_or_create_secrets, load_secrets,
    mark_ledger_moved,
};
use tempfile::TempDir;

use crate::customer::{Customer, open};

fn open_directory(folder: &Path) -> Result<DirectoryStore, OpenError> {
    DirectoryStore::open_or_create(folder)
}

/// Returns the names of the files in a folder, except lock files.
fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".lock"));
    names.sort();
    names
}

fn with_secrets() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (_, is_created) = load_or_create_secrets(folder.path()).unwrap();
    assert!(is_created);
    folder
}

#[test]
fn the_secrets_come_first_and_then_the_directory_alone() {
    let folder = with_secrets();
    assert_eq!(files(folder.path()), ["secret.key"]);
    let (secrets, is_created) = load_or_create_secrets(folder.path()).unwrap();
    assert!(!is_created);
    let store = open_directory(folder.path()).unwrap();
    assert_eq!(store.secrets().current().check_hash(), secrets.current().check_hash());
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
    drop(store);
    assert!(files(folder.path()).iter().all(|name| !name.starts_with("ledger")));
    drop(open_directory(folder.path()).unwrap());
    assert!(DirectoryStore::reindex(folder.path(), &mut |_, _| {}).is_ok());
    assert!(DirectoryStore::compact(folder.path()).is_ok());
}

#[test]
fn a_folder_with_snapshots_has_secrets_and_is_given_no_directory() {
    let folder = with_secrets();
    fs::create_dir(folder.path().join("snapshots")).unwrap();
    assert!(load_secrets(folder.path()).is_ok());
    let opened = open_directory(folder.path());
    assert!(matches!(opened, Err(OpenError::Incomplete { .. })), "it may have been lost");
    assert_eq!(files(folder.path()), ["secret.key", "snapshots"]);
}

#[test]
fn no_secrets_are_made_for_a_store_that_has_some() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(open_directory(folder.path()), Err(OpenError::Missing(_))));
    assert_eq!(files(folder.path()), [] as [&str; 0]);
}

#[test]
fn a_folder_without_its_ledger_is_not_opened_as_a_whole_one() {
    let folder = with_secrets();
    let missing = |folder: &Path| match Store::open_or_create(folder) {
        Err(OpenError::Incomplete { missing, .. }) => missing,
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(folder.path()), [DataFile::Directory, DataFile::Ledger]);
    drop(open_directory(folder.path()).unwrap());
    assert_eq!(missing(folder.path()), [DataFile::Ledger]);
}

#[test]
fn a_folder_that_lacks_its_directory_is_refused() {
    let folder = with_secrets();
    fs::create_dir(folder.path().join("bulk")).unwrap();
    match open_directory(folder.path()) {
        Err(OpenError::Incomplete { missing, .. }) => assert_eq!(missing, [DataFile::Directory]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_ledger_in_use_is_not_ignored() {
    let Customer { folder, store, .. } = Customer::with(5);
    drop(store);
    let refused = open_directory(folder.path());
    assert!(matches!(refused, Err(OpenError::HasLedger(_))), "{refused:?}");
    let secrets = load_or_create_secrets(folder.path());
    assert!(matches!(secrets, Err(OpenError::HasLedger(_))));
    // A folder that has only the write-ahead log of a ledger is refused too, because the log shows
    // that there was a ledger.
    fs::rename(folder.path().join("ledger.sqlite"), folder.path().join("ledger.sqlite-wal"))
        .unwrap();
    assert!(matches!(open_directory(folder.path()), Err(OpenError::HasLedger(_))));
}

#[test]
fn a_ledger_that_was_moved_is_not_used_again() {
    let Customer { folder, store, .. } = Customer::with(5);
    drop(store);
    mark_ledger_moved(folder.path()).unwrap();
    mark_ledger_moved(folder.path()).unwrap();
    let refused = Store::open_or_create(folder.path());
    assert!(matches!(refused, Err(OpenError::LedgerMoved(_))), "{refused:?}");
    assert!(matches!(Store::verify(folder.path()), Err(OpenError::LedgerMoved(_))));
    assert!(Store::compact(folder.path()).is_err());
    drop(open_directory(folder.path()).unwrap());
}

#[test]
fn a_whole_store_gives_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let directory = open(folder.path()).into_directory_store();
    assert_eq!(directory.statistics().unwrap().companies.subjects, 0);
    assert!(directory.size().unwrap().bytes > 0);
}
