//! Tests of records in compressed files and zip archives, and of samples of such files.

use std::fs::File;
use std::io::{Cursor, Write};

use enrich_import::{InputRecords, Sampled, Source, sample};
use enrich_mapping::{Input, InputKind};

use crate::compressed::{bzip2, gzip, zstd};
use crate::inputs::{failure, fields, of_member, records, until_error, zip};

const CSV: &str = "name,site\nQuill,quill.example\n";
const QUILL: &str = "{\"name\":\"Quill\",\"site\":\"quill.example\"}";

fn options() -> Input {
    Input::default()
}

#[test]
fn any_compression_is_recognised() {
    for (name, bytes) in [
        ("a.csv.gz", gzip(CSV)),
        ("stdin", gzip(CSV)),
        ("a.csv.bz2", bzip2(CSV)),
        ("stdin", bzip2(CSV)),
        ("a.csv.zst", zstd(CSV)),
        ("a.zip", zip(&[("a.csv", CSV.as_bytes())])),
        ("stdin", zip(&[("folder/a.csv", CSV.as_bytes())])),
        ("a.zip", zip(&[("a.csv.gz", &gzip(CSV))])),
    ] {
        assert_eq!(fields(&records(name, bytes, options())), [QUILL], "{name}");
    }
}

#[test]
fn compressed_parts_that_follow_each_other_are_read_to_the_last() {
    for bytes in [
        [gzip(CSV), gzip("Ink,ink.example\n")].concat(),
        [bzip2(CSV), bzip2("Ink,ink.example\n")].concat(),
        [zstd(CSV), zstd("Ink,ink.example\n")].concat(),
    ] {
        assert_eq!(records("a", bytes, options()).len(), 2);
    }
}

#[test]
fn the_files_that_fit_are_read_one_after_the_other() {
    let bytes = zip(&[
        ("CIK0000000001.json", b"{\"cik\":1}"),
        ("CIK0000000001-submissions-001.json", b"{\"filings\":[]}"),
        ("old/CIK0000000002.json", b"{\"cik\":2}"),
        ("__MACOSX/CIK0000000003.json", b"\0\0"),
    ]);
    let source = Source::reader("submissions.zip", Cursor::new(bytes));
    let mut input = InputRecords::open(source, of_member("CIK??????????.json")).unwrap();
    assert_eq!(input.archive_member(), Some("CIK0000000001.json"));
    let first = input.next_record().unwrap().unwrap();
    let second = input.next_record().unwrap().unwrap();
    assert_eq!(fields(&[first, second]), ["{\"cik\":1}", "{\"cik\":2}"]);
    assert_eq!(input.archive_member(), Some("old/CIK0000000002.json"));
    assert!(input.next_record().unwrap().is_none());
    assert!(input.newly_read_bytes() > 0);
}

#[test]
fn a_path_may_begin_with_the_folder_itself() {
    let bytes = zip(&[
        ("./a.csv", CSV.as_bytes()),
        ("./.DS_Store", b"\0"),
        (".b.csv", b"\0"),
        ("list/.DS_Store", b"\0"),
    ]);
    assert_eq!(records("a.zip", bytes, options()).len(), records("a.csv", CSV, options()).len());
}

#[test]
fn a_missing_file_is_told_with_the_files_that_are_there() {
    let bytes = zip(&[("a.csv", CSV.as_bytes()), ("readme.txt", b"x")]);
    let error = failure("ror.zip", bytes.clone(), of_member("*ror-data.json"));
    assert_eq!(error, "no file in the zip archive fits `*ror-data.json`; it has a.csv, readme.txt");
    let error = failure("ror.zip", bytes, options());
    let expected = "the zip archive has several files (a.csv, readme.txt); unpack it, and \
        name the file to read, or name the format of the archive";
    assert_eq!(error, expected);
    assert_eq!(failure("a.zip", zip(&[]), options()), "the zip archive is empty");
}

#[test]
fn a_fault_in_an_archive_names_its_file() {
    let bytes = zip(&[("x/a.json", b"[{\"a\":1},{")]);
    let error = failure("a.zip", bytes, options());
    let expected = "`x/a.json` in the zip archive can't be read: the file ends in the middle, \
        after 1 whole records; get it again";
    assert_eq!(error, expected);
}

#[test]
fn cut_files_are_told() {
    let lines: String = (0..20_000_u32)
        .map(|number| format!("{},{}\n", number, number.wrapping_mul(2_654_435_761)))
        .collect();
    let text = format!("a,b\n{lines}");
    for (name, bytes, expected) in [
        ("a.csv.gz", gzip(&text), "the file is incomplete: its compressed data ends too early"),
        ("a.csv.bz2", bzip2(&text), "the file is incomplete: its compressed data ends too early"),
        ("a.csv.zst", zstd(&text), "the file is incomplete: its compressed data ends too early"),
        (
            "a.zip",
            zip(&[("a.csv", text.as_bytes())]),
            "the zip archive is incomplete or damaged: its list of files is missing; get it again",
        ),
    ] {
        let cut = bytes[..bytes.len() * 2 / 3].to_vec();
        assert_eq!(failure(name, cut, options()), expected, "{name}");
    }
}

