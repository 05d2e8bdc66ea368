//! Builds the hash index from the identifiers in the directory's file, on a separate thread.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::DirectoryRevision;
use enrich_store_sqlite::{self as sqlite, Background, OpenError, Owner, RefreshGate};
use rusqlite::{Connection, Rows, params};
use tracing::{debug, info, warn};

use super::stored::{self, DirectoryState};
use super::table::Table;
use super::{Current, HashIndex, HashKeys, KINDS};
use crate::directory::codes::IdentifierKind;
use crate::directory::holder::{Holder, holder_of};
use crate::directory::view::View;

/// Minimum number of bytes that one identifier takes in the directory's file. With this number, the
/// size of the file shows how many identifiers it can contain at most.
const MIN_BYTES: usize = 16;
/// The average number of identifiers of the kinds [`KINDS`] that a subject (a company or a person)
/// is expected to have. If the subjects have more, the first table is too small, and all
/// identifiers are read a second time.
const EACH_HAS: usize = 4;
/// Maximum number of identifiers in a hash index. With this number, the index takes a gigabyte of
/// memory.
const MAX: usize = 1 << 27;
/// Maximum number of identifiers that are read without a pause. The pauses let other threads use
/// the processor.
pub(super) const AT_ONCE: usize = 4096;
/// Length of the pause after [`AT_ONCE`] identifiers, as a multiple of the time that reading them
/// took.
const REST: u32 = 3;
/// Delay before the first index is built, if none is stored. A process that ends earlier builds no
/// index. Also the interval at which the thread checks whether it must build a new index.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the directory must be unchanged before a new index is built, as a multiple of the time
/// that the last build took. This limits the cost of frequent imports: if a build takes 10 seconds,
/// the next one begins 20 seconds later at the earliest. A build uses a quarter of a processor
/// ([`REST`]), so on average, builds use at most a twelfth of a processor.
const QUIET: u32 = 2;
/// Delay before the next attempt, after the identifiers could not be read.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(60);

/// Starts the thread that provides an index whenever `current` has none. The thread loads the
/// stored index. If there is no stored index, it waits until the directory at `path` is not
/// changing, builds an index, and stores it.
pub(in crate::directory) fn start(
    path: &Path,
    current: Arc<Current>,
) -> Result<Background, OpenError> {
    let connection =
        sqlite::mapped_reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    let directory: PathBuf = path.into();
    Background::start(path, "enrich-index", move |owner| {
        maintain(&connection, &directory, &current, owner);
    })
}

fn maintain(connection: &Connection, directory: &Path, current: &Current, owner: &Owner) {
    let mut quiet = Duration::ZERO;
    let mut seen = None;
    let mut too_large = None;
    let mut pause = Duration::ZERO;
    while owner.wait_or_stopped(pause) {
        let is_start = pause.is_zero();
        pause = PAUSE;
        // If the state cannot be read here, look-ups fail too and report the error.
        let Ok(state) = DirectoryState::read(connection) else { continue };
        let now = state.revision;
        let since = match seen {
            Some((revision, since)) if revision == now => since,
            _ => Instant::now(),
        };
        seen = Some((now, since));
        if let Some(index) = &*current.get() {
            if index.revision == now {
                continue;
            }
            current.forget(index);
        }
        if let Some(index) = stored::load(directory, &state) {
            current.0.store(Some(Arc::new(index)));
            continue;
        }
        if is_start || since.elapsed() < quiet || too_large == Some(now) {
            continue;
        }
        let begun = Instant::now();
        match HashIndex::read(connection, |pause| owner.wait_or_stopped(pause)) {
            Ok(Reading::Made(index)) => {
                let index = Arc::new(index);
                current.0.store(Some(Arc::clone(&index)));
                store(directory, &index, &state);
            }
            Ok(Reading::Changed) => {}
            Ok(Reading::TooLarge(revision)) => {
                info!("there are more identifiers than a memory index has room for: they are read");
                too_large = Some(revision);
            }
            Err(error) => {
                warn!(%error, "the identifiers cannot be read to their end");
                if !owner.wait_or_stopped(PAUSE_AFTER_ERROR) {
                    break;
                }
            }
        }
        quiet = PAUSE.max(begun.elapsed() * QUIET);
    }
}

/// Stores an index for the next start of a server. `state` was read before the index was built.
fn store(directory: &Path, index: &HashIndex, state: &DirectoryState) {
    if index.revision != state.revision || !state.is_known() {
        return;
    }
    if let Err(error) = stored::store(directory, index, state) {
        debug!(%error, "the hash index cannot be stored");
    }
}

/// Builds an index. From time to time, calls `goes_on` with a duration. `goes_on` must pause for
/// this duration, and return whether to go on.
///
/// Returns `None` when there are too many identifiers, when the directory changes during the build,
/// or when `goes_on` returns `false`.
pub(super) fn build(
    connection: &Connection,
    goes_on: impl Fn(Duration) -> bool,
) -> rusqlite::Result<Option<HashIndex>> {
    match HashIndex::read(connection, goes_on)? {
        Reading::Made(index) => Ok(Some(index)),
        Reading::Changed | Reading::TooLarge(_) => Ok(None),
    }
}

