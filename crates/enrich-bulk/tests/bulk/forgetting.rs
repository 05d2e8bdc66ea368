//! What was forgotten does not stay in lists.

use enrich_bulk::End;
use enrich_bulk::jobs::{Job, JobError, State};
use enrich_core::{Clock, Timestamp};

use crate::desk::numbered;
use crate::office::{Noon, Office, has_ended, order, text};

const LIST: &str = "Company,site\nQuill 0,\nInkwell,https://www.inkwell.example/\nQuill 1,\n";

/// All that lies in the folder of jobs, as text.
fn on_disk(office: &Office) -> String {
    let folders = std::fs::read_dir(office.jobs()).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|path| {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    });
    files.map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned()).collect()
}

fn forget(office: &Office, domain: &str, at: Timestamp) {
    office.books.forgotten.lock().push((domain.to_owned(), at));
}

#[test]
fn a_list_stays_whole_when_something_else_is_forgotten_than_what_it_was_brought_with() {
    let office = Office::new();
    let jobs = office.open();
    forget(&office, "inkwell.example", Timestamp::UNIX_EPOCH);
    let waiting = office.create(&jobs, LIST);
    forget(&office, "southwind.example", Noon.now());
    assert_eq!(jobs.scrub().unwrap(), 0);
    assert!(jobs.get(office.account, waiting).is_some());
    assert!(on_disk(&office).contains("inkwell"));
}

#[test]
fn a_list_that_is_done_loses_the_rows_that_hold_what_was_forgotten() {
    let office = Office::new();
    let jobs = office.open();
    let id = office.create(&jobs, LIST);
    jobs.start(office.account, id, order(None)).unwrap();
    office.wait(&jobs, id, has_ended);
    assert!(text(&jobs, office.account, id).0.contains("inkwell"));

    forget(&office, "inkwell.example", Noon.now());
    let (rows, is_whole) = text(&jobs, office.account, id);
    assert!(is_whole && !rows.contains("inkwell"), "{rows}");
    assert_eq!(rows.lines().count(), 3, "{rows}");
    assert!(rows.contains("Quill 0") && rows.contains("Quill 1"), "{rows}");
    assert!(!on_disk(&office).contains("inkwell"), "{}", on_disk(&office));
    assert_eq!(jobs.get(office.account, id).unwrap().removed_rows, 1);
}

#[test]
fn all_lists_are_looked_through_once_a_value_was_forgotten_also_after_a_restart() {
    let office = Office::new();
    let jobs = office.open();
    let done = office.create(&jobs, LIST);
    jobs.start(office.account, done, order(None)).unwrap();
    office.wait(&jobs, done, has_ended);
    let waiting = office.create(&jobs, LIST);
    let clean = office.create(&jobs, &numbered(3));
    assert_eq!(jobs.scrub().unwrap(), 0);
    drop(jobs);

    forget(&office, "inkwell.example", Noon.now());
    let jobs = office.open();
    assert_eq!(jobs.scrub().unwrap(), 2);
    // What was not done yet is gone, whole.
    let gone = jobs.sample(office.account, waiting, 5);
    assert!(matches!(gone, Err(JobError::NotThere)), "{gone:?}");
    assert!(jobs.get(office.account, clean).is_some());
    assert!(!on_disk(&office).contains("inkwell"));
    assert_eq!(jobs.scrub().unwrap(), 0);
    assert_eq!(office.names().len(), 2);

    // What the account brings later is its own.
    let later = office.create(&jobs, LIST);
    assert_eq!(jobs.scrub().unwrap(), 0);
    assert!(jobs.get(office.account, later).is_some());
}

#[test]
fn a_list_that_runs_ends_and_goes() {
    let office = Office::new();
    let jobs = office.open();
    let list = numbered(2_000) + "2000,inkwell.example\n";
    let id = office.create(&jobs, &list);
    jobs.start(office.account, id, order(None)).unwrap();
    let begun = |job: &Job| job.counts.rows > 0 && job.state == State::Running;
    office.wait(&jobs, id, begun);
    forget(&office, "inkwell.example", Noon.now());
    assert_eq!(jobs.scrub().unwrap(), 1);
    drop(jobs);
    let jobs = office.open();
    let left = jobs.get(office.account, id);
    assert!(left.is_none(), "{left:?}");
    assert!(office.names().is_empty());
    assert_ne!(left.map(|job| job.state), Some(State::Ended(End::Whole)));
}