#[test]
fn a_damaged_archive_is_told() {
    let text: String = (0..20_000).map(|number| format!("{number}\n")).collect();
    let mut bytes = zip(&[("a.csv", text.as_bytes())]);
    bytes[2_000..2_100].iter_mut().for_each(|byte| *byte ^= 0x55);
    let error = failure("a.zip", bytes, options());
    assert!(error.starts_with("`a.csv` in the zip archive can't be read: "), "{error}");
}

#[test]
fn what_can_not_be_unpacked_is_told() {
    use zip::write::SimpleFileOptions;
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("a.csv", SimpleFileOptions::default()).unwrap();
    writer.write_all(CSV.as_bytes()).unwrap();
    let mut bytes = writer.finish().unwrap().into_inner();
    let central = bytes.windows(4).position(|found| found == b"PK\x01\x02").unwrap();
    let mut other = bytes.clone();
    other[central + 10] = 14;
    let error = failure("a.zip", other, options());
    assert_eq!(error, "`a.csv` in the zip archive is compressed with method 14; unpack it first");
    bytes[central + 8] |= 1;
    let error = failure("a.zip", bytes, options());
    assert_eq!(error, "`a.csv` in the zip archive has a password; unpack it first");
}

#[test]
fn large_archives_are_read() {
    use zip::write::SimpleFileOptions;
    // Sizes and positions are written with 64 bits, as in archives of more than 4 GiB.
    let large = SimpleFileOptions::default().large_file(true);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("a.csv", large).unwrap();
    writer.write_all(CSV.as_bytes()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    assert_eq!(fields(&records("a.zip", bytes, options())), [QUILL]);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..70_000 {
        writer.start_file(format!("{number}.json"), SimpleFileOptions::default()).unwrap();
        writer.write_all(b"{\"a\":1}").unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    assert_eq!(records("many.zip", bytes, of_member("6*.json")).len(), 11_111);
}

#[test]
fn a_workbook_in_a_pipe_is_read_and_a_document_is_refused() {
    let document = zip(&[("[Content_Types].xml", b"x"), ("word/document.xml", b"x")]);
    let error = failure("a.docx", document, options());
    assert!(error.starts_with("this is a Word document"), "{error}");
}

#[test]
fn a_sample_tells_what_an_input_is_and_nothing_is_lost() {
    let json = "[\n{\"name\":\"Quill\",\"site\":{\"host\":\"quill.example\"}},\n{\"id\":7}\n]\n";
    for bytes in [json.as_bytes().to_vec(), gzip(json), zip(&[("x/all.json", json.as_bytes())])] {
        let source = Source::reader("stdin", Cursor::new(bytes));
        let Sampled { sample, source } = sample(source, options(), 10).unwrap();
        let sample = sample.unwrap();
        assert_eq!(sample.file_name, "stdin");
        assert_eq!(sample.kind, Some(InputKind::Json));
        assert_eq!(sample.record_path.as_deref(), Some("/*"));
        assert_eq!(sample.names, ["name", "site", "site.host", "id"]);
        let mut input = InputRecords::open(source, options()).unwrap();
        for record in &sample.records {
            assert_eq!(input.next_record().unwrap().as_ref(), Some(record));
        }
        assert!(input.next_record().unwrap().is_none());
    }
}

#[test]
fn a_sample_of_a_file_reads_its_beginning_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leads.csv");
    let mut file = File::create(&path).unwrap();
    file.write_all(CSV.as_bytes()).unwrap();
    for _ in 0..100 {
        file.write_all("Ink,ink.example\n".repeat(10_000).as_bytes()).unwrap();
    }
    let Sampled { sample, source } = sample(Source::file(&path).unwrap(), options(), 3).unwrap();
    let sample = sample.unwrap();
    assert_eq!(sample.names, ["name", "site"]);
    assert_eq!(sample.records.len(), 3);
    assert_eq!(source.file_name(), "leads.csv");
    let mut input = InputRecords::open(source, options()).unwrap();
    assert_eq!(fields(&[input.next_record().unwrap().unwrap()]), [QUILL]);
}

#[test]
fn what_is_stopped_ends_in_the_middle() {
    let (records, error) = until_error("a.gz", gzip(CSV)[..10].to_vec(), options());
    assert_eq!(records, []);
    assert!(error.is_some());
}
