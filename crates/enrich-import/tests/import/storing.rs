//! Tests the storing of parsed records: batches, suppression, strict imports, rejected records,
//! progress.

use std::io::{self, Write};

use enrich_core::port::importer::Atomic;
use enrich_import::{Cause, ImportError, Progress, Report, Source, import};

use crate::compressed::gzip;
use crate::memory::{Memory, import_into, load, source};

fn companies(count: usize) -> String {
    (0..count).map(|number| format!("{{\"name\":\"Quill {number}\"}}\n")).collect()
}

fn strict(memory: &Memory, text: &str) -> Result<Report, ImportError> {
    let source = source("a.jsonl", text);
    pollster::block_on(import(source, memory, load(Atomic::Whole), None, &mut ()))
}

fn rejects(memory: &Memory, file_name: &str, bytes: impl Into<Vec<u8>>) -> String {
    let mut file: Vec<u8> = Vec::new();
    let source = source(file_name, bytes);
    let load = load(Atomic::InParts);
    pollster::block_on(import(source, memory, load, Some(&mut file), &mut ())).unwrap();
    String::from_utf8(file).unwrap()
}

#[test]
fn many_records_come_in_batches_in_their_order() {
    let memory = Memory::default();
    let report = import_into(&memory, "a.jsonl", companies(10_000)).unwrap();
    assert_eq!((report.read, report.added), (10_000, 10_000));
    let held = memory.0.lock();
    assert_eq!(held.batches, 3);
    let is_in_order = held.records.iter().enumerate().all(|(number, record)| {
        matches!(record, enrich_core::Record::Company(company)
            if company.name.display() == format!("Quill {number}"))
    });
    assert!(is_in_order);
}

#[test]
fn long_lines_make_small_batches() {
    let padding = "x".repeat(500_000);
    let line = |number| format!("{{\"name\":\"Quill {number}\",\"x\":\"{padding}\"}}\n");
    let memory = Memory::default();
    import_into(&memory, "a.jsonl", (0..30).map(line).collect::<String>()).unwrap();
    assert_eq!(memory.0.lock().batches, 4);
}

#[test]
fn importing_twice_is_importing_once() {
    let memory = Memory::default();
    let text = companies(50);
    assert_eq!(import_into(&memory, "a.jsonl", text.as_str()).unwrap().added, 50);
    let second = import_into(&memory, "a.jsonl", text).unwrap();
    assert_eq!((second.added, second.merged, second.unchanged), (0, 0, 50));
    assert!(second.took_anything());
}

#[test]
fn a_suppressed_record_is_a_rejected_one() {
    let memory = Memory::default();
    memory.0.lock().suppressed_names.push("Quill 1");
    let report = import_into(&memory, "a.jsonl", companies(3)).unwrap();
    assert_eq!((report.read, report.added, report.rejected), (3, 2, 1));
    let (line, reason) = &report.first_rejected[0];
    assert_eq!((*line, reason.to_string().as_str()), (2, "the record is suppressed"));
}

#[test]
fn a_record_that_is_not_in_the_directory_is_neither_imported_nor_rejected() {
    let memory = Memory::default();
    memory.0.lock().not_held_names.extend(["Quill 0", "Quill 2"]);
    let report = import_into(&memory, "a.jsonl", companies(3)).unwrap();
    assert_eq!((report.read, report.added, report.not_held, report.rejected), (3, 1, 2, 0));
    assert!(report.skipped.is_empty());
}

#[test]
fn suppressed_values_are_dropped_ones() {
    let memory = Memory::default();
    memory.0.lock().suppressed_values = 2;
    let report = import_into(&memory, "a.jsonl", "{\"name\":\"Quill\",\"ip\":\"y\"}\n").unwrap();
    assert_eq!((report.dropped, report.suppressed_values, report.added), (3, 2, 1));
}

#[test]
fn rejected_lines_are_written_as_they_were_in_their_order() {
    let memory = Memory::default();
    memory.0.lock().suppressed_names.push("Quill");
    let text = b"{\"name\":\"Ink\"}\n{\"nam\":\"P\xffn\"}\n\n{\"name\": \"Quill\"}\n\t[1]\r\n";
    let expected = "\
        {\"source\":\"test\",\"line\":2,\"reason\":\"the line is not UTF-8\",\
        \"record\":\"{\\\"nam\\\":\\\"P\u{fffd}n\\\"}\"}\n\
        {\"source\":\"test\",\"line\":4,\"reason\":\"the record is suppressed\"}\n\
        {\"source\":\"test\",\"line\":5,\"reason\":\"the line is not a JSON object\",\
        \"record\":\"\\t[1]\"}\n";
    assert_eq!(rejects(&memory, "a.jsonl", text), expected);
}

