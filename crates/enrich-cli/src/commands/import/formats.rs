//! Lists the built-in import formats (`enrich import --formats`), and prints the mapping file of
//! one (`enrich import --show-map`).

use enrich_mapping::{Mapping, built_ins};
use serde::Serialize;

use super::super::Failure;
use super::super::table::Row;

/// A built-in source, as `enrich import --formats` prints it.
#[derive(Serialize)]
pub(super) struct FormatRecord {
    format: &'static str,
    title: &'static str,
    files: &'static [String],
    gives: &'static str,
    licence: &'static str,
    size: &'static str,
}

pub(super) fn formats() -> Vec<FormatRecord> {
    let record = |mapping: &'static Mapping| {
        let source = mapping.source();
        FormatRecord {
            format: &source.name,
            title: &source.title,
            files: mapping.files(),
            gives: &source.gives,
            licence: &source.licence,
            size: &source.size,
        }
    };
    built_ins().iter().map(record).collect()
}

impl Row for FormatRecord {
    const TITLES: &'static [&'static str] = &["FORMAT", "FILES", "GIVES", "LICENCE", "SIZE"];

    fn cells(&self) -> Vec<String> {
        let files = self.files.join(", ");
        [self.format, &files, self.gives, self.licence, self.size].map(str::to_owned).to_vec()
    }
}

/// Returns the mapping file of a built-in source.
pub(super) fn mapping_text(name: &str) -> Result<&'static str, Failure> {
    let mapping = Mapping::built_in(name).map(Mapping::source_text);
    mapping.ok_or_else(|| {
        Failure::refused(format!("there is no format {name}; `enrich import --formats` lists them"))
    })
}
