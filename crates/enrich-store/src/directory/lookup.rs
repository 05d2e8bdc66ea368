//! How far a look-up goes, and why one stops.

use enrich_core::Confidence;

use super::view::View;

/// A look-up that is under way.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'c> {
    /// What it reads.
    pub(crate) view: View<'c>,
    /// What a match by name is at least as sure as; below it nobody is found.
    pub(crate) least_by_name: Confidence,
    /// Whether it may take long: it runs where it holds up nobody else.
    pub(crate) may_search: bool,
}

/// Why a look-up stops without an outcome.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It would take long, and must not.
    NeedsSearch,
    /// The database failed.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Lookup<'_> {
    /// Stops a look-up that must not take long.
    pub(crate) fn needs_search(&self) -> Result<(), Stop> {
        if self.may_search { Ok(()) } else { Err(Stop::NeedsSearch) }
    }
}
