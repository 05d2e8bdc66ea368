//! Tests with arbitrary lists: every cell is copied unchanged, except that formulas are
//! neutralised.

use proptest::prelude::*;

use crate::fixture::{Books, Fixture};

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 éß\"',;\n\r\t=+@|-]{0,12}",
        "[=+@\t-][0-9 .+a-z|!-]{0,8}",
        Just(String::new()),
    ]
}

fn rows() -> impl Strategy<Value = Vec<(String, String, String)>> {
    prop::collection::vec(("[0-9]{1,3}", cell(), cell()), 0..12)
}

/// Neutralises a cell by the rule that `spreadsheet.rs` describes. This is a second implementation,
/// so that the tested code is not compared with itself.
fn neutralised(cell: &str) -> String {
    let is_sign = |text: &str| text.starts_with(['=', '+', '-', '@']);
    let is_number = |piece: &str| {
        let digits = piece.strip_prefix(['+', '-']).unwrap_or(piece);
        let inner = |letter: char| letter.is_ascii_digit() || letter == ' ' || letter == '.';
        digits.starts_with(|letter: char| letter.is_ascii_digit())
            && digits.ends_with(|letter: char| letter.is_ascii_digit())
            && digits.chars().all(inner)
            && digits.matches('.').count() < 2
    };
    let begins = is_sign(cell) || cell.starts_with(['\t', '\r', '\n']);
    let mut safe = String::new();
    if begins && !cell.split('|').all(is_number) {
        safe.push('\'');
    }
    for (at, part) in cell.split_inclusive([';', '\t', '|', '\r', '\n']).enumerate() {
        let alone = part.trim_end_matches([';', '\t', '|', '\r', '\n']);
        if at > 0 && is_sign(alone.trim_start_matches('"')) && !is_number(alone) {
            safe.push('\'');
        }
        safe.push_str(part);
    }
    safe
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn properties_of_csv(rows in rows()) {
        prop_assume!(!rows.is_empty());
        let mut list = csv::Writer::from_writer(Vec::new());
        list.write_record(["id", "Company", "note"]).unwrap();
        for (id, company, note) in &rows {
            list.write_record([id, company, note]).unwrap();
        }
        let list = String::from_utf8(list.into_inner().unwrap()).unwrap();
        let written = Fixture::new().written(("l.csv", &list), "out.csv", &Books::default());
        let mut reader = csv::Reader::from_reader(written.as_bytes());
        let back: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        prop_assert_eq!(back.len(), rows.len());
        for ((id, company, note), back) in rows.iter().zip(&back) {
            prop_assert_eq!(&back[0], id);
            prop_assert_eq!(&back[1], neutralised(company));
            prop_assert_eq!(&back[2], neutralised(note));
            prop_assert_eq!(back.len(), 8);
        }
    }

    #[test]
    fn properties_of_any_bytes(list in "[a-z,\"\n\r{}:é]{0,200}") {
        for name in ["l.csv", "l.jsonl"] {
            let fixture = Fixture::new();
            let header = if name == "l.csv" { "Company\n" } else { "{\"Company\":\"Quill\"}\n" };
            // The list needs at least one row, because a list with only a header is refused.
            let list = format!("{header}{list}\nx\n");
            let written = fixture.written((name, &list), "out.jsonl", &Books::default());
            for line in written.lines() {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                let names = ["status", "status_2"];
                prop_assert!(names.iter().any(|name| value[name].is_string()), "{}", line);
            }
        }
    }
}
