//! Tests of CSV files as users have them, with every delimiter and encoding. Also tests of files
//! that contain no list of records, such as pictures.

use std::io::Cursor;

use enrich_import::{Cells, Delimiter, NoList, ReadAs, ReadError, Rows, Source, TextEncoding};

use crate::memory::imported;

const TEXT: &str =
    "Name;Domain;Country\nMüller & Söhne;quill.example;DE\nCafé, Ink;ink.example;CH\n";

fn western(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
}

fn utf_16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Returns all rows of a file, the header first, and the file's layout.
fn rows_as(
    name: &str,
    bytes: &[u8],
    read_as: ReadAs,
) -> Result<(Vec<Vec<String>>, String), ReadError> {
    let source = Source::reader(name, Cursor::new(bytes.to_vec())).read_as(read_as);
    let mut list = Rows::open(source)?;
    let mut rows: Vec<Vec<String>> = list.columns().map(<[String]>::to_vec).into_iter().collect();
    while let Some(row) = list.next_row()? {
        let Ok(Cells::Csv(cells)) = row.cells else { panic!("{row:?}") };
        rows.push(cells.into_iter().map(|cell| String::from_utf8(cell).unwrap()).collect());
    }
    Ok((rows, list.layout().map(|layout| layout.to_string()).unwrap_or_default()))
}

fn rows(name: &str, bytes: &[u8]) -> Result<(Vec<Vec<String>>, String), ReadError> {
    rows_as(name, bytes, ReadAs::default())
}

#[test]
fn a_table_is_read_whatever_its_delimiter_and_encoding() {
    let expected = [
        ["Name", "Domain", "Country"],
        ["Müller & Söhne", "quill.example", "DE"],
        ["Café, Ink", "ink.example", "CH"],
    ];
    let tabs = TEXT.replace(';', "\t");
    let cases = [
        (TEXT.as_bytes().to_vec(), "CSV, `;` between columns, UTF-8"),
        (western(TEXT), "CSV, `;` between columns, Windows-1252"),
        (utf_16(&tabs), "CSV, tabs between columns, UTF-16"),
        (utf_16(&format!("\u{feff}{tabs}")), "CSV, tabs between columns, UTF-16"),
        (format!("sep=;\r\n{TEXT}").into_bytes(), "CSV, `;` between columns, UTF-8"),
        (TEXT.replace(';', "|").into_bytes(), "CSV, `|` between columns, UTF-8"),
    ];
    for (bytes, layout) in cases {
        for name in ["leads.csv", "leads.txt", "leads.tsv"] {
            assert_eq!(
                rows(name, &bytes).unwrap(),
                (expected.map(|row| row.map(str::to_owned).to_vec()).to_vec(), layout.to_owned())
            );
        }
    }
}

#[test]
fn an_import_reads_what_spreadsheets_write() {
    let (report, records) = imported("export.csv", western(TEXT));
    assert_eq!((report.added, report.rejected, report.name_only), (2, 0, 0), "{report:?}");
    assert_eq!(records.len(), 2);
    let layout = report.layout.unwrap().to_string();
    assert_eq!(layout, "CSV, `;` between columns, Windows-1252");
}

#[test]
fn what_is_said_counts_before_what_is_detected() {
    let read_as =
        ReadAs { delimiter: Some(Delimiter::Comma), encoding: TextEncoding::parse("utf-8") };
    let (read, layout) = rows_as("a.csv", "a;b,c;d\n1;2,3;4\n".as_bytes(), read_as).unwrap();
    assert_eq!(read[1], ["1;2", "3;4"]);
    assert_eq!(layout, "CSV, `,` between columns, UTF-8");
    let read_as = ReadAs { delimiter: None, encoding: TextEncoding::parse("windows-1252") };
    assert_eq!(rows_as("a.csv", "a,b\né,2\n".as_bytes(), read_as).unwrap().0[1], ["Ã©", "2"]);
}

#[test]
fn what_is_no_list_is_refused_in_plain_words() {
    let cases: [(&str, &[u8], &str); 8] = [
        ("leads.csv", b"%PDF-1.4\n...", "this is a PDF document, not a list"),
        ("leads.csv", b"[{\"name\":\"Quill\"}]\n", "this is a single JSON value"),
        ("leads.csv", b"[\n  {\"name\":\"Quill\"}\n]\n", "this is a single JSON value"),
        ("leads.jsonl", b"[{\"name\":\"Quill\"}]\n", "this is a single JSON value"),
        ("leads.csv", b"{\"name\":\"Quill\"}\n", "this is JSON, not CSV"),
        (
            "leads.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
            "an old or password-protected Excel",
        ),
        ("logo.csv", b"\x89PNG\r\n\x1a\n", "this is a picture"),
        ("leads.csv", b"<!DOCTYPE html><html>", "this is a web page"),
    ];
    for (name, bytes, said) in cases {
        let refused = rows(name, bytes).unwrap_err();
        assert!(matches!(refused, ReadError::NoList(_)), "{refused:?}");
        assert!(
            refused.to_string().starts_with(said) || refused.to_string().contains(said),
            "{refused}"
        );
    }
    let words = NoList::HeaderAlone.to_string();
    assert!(!words.contains("UTF") && !words.contains("header"), "{words}");
}
