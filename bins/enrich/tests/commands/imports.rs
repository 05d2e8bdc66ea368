//! Tests of `enrich import`.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{ADA, Fixture, QUILL, feed};

const BROKEN: &str = "{\"type\":\"company\",";

/// Removes the duration from a report, so that only the counts are left.
fn counts(mut report: Value) -> Value {
    assert!(report["seconds"].is_f64(), "{report}");
    report.as_object_mut().unwrap().remove("seconds");
    report
}

#[test]
fn a_file_imported_twice_is_unchanged_the_second_time_and_both_end_with_zero() {
    let fixture = Fixture::new();
    fixture.file("crm.jsonl", format!("{QUILL}\n{ADA}\n"));
    let first = fixture.run(&["import", "crm.jsonl", "--json"]);
    assert_eq!(first.status, 0, "{first:?}");
    assert_eq!(first.err, "created the data folder ./enrich-data\n");
    let expected = json!({
        "read": 2, "added": 2, "merged": 0, "unchanged": 0, "rejected": 0, "name_only": 0,
        "dropped": 0
    });
    assert_eq!(counts(first.json()), expected);
    let second = fixture.run(&["import", "crm.jsonl", "--json"]);
    assert_eq!((second.status, second.err.as_str()), (0, ""));
    let expected = json!({
        "read": 2, "added": 0, "merged": 0, "unchanged": 2, "rejected": 0, "name_only": 0,
        "dropped": 0
    });
    assert_eq!(counts(second.json()), expected);
}

#[test]
fn where_nothing_was_taken_the_status_is_one() {
    let fixture = Fixture::new();
    fixture.file("bad.jsonl", BROKEN);
    fixture.file("empty.csv", "");
    let bad = fixture.run(&["import", "bad.jsonl", "--json"]);
    assert_eq!((bad.status, &bad.json()["rejected"]), (1, &1.into()));
    assert!(bad.err.contains("bad.jsonl: line 1: the line is not valid JSON"), "{bad:?}");
    assert_eq!(fixture.run(&["import", "empty.csv"]).status, 1);
}

#[test]
fn a_file_that_cannot_be_read_ends_with_two_before_anything_is_changed() {
    let fixture = Fixture::new();
    fixture.file("crm.jsonl", QUILL);
    let ran = fixture.run(&["import", "crm.jsonl", "gone.jsonl"]);
    ran.refused(2, "gone.jsonl: the input can't be opened");
    assert!(!fixture.data().exists());
}

#[test]
fn a_file_that_ends_in_the_middle_ends_with_two_and_says_what_was_kept() {
    let fixture = Fixture::new();
    fixture.file("crm.jsonl.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03");
    let ran = fixture.run(&["import", "crm.jsonl.gz", "--json"]);
    assert_eq!((ran.status, &ran.json()["read"]), (2, &0.into()));
    assert!(
        ran.err.contains("error: crm.jsonl.gz: the source can't be read completely"),
        "{ran:?}"
    );
}

