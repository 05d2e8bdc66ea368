//! Tests of jobs that end early and continue: every row is written once and paid once.

use std::fs;
use std::io::{Read, Write};
use std::sync::atomic::Ordering;

use enrich_bulk::{Counts, End, Format, Input, Opened, Options, Part, RunError, Source, Stop};

use crate::fixture::{Books, Fixture, numbered};

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let list = numbered(300);
    let (whole, fixture) = (Fixture::new(), Fixture::new());
    let expected = whole.written(("l.csv", &list), "out.csv", &Books::default());
    let mut books = Books::default();
    let mut runs = 0;
    loop {
        let stop = Stop::default();
        let calls = *books.calls.get_mut();
        books.at_call = Some((calls + 37, stop.clone()));
        let outcome =
            fixture.run(("l.csv", &list), "out.csv", &books, Options::default(), &stop).unwrap();
        assert_eq!(outcome.counts.credits, outcome.counts.found);
        runs += 1;
        if outcome.end == End::Whole {
            break;
        }
        assert_eq!(outcome.end, End::Stopped);
        assert_eq!(fixture.names(), ["out.csv.job", "out.csv.part"]);
    }
    assert!(runs > 5, "{runs}");
    assert_eq!(fixture.read("out.csv"), expected);
    assert_eq!(fixture.names(), ["out.csv"]);
    let paid = expected.lines().filter(|line| line.ends_with(",found,,1")).count() as u64;
    assert_eq!(books.total(), paid);
    // Each of the 300 rows was sent once: when a run is stopped, it stores the answers of all rows
    // in flight, and the next run does not send these rows again.
    assert_eq!(*books.calls.get_mut() as usize, 300);
}

#[test]
fn what_was_written_behind_the_last_word_is_cut_off() {
    for ending in ["csv", "csv.gz", "csv.zst", "jsonl"] {
        let (fixture, out) = (Fixture::new(), format!("out.{ending}"));
        let mut books = Books::default();
        let list = numbered(100);
        for at in [30, 60, 90] {
            let stop = Stop::default();
            books.at_call = Some((at, stop.clone()));
            let options = Options::default();
            fixture.run(("l.csv", &list), &out, &books, options, &stop).unwrap();
            let part = fixture.path(&format!("{out}.part"));
            let mut part = fs::OpenOptions::new().append(true).open(part).unwrap();
            part.write_all(b"1,Quill 1,torn").unwrap();
        }
        let options = Options::default();
        fixture.run(("l.csv", &list), &out, &books, options, &Stop::default()).unwrap();
        let bytes = fs::read(fixture.path(&out)).unwrap();
        let mut text = String::new();
        match ending {
            "csv.gz" => {
                let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]);
                decoder.read_to_string(&mut text).unwrap();
            }
            "csv.zst" => text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap(),
            _ => text = String::from_utf8(bytes).unwrap(),
        }
        assert!(!text.contains("torn"), "{text}");
        assert_eq!(text.lines().count(), if ending == "jsonl" { 100 } else { 101 }, "{ending}");
    }
}

#[test]
fn a_job_goes_on_with_its_own_list_mapping_and_endpoint_alone() {
    let (mut fixture, stop) = (Fixture::new(), Stop::default());
    let books = Books { at_call: Some((20, stop.clone())), ..Books::default() };
    let list = numbered(100);
    fixture.run(("l.csv", &list), "out.csv", &books, Options::default(), &stop).unwrap();
    let error = |fixture: &Fixture, list: &str| {
        let stop = Stop::default();
        let run = fixture.run(("l.csv", list), "out.csv", &books, Options::default(), &stop);
        run.unwrap_err().to_string()
    };
    let other = list.replace("2,Quill 2", "2,Quill two");
    assert!(error(&fixture, &other).contains("not the list that the job was started with"));
    assert!(error(&fixture, "id,Company\n0,Quill 0\n").contains("not the list"));
    fixture.mapping = enrich_bulk::Mapping::parse(["companyName=id"]).unwrap();
    assert!(error(&fixture, &list).contains("another mapping"));
    fixture.mapping = enrich_bulk::Mapping::parse(["companyName=Company"]).unwrap();
    fixture.endpoint = crate::fixture::endpoint("/v1/lcuf");
    assert!(error(&fixture, &list).contains("the endpoint /v1/cuf"));
}

