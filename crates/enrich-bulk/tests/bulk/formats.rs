//! Tests of every list format: how it is read, which format the output has, and how a run
//! continues.

use std::io::Cursor;

use enrich_bulk::{End, Format, Input, Opened, Options, Part, Purpose, ReadError, Source, Stop};
use enrich_import::{Cells, Rows};

use crate::fixture::{Books, Fixture, numbered};

/// Returns all rows of a workbook, the header first.
fn sheet_rows(path: &std::path::Path) -> Vec<Vec<String>> {
    let mut list = Rows::open(Source::file(path).unwrap()).unwrap();
    let mut rows = vec![list.columns().unwrap().to_vec()];
    while let Some(row) = list.next_row().unwrap() {
        let Ok(Cells::Csv(cells)) = row.cells else { panic!("{row:?}") };
        rows.push(cells.into_iter().map(|cell| String::from_utf8(cell).unwrap()).collect());
    }
    rows
}

fn input(name: &str, bytes: Vec<u8>) -> Input {
    Input::open(Source::reader(name, Cursor::new(bytes))).unwrap()
}

fn workbook(rows: &[[&str; 2]]) -> Vec<u8> {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (number, row) in rows.iter().enumerate() {
        for (column, cell) in row.iter().enumerate() {
            let column = u16::try_from(column).unwrap();
            sheet.write(u32::try_from(number).unwrap(), column, *cell).unwrap();
        }
    }
    workbook.save_to_buffer().unwrap()
}

#[test]
fn cells_that_a_workbook_cuts_are_counted_and_stand_whole_in_a_file_beside_it() {
    let (fixture, books) = (Fixture::new(), Books::default());
    let long = "x".repeat(40_000);
    let list = format!("Company,note\nQuill,{long}\nQuill,=1+1\n");
    let run = |out| {
        let (options, stop) = (Options::default(), Stop::default());
        fixture.run(("leads.csv", &list), out, &books, options, &stop).unwrap().counts.cut_cells
    };
    assert_eq!(run("out.csv"), 0);
    assert_eq!(run("out.xlsx"), 1);
    assert_eq!(sheet_rows(&fixture.path("out.xlsx"))[1][1].len(), 32_767);
    assert_eq!(fixture.names(), ["out.csv", "out.xlsx", "out.xlsx.csv"]);
    assert_eq!(fixture.read("out.xlsx.csv"), format!("\u{feff}{}", fixture.read("out.csv")));
}

#[test]
fn a_list_with_semicolons_comes_out_with_semicolons() {
    let (fixture, books) = (Fixture::new(), Books::default());
    let list = "id;Company\n1;Quill, Ltd\n2;nobody\n";
    let expected = "id;Company;url;confidence_level;status;error;credits\n\
                    1;Quill, Ltd;Quill, Ltd.example;97;found;;1\n2;nobody;;;not_found;;0\n";
    assert_eq!(fixture.written(("leads.csv", list), "out.csv", &books), expected);
    assert_eq!(books.total(), 1);
}

#[test]
fn tabs_are_written_where_the_output_s_name_says_so() {
    let (fixture, books) = (Fixture::new(), Books::default());
    let written = fixture.written(("leads.csv", "id,Company\n1,Quill\n"), "out.tsv", &books);
    assert!(written.starts_with("id\tCompany\turl\t"), "{written}");
    assert!(written.contains("\n1\tQuill\tQuill.example\t97\tfound\t\t1\n"), "{written}");
}

#[test]
fn a_list_in_another_encoding_comes_out_as_utf_8_that_spreadsheets_know() {
    let (fixture, books) = (Fixture::new(), Books::default());
    let list: Vec<u8> = "id;Company\n1;Müller\n".chars().map(|letter| letter as u8).collect();
    let list = input("leads.csv", list);
    let outcome = fixture.run_input(list, "out.csv", &books, Options::default(), &Stop::default());
    assert_eq!(outcome.unwrap().end, End::Whole);
    let written = fixture.read("out.csv");
    // The list is not UTF-8, which is detected by the `ü` in its first row. The output is UTF-8. It
    // begins with a byte order mark, so that spreadsheet programs recognise UTF-8.
    assert!(written.starts_with("\u{feff}id;Company;"), "{written}");
    assert!(written.contains("1;Müller;Müller.example;"), "{written}");
}

#[test]
fn a_workbook_comes_out_as_a_workbook() {
    let (fixture, books) = (Fixture::new(), Books::default());
    let list = workbook(&[["id", "Company"], ["=1+1", "Quill"], ["", "nobody"]]);
    let list = input("leads.xlsx", list);
    let outcome = fixture.run_input(list, "out.xlsx", &books, Options::default(), &Stop::default());
    assert_eq!(outcome.unwrap().end, End::Whole);
    let rows = sheet_rows(&fixture.path("out.xlsx"));
    assert_eq!(rows[0], ["id", "Company", "url", "confidence_level", "status", "error", "credits"]);
    assert_eq!(rows[1], ["=1+1", "Quill", "Quill.example", "97", "found", "", "1"]);
    assert_eq!(rows[2], ["", "nobody", "", "", "not_found", "", "0"]);
    assert_eq!(fixture.names(), ["out.xlsx"]);
}

