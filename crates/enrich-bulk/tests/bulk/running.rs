//! Tests of the rows that a run sends and writes, and of the end of a run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use enrich_bulk::{End, Input, Mapping, NationalNumbers, Options, Source, Stop, preview};
use enrich_text::Country;
use parking_lot::Mutex;

use crate::fixture::{Books, Fixture, endpoint, numbered};

const MIXED: &str = "id,Company,note\n1,Quill,a\n2,nobody,=1+1\n3,bad,\"x,y\"\n4,broken,\n5,,b\n\
                     6,short\n7,Quill,c,d\n";

#[test]
fn every_row_comes_back_with_what_became_of_it() {
    let books = Books::default();
    let written = Fixture::new().written(("leads.csv", MIXED), "out.csv", &books);
    let expected = "\
id,Company,note,url,confidence_level,status,error,credits
1,Quill,a,Quill.example,97,found,,1
2,nobody,'=1+1,,,not_found,,0
3,bad,\"x,y\",,,invalid,`companyName` can't be read,0
4,broken,,,,failed,the request failed on our side,0
5,,b,,,invalid,`companyName` is empty,0
6,short,,,,invalid,the row has 2 fields where the header has 3,0
7,Quill,\"c,d\",,,invalid,the row has 4 fields where the header has 3,0
";
    assert_eq!(written, expected);
    assert_eq!(books.total(), 1);
}

#[test]
fn json_lines_keep_their_text() {
    let list =
        "{\"id\":1,\"Company\" : \"Quill\"}\n{\"Company\":\"nobody\",\"status\":1}\n[1]\n{}\n";
    let written = Fixture::new().written(("leads.jsonl", list), "out.jsonl", &Books::default());
    let expected = [
        r#"{"id":1,"Company" : "Quill","url":"Quill.example","confidence_level":97,"status_2":"found","error":null,"credits":1}"#,
        r#"{"Company":"nobody","status":1,"url":null,"confidence_level":null,"status_2":"not_found","error":null,"credits":0}"#,
        r#"{"other_fields":"[1]","url":null,"confidence_level":null,"status_2":"invalid","error":"the line is not a JSON object","credits":0}"#,
        r#"{"url":null,"confidence_level":null,"status_2":"invalid","error":"`companyName` is empty","credits":0}"#,
    ];
    assert_eq!(written, expected.map(|line| format!("{line}\n")).concat());
}

#[test]
fn json_lines_become_csv_and_csv_becomes_json_lines() {
    let list = "{\"Company\":\"nobody\",\"n\":[1,\"b\"]}\nno object\n";
    let written = Fixture::new().written(("leads.jsonl", list), "out.csv", &Books::default());
    let expected = "\
Company,n,other_fields,url,confidence_level,status,error,credits
nobody,1|b,,,,not_found,,0
,,no object,,,invalid,\"the line is not valid JSON, from column 2\",0
";
    assert_eq!(written, expected);
    let list = "Company,x,x\nnobody,1,2\n";
    let written = Fixture::new().written(("leads.csv", list), "out.jsonl", &Books::default());
    let expected = r#"{"Company":"nobody","x":"1","x_2":"2","url":null,"confidence_level":null,"status":"not_found","error":null,"credits":0}"#;
    assert_eq!(written, format!("{expected}\n"));
}

#[test]
fn added_columns_take_no_name_that_is_there() {
    let list = "Company,status,enrich_status\nnobody,1,2\n";
    let written = Fixture::new().written(("leads.csv", list), "out.csv", &Books::default());
    let header = "Company,status,enrich_status,url,confidence_level,status_2,error,credits";
    assert_eq!(written.lines().next(), Some(header));
}

#[test]
fn no_more_rows_are_asked_at_once_than_was_said() {
    let books = Books::default();
    let options = Options { concurrency: 7, ..Options::default() };
    let fixture = Fixture::new();
    let list = numbered(200);
    fixture.run(("l.csv", &list), "out.csv", &books, options, &Stop::default()).unwrap();
    assert_eq!(books.max_at_once.load(Ordering::SeqCst), 7);
    let ids: Vec<String> = fixture.read("out.csv").lines().skip(1).map(first_cell).collect();
    assert_eq!(ids, (0..200).map(|id| id.to_string()).collect::<Vec<_>>());
}

fn first_cell(line: &str) -> String {
    line.split(',').next().unwrap().to_owned()
}

#[test]
fn a_ceiling_is_never_passed_and_can_be_raised() {
    let (fixture, books, list) = (Fixture::new(), Books::default(), numbered(100));
    let mut options = Options { concurrency: 9, max_credits: Some(20), ..Options::default() };
    let stop = Stop::default();
    let outcome = fixture.run(("l.csv", &list), "out.csv", &books, options, &stop).unwrap();
    assert_eq!((outcome.end, outcome.counts.credits, books.total()), (End::Ceiling, 20, 20));
    options.max_credits = Some(21);
    let outcome = fixture.run(("l.csv", &list), "out.csv", &books, options, &stop).unwrap();
    assert_eq!((outcome.end, outcome.counts.credits, books.total()), (End::Ceiling, 21, 21));
    options.max_credits = Some(10_000);
    let outcome = fixture.run(("l.csv", &list), "out.csv", &books, options, &stop).unwrap();
    assert_eq!((outcome.end, outcome.counts.rows), (End::Whole, 100));
    assert_eq!((outcome.counts.credits, outcome.counts.found), (books.total(), books.total()));
}

