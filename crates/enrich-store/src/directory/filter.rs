//! What surely is not in the directory, told from memory: a Bloom filter of the exact identifiers
//! of one state.
//!
//! Most of what a look-up costs beside HTTP is the way down the index, and one that finds nothing
//! goes it for nothing. A filter of twelve bits an identifier spares nearly all of them that
//! (`docs/performance.md` has the figures).
//!
//! A filter is of one generation of the directory and says nothing of another. A look-up that reads
//! several things and so keeps to one state asks only a filter of that state. One that asks for a
//! single identifier goes by the filter at a glance: what another process has imported is found
//! within a hundredth of a second, and what this process has, at once.
//!
//! Where there is no filter, look-ups read the index. That is so in the first seconds of a process,
//! and from a commit on until nobody has written for a while: making one anew reads a good part of
//! the index, and takes at most half a processor.

use std::hash::RandomState;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use enrich_core::Generation;
use fastbloom::BloomFilter;
use rusqlite::{Connection, params};
use tracing::debug;

use super::codes::IdentifierKind;
use super::view::View;
use crate::background::{Background, Owner};
use crate::error::OpenError;
use crate::glance::Glance;
use crate::sqlite;

/// The kinds that are asked for by themselves. What is asked by a name reads more than one anyway.
const KINDS: [IdentifierKind; 6] = [
    IdentifierKind::CompanyDomain,
    IdentifierKind::CompanyPage,
    IdentifierKind::CompanyEmail,
    IdentifierKind::PersonPage,
    IdentifierKind::PersonEmail,
    IdentifierKind::PersonPhone,
];
/// How much memory an identifier takes: of those that are not there, one in three hundred is looked
/// for nevertheless.
const BITS_EACH: usize = 12;
/// How many identifiers of these kinds are expected of a subject; where there are more, they are
/// read twice.
const EACH_HAS: usize = 4;
/// How many identifiers a filter has room for, in 400 MB; beyond that it lets more through.
const MOST: usize = 1 << 28;
/// How many keys are read without a pause, which keeps no other for long.
const AT_ONCE: usize = 4096;
/// How long a process goes without a filter at first: a command may be done by then.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// How long the directory has to stay the same before a filter is made anew, in what making the last
/// one took: however often there is an import, that is a tenth of a processor at most.
const QUIET: u32 = 4;

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

    /// Reads all that is held. `None` when it changed meanwhile or the owner is gone.
    fn read(connection: &Connection, owner: &Owner) -> rusqlite::Result<Option<Self>> {
        let view = View::of(connection);
        let generation = view.generation()?;
        let mut expected = view.subjects_ever()?.saturating_mul(EACH_HAS);
        loop {
            expected = expected.clamp(1, MOST);
            let bits = BloomFilter::with_num_bits(expected * BITS_EACH);
            let mut identifiers = bits.hasher(RandomState::new()).expected_items(expected);
            let mut count = 0;
            let is_whole = each_key(connection, owner, |kind, key| {
                identifiers.insert(&(kind, key));
                count += 1;
            })?;
            if !is_whole || view.generation()? != generation {
                return Ok(None);
            }
            if count <= expected || expected == MOST {
                return Ok(Some(Self { generation, identifiers, glance: Glance::new() }));
            }
            // So many would let more through; now it is known how many there are.
            expected = count;
        }
    }
}

impl Current {
    /// The filter, for a look-up that keeps to one state.
    pub(crate) fn get(&self) -> Option<Arc<Filter>> {
        self.0.load_full()
    }

    /// Whether nobody has this identifier, as far as is known without reading; `generation` reads
    /// the state of the directory, where it is time for that.
    pub(crate) fn lacks(
        &self,
        kind: IdentifierKind,
        key: &str,
        generation: impl FnOnce() -> Option<Generation>,
    ) -> bool {
        let current = self.0.load();
        let Some(filter) = &*current else { return false };
        if !filter.lacks(kind, key) {
            return false;
        }
        if filter.glance.is_due() {
            if generation() != Some(filter.generation) {
                self.forget(filter);
                return false;
            }
            filter.glance.seen_now();
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
    let mut pause = FIRST_PAUSE;
    let mut last = None;
    while owner.is_there_after(pause) {
        // Where it cannot be read, look-ups say so.
        let Ok(now) = View::of(connection).generation() else { continue };
        let is_quiet = last.replace(now).is_none_or(|last| last == now);
        if let Some(filter) = current.get() {
            if filter.generation != now {
                current.forget(&filter);
            }
            continue;
        }
        if !is_quiet {
            continue;
        }
        let begun = Instant::now();
        match Filter::read(connection, owner) {
            Ok(Some(filter)) => {
                debug!(bits = filter.identifiers.num_bits(), "identifiers are filtered");
                current.0.store(Some(Arc::new(filter)));
            }
            Ok(None) => {}
            Err(error) => debug!(%error, "identifiers are not filtered"),
        }
        pause = FIRST_PAUSE.max(begun.elapsed() * QUIET);
    }
}

/// Reads the keys of [`KINDS`], each once or more; whether to the end. Every so many it pauses for as
/// long as they took, so that neither the processor nor one state of the file is kept.
fn each_key(
    connection: &Connection,
    owner: &Owner,
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
            if !owner.is_there_after(begun.elapsed()) {
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

        /// A filter of what is held now, which the first store goes by.
        fn filter(&self) {
            let path = self.folder.path().join(sqlite::DIRECTORY.file);
            let connection = sqlite::mapped_reader(&path).unwrap();
            let (_there, gone) = mpsc::sync_channel(0);
            let filter = Filter::read(&connection, &Owner::of(gone)).unwrap().unwrap();
            self.store.directory.filter.0.store(Some(Arc::new(filter)));
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
        folder.filter();
        let filter = folder.store.directory.filter.get().unwrap();
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
        assert!(folder.finds(&by_domain("quill.example")));
        folder.filter();
        let forgotten = [Suppressed::Domain(domain("quill.example"))];
        block_on(folder.store.intake.forget(&forgotten, noon())).unwrap();
        assert!(!folder.is_filtered());
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