#[test]
fn strict_stops_at_the_first_bad_line_and_changes_nothing() {
    let fixture = Fixture::new();
    fixture.file("crm.jsonl", format!("{QUILL}\n{BROKEN}\n{ADA}\n"));
    let ran = fixture.run(&["import", "crm.jsonl", "--strict", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!((&ran.json()["added"], &ran.json()["rejected"]), (&0.into(), &1.into()));
    assert!(ran.err.contains("error: crm.jsonl: line 2 is rejected"), "{ran:?}");
    assert_eq!(fixture.json(&["source", "list"]), json!([]));
    let looked_up = fixture.run(&["lookup", "cuf", "companyName=Quill"]);
    assert_eq!(looked_up.json()["url"], "");

    fixture.file("good.jsonl", format!("{QUILL}\n{ADA}\n"));
    assert_eq!(fixture.json(&["import", "good.jsonl", "--strict"])["added"], 2);
    let two = fixture.run(&["import", "good.jsonl", "crm.jsonl", "--strict"]);
    two.refused(2, "--strict takes one file at a time");
}

#[test]
fn standard_input_and_several_files_add_up() {
    let fixture = Fixture::new();
    fixture.file("people.jsonl", ADA);
    let ran = fixture.run_with_input(&["import", "-", "people.jsonl", "--json"], QUILL);
    assert_eq!((ran.status, &ran.json()["added"]), (0, &2.into()), "{ran:?}");
    let sources = fixture.json(&["source", "list"]);
    assert_eq!(
        (&sources[0]["source"], &sources[1]["source"]),
        (&"people.jsonl".into(), &"stdin".into())
    );
    fixture.run(&["import", "-", "-"]).refused(2, "standard input can be read once");
}

#[test]
fn the_name_of_the_source_is_what_was_said() {
    let fixture = Fixture::new();
    fixture.file("crm.jsonl", QUILL);
    assert_eq!(fixture.run(&["import", "crm.jsonl", "--source", "the CRM"]).status, 0);
    assert_eq!(fixture.json(&["source", "list"])[0]["source"], "the CRM");
    fixture.run(&["import", "crm.jsonl", "--source", " "]).refused(2, "1 to 200 characters");
}

#[test]
fn rejected_lines_are_written_with_their_numbers_and_reasons() {
    let fixture = Fixture::new();
    fixture.file("crm.jsonl", format!("{QUILL}\n{BROKEN}\n"));
    assert_eq!(fixture.run(&["import", "crm.jsonl", "--rejects", "bad.jsonl"]).status, 0);
    let rejects = fs::read_to_string(fixture.path().join("bad.jsonl")).unwrap();
    assert_eq!(rejects.lines().count(), 1);
    let rejected: Value = serde_json::from_str(&rejects).unwrap();
    assert_eq!((&rejected["line"], &rejected["record"]), (&2.into(), &BROKEN.into()));
    assert!(rejected["reason"].as_str().unwrap().contains("not valid JSON"));
}

#[test]
#[cfg(unix)]
fn the_file_of_rejected_lines_is_its_owners_alone_also_when_it_was_there() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    fixture.file("crm.jsonl", format!("{QUILL}\n{BROKEN}\n"));
    fixture.file("bad.jsonl", "");
    let path = fixture.path().join("bad.jsonl");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(fixture.run(&["import", "crm.jsonl", "--rejects", "bad.jsonl"]).status, 0);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_file_of_rejected_lines_is_never_the_one_that_is_read() {
    let fixture = Fixture::new();
    fixture.file("crm.jsonl", QUILL);
    let ran = fixture.run(&["import", "crm.jsonl", "--rejects", "./crm.jsonl"]);
    ran.refused(2, "write rejected lines to another file");
    assert_eq!(fs::read_to_string(fixture.path().join("crm.jsonl")).unwrap(), QUILL);
    fixture.run(&["import", "crm.jsonl", "--rejects", "no/where"]).refused(2, "cannot be written");
}

#[test]
fn dropped_values_are_summed_up_by_field_and_reason() {
    let fixture = Fixture::new();
    let record = r#"{"type":"company","name":"Quill","emails":["w","y"],"ip":"z","colour":"red"}"#;
    fixture.file("crm.jsonl", record);
    let text = fixture.run(&["import", "crm.jsonl"]);
    assert_eq!(text.status, 0);
    assert!(text.out.contains("\ndropped    3\n"), "{text:?}");
    // Under another source name, the record is new. So it is parsed again, and its dropped values
    // are reported again.
    let json = fixture.run(&["import", "crm.jsonl", "--json", "--source", "again"]);
    for summary in [&text.out, &json.err] {
        let line = summary.lines().find(|line| line.contains("emails")).unwrap();
        assert!(line.trim_start().starts_with("2  emails"), "{line}");
        assert!(line.contains("an email address looks like"), "{line}");
        assert!(summary.contains("were ignored: colour"), "{summary}");
    }
    let known = fixture.run(&["import", "crm.jsonl", "--json"]);
    assert_eq!((&known.json()["unchanged"], &known.json()["dropped"]), (&1.into(), &0.into()));
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let fixture = Fixture::new();
    let mut command = fixture.command(&["import", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // Standard output is closed before the command prints anything.
    drop(child.stdout.take());
    feed(&mut child, QUILL);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(err, "created the data folder ./enrich-data\n");
}

#[test]
fn a_file_of_another_folder_does_not_join_the_source_of_its_name() {
    let fixture = Fixture::new();
    for folder in ["one", "two"] {
        fs::create_dir(fixture.path().join(folder)).unwrap();
    }
    fixture.file("one/companies.jsonl", QUILL);
    fixture.file("two/companies.jsonl", ADA);
    let both = fixture.run(&["import", "one/companies.jsonl", "two/companies.jsonl"]);
    both.refused(2, "the source companies.jsonl holds the records of another file");
    assert!(!fixture.data().exists());

    assert_eq!(fixture.run(&["import", "one/companies.jsonl"]).status, 0);
    let other = fixture.run(&["import", "two/companies.jsonl"]);
    other.refused(2, "name this file's source with --source");
    assert_eq!(fixture.json(&["import", "./one/../one/companies.jsonl"])["unchanged"], 1);
    assert_eq!(fixture.json(&["import", "two/companies.jsonl", "--source", "two"])["added"], 1);
    let said = ["import", "two/companies.jsonl", "--source", "companies.jsonl"];
    assert_eq!(fixture.run(&said).status, 0);
    assert_eq!(fixture.json(&["source", "list"]).as_array().unwrap().len(), 2);
}

#[test]
fn standard_input_is_always_the_same_source() {
    let fixture = Fixture::new();
    assert_eq!(fixture.run_with_input(&["import", "-"], QUILL).status, 0);
    assert_eq!(fixture.run_with_input(&["import", "-"], ADA).status, 0);
    fixture.file("stdin", QUILL);
    fixture
        .run(&["import", "stdin"])
        .refused(2, "the source stdin holds the records of another file");
}

#[test]
fn an_import_that_was_killed_has_noted_where_its_records_are_from() {
    let fixture = Fixture::with_records();
    let mut lines = String::new();
    for number in 0..5_000 {
        let company = json!({"type": "company", "name": format!("Ink {number}"), "country": "GB"});
        writeln!(lines, "{company}").unwrap();
    }
    let mut command = fixture.command(&["import", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // These lines are more than one batch, so some are committed. The input stays open, so the
    // import still runs when it is killed.
    let mut input = child.stdin.take().unwrap();
    input.write_all(lines.as_bytes()).unwrap();
    while fixture.json(&["source", "list"]).as_array().unwrap().len() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "the import has ended");
        sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    fixture.file("stdin", QUILL);
    fixture
        .run(&["import", "stdin"])
        .refused(2, "the source stdin holds the records of another file");
}

#[test]
fn a_table_of_a_spreadsheet_is_imported_and_what_was_detected_is_said() {
    let fixture = Fixture::new();
    let table = "Name;Domain;Web page\nMüller;quill.example;www.ink.example\nInk;;ink.example\n";
    let western: Vec<u8> = table.chars().map(|letter| letter as u8).collect();
    fixture.file("export.csv", western);
    let ran = fixture.run(&["import", "export.csv"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.err.contains("export.csv: CSV, `;` between columns, Windows-1252\n"), "{ran:?}");
    assert!(ran.out.contains("name only  0\n"), "{ran:?}");
    let used = "export.csv: read as name=Name, domains=Domain, domains=Web page\n";
    assert!(ran.err.contains(used), "{ran:?}");
    let looked_up = fixture.run(&["lookup", "cuf", "companyName=Müller"]);
    assert_eq!(looked_up.json()["url"], "quill.example");
    let said = ["import", "export.csv", "--delimiter", ",", "--encoding", "utf-8"];
    let other = fixture.run(&said);
    assert_eq!(other.status, 2, "{other:?}");
    assert!(other.err.contains("name the columns with --column"), "{other:?}");
    fixture.run(&["import", "export.csv", "--delimiter", "x"]).refused(2, "one of , ; tab |");
}

const ENTITIES: &str = "[\n\
    {\"type\":\"item\",\"id\":\"Q1\",\"labels\":{\"en\":{\"value\":\"Quillmark\"}},\"claims\":{\"P856\":\
    [{\"mainsnak\":{\"snaktype\":\"value\",\"datavalue\":{\"value\":\"https://quillmark.example/\"}},\
    \"rank\":\"normal\"}]}},\n]\n";

#[test]
fn open_data_is_recognised_shown_and_imported_under_the_name_of_its_format() {
    let fixture = Fixture::new();
    fixture.file("latest-all.json", ENTITIES);
    let shown = fixture.run(&["import", "latest-all.json", "--dry-run", "--json"]);
    assert_eq!(shown.status, 0, "{shown:?}");
    assert!(shown.err.contains("the format is wikidata"), "{shown:?}");
    assert!(shown.err.contains("\"domains\":[\"quillmark.example\"]"), "{shown:?}");
    assert!(!fixture.data().exists());
    let ran = fixture.run(&["import", "latest-all.json", "--json"]);
    assert_eq!((ran.status, &ran.json()["added"]), (0, &1.into()), "{ran:?}");
    let sources = fixture.run(&["source", "list", "--json"]);
    assert_eq!(sources.json()[0]["source"], "wikidata");
}

#[test]
fn a_table_is_read_by_usual_names_by_named_columns_or_by_a_mapping_file() {
    let fixture = Fixture::new();
    fixture.file("leads.csv", "Company,Website\nQuillmark,www.quillmark.example\n");
    let ran = fixture.run(&["import", "leads.csv", "--json"]);
    assert_eq!((ran.status, &ran.json()["name_only"]), (0, &0.into()), "{ran:?}");
    assert!(ran.err.contains("leads.csv: read as name=Company, domains=Website"), "{ran:?}");
    fixture.file("odd.csv", "Wer;Wo\nInkwell;inkwell.example\n");
    let named = ["import", "odd.csv", "--column", "name=Wer", "--column", "domains=Wo", "--json"];
    let ran = fixture.run(&named);
    assert_eq!((ran.status, &ran.json()["added"]), (0, &1.into()), "{ran:?}");
    let map = "[source]\nname = \"mine\"\n[fields]\nname = \"Wer\"\ndomains = \"Wo\"\n\
        [[skip]]\ncolumn = \"Wer\"\nequals = \"Inkwell\"\nreason = \"left\"\n";
    fixture.file("mine.toml", map);
    let ran = fixture.run(&["import", "odd.csv", "--map", "mine.toml", "--json"]);
    assert_eq!((ran.status, &ran.json()["skipped"]["left"]), (1, &1.into()), "{ran:?}");
    let ran = fixture.run(&["import", "odd.csv", "--column", "nome=Wer"]);
    ran.refused(2, "`nome` is no field of a");
}

#[test]
fn named_columns_are_looked_for_below_a_title_and_must_be_there() {
    let fixture = Fixture::new();
    let rows = "sep=|\nExport of January|2 rows\n\nNo.|Firma (HR)|Internet|Mail\n\
        1|\"Quill &\nNib\"|quill.example, www.nib.example|a@quill.example; b@quill.example\n\
        2|Inkwell|inkwell.example|\n";
    fixture.file("export.csv", rows);
    let columns = ["name=Firma (HR)", "domains=internet", "emails=Mail"];
    let columns: Vec<_> = columns.iter().flat_map(|column| ["--column", column]).collect();
    let ran = fixture.run(&[&["import", "export.csv", "--dry-run"], &columns[..]].concat());
    let expected = "{\"type\":\"company\",\"name\":\"Quill & Nib\",\
        \"domains\":[\"quill.example\",\"nib.example\"],\
        \"emails\":[\"a@quill.example\",\"b@quill.example\"]}\n";
    assert!(ran.status == 0 && ran.err.contains(expected), "{ran:?}");
    assert!(ran.err.contains("\"name\":\"Inkwell\""), "{ran:?}");
    let ran = fixture.run(&["import", "export.csv", "--column", "name=Frima"]);
    ran.refused(2, "export.csv: the header has no column `Frima`; it has ");
    assert!(!fixture.data().exists());
}

#[test]
fn formats_are_listed_and_a_mapping_can_be_copied() {
    let fixture = Fixture::new();
    let ran = fixture.run(&["import", "--formats", "--json"]);
    let all = ran.json();
    assert!(all.as_array().unwrap().iter().any(|format| format["format"] == "gleif"), "{all}");
    let ran = fixture.run(&["import", "--show-map", "gleif"]);
    assert!(ran.out.contains("[source]"), "{ran:?}");
    fixture.run(&["import", "--show-map", "gleiff"]).refused(1, "there is no format gleiff");
    assert!(!fixture.data().exists());
}

#[test]
fn records_of_a_register_are_attached_to_companies_that_are_there() {
    let fixture = Fixture::new();
    fixture.file(
        "held.jsonl",
        "{\"type\":\"company\",\"name\":\"Quillmark\",\"domains\":[\"quillmark.example\"],\
         \"ids\":{\"cik\":\"66740\"}}\n",
    );
    fixture.file(
        "constituents.csv",
        "Symbol,Security,CIK\nQLL,Quillmark Holdings,66740\nNWD,Northwind,66741\n",
    );
    assert_eq!(fixture.run(&["import", "held.jsonl"]).status, 0);
    let attached = fixture.run(&["import", "constituents.csv", "--json"]).json();
    assert_eq!((&attached["added"], &attached["merged"]), (&0.into(), &1.into()), "{attached}");
    assert_eq!(attached["skipped"]["not in the directory"], 1, "{attached}");
    let again = fixture.run(&["import", "constituents.csv", "--json"]).json();
    assert_eq!((&again["merged"], &again["unchanged"]), (&0.into(), &1.into()), "{again}");
    let added = fixture.run(&["import", "constituents.csv", "--add", "--json"]).json();
    assert_eq!(added["added"], 1, "{added}");
}

#[test]
fn only_known_adds_no_company_and_no_employer() {
    let fixture = Fixture::new();
    fixture.file("new.jsonl", format!("{QUILL}\n{ADA}\n"));
    let ran = fixture.run(&["import", "new.jsonl", "--only-known", "--json"]);
    let report = ran.json();
    assert_eq!((ran.status, &report["added"]), (1, &0.into()), "{report}");
    assert_eq!(report["skipped"]["not in the directory"], 2, "{report}");
    fixture.run(&["import", "new.jsonl", "--only-known", "--add"]).refused(2, "--add");
}

#[test]
fn an_unknown_layout_is_refused_with_the_ways_to_name_it() {
    let fixture = Fixture::new();
    fixture.file("odd.json", "[{\"x\":1},{\"x\":2}]");
    fixture.run(&["import", "odd.json"]).refused(2, "the format is not known (it has x)");
    fixture.run(&["import", "odd.json", "--format", "none"]).refused(2, "there is no format none");
    fixture.file("many.jsonl", format!("{QUILL}\n{ADA}\n"));
    let ran = fixture.run(&["import", "many.jsonl", "--limit", "1", "--json"]);
    assert_eq!(ran.json()["read"], 1, "{ran:?}");
}

#[test]
fn a_country_for_a_file_in_the_native_format_is_said_to_have_no_effect() {
    let fixture = Fixture::new();
    fixture.file("crm.csv", "name,domain,phones\nQuill,quill.example,030 23125001\n");
    let ran = fixture.run(&["import", "crm.csv", "--country", "DE"]);
    assert!(ran.err.contains("crm.csv: read in Enrich's own format"), "{ran:?}");
    let columns = ["--column", "name=name", "--column", "domains=domain"];
    let named = ["import", "crm.csv", "--country", "DE", "--column", "phones=phones", "--dry-run"];
    let ran = fixture.run(&[&named[..], &columns].concat());
    assert!(!ran.err.contains("own format"), "{ran:?}");
    assert!(ran.err.contains("+493023125001") && ran.err.contains("quill.example"), "{ran:?}");
}
