//! The input of one look-up, its limits, and the reasons why it may stop without a result.

use enrich_core::Confidence;
use rusqlite::ffi;

use super::view::View;

/// A look-up that is running.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'c> {
    pub(crate) view: View<'c>,
    /// The least confidence of a match by name. If the best match has a lower confidence, the name
    /// counts as not found.
    pub(crate) min_name_confidence: Confidence,
    /// Whether the look-up may take long. This is `false` while a look-up is first tried on the
    /// caller's thread, where only short look-ups may run.
    pub(crate) may_search: bool,
}

/// Why a look-up stops without a result.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The look-up would take long, but [`Lookup::may_search`] is `false`. It must be repeated on a
    /// thread for long look-ups.
    NeedsSearch,
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Lookup<'_> {
    /// Returns [`Stop::NeedsSearch`] if this look-up must not take long. A look-up must call this
    /// before every step that may take long.
    pub(crate) fn needs_search(&self) -> Result<(), Stop> {
        if self.may_search { Ok(()) } else { Err(Stop::NeedsSearch) }
    }
}

/// The message of the error for a look-up that returns [`Stop::NeedsSearch`] although its
/// [`Lookup::may_search`] is `true`.
const UNEXPECTED: &str = "a look-up that may take long has refused to take long";

/// Converts the error type of a look-up whose [`Lookup::may_search`] is `true`. Such a look-up can
/// fail only with an error of SQLite.
pub(crate) fn searched<T>(result: Result<Option<T>, Stop>) -> rusqlite::Result<Option<T>> {
    match result {
        Ok(found) => Ok(found),
        // If a look-up whose `may_search` is `true` returns this, it has a bug.
        Err(Stop::NeedsSearch) => {
            debug_assert!(false, "{UNEXPECTED}");
            let code = ffi::Error::new(ffi::SQLITE_MISUSE);
            Err(rusqlite::Error::SqliteFailure(code, Some(UNEXPECTED.to_owned())))
        }
        Err(Stop::Sqlite(error)) => Err(error),
    }
}
