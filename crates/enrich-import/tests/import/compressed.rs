//! Tests of compressed files: complete, in several parts, cut off, and damaged.

use std::io::Write;

use enrich_import::{Cause, ReadError};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::memory::{Memory, import_into, imported};

const LINES: &str = "{\"name\":\"Quill\"}\n{\"name\":\"Ink\"}\n";

pub(crate) fn gzip(text: &(impl AsRef<[u8]> + ?Sized)) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_ref()).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}

pub(crate) fn bzip2(text: &str) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Returns lines that compress badly, so that a compressed file that is cut off still contains
/// complete lines.
fn many_lines() -> String {
    let line = |number: u32| {
        let noise = number.wrapping_mul(2_654_435_761);
        format!("{{\"name\":\"Quill {noise}\"}}\n")
    };
    (0..200_000).map(line).collect()
}

#[test]
fn format_and_compression_are_told_by_name_or_by_content() {
    let csv = "name\nQuill\nInk\n";
    let cases = [
        ("a.jsonl", LINES.into()),
        ("a.ndjson.gz", gzip(LINES)),
        ("a.jsonl.zst", zstd(LINES)),
        ("a.csv.gz", gzip(csv)),
        ("a.csv.zst", zstd(csv)),
        ("a.csv.bz2", bzip2(csv)),
        ("stdin", bzip2(LINES)),
        ("a.gz", gzip(csv)),
        ("stdin", LINES.into()),
        ("stdin", csv.into()),
        ("stdin", gzip(LINES)),
        ("stdin", zstd(csv)),
        ("a.jsonl", gzip(LINES)),
        ("stdin", format!("\u{feff}\n  {LINES}").into_bytes()),
        ("stdin", gzip(&format!("\u{feff}{csv}"))),
    ];
    for (file_name, bytes) in cases {
        let (report, _) = imported(file_name, bytes);
        assert_eq!((report.read, report.added), (2, 2), "{file_name}");
    }
}

#[test]
fn files_put_together_from_several_are_read_to_the_last() {
    for parts in
        [[gzip(LINES), gzip("{\"name\":\"Pen\"}\n")], [zstd(LINES), zstd("{\"name\":\"Pen\"}")]]
    {
        let (report, _) = imported("stdin", parts.concat());
        assert_eq!(report.added, 3);
    }
}

#[test]
fn what_stands_before_a_cut_is_kept() {
    let text = many_lines();
    for (file_name, whole) in [("a.jsonl.gz", gzip(&text)), ("a.jsonl.zst", zstd(&text))] {
        let memory = Memory::default();
        let cut = whole[..whole.len() / 2].to_vec();
        let error = import_into(&memory, file_name, cut).unwrap_err();
        assert!(matches!(error.cause, Cause::Read(ReadError::EndsInTheMiddle)), "{error:?}");
        assert!(error.report.added > 50_000, "{file_name}: {}", error.report.added);
        assert_eq!(error.report.rejected, 0, "a line that is cut is not read");
        let held = memory.0.lock();
        assert_eq!(held.records.len() as u64, error.report.added);
        assert_eq!(held.finished, 1);
    }
}

#[test]
fn a_cut_anywhere_is_noticed() {
    for (file_name, whole) in [("a.jsonl.gz", gzip(LINES)), ("a.jsonl.zst", zstd(LINES))] {
        for length in 0..whole.len() {
            let cut = whole[..length].to_vec();
            let error = import_into(&Memory::default(), file_name, cut).unwrap_err();
            let is_cut = matches!(error.cause, Cause::Read(ReadError::EndsInTheMiddle));
            assert!(is_cut, "{file_name} {length}: {error:?}");
        }
    }
}

#[test]
fn what_is_not_compressed_as_its_name_says_is_damaged() {
    for file_name in ["a.jsonl.gz", "a.jsonl.zst"] {
        let error = import_into(&Memory::default(), file_name, LINES).unwrap_err();
        assert!(matches!(error.cause, Cause::Read(ReadError::Damaged(_))), "{error:?}");
    }
}

#[test]
fn a_wrong_checksum_is_damage() {
    let mut bytes = gzip(LINES);
    let place = bytes.len() - 8;
    bytes[place] ^= 1;
    let error = import_into(&Memory::default(), "a.jsonl.gz", bytes).unwrap_err();
    assert!(matches!(error.cause, Cause::Read(ReadError::Damaged(_))), "{error:?}");
}
