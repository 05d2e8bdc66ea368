//! What surely is not in the directory, told from memory: a Bloom filter of the exact identifiers
//! of one state.
//!
//! Most of what a look-up costs beside HTTP is the way down the index, and one that finds nothing
//! goes it for nothing. A filter of twelve bits an identifier spares 99 of 100 that
//! (`docs/performance.md` has the figures).
//!
//! A filter is of one generation of the directory and says nothing of another. A look-up that reads
//! several things and so keeps to one state asks only a filter of that state. One that asks for a
//! single identifier goes by the filter at a glance: what another process has imported is found
//! within a hundredth of a second, or a tenth while somebody is held up looking; what this process
//! has, at once.
//!
//! Where there is no filter, look-ups read the index. That is so in the first seconds of a process,
//! and from a commit on until nobody has written for a while: making one anew reads a good part of
//! the index, and takes at most a quarter of a processor.

use std::hash::RandomState;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwapOption, Guard};
use enrich_core::Generation;
use fastbloom::BloomFilter;
use rusqlite::{Connection, params};
use tracing::warn;

use super::codes::IdentifierKind;
use super::view::View;
use crate::background::{Background, Owner};
use crate::error::OpenError;
use crate::glance::Glance;
use crate::sqlite;

/// The kinds that are in it: what is asked for by a name reads many rows anyway.
const KINDS: [IdentifierKind; 6] = [
    IdentifierKind::CompanyDomain,
    IdentifierKind::CompanyPage,
    IdentifierKind::CompanyEmail,
    IdentifierKind::PersonPage,
    IdentifierKind::PersonEmail,
    IdentifierKind::PersonPhone,
];
/// How much memory an identifier takes, and how many of these bits it sets: of those that are not
/// there, one in ninety is looked for nevertheless. Eight bits would be one in three hundred, but each
/// is a read of memory that is in no cache, also for those that are there.
const BITS_EACH: usize = 12;
const HASHES: u32 = 3;
/// The least that an identifier takes in the file.
const LEAST_BYTES: usize = 16;
/// How many identifiers of these kinds are expected of a subject; where there are more, they are
/// read twice.
const EACH_HAS: usize = 4;
/// How many identifiers a filter has room for at most, in 400 MB; beyond that it lets more through.
const MOST: usize = 1 << 28;
/// How many keys are read without a pause, which keeps no other for long.
const AT_ONCE: usize = 4096;
/// How long is paused then, in what reading them took.
const REST: u32 = 3;
/// How long a process goes without a filter at first, since a command may be done by then, and how
/// often it is looked at least whether there has to be another one.
const PAUSE: Duration = Duration::from_secs(1);
/// How often that is looked, in what making the last filter took. It is made anew when the directory
/// is the same twice in a row: however often there is an import, making filters takes a
/// tenth of a processor at most.
const PAUSES: u32 = 2;
/// How long is paused when the directory cannot be read.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(60);

/// The identifiers of one state, most of those that are not there told apart.
#[derive(Debug)]
pub(crate) struct Filter {
    generation: Generation,
    identifiers: BloomFilter<RandomState>,
    /// When the directory was last seen to be of this generation.
    glance: Glance,
}

/// The filter that look-ups go by; there may be none.
#[derive(Debug, Default)]
pub(crate) struct Current(ArcSwapOption<Filter>);

impl Filter {
    /// The state that it is of.
    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    /// Whether nobody has this identifier, in the state that the filter is of.
    pub(crate) fn lacks(&self, kind: IdentifierKind, key: &str) -> bool {
        KINDS.contains(&kind) && !self.identifiers.contains(&(kind, key))
    }

    /// Reads all that is held. `None` when it changed meanwhile, the owner is gone, or there is no
    /// memory for it.
    fn read(connection: &Connection, owner: &Owner) -> rusqlite::Result<Option<Self>> {
        let view = View::of(connection);
        let generation = view.generation()?;
        let goes_on = |pause| Ok(owner.is_there_after(pause) && view.generation()? == generation);
        // Some of the subjects may be gone, and what a file says of itself may not be so.
        let most = usize::try_from(sqlite::bytes(connection)?).unwrap_or(usize::MAX) / LEAST_BYTES;
        let mut expected = view.subjects_ever()?.saturating_mul(EACH_HAS).min(most);
        loop {
            expected = expected.clamp(1, MOST);
            let Some(mut identifiers) = with_room_for(expected) else { return Ok(None) };
            let mut count = 0;
            let is_whole = each_key(connection, goes_on, |kind, key| {
                identifiers.insert(&(kind, key));
                count += 1;
            })?;
            if !is_whole {
                return Ok(None);
            }
            let fits = expected / 2 <= count.max(1) && count <= expected;
            if fits || count > MOST {
                return Ok(Some(Self { generation, identifiers, glance: Glance::new() }));
            }
            // Too many would let more through, and too few waste memory. Now it is known.
            expected = count;
        }
    }
}

