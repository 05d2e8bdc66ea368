//! Checks that suppressed values (data that must be erased) are removed from lists.

use std::io::{Cursor, Read, Write};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use enrich_bulk::jobs::{Job, State};
use enrich_bulk::{End, Source};
use enrich_core::{Clock, Timestamp};
use enrich_import::Rows;

use crate::fixture::numbered;
use crate::office::{Noon, Office, has_ended, order, text};

const LIST: &str = "Company,site\nQuill 0,\nInkwell,https://www.inkwell.example/\nQuill 1,\n";

/// Returns the content of all files in the folder of jobs, as one text.
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
    assert!(!on_disk(&office).contains("inkwell"));
    assert_eq!(jobs.scrub().unwrap(), 0);
    assert_eq!(jobs.get(office.account, clean).unwrap().removed_rows, 0);
    assert_eq!(jobs.get(office.account, waiting).unwrap().removed_rows, 1);

    // The account uploads a list after `inkwell.example` was suppressed. The domain is not removed
    // from this list: only values that are suppressed after the upload are removed.
    let later = office.create(&jobs, LIST);
    assert_eq!(jobs.scrub().unwrap(), 0);
    assert_eq!(jobs.get(office.account, later).unwrap().removed_rows, 0);
}

#[test]
fn a_list_that_was_not_started_is_looked_up_without_the_row_that_was_forgotten() {
    let marked = "\u{feff}id;Company;a,b,c,d\n1;Müller;\n2;Inkwell;https://inkwell.example/x\n\
                  3;Quill;\n";
    for list in [LIST.to_owned(), marked.to_owned(), marked.replace(';', "\t")] {
        let office = Office::new();
        let jobs = office.open();
        let id = office.create(&jobs, &list);
        forget(&office, "inkwell.example", Noon.now());
        let sample = jobs.sample(office.account, id, 5).unwrap();
        assert_eq!(sample.rows.len(), 3, "{sample:?}");
        assert!(!on_disk(&office).contains("nkwell"), "{}", on_disk(&office));
        jobs.start(office.account, id, order(None)).unwrap();
        let job = office.wait(&jobs, id, has_ended);
        assert_eq!(job.state, State::Ended(End::Whole), "{list}");
        let counts = (job.counts.rows, job.counts.found, job.counts.invalid);
        assert_eq!((counts, job.removed_rows), ((3, 2, 1), 1), "{list}");
    }
}

#[test]
fn json_lines_keep_their_columns_when_a_row_is_emptied() {
    let office = Office::new();
    let jobs = office.open();
    let list = "{\"Company\":\"Quill\"}\n{\"Company\":\"inkwell.example\",\"id\":7}\nno object\n";
    let id = jobs.create(office.account, "leads.jsonl.gz", &mut &gzip(list)[..]).unwrap().id;
    forget(&office, "inkwell.example", Noon.now());
    let sample = jobs.sample(office.account, id, 5).unwrap();
    assert_eq!(sample.columns, ["Company", "id"]);
    jobs.start(office.account, id, order(None)).unwrap();
    let job = office.wait(&jobs, id, has_ended);
    assert_eq!((job.counts.found, job.counts.invalid, job.removed_rows), (1, 2, 1));
    let (rows, _) = text(&jobs, office.account, id);
    assert!(rows.contains("no object") && !rows.contains("inkwell"), "{rows}");
}

#[test]
fn a_list_that_stopped_keeps_its_paid_rows_and_continues_without_those_forgotten() {
    let office = Office::new();
    let jobs = office.open();
    // Two rows contain `inkwell.example`. When this domain is suppressed, one of the rows is
    // already answered.
    let row = |number| format!("{number},Quill {number},\"a\nb\"");
    let mut rows: Vec<String> = (0..60).map(row).collect();
    rows.insert(3, "x,Inkwell,www.inkwell.example".to_owned());
    rows.insert(40, "y,\"Inkwell, late\",a@inkwell.example".to_owned());
    rows.push("z,\"Quill 60".to_owned());
    let list = format!("id,Company,note\n{}\n", rows.join("\n"));
    let id = office.create(&jobs, &list);
    jobs.start(office.account, id, order(Some(20))).unwrap();
    let stopped = office.wait(&jobs, id, has_ended);
    assert_eq!((stopped.state.clone(), stopped.counts.credits), (State::Ended(End::Ceiling), 20));

    forget(&office, "inkwell.example", Noon.now());
    assert_eq!(jobs.scrub().unwrap(), 1);
    assert!(!on_disk(&office).contains("nkwell"), "{}", on_disk(&office));
    let (rows, is_whole) = text(&jobs, office.account, id);
    assert_eq!((rows.matches(",found,").count(), is_whole), (19, false), "{rows}");
    drop(jobs);
    let jobs = office.open();
    assert_eq!(jobs.get(office.account, id).unwrap().counts.credits, 20);
    jobs.go_on(office.account, id, order(None).key, None).unwrap();
    let job = office.wait(&jobs, id, has_ended);
    assert_eq!(job.state, State::Ended(End::Whole));
    assert_eq!((job.counts.rows, job.removed_rows), (63, 2));
    assert_eq!(job.counts.credits, office.books.total());
    let (rows, _) = text(&jobs, office.account, id);
    assert_eq!(rows.matches(",found,").count(), 60, "{rows}");
    assert!(rows.contains("Quill 59") && !rows.contains("nkwell"), "{rows}");
}

