//! Tests of candidates on the command line: `enrich lookup company --name` and
//! `enrich bulk --candidates`.

use serde_json::json;

use crate::fixture::Fixture;

/// Two companies with the same name, and a company with another name.
const SORRELS: &str = r#"{"type":"company","name":"Sorrel","country":"GB","domains":["sorrel-one.example"]}
{"type":"company","name":"Sorrel","country":"FR","domains":["sorrel-two.example"]}
{"type":"company","name":"Quillfeather GmbH","aliases":["Quillfeather Ink"],"country":"DE","domains":["quillfeather.example"]}
"#;

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.file("records.jsonl", SORRELS);
    assert_eq!(fixture.run(&["import", "records.jsonl"]).status, 0);
    fixture
}

#[test]
fn candidates_of_a_name_are_listed_with_their_reasons() {
    let fixture = fixture();
    let lookup = ["lookup", "company", "--name", "Sorrel", "--candidates"];
    let said = fixture.json(&lookup);
    let list = said["candidates"].as_array().unwrap();
    let domains: Vec<_> = list.iter().map(|one| one["domain"].as_str().unwrap()).collect();
    assert_eq!(domains, ["sorrel-one.example", "sorrel-two.example"], "{said}");
    assert_eq!((&list[0]["name"], &list[0]["country"]), (&json!("Sorrel"), &json!("GB")));
    assert!(list[0]["confidence"].as_u64().is_some_and(|percent| percent <= 80), "{said}");
    let why = "Its name is exactly this name; its domain contains this name.";
    assert_eq!(list[0]["why"], why);
    let table = fixture.run(&lookup).out;
    let titles: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(titles, ["confidence", "name", "country", "domain", "why"]);
    assert_eq!(table.lines().count(), 3, "{table}");
    let one = fixture.json(&[&lookup[..], &["1"]].concat());
    assert_eq!(one["candidates"].as_array().unwrap().len(), 1);
    let french = fixture.json(&[&lookup[..], &["--country", "FR"]].concat());
    assert_eq!(french["candidates"][0]["domain"], "sorrel-two.example");
}

#[test]
fn a_name_without_candidates_finds_nothing() {
    let fixture = fixture();
    let ran = fixture.run(&["lookup", "company", "--name", "Marlow", "--candidates"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "nothing found\n"));
    let said = fixture.json(&["lookup", "company", "--name", "Marlow", "--candidates"]);
    assert_eq!(said, json!({ "candidates": [] }));
}

#[test]
fn a_company_is_shown_by_its_name() {
    let fixture = fixture();
    let said = fixture.json(&["lookup", "company", "--name", "Quillfeather Ink"]);
    assert_eq!(said["company"]["name"], "Quillfeather GmbH");
    let said = fixture.json(&["lookup", "company", "--name", "Sorrel"]);
    assert_eq!(said["company"], json!(null));
    let said = fixture.json(&["lookup", "company", "--name", "Sorrel", "--explain"]);
    assert_eq!(said["body"]["company"], json!(null));
    assert_eq!(said["explained"]["company_name"]["name"], "Sorrel");
    fixture
        .run(&["lookup", "company", "--name", "Sorrel", "--candidates", "--explain"])
        .refused(2, "leave out --explain");
}

#[test]
fn candidates_need_a_name_and_a_number_up_to_ten() {
    let fixture = fixture();
    fixture.run(&["lookup", "company", "--candidates"]).refused(2, "--name");
    fixture.run(&["lookup", "company"]).refused(2, "--name");
    let name = ["lookup", "company", "--name", "Sorrel"];
    for number in ["0", "11", "x"] {
        let ran = fixture.run(&[&name[..], &["--candidates", number]].concat());
        ran.refused(2, "a whole number from 1 to 10");
    }
    fixture.run(&["lookup", "cuf", "--name", "Sorrel"]).refused(2, "lookup company");
}

#[test]
fn a_list_gets_candidates_from_the_data_folder() {
    let fixture = fixture();
    fixture.file("list.csv", "Company\nSorrel\nQuillfeather GmbH\nMarlow\n");
    let bulk = |endpoint, more: &[&str]| {
        let words = [
            "bulk",
            endpoint,
            "--in",
            "list.csv",
            "--out",
            "out.csv",
            "--map",
            "companyName=Company",
        ];
        fixture.run(&[&words[..], more].concat())
    };
    bulk("cuf", &["--candidates", "2", "--url", "http://127.0.0.1:1"]).refused(2, "--url");
    let refused =
        fixture.run(&["bulk", "dtc", "--in", "list.csv", "--out", "o.csv", "--candidates", "2"]);
    refused.refused(2, "/v1/dtc does not look for companies by their names");
    assert_eq!(bulk("cuf", &["--candidates", "2"]).status, 0);
    let written = std::fs::read_to_string(fixture.path().join("out.csv")).unwrap();
    let rows: Vec<&str> = written.lines().collect();
    assert!(rows[0].starts_with("Company,url,confidence_level,candidate_1_name,"), "{written}");
    assert!(rows[1].starts_with("Sorrel,,,Sorrel,GB,sorrel-one.example,"), "{written}");
    assert!(rows[1].ends_with("its domain contains this name.,not_found,,0"), "{written}");
    assert!(rows[2].contains("quillfeather.example,99,,,,,,,,,,,found,,0"), "{written}");
    assert_eq!(rows[3], "Marlow,,,,,,,,,,,,,not_found,,0");
}
