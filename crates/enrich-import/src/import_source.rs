//! A source, and how its records are read for an import.

use crate::mapped::MapAs;
use crate::source::Source;

/// A source, and how its records are read for an import.
pub struct ImportSource {
    /// The file or stream that is read.
    pub source: Source,
    /// The mapping that converts the records to Enrich's own import format; `None` if they already
    /// have this format.
    pub map_as: Option<MapAs>,
    /// Maximum number of records of the source that are read.
    pub limit: u64,
}

impl ImportSource {
    /// Returns the number of bytes that are read, before decompression; `None` if it is unknown. If
    /// the mapping limits how many records may share a domain, the source is read twice, and all
    /// bytes count twice.
    pub fn total_bytes(&self) -> Option<u64> {
        let readings = if self.map_as.as_ref().is_some_and(MapAs::is_read_twice) { 2 } else { 1 };
        self.source.total_bytes().map(|bytes| bytes.saturating_mul(readings))
    }
}

impl From<Source> for ImportSource {
    fn from(source: Source) -> Self {
        Self { source, map_as: None, limit: u64::MAX }
    }
}
