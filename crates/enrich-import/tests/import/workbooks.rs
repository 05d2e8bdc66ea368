//! Tests of Excel workbooks: their content, and the limits on what a malicious file can cost.

use std::io::{Cursor, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use enrich_import::{Bounds, Cells, Halt, HeaderError, NoList, ReadError, Rejection, Rows, Source};
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::memory::imported;

fn read(source: Source) -> Result<(Vec<Vec<String>>, String), ReadError> {
    let mut list = Rows::open(source)?;
    let mut rows: Vec<Vec<String>> = list.columns().map(<[String]>::to_vec).into_iter().collect();
    while let Some(row) = list.next_row()? {
        let Ok(Cells::Csv(cells)) = row.cells else { panic!("{row:?}") };
        rows.push(cells.into_iter().map(|cell| String::from_utf8(cell).unwrap()).collect());
    }
    Ok((rows, list.layout().map(|layout| layout.to_string()).unwrap_or_default()))
}

fn held(bytes: Vec<u8>) -> Source {
    Source::reader("leads.xlsx", Cursor::new(bytes))
}

/// Returns a workbook. `sheet` is the XML of its first sheet, `strings` the XML of its shared
/// strings.
fn workbook(sheet: &[u8], strings: &[u8]) -> Vec<u8> {
    let relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let parts: [(&str, Vec<u8>); 4] = [
        (
            "xl/workbook.xml",
            format!("<workbook xmlns:r=\"{relation}\"><sheets><sheet name=\"Leads &amp; more\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>")
                .into_bytes(),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!("<Relationships><Relationship Id=\"rId1\" Type=\"{relation}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>")
                .into_bytes(),
        ),
        ("xl/sharedStrings.xml", strings.to_vec()),
        ("xl/worksheets/sheet1.xml", sheet.to_vec()),
    ];
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, part) in parts {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(&part).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn worksheet(rows: &str) -> Vec<u8> {
    format!("<worksheet><sheetData>{rows}</sheetData></worksheet>").into_bytes()
}

#[test]
fn a_workbook_s_first_shown_sheet_is_read_as_people_see_it() {
    let mut workbook = Workbook::new();
    workbook.add_worksheet().set_name("Old").unwrap().set_hidden(true);
    let dates = Format::new().set_num_format("dd.mm.yyyy");
    let day = ExcelDateTime::from_ymd(2024, 2, 29).unwrap();
    let sheet = workbook.add_worksheet().set_name("Leads").unwrap().set_active(true);
    for (column, name) in ["name", "phones", "Since", "domain", "x"].into_iter().enumerate() {
        sheet.write(1, u16::try_from(column).unwrap(), name).unwrap();
    }
    sheet.write(2, 0, "Müller & <Söhne>").unwrap().write(2, 1, 442_079_460_123.0).unwrap();
    sheet.write_with_format(2, 2, &day, &dates).unwrap().write(2, 3, "quill.example").unwrap();
    sheet.write(5, 0, "Ink, Ltd").unwrap().write_blank(5, 1, &dates).unwrap();
    sheet.write(5, 3, "ink.example").unwrap().write(5, 4, true).unwrap();
    let bytes = workbook.save_to_buffer().unwrap();
    let (rows, layout) = read(held(bytes.clone())).unwrap();
    assert_eq!(rows[0], ["name", "phones", "Since", "domain", "x"]);
    assert_eq!(rows[1], ["Müller & <Söhne>", "442079460123", "2024-02-29", "quill.example", ""]);
    assert_eq!(rows[2], ["Ink, Ltd", "", "", "ink.example", "TRUE"]);
    assert_eq!(layout, "Excel workbook, sheet `Leads`, one of 2; the others are not read");

    let (report, _) = imported("leads.csv", bytes.clone());
    assert_eq!((report.added, report.rejected, report.name_only), (2, 0, 0), "{report:?}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    assert_eq!(read(Source::file(file.path()).unwrap()).unwrap().0, rows);
    let (report, _) = imported("leads.xlsx.gz", crate::compressed::gzip(&bytes));
    assert_eq!(report.added, 2);
}

#[test]
fn rows_of_every_kind_of_text_are_read() {
    let strings = b"<sst uniqueCount=\"99999999999999999\"><si><t>a</t></si><si><r><t>b</t></r><r><t xml:space=\"preserve\"> c</t></r><rPh><t>no</t></rPh></si></sst>";
    let rows = worksheet(
        "<row r=\"3\"><c t=\"s\" r=\"A3\"><v>0</v></c><c t=\"s\" r=\"C3\"><v>1</v></c></row>\
         <row><c t=\"inlineStr\"><is><t>x&#10;y</t></is></c><c><f>1+1</f><v>2</v></c><c t=\"str\"><v>&lt;z</v></c></row>",
    );
    let (rows, layout) = read(held(workbook(&rows, strings))).unwrap();
    assert_eq!(rows, [["a", "", "b c"], ["x\ny", "2", "<z"]]);
    assert_eq!(layout, "Excel workbook, sheet `Leads & more`");
}

#[test]
fn a_million_empty_rows_are_passed_over_and_can_be_stopped() {
    let empty = "<row><c s=\"1\"/></row>".repeat(1_000_000);
    let bytes = workbook(&worksheet(&format!("<row><c><v>1</v></c></row>{empty}")), b"<sst/>");
    assert!(bytes.len() < 200_000);
    assert_eq!(read(held(bytes.clone())).unwrap().0, [["1"]]);
    let asked = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&asked);
    let is_stopped = Arc::new(move || counts.fetch_add(1, Ordering::SeqCst) > 20);
    let bounds = Bounds { max_bytes: u64::MAX, max_lines: u64::MAX, is_stopped };
    let stopped = read(held(bytes).bounded(bounds));
    assert!(matches!(stopped, Err(ReadError::Halted(Halt::Stopped))), "{stopped:?}");
}

#[test]
fn a_workbook_that_unpacks_to_more_than_is_read_is_refused() {
    let bounds =
        || Bounds { max_bytes: 10_000_000, max_lines: u64::MAX, is_stopped: Arc::new(|| false) };
    let row = "<row><c t=\"str\"><v>x</v></c></row>";
    let bomb = workbook(&worksheet(&row.repeat(1_000_000)), b"<sst/>");
    let refused = read(held(bomb).bounded(bounds()));
    assert!(matches!(refused, Err(ReadError::Halted(Halt::TooManyBytes(_)))), "{refused:?}");
    let long = "x".repeat(30_000_000);
    let cases = [
        workbook(&worksheet(&format!("<row><c t=\"str\"><v>{long}</v></c></row>")), b"<sst/>"),
        workbook(&worksheet(""), format!("<sst><si><t>{long}</t></si></sst>").as_bytes()),
        workbook(&worksheet(""), format!("<sst><si a=\"{long}\"/></sst>").as_bytes()),
        workbook(&worksheet("<row><c r=\"ZZZZ1\"><v>1</v></c></row>"), b"<sst/>"),
    ];
    for bytes in cases {
        let refused = read(held(bytes));
        assert!(matches!(refused, Err(ReadError::NoList(NoList::LargeWorkbook(_)))), "{refused:?}");
    }
    let strings = format!("<sst>{}</sst>", "<si/>".repeat(17_000_000));
    let refused = read(held(workbook(&worksheet(""), strings.as_bytes())));
    let expected = NoList::LargeWorkbook("too many different texts");
    assert!(matches!(&refused, Err(ReadError::NoList(no)) if *no == expected), "{refused:?}");
}

#[test]
fn a_row_too_long_is_rejected_alone_and_a_header_too_long_is_refused() {
    let strings = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(128 * 1024));
    let long = format!("<row>{}</row>", "<c t=\"s\"><v>0</v></c>".repeat(100));
    let short = "<row><c t=\"str\"><v>Quill</v></c></row>";
    let bytes = workbook(&worksheet(&format!("{short}{long}{short}")), strings.as_bytes());
    let mut list = Rows::open(held(bytes)).unwrap();
    let rejected = list.next_row().unwrap().unwrap();
    assert_eq!(rejected.cells, Err(Rejection::TooLong));
    assert_eq!(rejected.text.len(), 1024 * 1024);
    assert_eq!(list.next_row().unwrap().unwrap().cells, Ok(Cells::Csv(vec![b"Quill".to_vec()])));
    let refused = read(held(workbook(&worksheet(&format!("{long}{short}")), strings.as_bytes())));
    let refused = refused.map(|(rows, _)| rows.len());
    let expected = HeaderError::NotWhole;
    assert!(matches!(refused, Err(ReadError::Header(error)) if error == expected), "{refused:?}");
}

#[test]
fn an_archive_of_very_many_files_is_refused_before_its_names_are_read() {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..10_001 {
        archive.start_file(number.to_string(), SimpleFileOptions::default()).unwrap();
    }
    let refused = read(held(archive.finish().unwrap().into_inner())).unwrap_err();
    assert_eq!(refused.to_string(), NoList::LargeWorkbook("too many parts").to_string());
}

#[test]
fn other_archives_are_told_from_workbooks_and_damaged_ones_from_whole_ones() {
    for (part, said) in [
        ("leads.csv", "this is a zip archive"),
        ("word/document.xml", "this is a Word document"),
        ("xl/workbook.bin", "a binary Excel workbook"),
    ] {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file(part, SimpleFileOptions::default()).unwrap();
        let refused = read(held(archive.finish().unwrap().into_inner())).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
    let whole = workbook(&worksheet("<row><c><v>1</v></c></row>"), b"<sst/>");
    for cut in (0..whole.len()).step_by(7) {
        // A truncated workbook never causes a panic. It is also refused if at least its first four
        // bytes are left, which show that it is a zip archive. With fewer bytes, it may be read as
        // a list in CSV.
        assert!(cut < 4 || read(held(whole[..cut].to_vec())).is_err(), "{cut}");
    }
    let open = workbook(b"<worksheet><sheetData><row><c><v>1</v></c></row>", b"<sst/>");
    let refused = read(held(open)).unwrap_err().to_string();
    assert!(refused.contains("the Excel file is damaged"), "{refused}");
}
