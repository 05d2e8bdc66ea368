//! Tests of all forms in which JSON contains records: an array of objects, objects at a path inside
//! the document, arrays of values with separate column names, JSON Lines, and JSON text sequences
//! (RFC 7464).

use enrich_mapping::{Input, InputKind};

use crate::inputs::{at_path, failure, fields, lines, records, until_error};

#[test]
fn an_array_is_read_a_record_at_a_time_however_it_is_laid_out() {
    let expected = ["{\"b\":1,\"a\":[2]}", "{\"c\":\"},{\"}"];
    for (text, places) in [
        ("[\n{\"b\":1,\"a\":[2]},\n{\"c\":\"},{\"}\n]\n", [2, 3]),
        ("[{\"b\":1,\"a\":[2]},{\"c\":\"},{\"}]", [1, 1]),
        ("[\n{\"b\":1,\"a\":[2]},\n{\"c\":\"},{\"},\n]", [2, 3]),
        ("\u{feff} [ { \"b\" : 1,\n \"a\" : [\n2\n]\n}\n ,\n{\"c\":\"},{\"} ]", [1, 7]),
    ] {
        let records = records("all.json", text, Input::default());
        assert_eq!(fields(&records), expected, "{text}");
        assert_eq!(lines(&records), places, "{text}");
    }
    let empty = records("all.json", "[]", Input::default());
    assert_eq!(empty, []);
}

#[test]
fn records_are_found_at_a_path() {
    let nested =
        "{\"_meta\":{\"version\":\"8\"},\"nsi\":{\"brands/a\":{\"items\":[{\"n\":1},{\"n\":2}]},
        \"brands/b\":{\"properties\":{},\"items\":[{\"n\":3}]}}}";
    let records = records("nsi.json", nested, at_path("/nsi/*/items/*"));
    let expected = [
        "{\"n\":1,\"@key\":\"brands/a\"}",
        "{\"n\":2,\"@key\":\"brands/a\"}",
        "{\"n\":3,\"@key\":\"brands/b\"}",
    ];
    assert_eq!(fields(&records), expected);
}

#[test]
fn the_path_is_found_where_it_is_plain() {
    for (text, expected) in [
        ("{\"records\":[\n{\"a\":1}]}", "{\"a\":1}"),
        ("{\"type\":\"FeatureCollection\",\"features\":[{\"a\":1}]}", "{\"a\":1}"),
        ("{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"a\":1}]}}", "{\"a\":1}"),
        ("{\"0\":{\"a\":1},\"1\":{\"a\":2}}", "{\"a\":1,\"@key\":\"0\"}"),
        ("{\"fields\":[\"a\",\"b\"],\"data\":[[1,\"x\"],[2,\"y\"]]}", "{\"a\":1,\"b\":\"x\"}"),
        ("{\"name\":\"Quill\",\"addresses\":{\"post\":{}}}", "{\"name\":\"Quill\","),
    ] {
        let records = records("a.json", text, Input::default());
        let first = fields(&records).remove(0);
        assert!(first.starts_with(expected), "{text} {first}");
    }
}

#[test]
fn an_object_with_many_plain_members_is_a_record_though_it_has_a_list_of_objects() {
    let text =
        "{\"cik\":1,\"a\":2,\"b\":3,\"c\":4,\"d\":5,\"e\":6,\"formerNames\":[{\"name\":\"x\"}]}";
    let records = records("CIK1.json", text, Input::default());
    assert_eq!(fields(&records), [text]);
}

#[test]
fn lines_of_objects_are_json_lines_under_any_name() {
    let text = "{\"a\":[{\"b\":1}]}\n\n{\"a\":2}\n[3]\n{\"a\"\n{\"a\":4}\n";
    for name in ["a.json", "a.jsonl", "stdin"] {
        let records = records(name, text, Input::default());
        assert_eq!(lines(&records), [1, 3, 4, 5, 6]);
        let fields = fields(&records);
        assert_eq!(fields[2], "the line is not a JSON object");
        assert!(fields[3].starts_with("the line is not valid JSON"), "{}", fields[3]);
        assert_eq!(fields[4], "{\"a\":4}");
    }
}

