//! Checks that records lose values, such as phone numbers, if too many records have the same
//! domain.

use std::io::Cursor;

use enrich_import::{ImportSource, LeftOutKind, MapAs, Preview, SkipReason, Source, preview};
use enrich_mapping::{Mapping, Settings};
use serde_json::Value;

const MAPPING: &str = r#"
    [source]
    name = "places"
    [fields]
    name = "Name"
    domains = "Site"
    emails = "Mail"
    phones = "Phone"
    [merge]
    most-of-a-domain = { phones = 2, emails = 3 }
"#;

const PLACES: &str = "Name,Site,Phone,Mail\n\
    Quill West,quill.example,+44 20 7946 0101,west@quill.example\n\
    Inkwell,ink.example,+44 20 7946 0102,info@ink.example\n\
    Quill East,www.quill.example,+44 20 7946 0103,east@quill.example\n\
    Nib,,+44 20 7946 0104,\n\
    Quill North,https://quill.example/north,+44 20 7946 0105,north@quill.example\n\
    Ink Annex,ink.example,+44 20 7946 0106,\n";

fn seen(text: String, limit: u64) -> Preview {
    let mapping = Mapping::from_toml(MAPPING).unwrap();
    let input = mapping.inputs()[0].clone();
    let map_as = Some(MapAs::new(mapping, input, Settings::default()));
    let source = Source::reader("places.csv", Cursor::new(text.into_bytes()));
    preview(ImportSource { source, map_as, limit }, 10, &mut ()).unwrap()
}

/// Returns the names of the records whose phone numbers were not removed.
fn with_phones(seen: &Preview) -> Vec<String> {
    let records = seen.records.iter().map(|text| serde_json::from_str::<Value>(text).unwrap());
    let with = records.filter(|record| record.get("phones").is_some());
    with.map(|record| record["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_domain_of_too_many_records_gives_no_numbers_not_even_those_of_its_first_record() {
    let places = seen(PLACES.to_owned(), u64::MAX);
    assert_eq!(with_phones(&places), ["Inkwell", "Nib", "Ink Annex"]);
    let kind = LeftOutKind::OfSharedDomain;
    assert_eq!(places.report.left_out[&kind].count, 3);
    let emails = places.records.iter().filter(|text| text.contains("\"emails\"")).count();
    assert_eq!(emails, 4, "the limit of emails is not exceeded");
    let more = seen(format!("{PLACES}Quill South,quill.example,,south@quill.example\n"), u64::MAX);
    assert_eq!(more.report.left_out[&kind].count, 7);
}

#[test]
fn only_the_records_that_are_read_count() {
    assert_eq!(
        with_phones(&seen(PLACES.to_owned(), 4)),
        ["Quill West", "Inkwell", "Quill East", "Nib"]
    );
}

#[test]
fn rows_of_totals_are_skipped_in_tables() {
    let text = format!("{PLACES}Gesamt: 12,,,\nTotal,total.example,,\n2 Name,,,\n");
    let places = seen(text, u64::MAX);
    assert_eq!(places.report.skipped[&SkipReason::TotalRow].count, 2);
    assert_eq!(places.report.added, 7);
}

#[test]
fn footnotes_are_skipped_in_tables() {
    let text = format!(
        "{PLACES}Note: Firms marked * are new.,,,\nQuill And Ink Of Nib Inc.,q.example,,\n\
         Key: * = new in 2026,,,\n"
    );
    let places = seen(text, u64::MAX);
    assert_eq!(places.report.skipped[&SkipReason::Remark].count, 2);
    assert_eq!(places.report.added, 7);
}

#[test]
fn rows_that_repeat_the_header_are_skipped() {
    let (header, _) = PLACES.split_once('\n').unwrap();
    let text = format!("{PLACES}{}\n{header}\nName,name.example,,\n", header.to_uppercase());
    let places = seen(text, u64::MAX);
    assert_eq!(places.report.skipped[&SkipReason::RepeatedHeader].count, 2);
    assert_eq!(places.report.added, 7);
}
