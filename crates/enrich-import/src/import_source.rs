//! A source, and how its records are read for an import.

use crate::mapped::MapAs;
use crate::source::Source;

/// A source, and how its records are read for an import.
pub struct ImportSource {
    /// The source.
    pub source: Source,
    /// The mapping by which the records become native records; `None` if the records are native.
    pub map_as: Option<MapAs>,
    /// Maximum number of records of the source that are read.
    pub limit: u64,
}

impl From<Source> for ImportSource {
    fn from(source: Source) -> Self {
        Self { source, map_as: None, limit: u64::MAX }
    }
}