/// Runs a list with two mapped columns, and simulates a crash. Returns the files after the crash,
/// and the test caller ([`Books`]), which knows the calls that were made before the crash.
fn crashed_with_two_fields(list: &str) -> (Fixture, Books) {
    let mut fixture = Fixture::new();
    fixture.endpoint = crate::fixture::endpoint("/v1/pite");
    fixture.mapping =
        enrich_bulk::Mapping::parse(["companyName=Company", "personName=id"]).unwrap();
    let stop = Stop::default();
    let books = Books { at_call: Some((20, stop.clone())), ..Books::default() };
    fixture.run(("l.csv", list), "out.csv", &books, Options::default(), &stop).unwrap();
    crash_behind_the_first_rows(&fixture);
    (fixture, books)
}

/// Resets the checkpoint, so that it has no written row and no answer. This is the state after a
/// crash while the first rows were in flight.
fn crash_behind_the_first_rows(fixture: &Fixture) {
    let path = fixture.path("out.csv.job");
    let mut job: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    job["counts"] = serde_json::to_value(Counts::default()).unwrap();
    (job["rows_hash"], job["output_bytes"]) = ("".into(), 0.into());
    job["ahead"] = serde_json::json!([]);
    fs::write(&path, job.to_string()).unwrap();
}

#[test]
fn a_job_goes_on_with_its_fields_in_another_order_and_pays_no_row_twice() {
    let list = "id,Company\n".to_owned()
        + &(0..60).map(|row| format!("Ada {row},Quill {row}\n")).collect::<String>();
    let (mut fixture, books) = crashed_with_two_fields(&list);
    assert!(books.total() >= 20);
    fixture.mapping =
        enrich_bulk::Mapping::parse(["personName=id", "companyName=Company"]).unwrap();
    fixture.written(("l.csv", &list), "out.csv", &books);
    assert_eq!(books.total(), 60);
}

#[test]
fn a_job_does_not_go_on_with_a_field_more_or_less() {
    let list = numbered(60);
    let (mut fixture, books) = crashed_with_two_fields(&list);
    let calls = books.calls.load(Ordering::SeqCst);
    let more = ["companyName=Company", "personName=id", "companyDomain:=quill.example"];
    for terms in [&more[..], &more[..1]] {
        fixture.mapping = enrich_bulk::Mapping::parse(terms.iter().copied()).unwrap();
        let (options, stop) = (Options::default(), Stop::default());
        let refused = fixture.run(("l.csv", &list), "out.csv", &books, options, &stop).unwrap_err();
        let said = "another mapping (`companyName=Company`, `personName=id`)";
        assert!(refused.to_string().contains(said), "{terms:?}: {refused}");
    }
    assert_eq!(books.calls.load(Ordering::SeqCst), calls);
}

#[test]
fn a_later_row_may_be_changed_before_a_job_goes_on() {
    let (fixture, stop) = (Fixture::new(), Stop::default());
    let mut books = Books { at_call: Some((20, stop.clone())), ..Books::default() };
    let list = numbered(100);
    fixture.run(("l.csv", &list), "out.csv", &books, Options::default(), &stop).unwrap();
    books.at_call = None;
    let list = list.replace("95,Quill 95", "95,Quill ninety-five");
    let written = fixture.written(("l.csv", &list), "out.csv", &books);
    assert!(written.contains("95,Quill ninety-five,Quill ninety-five.example"));
}

