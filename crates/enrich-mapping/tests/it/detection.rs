//! Checks that the source of a file is detected: the system that exported it, or the open data that
//! it contains.

use enrich_mapping::{Detection, InputKind, Sample, detect};
use serde_json::Value;

use crate::reader::fixtures;

#[test]
fn every_fixture_is_detected_as_its_source() {
    for fixture in fixtures() {
        let beginning = fixture.beginning();
        match detect(&beginning.sample()) {
            Detection::BuiltIn(mapping, _) => {
                assert_eq!(mapping.source().name, fixture.source, "{:?}", fixture.path);
            }
            other => panic!("{:?} {other:?}", fixture.path),
        }
    }
}

fn detected(file_name: &str, columns: &[&str]) -> String {
    let keys: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    let sample = Sample { file_name, kind: Some(InputKind::Csv), keys: &keys, ..Sample::default() };
    match detect(&sample) {
        Detection::Native => "native".to_owned(),
        Detection::BuiltIn(mapping, _) => mapping.source().name.clone(),
        Detection::Several(names) => names.join(" or "),
        Detection::Unknown => "unknown".to_owned(),
    }
}

#[test]
fn native_columns_are_native_whatever_the_file_is_called() {
    assert_eq!(detected("Connections.csv", &["name", "domain", "LinkedIn"]), "native");
    assert_eq!(detected("x.csv", &["First_Name", "last_name", "emails", "company"]), "native");
    assert_eq!(detected("x.csv", &["domain", "page_rank"]), "native");
    assert_eq!(detected("x.csv", &["name", "domain", "notes"]), "native");
}

#[test]
fn area_codes_of_national_numbers_make_a_file_not_native() {
    let is_native = |number: &str| {
        let keys = ["name", "phone", "Vorwahl"].map(str::to_owned);
        let cells = ["Quill", number, "030"].map(Value::from);
        let records = [keys.iter().cloned().zip(cells).collect()];
        let kind = Some(InputKind::Csv);
        let sample = Sample { kind, keys: &keys, records: &records, ..Sample::default() };
        matches!(detect(&sample), Detection::Native)
    };
    assert!(is_native("+493023125001"));
    assert!(!is_native("23125 001"));
}

#[test]
fn plain_columns_are_of_no_source_that_is_built_in() {
    assert_eq!(detected("x.csv", &["Company Name", "Website", "Phone"]), "unknown");
    assert_eq!(detected("x.csv", &["name", "Website"]), "unknown");
    assert_eq!(detected("x.csv", &["a", "b"]), "unknown");
    assert_eq!(detected("", &[]), "unknown");
}

#[test]
fn two_columns_without_a_header_need_a_known_file_name() {
    assert_eq!(detected("tranco_X.csv", &["1", "quillmark.example"]), "tranco");
    assert_eq!(detected("x.csv", &["1", "quillmark.example"]), "unknown");
}

#[test]
fn a_file_of_two_sources_names_both() {
    let columns = ["Record ID", "First Name", "Last Name", "Email", "Account Name"];
    assert_eq!(detected("x.csv", &columns), "hubspot or salesforce");
    assert_eq!(detected("hubspot-1.csv", &columns), "hubspot");
}

#[test]
fn notes_before_the_header_need_a_known_file_name() {
    assert_eq!(detected("Connections (1).csv", &["Notes:"]), "linkedin-connections");
    assert_eq!(detected("x.csv", &["Notes:"]), "unknown");
}

#[test]
fn a_file_whose_keys_are_not_known_is_told_by_its_name() {
    assert_eq!(detected("majestic_million.csv", &[]), "majestic");
}

#[test]
fn keys_within_native_ones_are_native() {
    assert_eq!(detected("x.csv", &["name", "ids", "ids.lei"]), "native");
}
