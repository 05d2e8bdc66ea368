//! Tests of records in XML.

use enrich_mapping::Input;

use crate::inputs::{at_path, failure, fields, lines, records, until_error};

const PATH: &str = "LEIData/LEIRecords/LEIRecord";

fn document(records: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<lei:LEIData xmlns:lei=\"http://lei.example\">\n\
         <lei:LEIHeader><lei:RecordCount>2</lei:RecordCount></lei:LEIHeader>\n\
         <lei:LEIRecords>{records}</lei:LEIRecords></lei:LEIData>"
    )
}

#[test]
fn an_element_is_an_object_with_its_text_and_attributes() {
    let text = document(
        "\n<lei:LEIRecord><lei:LEI>X1</lei:LEI><lei:Name xml:lang=\"de\"> Quill &amp; S&#246;hne\
         </lei:Name><lei:Empty/></lei:LEIRecord>\n\
         <lei:LEIRecord><lei:Alias>a</lei:Alias><lei:Alias n=\"1&lt;2\"><![CDATA[<b>]]></lei:Alias>\
         </lei:LEIRecord>",
    );
    let expected = [
        "{\"LEI\":{\"$\":\"X1\"},\"Name\":{\"@xml:lang\":\"de\",\"$\":\"Quill & Söhne\"},\"Empty\":{}}",
        "{\"Alias\":[{\"$\":\"a\"},{\"@n\":\"1<2\",\"$\":\"<b>\"}]}",
    ];
    for options in [at_path(PATH), at_path("lei:LEIData/lei:LEIRecords/lei:LEIRecord")] {
        let records = records("lei.xml", text.clone(), options);
        assert_eq!(fields(&records), expected);
        assert_eq!(lines(&records), [5, 6]);
    }
    assert_eq!(fields(&records("lei.xml", text, Input::default())), expected);
}

#[test]
fn the_encoding_is_the_declared_one() {
    let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a><r>K\u{f6}ln</r><r/></a>";
    let bytes: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    let records = records("a.xml", bytes, at_path("a/r"));
    assert_eq!(fields(&records), ["{\"$\":\"Köln\"}", "{}"]);
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY x \"xxxxxxxxxx\">\
        <!ENTITY y \"&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;\">]><a><r>&y;</r></a>";
    let told =
        "the XML file declares entities of its own, which are not read; write it without them";
    assert_eq!(failure("a.xml", bomb, at_path("a/r")), told);
    assert_eq!(failure("a.xml", "<a><r>&y;</r></a>", at_path("a/r")), told);
    assert_eq!(failure("a.xml", "<a><r b=\"&y;\"/></a>", at_path("a/r")), told);
}

#[test]
fn elements_inside_each_other_have_a_limit() {
    let deep = format!("<a><r>{}{}</r></a>", "<b>".repeat(100_000), "</b>".repeat(100_000));
    let error = failure("a.xml", deep, at_path("a/r"));
    assert_eq!(error, "record 1 has more than 64 XML elements inside each other");
}

#[test]
fn a_record_has_limits_of_its_size_and_of_its_values() {
    let many = "<b/>".repeat(1_000_001);
    let long = "x".repeat(65 * 1024 * 1024);
    for inside in [many, long] {
        let text = format!("<a><r>1</r><r>{inside}</r></a>");
        let (records, error) = until_error("a.xml", text, at_path("a/r"));
        assert_eq!(records.len(), 1);
        let error = error.unwrap().to_string();
        assert!(
            error.starts_with("record 2 (line 1) is longer than 64 MiB or has more"),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_ends_in_the_middle_gives_the_records_before() {
    for text in ["<a><r>1</r><r>2", "<a><r>1</r><r", "<a><r>1</r>", "<a><r>1</r><r b=\""] {
        let (records, error) = until_error("a.xml", text, at_path("a/r"));
        assert_eq!(fields(&records), ["{\"$\":\"1\"}"], "{text}");
        let expected = "the file ends in the middle, after 1 whole records; get it again";
        assert_eq!(error.unwrap().to_string(), expected, "{text}");
    }
}

#[test]
fn another_layout_is_told() {
    let error = failure("a.xml", "<a><r>1</r></a>", at_path("b/r"));
    assert!(error.contains("no records at `b/r`"), "{error}");
    let error = failure("a.xml", "<a><r>1</b></a>", at_path("a/r"));
    assert!(error.starts_with("this is not well-formed XML in record 1"), "{error}");
}