#[test]
fn under_a_ceiling_a_list_needs_a_limit() {
    let mut fixture = Fixture::new();
    fixture.endpoint = endpoint("/v1/dte");
    fixture.mapping = Mapping::parse(["companyDomain=Company", "limit=limit"]).unwrap();
    let list = "Company,limit\nquill.example,\nquill.example,5\n";
    let options = Options { max_credits: Some(1), ..Options::default() };
    let (books, stop) = (Books::default(), Stop::default());
    let outcome = fixture.run(("l.csv", list), "out.csv", &books, options, &stop).unwrap();
    assert_eq!((outcome.counts.invalid, outcome.counts.found), (1, 1));
    assert!(fixture.read("out.csv").contains("a row without `limit` has no highest price"));
}

#[test]
fn without_credits_a_run_ends_and_what_was_paid_stays() {
    let (fixture, list) = (Fixture::new(), numbered(50));
    let books = Books { left: Mutex::new(Some(12)), ..Books::default() };
    let (options, stop) = (Options::default(), Stop::default());
    let outcome = fixture.run(("l.csv", &list), "out.csv", &books, options, &stop).unwrap();
    assert_eq!(outcome.end, End::OutOfCredits("0 credits are left".to_owned()));
    *books.left.lock() = None;
    // Several rows are sent at the same time. So when no credits are left for one row, later rows
    // may already be answered and paid. The next run must not send these rows again.
    let paid = books.charged.lock().clone();
    let calls = books.calls.swap(0, Ordering::SeqCst);
    let outcome = fixture.run(("l.csv", &list), "out.csv", &books, options, &stop).unwrap();
    assert_eq!((outcome.end, outcome.counts.rows), (End::Whole, 50));
    assert_eq!(outcome.counts.credits, books.total());
    assert!(calls + books.calls.load(Ordering::SeqCst) <= 50 + 16, "{calls}: {}", paid.len());
}

#[test]
fn a_refusal_and_a_silence_end_the_run() {
    let fixture = Fixture::new();
    let (books, options, stop) = (Books::default(), Options::default(), Stop::default());
    let list = ("l.csv", "Company\nQuill\nwrong\nQuill\n");
    let outcome = fixture.run(list, "a.csv", &books, options, &stop).unwrap();
    assert_eq!(outcome.end, End::Refused("the API key is missing or invalid".to_owned()));
    let list = ("l.csv", "Company\nQuill\ngone\nQuill\n");
    let outcome = fixture.run(list, "b.csv", &books, options, &stop).unwrap();
    assert_eq!(outcome.end, End::Unreachable("connection refused".to_owned()));
    assert_eq!(outcome.counts.rows, 1);
}

#[test]
fn who_is_busy_is_asked_again() {
    let books = Books { busy: AtomicU64::new(40), ..Books::default() };
    let fixture = Fixture::new();
    let written = fixture.written(("l.csv", &numbered(20)), "out.csv", &books);
    assert_eq!(written.lines().count(), 21);
    assert!(!written.contains("failed"));
    assert_eq!(books.busy.load(Ordering::SeqCst), 0);
}

#[test]
fn a_stop_ends_pauses_at_once() {
    let stop = Stop::default();
    let books = Books { at_call: Some((30, stop.clone())), ..Books::default() };
    let list = format!("Company\n{}", "gone\n".repeat(16));
    let options = Options { patience: Duration::from_secs(10_000), ..Options::default() };
    let outcome = Fixture::new().run(("l.csv", &list), "out.csv", &books, options, &stop).unwrap();
    assert_eq!((outcome.end, outcome.counts.rows), (End::Stopped, 0));
    assert!(books.calls.load(Ordering::SeqCst) < 30 + 16);
}

#[test]
fn a_preview_says_the_highest_cost() {
    let of = |path: &str, terms: &[&str], list: &'static str| {
        let mut input = Input::open(Source::reader("l.csv", std::io::Cursor::new(list))).unwrap();
        let mapping = Mapping::parse(terms.iter().copied()).unwrap();
        let preview =
            preview(&mut input, endpoint(path), &mapping, NationalNumbers::Of(None), 0).unwrap();
        (preview.rows, preview.invalid, preview.highest_credits)
    };
    let list = "c,limit\nquill.example,11\nx y z,1\nb.example,5\nc\n";
    assert_eq!(of("/v1/company_enrichment", &["companyName=c"], list), (4, 1, Some(9)));
    assert_eq!(of("/v1/dte", &["companyDomain=c", "limit=limit"], list), (4, 2, Some(4)));
    assert_eq!(of("/v1/dte", &["companyDomain=c", "limit:=10"], list), (4, 2, Some(4)));
    assert_eq!(of("/v1/dte", &["companyDomain=c"], list), (4, 2, None));
}

#[test]
fn what_may_be_a_national_number_counts_as_asked_while_the_country_is_not_known() {
    let list = "Phone\n020 7946 0123\n+44 20 7946 0123\n+44 20\nno number\n";
    let mapping = Mapping::parse(["phoneNumber=Phone"]).unwrap();
    let invalid = |numbers| {
        let mut input =
            Input::open(Source::reader("list.csv", std::io::Cursor::new(list))).unwrap();
        preview(&mut input, endpoint("/v1/mti"), &mapping, numbers, 0).unwrap().invalid
    };
    assert_eq!(invalid(NationalNumbers::Of(None)), 3);
    assert_eq!(invalid(NationalNumbers::Of(Country::from_code("GB").ok())), 2);
    assert_eq!(invalid(NationalNumbers::OfUnknownAccount), 2);
}
