//! Finds the format and the compression of a source, from its file name or its first bytes.

use serde::{Deserialize, Serialize};

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
/// The first bytes of a bzip2 file. A digit from 1 to 9 follows them.
const BZIP2_MAGIC: &[u8] = b"BZh";
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";

/// The format of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// One JSON object on each line.
    JsonLines,
    /// CSV: a header line, then a row for each record. Any [`Delimiter`](crate::Delimiter) is
    /// possible.
    Csv,
    /// CSV whose fields are separated by tabs.
    Tsv,
    /// An Excel workbook. Its first visible sheet with a table is read: a header, then a row for
    /// each record.
    Xlsx,
}

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Gzip, as in RFC 1952.
    Gzip,
    /// Bzip2.
    Bzip2,
    /// Zstandard, as in RFC 8878.
    Zstd,
}

impl Compression {
    /// Returns the compression of an input that begins with `bytes`; `None` if the input is not
    /// compressed.
    ///
    /// An uncompressed list in UTF-8 is never taken for gzip or Zstandard, because no valid UTF-8
    /// text begins with their bytes. A list could be taken for bzip2 only if it begins with `BZh`
    /// and a digit, which is very unlikely.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes {
            _ if bytes.starts_with(GZIP_MAGIC) => Some(Self::Gzip),
            _ if bytes.starts_with(BZIP2_MAGIC)
                && matches!(bytes.get(BZIP2_MAGIC.len()), Some(b'1'..=b'9')) =>
            {
                Some(Self::Bzip2)
            }
            _ if bytes.starts_with(ZSTD_MAGIC) => Some(Self::Zstd),
            _ => None,
        }
    }
}

const COMPRESSION_ENDINGS: [(&str, Compression); 3] =
    [(".gz", Compression::Gzip), (".bz2", Compression::Bzip2), (".zst", Compression::Zstd)];

/// Returns a file name without the ending of its compression: `leads.csv` for `leads.csv.gz`.
pub fn uncompressed_file_name(file_name: &str) -> &str {
    without_ending(file_name, &COMPRESSION_ENDINGS).0
}

/// Returns the format and the compression that a file name shows. Each is `None` if the name does
/// not show it. The endings are `.jsonl`, `.ndjson`, `.geojsonl`, `.geojsonseq`, `.csv`, `.tsv`,
/// `.tab` or `.xlsx` for the format, then `.gz`, `.bz2` or `.zst` for the compression, in upper or
/// lower case.
pub fn format_from_file_name(file_name: &str) -> (Option<Format>, Option<Compression>) {
    let (rest, compression) = without_ending(file_name, &COMPRESSION_ENDINGS);
    let formats = [
        (".jsonl", Format::JsonLines),
        (".ndjson", Format::JsonLines),
        (".geojsonl", Format::JsonLines),
        (".geojsonseq", Format::JsonLines),
        (".csv", Format::Csv),
        (".tsv", Format::Tsv),
        (".tab", Format::Tsv),
        (".xlsx", Format::Xlsx),
    ];
    let (_, format) = without_ending(rest, &formats);
    (format, compression)
}

/// Finds the first of `endings` that the name ends with. Returns the name without this ending, and
/// the value beside the ending in `endings`. If no ending fits, returns the whole name and `None`.
fn without_ending<'a, T: Copy>(name: &'a str, endings: &[(&str, T)]) -> (&'a str, Option<T>) {
    for (ending, meaning) in endings {
        if let Some((stem, end)) = name.split_at_checked(name.len().saturating_sub(ending.len()))
            && !stem.is_empty()
            && end.eq_ignore_ascii_case(ending)
        {
            return (stem, Some(*meaning));
        }
    }
    (name, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_name_tells_format_and_compression() {
        let jsonl = Some(Format::JsonLines);
        let cases = [
            ("acme.jsonl", jsonl, None),
            ("acme.JSONL.GZ", jsonl, Some(Compression::Gzip)),
            ("acme.v2.ndjson.zst", jsonl, Some(Compression::Zstd)),
            ("acme.csv", Some(Format::Csv), None),
            ("acme.csv.bz2", Some(Format::Csv), Some(Compression::Bzip2)),
            ("acme.TSV.gz", Some(Format::Tsv), Some(Compression::Gzip)),
            ("acme.xlsx", Some(Format::Xlsx), None),
            ("acme.gz", None, Some(Compression::Gzip)),
            ("acme", None, None),
            ("acmé", None, None),
            (".csv", None, None),
            ("csv", None, None),
        ];
        for (file_name, format, compression) in cases {
            assert_eq!(format_from_file_name(file_name), (format, compression), "{file_name}");
        }
    }
}
