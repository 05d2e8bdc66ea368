//! Checks how rows of lists that people have made themselves are read: cells that repeat the cell
//! above them, and rows that are no records.

use std::io::Cursor;

use enrich_import::{ImportSource, MapAs, Preview, SkipReason, Source, preview};
use enrich_mapping::{Input, Mapping, Settings};
use serde_json::{Value, json};

fn seen(text: &str) -> Preview {
    let columns = [("name", "Company"), ("domains", "Site"), ("emails", "Mail")];
    let columns = columns.map(|(field, column)| (field.to_owned(), column.to_owned()));
    let mapping = Mapping::from_columns(&columns, None).unwrap();
    let map_as = Some(MapAs::new(mapping, Input::default(), Settings::default()));
    let source = Source::reader("list.csv", Cursor::new(text.as_bytes().to_vec()));
    preview(ImportSource { source, map_as, limit: u64::MAX }, 10, &mut ()).unwrap()
}

fn names_and_sites(text: &str) -> Value {
    let records = seen(text).records;
    let records = records.iter().map(|text| serde_json::from_str::<Value>(text).unwrap());
    records.map(|record| json!([record["name"], record["domains"][0]])).collect()
}

#[test]
fn a_ditto_repeats_the_cell_of_the_record_above() {
    let text =
        "Company,Site,Mail\nQuill,quill.example,a@quill.example\ndito,dito,b@quill.example\n";
    let twice = json!([["Quill", "quill.example"], ["Quill", "quill.example"]]);
    assert_eq!(names_and_sites(text), twice);
    // A row that repeats the header is not the record above.
    let header = "Company,Site,Mail\nQuill,quill.example,\nCompany,Site,Mail\ndito,dito,\n";
    assert_eq!(names_and_sites(header), twice);
    // Empty cells of SQL exports, and the French `sans objet`, are no dittos.
    let none = "Company,Site,Mail\nQuill,quill.example,\nNib,'',\nInk,s.o.,\n";
    let expected = json!([["Quill", "quill.example"], ["Nib", null], ["Ink", null]]);
    assert_eq!(names_and_sites(none), expected);
}

#[test]
fn a_row_with_a_count_is_a_total_only_if_nothing_else_is_named() {
    let text = "Company,Site,Mail,Employees\nQuill,,,250 employees\n3 company,,,\nTotal: 1,,,\n";
    let list = seen(text);
    assert_eq!(list.report.added, 1);
    let totals = list.report.skipped[&SkipReason::TotalRow];
    assert_eq!((totals.count, totals.first_line), (2, 3));
}