/// Reads the identifiers of [`KINDS`] and passes each to `take`, with its first holder (the first
/// subject that has it). Returns whether all identifiers were read.
///
/// After every `at_once` identifiers, ends the read of the file, and calls `goes_on` with a
/// duration. `goes_on` must pause for this duration, so that other threads can use the processor.
/// Then it must return whether to go on.
pub(super) fn each_identifier(
    connection: &Connection,
    at_once: usize,
    goes_on: impl Fn(Duration) -> rusqlite::Result<bool>,
    mut take: impl FnMut(IdentifierKind, &str, Holder),
) -> rusqlite::Result<bool> {
    // The parameter `?2` is the key of the last identifier that was read. For the first read of a
    // kind, it is the empty text. This skips nothing, because no identifier has an empty key.
    let mut statement = connection.prepare_cached(
        "SELECT key, subject, tier, confidence FROM identifier WHERE kind = ?1 AND key > ?2
         ORDER BY key, tier, subject",
    )?;
    for kind in KINDS {
        let mut last = String::new();
        loop {
            let begun = Instant::now();
            let mut rows = statement.query(params![kind, last])?;
            let is_end = some_identifiers(&mut rows, at_once, &mut last, |key, first| {
                take(kind, key, first);
            })?;
            drop(rows);
            if !goes_on(begun.elapsed() * REST)? {
                return Ok(false);
            }
            if is_end {
                break;
            }
        }
    }
    Ok(true)
}

/// Reads the next `left` identifiers from `rows` and passes each to `take`, with its first holder
/// (the first subject that has it). Returns `true` if the rows have ended. Sets `last` to the key
/// of the last identifier.
fn some_identifiers(
    rows: &mut Rows<'_>,
    mut left: usize,
    last: &mut String,
    mut take: impl FnMut(&str, Holder),
) -> rusqlite::Result<bool> {
    let mut first = None::<Holder>;
    while let Some(row) = rows.next()? {
        let (key, holder) = (row.get_ref(0)?.as_str()?, holder_of(row, 1)?);
        match &mut first {
            Some(first) if key == last => {
                first.confidence = first.confidence_beside(Some(holder.tier));
                continue;
            }
            Some(first) => {
                take(last, *first);
                left -= 1;
                if left == 0 {
                    return Ok(false);
                }
            }
            None => {}
        }
        first = Some(holder);
        key.clone_into(last);
    }
    if let Some(first) = first {
        take(last, first);
    }
    Ok(true)
}

pub(super) enum Reading {
    /// The complete index.
    Made(HashIndex),
    /// No index: the directory has changed during the read, or `goes_on` has returned `false`, for
    /// example because the owner of the index was dropped.
    Changed,
    /// No index: the state with this revision has too many identifiers.
    TooLarge(DirectoryRevision),
}

impl HashIndex {
    /// Builds an index of all identifiers. Calls `goes_on` from time to time. `goes_on` must pause
    /// for the given time, and return whether to go on.
    pub(super) fn read(
        connection: &Connection,
        goes_on: impl Fn(Duration) -> bool,
    ) -> rusqlite::Result<Reading> {
        let view = View::of(connection);
        let revision = view.revision()?;
        let is_same = || Ok::<_, rusqlite::Error>(view.revision()? == revision);
        let keys = HashKeys::random();
        // The expected number may be too high, because it includes removed companies and people,
        // and because a damaged file may contain a wrong number. So `most` limits it to the number
        // of identifiers that a file of this size can contain.
        let most = usize::try_from(sqlite::bytes(connection)?).unwrap_or(usize::MAX) / MIN_BYTES;
        let mut expected = view.subjects_ever()?.saturating_mul(EACH_HAS).min(most);
        // If `expected` was too low or much too high, a second pass uses the number of identifiers
        // that the first pass has counted.
        for _ in 0..2 {
            expected = expected.clamp(1, MAX);
            let Some(mut table) = Table::with_room_for(expected) else {
                return Ok(Reading::TooLarge(revision));
            };
            let (count, mut fits) = (Cell::new(0), true);
            let may_go_on = |pause| Ok(count.get() <= MAX && goes_on(pause) && is_same()?);
            let is_whole = each_identifier(connection, AT_ONCE, may_go_on, |kind, key, holder| {
                fits &= table.insert(keys.hash(kind, key), holder.subject, holder.confidence);
                count.set(count.get() + 1);
            })?;
            if count.get() > MAX {
                break;
            }
            if !is_whole {
                return Ok(Reading::Changed);
            }
            // A table with more than twice the needed size would waste memory. In this case, the
            // second pass makes a smaller table.
            if fits && expected / 2 <= count.get().max(1) {
                let refresh_gate = RefreshGate::default();
                return Ok(Reading::Made(Self { revision, keys, table, refresh_gate }));
            }
            // The second table has more room than needed, because later loads insert identifiers
            // into the stored index.
            expected = count.get() + count.get() / 8;
        }
        Ok(Reading::TooLarge(revision))
    }
}
