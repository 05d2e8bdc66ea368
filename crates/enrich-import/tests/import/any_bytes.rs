//! Checks that arbitrary input never causes a panic, and that the report counts every record.

use enrich_core::port::importer::Atomic;
use enrich_import::{Report, import};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::compressed::{gzip, zstd};
use crate::memory::{Memory, import_into, load, source};

const NAMES: [&str; 7] =
    ["a.jsonl", "a.csv", "stdin", "a.jsonl.gz", "a.csv.gz", "a.jsonl.zst", "a.csv.zst"];

/// Generates parts of records, and characters that make a record invalid.
fn piece() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "\\u00e9",
        "\\ud800",
        "null",
        "true",
        "1e999",
        "-",
        "type",
        "company",
        "person",
        "domain",
        "name",
        "first_name",
        "last_name",
        "domains",
        "country",
        "phones",
        "page_rank",
        "confidence",
        "id",
        "|",
        "@DE",
        "quill.example",
        "Quill",
        "+442079460123",
        "ada@quill.example",
        " ",
        "\n",
        "\r\n",
        "\r",
        "\u{feff}",
        "é",
        "\0",
    ];
    prop_oneof![
        8 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// Generates a JSON value. It is always valid JSON, but often it is not a valid value of its field.
fn json_value() -> impl Strategy<Value = String> {
    const VALUES: &[&str] = &[
        "\"Quill\"",
        "\"quill.example\"",
        "\"DE\"",
        "17",
        "5.20",
        "null",
        "\"\"",
        "true",
        "[]",
        "[\"Quill\",\"ink.example\",null]",
        "{\"domain\":\"quill.de\",\"country\":\"DE\"}",
        "[{\"domain\":\"x\"}]",
        "\"\\u0000\"",
        "\"+44 20 7946 0123\"",
        "\"ada@quill.example\"",
    ];
    proptest::sample::select(VALUES).prop_map(str::to_owned)
}

fn json_line() -> impl Strategy<Value = String> {
    let names = proptest::sample::select(
        [
            "type",
            "name",
            "first_name",
            "last_name",
            "domain",
            "domains",
            "country",
            "emails",
            "phones",
            "ip",
            "page_rank",
            "confidence",
            "id",
            "linkedin",
            "twitter",
            "company",
            "company_domain",
            "title",
            "aliases",
            "other",
        ]
        .as_slice(),
    );
    vec((names, json_value()), 0..8).prop_map(|fields| {
        let fields: Vec<_> =
            fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    })
}

fn check_sums(report: &Report) {
    assert_eq!(report.read, report.added + report.merged + report.unchanged + report.rejected);
    let counted: u64 = report.dropped_values.iter().map(|values| values.count).sum();
    assert_eq!(report.dropped, counted + report.suppressed_values);
}

/// Imports arbitrary bytes and checks the sums in the report, even if the import stops with an
/// error.
fn check_import(file_name: &str, bytes: &[u8]) {
    match import_into(&Memory::default(), file_name, bytes) {
        Ok(report) => check_sums(&report),
        Err(error) => check_sums(&error.report),
    }
}

proptest! {
    #[test]
    fn any_bytes_under_any_name_are_read_without_a_panic(
        name in proptest::sample::select(NAMES.as_slice()),
        bytes in vec(any::<u8>(), 0..600),
    ) {
        check_import(name, &bytes);
    }

    #[test]
    fn any_bytes_behind_a_compression_s_magic_are_read_without_a_panic(
        is_gzip in any::<bool>(),
        bytes in vec(any::<u8>(), 0..600),
    ) {
        let magic: &[u8] = if is_gzip { b"\x1f\x8b\x08\x00" } else { b"\x28\xb5\x2f\xfd" };
        check_import("stdin", &[magic, &bytes].concat());
    }

    #[test]
    fn compressed_lines_with_a_changed_byte_are_read_without_a_panic(
        lines in vec(json_line(), 1..8),
        place in any::<proptest::sample::Index>(),
        change in 1..=255_u8,
    ) {
        let text = lines.join("\n");
        for mut bytes in [gzip(&text), zstd(&text)] {
            let place = place.index(bytes.len());
            bytes[place] ^= change;
            check_import("stdin", &bytes);
        }
    }

    #[test]
    fn anything_like_a_record_is_accounted_for(
        name in proptest::sample::select(["a.jsonl", "stdin"].as_slice()),
        pieces in vec(piece(), 0..60),
    ) {
        check_import(name, pieces.concat().as_bytes());
    }

    #[test]
    fn anything_like_a_table_is_accounted_for(pieces in vec(piece(), 0..60)) {
        let text = format!("name,domains,country,other\n{}", pieces.concat());
        let report = import_into(&Memory::default(), "a.csv", text).unwrap();
        check_sums(&report);
    }

    #[test]
    fn every_json_line_that_is_not_blank_is_one_record(
        lines in vec(prop_oneof![json_line(), Just(String::new()), "[ a-z{}\"]{0,9}"], 0..30),
    ) {
        let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
        let report = import_into(&Memory::default(), "a.jsonl", lines.join("\n")).unwrap();
        prop_assert_eq!(report.read, filled as u64);
        check_sums(&report);
    }

    #[test]
    fn every_csv_row_without_quotes_is_one_record(
        lines in vec("[ a-z,|@.é]{0,20}", 0..30),
    ) {
        let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
        let text = format!("name,domains\n{}", lines.join("\r\n"));
        let report = import_into(&Memory::default(), "a.csv", text).unwrap();
        prop_assert_eq!(report.read, filled as u64);
    }

    #[test]
    fn a_second_import_brings_nothing_new(lines in vec(json_line(), 0..30)) {
        let memory = Memory::default();
        let text = lines.join("\n");
        let first = import_into(&memory, "a.jsonl", text.as_str()).unwrap();
        let second = import_into(&memory, "a.jsonl", text.as_str()).unwrap();
        prop_assert_eq!((second.added, second.merged), (0, 0));
        prop_assert_eq!(second.unchanged, first.added + first.unchanged);
    }

    #[test]
    fn no_reason_ever_holds_what_was_given(secret in "[a-z]{12}") {
        let mark = format!("zq{secret}");
        let text = format!(
            "{{\"name\":\"{mark}\",\"domains\":\"{mark}\",\"emails\":\"{mark}\",\"phones\":\"{mark}\",\
             \"ip\":\"{mark}\",\"country\":\"{mark}\",\"twitter\":\"https://{mark}.example/\"}}\n\
             {{\"type\":\"{mark}\"}}\n{{\"domain\":\"{mark}\"}}\n{mark}\n\
             {{\"first_name\":\"{mark}\",\"last_name\":\"{mark}\",\"linkedin\":\"//{mark}.example\",\
             \"company_domain\":\"{mark}\"}}\n",
        );
        let report = import_into(&Memory::default(), "a.jsonl", text).unwrap();
        prop_assert_eq!((report.rejected, report.dropped), (3, 8));
        let shown = format!("{report:?}");
        prop_assert!(!shown.contains(&mark), "{}", shown);
    }

    #[test]
    fn a_strict_import_is_all_or_nothing(lines in vec(json_line(), 0..12)) {
        let memory = Memory::default();
        let source = source("a.jsonl", lines.join("\n"));
        let result =
            pollster::block_on(import(source, &memory, load(Atomic::Whole), None, &mut ()));
        let kept = memory.0.lock().records.len() as u64;
        match result {
            Ok(report) => prop_assert_eq!((report.read, report.rejected), (kept, 0)),
            Err(error) => prop_assert_eq!((kept, error.report.took_anything()), (0, false)),
        }
    }
}