/// A filter with nothing in it, unless there is no memory for it.
fn with_room_for(count: usize) -> Option<BloomFilter<RandomState>> {
    let words = (count * BITS_EACH).div_ceil(64);
    let mut bits: Vec<u64> = Vec::new();
    bits.try_reserve_exact(words).ok()?;
    bits.resize(words, 0);
    Some(BloomFilter::from_vec(bits).hasher(RandomState::new()).hashes(HASHES))
}

impl Current {
    /// The filter, for a look-up that keeps to one state.
    pub(crate) fn get(&self) -> Guard<Option<Arc<Filter>>> {
        self.0.load()
    }

    /// Whether nobody has this identifier, as far as is known without reading; `generation` reads
    /// the state of the directory, where it is time for that.
    ///
    /// A filter that was just put here was never seen to be of the present state, so that the first
    /// to ask looks: what was written between its last look and now is not missed.
    pub(crate) fn lacks(
        &self,
        kind: IdentifierKind,
        key: &str,
        generation: impl FnOnce() -> Option<Generation>,
    ) -> bool {
        let current = self.get();
        let Some(filter) = &*current else { return false };
        if !filter.lacks(kind, key) {
            return false;
        }
        if filter.glance.is_due() {
            let moment = filter.glance.moment();
            if generation() != Some(filter.generation) {
                self.forget(filter);
                return false;
            }
            filter.glance.seen(moment);
        }
        true
    }

    /// The directory is another one now.
    pub(crate) fn clear(&self) {
        self.0.store(None);
    }

    /// The directory is not that of this filter any more.
    fn forget(&self, filter: &Arc<Filter>) {
        self.0.compare_and_swap(filter, None);
    }
}

/// Makes a filter whenever there is none and the directory of `path` is left alone.
pub(super) fn start(path: &Path, current: Arc<Current>) -> Result<Background, OpenError> {
    let connection =
        sqlite::mapped_reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    Background::start(path, "enrich-filter", move |owner| keep(&connection, &current, owner))
}

fn keep(connection: &Connection, current: &Current, owner: &Owner) {
    let mut pause = PAUSE;
    let mut last = None;
    // Kept here as well, so that the memory of one that is gone is given back here, by nobody's
    // look-up.
    let mut made = None;
    while owner.is_there_after(pause) {
        // Where it cannot be read, look-ups say so.
        let Ok(now) = View::of(connection).generation() else { continue };
        let is_quiet = last.replace(now).is_none_or(|last| last == now);
        if let Some(filter) = &*current.get() {
            if filter.generation == now {
                continue;
            }
            current.forget(filter);
        }
        made = None;
        if !is_quiet {
            continue;
        }
        let begun = Instant::now();
        match Filter::read(connection, owner) {
            Ok(filter) => {
                made = filter.map(Arc::new);
                current.0.store(made.clone());
                pause = PAUSE.max(begun.elapsed() * PAUSES);
            }
            Err(error) => {
                warn!(%error, "the identifiers cannot be read to their end");
                pause = PAUSE_AFTER_ERROR;
            }
        }
    }
    drop(made);
}