#[test]
fn a_list_that_runs_continues_without_the_row_that_was_forgotten() {
    let office = Office::new();
    let jobs = office.open();
    let list = numbered(2_000) + "2000,inkwell.example\n2001,Quill 2001\n";
    let id = office.create(&jobs, &list);
    jobs.start(office.account, id, order(None)).unwrap();
    let begun = |job: &Job| job.counts.rows > 0 && job.state == State::Running;
    office.wait(&jobs, id, begun);
    forget(&office, "inkwell.example", Noon.now());
    assert_eq!(jobs.scrub().unwrap(), 1);
    let job = office.wait(&jobs, id, has_ended);
    assert_eq!(job.state, State::Ended(End::Whole));
    assert_eq!((job.counts.rows, job.removed_rows), (2_002, 1));
    assert_eq!(job.counts.credits, office.books.total());
    assert!(!on_disk(&office).contains("inkwell"));
    assert!(text(&jobs, office.account, id).0.contains("Quill 2001"));
}

#[test]
fn a_workbook_that_is_done_loses_the_rows_that_hold_what_was_forgotten() {
    let office = Office::new();
    let jobs = office.open();
    let id = jobs.create(office.account, "leads.xlsx", &mut LIST.as_bytes()).unwrap().id;
    jobs.start(office.account, id, order(None)).unwrap();
    office.wait(&jobs, id, has_ended);
    forget(&office, "inkwell.example", Noon.now());
    let mut bytes = Vec::new();
    let mut written = jobs.output(office.account, id).unwrap().unwrap();
    assert!(written.is_whole);
    written.rows.read_to_end(&mut bytes).unwrap();
    let mut rows = Rows::open(Source::reader("out.xlsx", Cursor::new(bytes))).unwrap();
    let rows: Vec<_> = std::iter::from_fn(|| rows.next_row().unwrap()).collect();
    let rows: Vec<_> = rows.iter().map(|row| String::from_utf8_lossy(&row.text)).collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0].starts_with("Quill 0,,Quill 0.example,97,found"), "{rows:?}");
    assert!(rows[1].starts_with("Quill 1,"), "{rows:?}");
    assert!(!on_disk(&office).contains("nkwell"));
    assert_eq!(jobs.get(office.account, id).unwrap().removed_rows, 1);
}

#[test]
fn a_rewritten_list_keeps_its_byte_order_mark_and_delimiter() {
    let office = Office::new();
    let jobs = office.open();
    let list = "Company;a,b,c,d,e,f,g,h\nMüller;\nInkwell;inkwell.example\nQuill;\"x;y\"\n";
    let list: Vec<u8> = list.chars().map(|letter| letter as u8).collect();
    let id = jobs.create(office.account, "leads.csv", &mut &list[..]).unwrap().id;
    jobs.start(office.account, id, order(None)).unwrap();
    office.wait(&jobs, id, has_ended);
    let (before, _) = text(&jobs, office.account, id);
    assert!(before.starts_with('\u{feff}'), "{before}");
    forget(&office, "inkwell.example", Noon.now());
    let (after, _) = text(&jobs, office.account, id);
    let kept = before.lines().filter(|line| !line.contains("nkwell")).collect::<Vec<_>>();
    assert_eq!(after.lines().collect::<Vec<_>>(), kept);
}

#[test]
fn one_list_is_read_while_another_is_looked_through() {
    let office = Office::new();
    let jobs = Arc::new(office.open());
    let slow = office.create(&jobs, "Company\nstalled.example\n");
    let other = office.create(&jobs, LIST);
    forget(&office, "inkwell.example", Noon.now());
    let stalled = office.books.stalled.lock();
    let (looking, account) = (Arc::clone(&jobs), office.account);
    let thread = std::thread::spawn(move || looking.sample(account, slow, 5).unwrap());
    std::thread::sleep(Duration::from_millis(100));
    let (done, is_done) = mpsc::channel();
    let reading = Arc::clone(&jobs);
    std::thread::spawn(move || done.send(reading.sample(account, other, 5).is_ok()));
    let read = is_done.recv_timeout(Duration::from_secs(5));
    drop(stalled);
    assert_eq!(read, Ok(true));
    assert_eq!(thread.join().unwrap().rows.len(), 1);
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}
