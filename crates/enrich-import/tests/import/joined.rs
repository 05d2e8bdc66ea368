//! Tests of records that are spread over several files of an archive.

use std::fmt::Write;
use std::io::Cursor;

use enrich_import::{ImportSource, MapAs, Preview, SkipReason, Source, preview};
use enrich_mapping::{Mapping, Settings};

use crate::inputs::{explained, zip};

const MAPPING: &str = r#"
    [source]
    name = "register"
    [[join.member]]
    file = "firm.csv"
    key = "Number"
    name = "firm"
    [[join.member]]
    file = "name.csv"
    key = "Firm"
    name = "names"
    [record]
    id = "@key"
    [fields]
    name = { first = [{ from = "names", where = { Kind = "1" }, take = "Name" }, "names.Name"] }
    aliases = "names.Name"
    [[skip]]
    column = "firm.State"
    equals = "gone"
    reason = "dissolved"
"#;

const FIRMS: &str = "Number,State\n0.3,here\n0.1,here\n0.2,gone\n";
const NAMES: &str = "Firm,Kind,Name\n0.1,2,QM\n0.9,1,Branch\n0.3,1,Inkwell\n0.1,1,Quillmark\n";

fn source(file_name: &str, bytes: Vec<u8>, mapping: &str) -> ImportSource {
    let mapping = Mapping::from_toml(mapping).unwrap();
    let input = mapping.inputs()[0].clone();
    let map_as = Some(MapAs::new(mapping, input, Settings::default()));
    let source = Source::reader(file_name, Cursor::new(bytes));
    ImportSource { source, map_as, limit: u64::MAX }
}

fn joined(files: &[(&str, &[u8])]) -> Preview {
    preview(source("register.zip", zip(files), MAPPING), 10, &mut ()).unwrap()
}

fn failure(file_name: &str, bytes: Vec<u8>) -> String {
    let error = preview(source(file_name, bytes, MAPPING), 10, &mut ()).unwrap_err();
    explained(std::error::Error::source(&error.cause).unwrap())
}

#[test]
fn rows_of_several_files_in_any_order_make_one_record() {
    let seen = joined(&[
        ("readme.txt", b"x"),
        ("data/name.csv", NAMES.as_bytes()),
        ("data/firm.csv", FIRMS.as_bytes()),
    ]);
    assert_eq!(
        seen.records,
        [
            r#"{"type":"company","id":"0.1","name":"Quillmark","aliases":["QM"]}"#,
            r#"{"type":"company","id":"0.3","name":"Inkwell"}"#,
        ]
    );
    assert_eq!(seen.report.skipped[&SkipReason::ByMapping("dissolved".to_owned())].count, 1);
    assert_eq!((seen.report.read, seen.report.rejected), (2, 0));
}

#[test]
fn a_row_that_can_not_be_used_is_rejected_alone() {
    let names = format!("{NAMES}0.3,2\n0.3,2,IW\n");
    let seen = joined(&[("name.csv", names.as_bytes()), ("firm.csv", FIRMS.as_bytes())]);
    assert_eq!(seen.report.rejected, 1);
    assert_eq!(seen.report.first_rejected[0].0, 6);
    let ink = r#"{"type":"company","id":"0.3","name":"Inkwell","aliases":["IW"]}"#;
    assert_eq!(seen.records[1], ink);
}

#[test]
fn many_rows_are_sorted_on_the_disk() {
    let (mut firms, mut names) = ("Number,State\n".to_owned(), "Firm,Kind,Name\n".to_owned());
    for number in 0..48_000_u32 {
        let key = number.wrapping_mul(2_654_435_761);
        writeln!(firms, "{key:010},here").unwrap();
        writeln!(names, "{key:010},1,Company {key}{}", " and Sons".repeat(40)).unwrap();
    }
    let seen = joined(&[("firm.csv", firms.as_bytes()), ("name.csv", names.as_bytes())]);
    assert_eq!((seen.report.added, seen.report.rejected), (48_000, 0));
    let ids: Vec<&str> = seen.records.iter().filter_map(|text| text.get(24..34)).collect();
    assert!(ids.is_sorted() && ids[0] == "0000000000", "{ids:?}");
    assert!(
        seen.records[9].contains(&format!("Company {} and Sons", ids[9].trim_start_matches('0')))
    );
}

#[test]
fn an_archive_that_is_not_that_of_the_format_is_told() {
    let missing = failure("register.zip", zip(&[("firm.csv", FIRMS.as_bytes())]));
    assert_eq!(missing, "no file in the zip archive fits `name.csv`; it has firm.csv");
    let other = zip(&[("firm.csv", b"Id,State\n1,here\n"), ("name.csv", NAMES.as_bytes())]);
    let expected =
        "`firm.csv` has no column `Number`, by which its rows are joined; get the archive again";
    assert_eq!(failure("register.zip", other), expected);
    let alone = failure("firm.csv", FIRMS.as_bytes().to_vec());
    let expected = "records of this format are spread over several files (firm.csv, name.csv); \
        give the zip archive";
    assert_eq!(alone, expected);
}