/// Reads the keys of [`KINDS`], each once or more; whether to the end. Every so many it asks `goes_on`,
/// which pauses for as long as it is told, so that neither the processor nor one state of the file is
/// kept.
fn each_key(
    connection: &Connection,
    goes_on: impl Fn(Duration) -> rusqlite::Result<bool>,
    mut take: impl FnMut(IdentifierKind, &str),
) -> rusqlite::Result<bool> {
    let mut statement = connection
        .prepare_cached("SELECT key FROM identifier WHERE kind = ?1 AND key > ?2 ORDER BY key")?;
    for kind in KINDS {
        let mut last = String::new();
        loop {
            let (begun, mut left) = (Instant::now(), AT_ONCE);
            let mut rows = statement.query(params![kind, last])?;
            while left > 0
                && let Some(row) = rows.next()?
            {
                let key = row.get_ref(0)?.as_str()?;
                take(kind, key);
                left -= 1;
                if left == 0 {
                    key.clone_into(&mut last);
                }
            }
            drop(rows);
            if !goes_on(begun.elapsed() * REST)? {
                return Ok(false);
            }
            if left > 0 {
                break;
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use enrich_core::port::directory::Directory as _;
    use enrich_core::port::intake::{Intake as _, Suppressed};
    use enrich_core::{CompanyRecord, CompanyRef, PersonRecord, PersonRef, Question, Record, Want};
    use enrich_testkit::contract::noon;
    use enrich_testkit::loading::load_from;
    use enrich_testkit::records::{
        company, domain, email, emails, hashed, person, person_page, phone, phones, sites,
    };
    use pollster::block_on;
    use tempfile::TempDir;

    use super::*;
    use crate::{Options, Store};

    /// Two stores of one folder: the second stands for another process.
    struct Folder {
        store: Store,
        other: Store,
        folder: TempDir,
    }

    impl Folder {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let open = || Store::open_or_create(folder.path(), Options::default()).unwrap();
            Self { store: open(), other: open(), folder }
        }

        /// A filter of what is held now.
        fn read(&self) -> Arc<Filter> {
            let path = self.folder.path().join(sqlite::DIRECTORY.file);
            let connection = sqlite::mapped_reader(&path).unwrap();
            let (_there, gone) = mpsc::sync_channel(0);
            Arc::new(Filter::read(&connection, &Owner::of(gone)).unwrap().unwrap())
        }

        /// Has the first store go by a filter.
        fn go_by(&self, filter: Arc<Filter>) {
            self.store.directory.filter.0.store(Some(filter));
        }

        /// Has the first store go by a filter of what is held now.
        fn filter(&self) {
            self.go_by(self.read());
        }

        fn is_filtered(&self) -> bool {
            self.store.directory.filter.get().is_some()
        }

        fn finds(&self, question: &Question) -> bool {
            let found = self.store.directory.find(question, Want::Profile);
            block_on(found).unwrap().is_some()
        }
    }

    fn load(store: &Store, records: Vec<Record>) {
        block_on(async {
            let mut loading = store.intake.begin(load_from("a")).await.unwrap();
            loading.take(records).await.unwrap();
            loading.finish().await.unwrap();
        });
    }

    fn with_site(site: &str) -> Record {
        hashed(CompanyRecord { sites: sites(&[site]), ..company(site) })
    }

    fn by_domain(site: &str) -> Question {
        Question::Company(CompanyRef::Domain(domain(site)))
    }

    fn by_company_email(address: &str) -> Question {
        Question::Company(CompanyRef::Email(email(address)))
    }

    #[test]
    fn nothing_that_is_held_is_lacked_and_nearly_all_that_is_not() {
        let folder = Folder::new();
        load(&folder.store, (0..300).map(|n| with_site(&format!("held{n}.example"))).collect());
        // One with more than is expected of all.
        let many: Vec<String> = (300..5_000).map(|n| format!("held{n}.example")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        load(
            &folder.store,
            vec![hashed(CompanyRecord { sites: sites(&many), ..company("Quill") })],
        );
        let filter = folder.read();
        let lacks = |key: &str| filter.lacks(IdentifierKind::CompanyDomain, key);
        assert!((0..5_000).all(|n| !lacks(&format!("held{n}.example"))));
        let let_through = (0..10_000).filter(|n| !lacks(&format!("other{n}.example"))).count();
        assert!(let_through < 200, "{let_through}");
        // Kinds that are not in it are looked for.
        assert!(!filter.lacks(IdentifierKind::CompanyName, "nobody"));
    }

    #[test]
    fn whatever_is_asked_is_found_with_a_filter_as_without() {
        let folder = Folder::new();
        let quill = CompanyRecord {
            sites: sites(&["quill.example"]),
            emails: emails(&["office@quill.example"]),
            ..company("Quill")
        };
        let ada = PersonRecord {
            page: Some(person_page("ada-quill")),
            emails: emails(&["ada@post.example"]),
            phones: phones(&["+447700900123"]),
            ..person("Ada", "Quill")
        };
        load(&folder.store, vec![hashed(quill), hashed(ada)]);
        let questions: Vec<(bool, Question)> = vec![
            (true, by_domain("quill.example")),
            (true, by_domain("shop.quill.example")),
            (false, by_domain("shop.feather.example")),
            (true, by_company_email("office+desk@quill.example")),
            (true, by_company_email("else@quill.example")),
            (false, by_company_email("else@feather.example")),
            (true, Question::Person(PersonRef::Page(person_page("ada-quill")))),
            (false, Question::Person(PersonRef::Page(person_page("bob-quill")))),
            (true, Question::Person(PersonRef::Phone(phone("+447700900123")))),
            (false, Question::Person(PersonRef::Phone(phone("+447700900124")))),
            (true, Question::Person(PersonRef::Email(email("ada+list@post.example")))),
            (false, Question::Person(PersonRef::Email(email("bob@post.example")))),
        ];
        let outcomes = || questions.iter().map(|(_, question)| folder.finds(question));
        let expected: Vec<bool> = questions.iter().map(|(is_there, _)| *is_there).collect();
        assert_eq!(outcomes().collect::<Vec<_>>(), expected);
        folder.filter();
        assert_eq!(outcomes().collect::<Vec<_>>(), expected);
        assert!(folder.is_filtered());
    }

    #[test]
    fn what_this_process_imports_is_found_at_once() {
        let folder = Folder::new();
        folder.filter();
        assert!(!folder.finds(&by_domain("quill.example")));
        load(&folder.store, vec![with_site("quill.example")]);
        assert!(!folder.is_filtered());
        assert!(folder.finds(&by_domain("quill.example")));
        folder.filter();
        let forgotten = [Suppressed::Domain(domain("quill.example"))];
        block_on(folder.store.intake.forget(&forgotten, noon())).unwrap();
        assert!(!folder.is_filtered());
    }

    #[test]
    fn what_is_written_before_a_filter_is_in_use_is_found() {
        let folder = Folder::new();
        let filter = folder.read();
        load(&folder.store, vec![with_site("quill.example")]);
        folder.go_by(filter);
        assert!(folder.finds(&by_domain("quill.example")));
    }

    #[test]
    fn one_that_is_much_too_large_is_made_anew() {
        let folder = Folder::new();
        load(&folder.store, (0..2_000).map(|n| with_site(&format!("held{n}.example"))).collect());
        let before = folder.read().identifiers.num_bits();
        let gone = (1..2_000).map(|n| Suppressed::Domain(domain(&format!("held{n}.example"))));
        block_on(folder.store.intake.forget(&gone.collect::<Vec<_>>(), noon())).unwrap();
        assert!(folder.read().identifiers.num_bits() < before / 100);
    }

    #[test]
    fn what_a_filter_lacks_is_not_looked_for() {
        let folder = Folder::new();
        let empty = folder.read();
        let quill = CompanyRecord { emails: emails(&["office@quill.example"]), ..company("Quill") };
        load(&folder.store, vec![hashed(quill)]);
        let generation = folder.read().generation;
        let is_found = || folder.finds(&by_company_email("office@quill.example"));
        assert!(is_found());
        // One that says it is of this state and is not.
        let empty = Arc::into_inner(empty).unwrap();
        folder.go_by(Arc::new(Filter { generation, ..empty }));
        assert!(!is_found());
    }

    #[test]
    fn what_another_process_imports_is_found_a_moment_later() {
        let folder = Folder::new();
        folder.filter();
        assert!(!folder.finds(&by_domain("quill.example")));
        load(&folder.other, vec![with_site("quill.example")]);
        let begun = Instant::now();
        while !folder.finds(&by_domain("quill.example")) {
            assert!(begun.elapsed() < Duration::from_secs(5), "it is never found");
        }
        assert!(!folder.is_filtered(), "it is of another state");
    }

    #[test]
    fn a_look_up_that_keeps_to_one_state_asks_no_filter_of_another() {
        let folder = Folder::new();
        folder.filter();
        // The filter was just seen to be of this state, which it is not any more.
        assert!(!folder.finds(&by_domain("quill.example")));
        load(&folder.other, vec![with_site("quill.example")]);
        assert!(folder.finds(&by_domain("shop.quill.example")));
        assert!(folder.finds(&by_company_email("ada@quill.example")));
    }

    #[test]
    fn a_server_makes_one_and_makes_it_anew_when_the_directory_is_left_alone() {
        let folder = Folder::new();
        folder.store.directory.prepare().unwrap();
        let wait = || {
            let begun = Instant::now();
            while !folder.is_filtered() {
                assert!(begun.elapsed() < Duration::from_secs(30), "there is none");
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        wait();
        load(&folder.store, vec![with_site("quill.example")]);
        assert!(!folder.is_filtered());
        wait();
        assert!(folder.finds(&by_domain("quill.example")));
    }
}
