//! Tests of candidates. If the company in a row is not found by its name, the row gets candidates.
//! They are charged only once, even if the run is stopped and continued.

use std::sync::atomic::Ordering;

use enrich_bulk::{Counts, End, Options, Stop};

use crate::fixture::{Books, Fixture, numbered};

fn fixture(candidates: usize) -> Fixture {
    Fixture { candidates, ..Fixture::new() }
}

/// A list with four rows: one that is found, one that is not found and has candidates, one that is
/// not found and has no candidates, and an invalid one. The words of the names decide this in
/// [`Books`]: `nobody` is not found, `nobody 6` has no candidates, and `bad` is invalid.
const LIST: &str = "id,Company\n1,Quill 1\n2,nobody 2\n3,nobody 6\n4,bad 4\n";

#[test]
fn a_row_that_is_not_found_gets_candidates() {
    let written = fixture(3).written(("l.csv", LIST), "out.csv", &Books::default());
    let columns = ["name", "country", "domain", "confidence", "why"];
    let columns = (1..=3).flat_map(|at| columns.map(|column| format!("candidate_{at}_{column}")));
    let columns = columns.collect::<Vec<_>>().join(",");
    let two = "Quill,CH,,55,'=why,Quill,CH,,55,'=why,,,,,";
    let none = ",,,,,,,,,,,,,,";
    let expected = [
        format!("id,Company,url,confidence_level,{columns},status,error,credits"),
        format!("1,Quill 1,Quill 1.example,97,{none},found,,1"),
        format!("2,nobody 2,,,{two},not_found,,1"),
        format!("3,nobody 6,,,{none},not_found,,0"),
        format!("4,bad 4,,,{none},invalid,`companyName` can't be read,0"),
    ];
    assert_eq!(written.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn without_the_option_no_row_asks_for_candidates() {
    let books = Books::default();
    let written = fixture(0).written(("l.csv", LIST), "out.csv", &books);
    assert!(!written.contains("candidate"), "{written}");
    assert_eq!((books.questions.load(Ordering::SeqCst), books.total()), (0, 1));
}

#[test]
fn a_row_of_json_has_candidates_as_members() {
    let list = r#"{"Company":"nobody 2"}"#;
    let written = fixture(1).written(("l.jsonl", list), "out.jsonl", &Books::default());
    let row: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(
        (&row["candidate_1_name"], &row["candidate_1_domain"]),
        (&"Quill".into(), &serde_json::Value::Null)
    );
    assert_eq!((&row["status"], &row["credits"]), (&"not_found".into(), &1.into()));
}

#[test]
fn a_stopped_run_with_candidates_goes_on_and_pays_none_twice() {
    let list = numbered(300);
    let (whole, fixture) = (fixture(2), fixture(2));
    let expected = whole.written(("l.csv", &list), "out.csv", &Books::default());
    let mut books = Books::default();
    for runs in 1.. {
        let stop = Stop::default();
        let calls = *books.calls.get_mut();
        books.at_call = Some((calls + 37, stop.clone()));
        let options = Options::default();
        let outcome = fixture.run(("l.csv", &list), "out.csv", &books, options, &stop).unwrap();
        if outcome.end == End::Whole {
            assert!(runs > 5, "{runs}");
            let Counts { found, not_found, credits, .. } = outcome.counts;
            // 57 of the 60 rows that are not found have candidates. The three rows "nobody 6…" have
            // none.
            assert_eq!((not_found, credits), (60, found + 60 - 3));
            break;
        }
    }
    assert_eq!(fixture.read("out.csv"), expected);
    assert_eq!(books.total(), expected.lines().filter(|line| line.ends_with(",1")).count() as u64);
}

#[test]
fn a_run_that_is_out_of_credits_asks_for_the_same_candidates_later() {
    let fixture = fixture(1);
    let books = Books { left: Some(0).into(), ..Books::default() };
    let list = "id,Company\n1,nobody 1\n";
    let run = || {
        let (options, stop) = (Options::default(), Stop::default());
        fixture.run(("l.csv", list), "out.csv", &books, options, &stop).unwrap()
    };
    let outcome = run();
    assert_eq!(outcome.end, End::OutOfCredits("0 credits are left".to_owned()));
    assert_eq!(outcome.counts.rows, 0);
    *books.left.lock() = Some(1);
    assert_eq!((run().end, books.total()), (End::Whole, 1));
    assert!(fixture.read("out.csv").contains("1,nobody 1,,,Quill,"));
}

#[test]
fn candidates_are_within_the_ceiling() {
    let fixture = fixture(1);
    let list = "id,Company\n".to_owned() + &"1,nobody 1\n".repeat(20);
    let options = Options { max_credits: Some(7), ..Options::default() };
    let books = Books::default();
    let outcome =
        fixture.run(("l.csv", &list), "out.csv", &books, options, &Stop::default()).unwrap();
    assert_eq!((outcome.end, outcome.counts.credits), (End::Ceiling, 7));
    assert_eq!(books.total(), 7);
}

#[test]
fn a_job_does_not_go_on_with_another_number_of_candidates() {
    let (mut fixture, stop) = (fixture(2), Stop::default());
    let books = Books { at_call: Some((20, stop.clone())), ..Books::default() };
    let list = numbered(100);
    fixture.run(("l.csv", &list), "out.csv", &books, Options::default(), &stop).unwrap();
    for candidates in [0, 3] {
        fixture.candidates = candidates;
        let (options, stop) = (Options::default(), Stop::default());
        let refused = fixture.run(("l.csv", &list), "out.csv", &books, options, &stop);
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("was started with 2 candidates a row"), "{said}");
    }
}