#[test]
fn an_output_that_is_there_is_left_alone() {
    let fixture = Fixture::new();
    fixture.written(("l.csv", &numbered(3)), "out.csv", &Books::default());
    let again = Part::open(&fixture.path("out.csv"), Format::Csv, &fixture.purpose());
    assert!(again.err().unwrap().to_string().contains("already exists"));
}

#[test]
fn an_end_between_the_naming_and_the_tidying_up_is_told_as_whole() {
    let (fixture, stop) = (Fixture::new(), Stop::default());
    let books = Books { at_call: Some((1, stop.clone())), ..Books::default() };
    let list = "id,Company\n1,nobody\n";
    fixture.run(("l.csv", list), "out.csv", &books, Options::default(), &stop).unwrap();
    let part = fixture.path("out.csv.part");
    fs::write(&part, "x").unwrap();
    let job = fixture.path("out.csv.job");
    let counts = Counts { rows: 7, ..Counts::default() };
    let whole = serde_json::json!({
        "job": "0", "purpose": fixture.purpose(), "counts": counts, "rows_hash": "",
        "output_bytes": 1, "ahead": [], "is_whole": true,
    });
    let _ = fs::remove_file(fixture.path("out.csv"));
    fs::write(&job, whole.to_string()).unwrap();
    let out = fixture.path("out.csv");
    let opened = || Part::open(&out, Format::Csv, &fixture.purpose()).unwrap();
    assert!(matches!(opened(), Opened::Whole(known) if known == counts));
    assert_eq!((fixture.read("out.csv").as_str(), fixture.names().len()), ("x", 1));
    fs::write(&job, whole.to_string()).unwrap();
    assert!(matches!(opened(), Opened::Whole(known) if known == counts));
    assert_eq!(fixture.names(), ["out.csv"]);
}

#[test]
fn two_processes_do_not_write_one_output() {
    let fixture = Fixture::new();
    let out = fixture.path("out.csv");
    let first = Part::open(&out, Format::Csv, &fixture.purpose()).unwrap();
    let second = Part::open(&out, Format::Csv, &fixture.purpose());
    assert!(second.err().unwrap().to_string().contains("by another process"));
    drop(first);
    assert!(Part::open(&out, Format::Csv, &fixture.purpose()).is_ok());
}

#[cfg(unix)]
#[test]
fn its_owner_alone_may_read_what_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let (fixture, stop) = (Fixture::new(), Stop::default());
    let books = Books { at_call: Some((5, stop.clone())), ..Books::default() };
    let list = numbered(60);
    fixture.run(("l.csv", &list), "out.csv", &books, Options::default(), &stop).unwrap();
    for name in fixture.names() {
        let mode = fs::metadata(fixture.path(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_was_answered_before_a_list_breaks_off_is_kept() {
    let (fixture, books) = (Fixture::new(), Books::default());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(numbered(50_000).as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    fs::write(fixture.path("l.csv.gz"), &bytes[..bytes.len() / 2]).unwrap();
    let list = || Input::open(Source::file(&fixture.path("l.csv.gz")).unwrap()).unwrap();
    let (options, stop) = (Options { concurrency: 64, ..Options::default() }, Stop::default());
    let error = fixture.run_input(list(), "out.csv", &books, options, &stop).unwrap_err();
    assert!(matches!(error, RunError::Input(_)), "{error}");
    let asked = books.calls.swap(0, Ordering::SeqCst);
    fs::write(fixture.path("l.csv.gz"), &bytes).unwrap();
    let outcome = fixture.run_input(list(), "out.csv", &books, options, &stop).unwrap();
    assert_eq!((outcome.end, outcome.counts.rows), (End::Whole, 50_000));
    assert_eq!(outcome.counts.credits, books.total());
    assert!(asked > 10_000 && asked < 40_000, "{asked}");
    assert!(asked + books.calls.load(Ordering::SeqCst) <= 50_000);
}