#[test]
fn a_run_that_was_stopped_goes_on_in_every_format_and_pays_no_row_twice() {
    let list = numbered(200);
    let semicolons = list.replace(',', ";");
    let utf_16: Vec<u8> = semicolons.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let rows: Vec<[&str; 2]> =
        list.lines().map(|line| line.split_once(',').unwrap().into()).collect();
    let sheet_of = workbook(&rows);
    for (name, bytes, out) in [
        ("leads.csv", semicolons.clone().into_bytes(), "out.csv"),
        ("leads.csv", utf_16, "out.tsv"),
        ("leads.xlsx", sheet_of.clone(), "out.xlsx"),
        ("leads.csv", semicolons.into_bytes(), "out.xlsx"),
        ("leads.xlsx", sheet_of, "out.jsonl.gz"),
    ] {
        let fixture = Fixture::new();
        let mut books = Books::default();
        for at in [40, 60] {
            let stop = Stop::default();
            books.at_call = Some((at, stop.clone()));
            let list = input(name, bytes.clone());
            let outcome = fixture.run_input(list, out, &books, Options::default(), &stop).unwrap();
            assert_eq!(outcome.end, End::Stopped, "{out}");
        }
        books.at_call = None;
        let list = input(name, bytes.clone());
        let outcome = fixture.run_input(list, out, &books, Options::default(), &Stop::default());
        let outcome = outcome.unwrap();
        assert_eq!((outcome.end, outcome.counts.rows), (End::Whole, 200), "{out}");
        assert_eq!(outcome.counts.credits, books.total(), "{out}");
        if out == "out.xlsx" {
            let rows = sheet_rows(&fixture.path(out));
            assert_eq!(rows.len(), 201);
            assert!(rows.iter().skip(1).enumerate().all(|(at, row)| row[0] == at.to_string()));
        }
        assert_eq!(fixture.names(), [out]);
    }
}

#[test]
fn a_workbook_whose_name_was_not_given_before_a_crash_is_made_again() {
    let (fixture, books) = (Fixture::new(), Books::default());
    let stop = Stop::default();
    let list = || input("leads.csv", numbered(20).into_bytes());
    fixture.run_input(list(), "out.xlsx", &books, Options::default(), &stop).unwrap();
    let (out, job) = (fixture.path("out.xlsx"), fixture.path("out.xlsx.job"));
    assert!(out.exists() && !job.exists());
    // This file is left over from a process that ended before it completed the workbook.
    std::fs::write(fixture.path("other.xlsx.new"), "half").unwrap();
    fixture.run_input(list(), "other.xlsx", &books, Options::default(), &stop).unwrap();
    assert_eq!(sheet_rows(&fixture.path("other.xlsx")).len(), 21);
}

#[test]
fn a_list_without_rows_is_refused_before_anything_is_asked() {
    for (list, said) in [
        ("", "the list is empty"),
        ("\n\n", "the list is empty"),
        ("Company\n", "the list has column names but no rows"),
        ("Company;City\n\n\n", "the list has column names but no rows"),
    ] {
        let refused = Input::open(Source::reader("leads.csv", Cursor::new(list))).err().unwrap();
        assert!(matches!(refused, ReadError::NoList(_)), "{refused:?}");
        assert_eq!(refused.to_string(), said);
    }
}

#[test]
fn an_output_that_was_answered_before_gets_columns_with_numbers_or_a_prefix() {
    let (fixture, books) = (Fixture::new(), Books::default());
    let first = fixture.written(("leads.csv", "Company\nQuill\n"), "first.csv", &books);
    let second = fixture.written(("first.csv", &first), "second.csv", &books);
    let header = second.lines().next().unwrap();
    let added = "url_2,confidence_level_2,status_2,error_2,credits_2";
    assert_eq!(header, format!("Company,url,confidence_level,status,error,credits,{added}"));
    let third = fixture.written(("second.csv", &second), "third.jsonl", &books);
    assert!(third.contains("\"status_3\":\"found\""), "{third}");

    let purpose = Purpose { prefix: "site_".to_owned(), ..fixture.purpose() };
    let Opened::ToDo(part) = Part::open(&fixture.path("p.csv"), Format::Csv, &purpose).unwrap()
    else {
        panic!("it was not begun");
    };
    drop(part);
    let other = Part::open(&fixture.path("p.csv"), Format::Csv, &fixture.purpose()).err().unwrap();
    assert!(other.to_string().contains("was started with the prefix site_"), "{other}");
}

#[test]
fn a_workbook_is_not_packed_once_more() {
    let fixture = Fixture::new();
    let refused = Part::open(&fixture.path("out.xlsx.gz"), Format::Csv, &fixture.purpose()).err();
    assert!(refused.unwrap().to_string().contains("is already compressed"));
}