#[test]
fn a_rejected_row_is_written_with_all_its_lines() {
    let text = "name,about\n,\"one\ntwo\"\n\"open,x\n";
    let expected = "\
        {\"source\":\"test\",\"line\":2,\"reason\":\"`name` is missing\",\
        \"record\":\",\\\"one\\ntwo\\\"\"}\n\
        {\"source\":\"test\",\"line\":4,\
        \"reason\":\"a quote is opened and not closed within 100 lines\",\
        \"record\":\"\\\"open,x\"}\n";
    assert_eq!(rejects(&Memory::default(), "a.csv", text), expected);
}

#[test]
fn rejects_that_can_not_be_written_stop_the_import() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let source = source("a.jsonl", "x\n");
    let memory = Memory::default();
    let load = load(Atomic::InParts);
    let result = pollster::block_on(import(source, &memory, load, Some(&mut Full), &mut ()));
    assert!(matches!(result.unwrap_err().cause, Cause::Rejects(_)));
}

#[test]
fn a_strict_import_keeps_all_or_nothing() {
    let memory = Memory::default();
    let report = strict(&memory, &companies(5_000)).unwrap();
    assert_eq!(report.added, 5_000);
    assert_eq!(memory.0.lock().records.len(), 5_000);

    let memory = Memory::default();
    let text = format!("{}{{\"nam\":\"Ink\"}}\nx\n", companies(5_000));
    let error = strict(&memory, &text).unwrap_err();
    assert!(matches!(error.cause, Cause::Rejected { line: 5_001, .. }), "{error:?}");
    assert!(!error.report.took_anything());
    assert_eq!((error.report.read, error.report.rejected), (5_001, 1));
    let held = memory.0.lock();
    assert_eq!((held.records.len(), held.finished), (0, 0));
}

#[test]
fn a_strict_import_stops_at_the_first_line_even_if_that_is_a_suppressed_one() {
    let memory = Memory::default();
    memory.0.lock().suppressed_names.push("Quill 1");
    let error = strict(&memory, &format!("{}x\n", companies(3))).unwrap_err();
    assert!(matches!(error.cause, Cause::Rejected { line: 2, .. }), "{error:?}");
}

#[test]
fn a_strict_import_of_a_file_that_is_cut_off_keeps_nothing() {
    let memory = Memory::default();
    let mut bytes = gzip(&companies(50_000));
    bytes.truncate(bytes.len() - 4);
    let source = source("a.jsonl.gz", bytes);
    let result = pollster::block_on(import(source, &memory, load(Atomic::Whole), None, &mut ()));
    let error = result.unwrap_err();
    assert!(matches!(error.cause, Cause::Read(_)));
    assert!(!error.report.took_anything());
    assert_eq!(memory.0.lock().records.len(), 0);
}

#[test]
fn a_store_that_fails_stops_the_import_and_what_it_took_is_reported() {
    let memory = Memory::default();
    memory.0.lock().fails_at = Some(1);
    let error = import_into(&memory, "a.jsonl", companies(100_000)).unwrap_err();
    assert!(matches!(error.cause, Cause::Store(_)), "{error:?}");
    assert_eq!((error.report.read, error.report.added), (4096, 4096));
    assert_eq!(memory.0.lock().records.len(), 4096);
}

#[test]
fn the_same_import_again_completes_one_that_stopped() {
    let memory = Memory::default();
    memory.0.lock().fails_at = Some(1);
    import_into(&memory, "a.jsonl", companies(10_000)).unwrap_err();
    memory.0.lock().fails_at = None;
    let report = import_into(&memory, "a.jsonl", companies(10_000)).unwrap();
    assert_eq!((report.added, report.unchanged), (10_000 - 4096, 4096));
}

#[test]
fn progress_adds_up_to_the_whole_file() {
    #[derive(Default)]
    struct Sum {
        bytes: u64,
        records: u64,
        steps: u64,
    }
    impl Progress for Sum {
        fn advance(&mut self, bytes: u64, records: u64) {
            self.bytes += bytes;
            self.records += records;
            self.steps += 1;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quills.jsonl.gz");
    std::fs::write(&path, gzip(&companies(10_000))).unwrap();
    let source = Source::file(&path).unwrap();
    assert_eq!(source.name().unwrap().as_str(), "quills.jsonl.gz");
    let total = source.total_bytes().unwrap();
    let mut sum = Sum::default();
    let load = load(Atomic::InParts);
    pollster::block_on(import(source, &Memory::default(), load, None, &mut sum)).unwrap();
    assert_eq!((sum.bytes, sum.records), (total, 10_000));
    assert!(sum.steps >= 3);
}

#[test]
fn a_file_that_is_not_there_or_no_file_can_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Source::file(&folder.path().join("none.jsonl")).is_err());
    let source = Source::file(folder.path()).unwrap();
    let memory = Memory::default();
    let result = pollster::block_on(import(source, &memory, load(Atomic::InParts), None, &mut ()));
    assert!(matches!(result.unwrap_err().cause, Cause::Read(_)));
}