#[test]
fn a_text_sequence_has_a_separator_before_each_record() {
    let text = "\u{1e}{\"a\":1}\n\u{1e}{\"a\":2}\n";
    let records = records("places.geojsonseq", text, Input::default());
    assert_eq!(fields(&records), ["{\"a\":1}", "{\"a\":2}"]);
    let array = at_path("/*");
    let array = Input { kind: Some(InputKind::Json), ..array };
    assert_eq!(crate::inputs::records("a.json", text, array).len(), 2);
}

#[test]
fn a_record_of_several_mebibytes_is_read() {
    let long = "x".repeat(3 * 1024 * 1024);
    for text in [
        format!("[\n{{\"a\":\"{long}\"}},\n{{\"b\":1}}\n]"),
        format!("{{\"a\":\"{long}\"}}\n{{\"b\":1}}\n"),
    ] {
        let options = Input { kind: Some(InputKind::JsonLines), ..Input::default() };
        let records = records("all.json", text, options);
        assert_eq!(records.len(), 2);
        assert_eq!(fields(&records)[1], "{\"b\":1}");
    }
}

#[test]
fn a_record_has_limits_of_its_size_and_of_its_values() {
    let long = "x".repeat(65 * 1024 * 1024);
    let many = "{},".repeat(1_000_001);
    for text in [
        format!("[{{\"a\":1}},{{\"a\":\"{long}\"}}]"),
        format!("{{\"a\":1}}\n{{\"a\":\"{long}\"}}\n"),
        format!("[{{\"a\":1}},{{\"a\":[{many}0]}}]"),
        format!("{{\"a\":1}}\n{{\"a\":[{many}0]}}\n"),
    ] {
        let (records, error) = until_error("a.json", text, Input::default());
        assert_eq!(fields(&records), ["{\"a\":1}"]);
        let error = error.unwrap().to_string();
        assert!(error.starts_with("record 2 (line "), "{error}");
        assert!(error.contains("longer than 64 MiB or has more than 1,000,000 values"), "{error}");
    }
}

#[test]
fn records_without_a_text_are_passed_over() {
    let text = "[{\"P856\":1},{\"P1\":1},{\"P856\":2}]";
    let options = Input { contains: Some("\"P856\"".to_owned()), ..Input::default() };
    let records = records("all.json", text, options);
    let numbers: Vec<u64> = records.iter().map(|record| record.place.record).collect();
    assert_eq!(numbers, [1, 3]);
}

#[test]
fn a_file_that_ends_in_the_middle_gives_the_records_before() {
    for text in ["[{\"a\":1},{\"a\":", "[{\"a\":1},", "[{\"a\":1}", "[{\"a\":1},{\"a\":\"x"] {
        let (records, error) = until_error("all.json", text, Input::default());
        assert_eq!(fields(&records), ["{\"a\":1}"], "{text}");
        let expected = "the file ends in the middle, after 1 whole records; get it again";
        assert_eq!(error.unwrap().to_string(), expected, "{text}");
    }
}

#[test]
fn another_layout_is_told() {
    let error = failure("a.json", "{\"records\":[{}]}", at_path("/items/*"));
    assert!(error.contains("no records at `/items/*`"), "{error}");
    let error = failure("a.json", "[{\"a\":1}\n}", Input::default());
    assert_eq!(error, "this is not JSON from line 2 on, after 1 records");
    let json = Input { kind: Some(InputKind::Json), ..at_path("/records/*") };
    let error = failure("a.csv", "name,domain\nQuill,quill.example\n", json);
    assert!(error.contains("no records at `/records/*`") || error.contains("not JSON"), "{error}");
}

#[test]
fn a_deeply_nested_record_is_rejected_and_the_next_is_read() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!("[{{\"a\":{deep}}},{{\"b\":1}}]");
    let records = records("a.json", text, Input::default());
    assert!(fields(&records)[0].starts_with("the line is not valid JSON"));
    assert_eq!(fields(&records)[1], "{\"b\":1}");
}
