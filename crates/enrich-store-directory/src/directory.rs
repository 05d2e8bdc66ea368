//! Look-ups in the SQLite database of the directory. Most look-ups read only a few rows by their
//! keys.
//!
//! Look-ups do not read the facts. They read rows that are derived from the facts whenever facts
//! are written: a profile for each subject, and an index that leads from every exact identifier to
//! its subjects. Short reads run on the caller's thread. Reads that may take long run on separate
//! threads: long lists, names that many companies share, and searches for names without an exact
//! match. Each look-up sees one state of the directory, even during an import.

mod answer;
pub(crate) mod codes;
pub(crate) mod companies;
mod fair_queue;
pub(crate) mod hash_index;
mod hold;
pub(crate) mod holder;
pub(crate) mod identifiers;
pub(crate) mod index_check;
pub(crate) mod lookup;
pub(crate) mod names;
pub(crate) mod people;
pub(crate) mod postings;
pub(crate) mod profile;
mod read_pool;
pub(crate) mod shared_ids;
pub(crate) mod stored_page;
mod suppressed;
mod text_or_pair;
mod units;
pub(crate) mod unwritten;
pub(crate) mod variants;
pub(crate) mod view;

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::matching::ScoredCandidate;
use enrich_core::port::directory::{Directory, Tenant};
use enrich_core::port::error::StoreError;
use enrich_core::{
    Company, Confidence, DirectoryRevision, Found, Projection, Question, Subject, SuppressedValues,
};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, Background, OpenError, Options, Readers, in_use::InUse};
use enrich_text::{CompanyName, Country};
use tracing::debug;

use crate::importer::deriving;
use answer::find;
use codes::IdentifierKind;
use hash_index::{IndexHit, IndexResult};
use lookup::{Lookup, Stop, searched};
use read_pool::{Connect, ReadPool};
pub use suppressed::SuppressedHashes;
use suppressed::Suppression;
use view::View;

/// Answers questions from `directory.sqlite`.
#[derive(Debug)]
pub struct SqliteDirectory {
    readers: Readers,
    /// Threads for look-ups that list the employees of a company.
    employee_reads: ReadPool,
    /// Threads for all other look-ups that may take long, such as searches for similar names.
    name_searches: ReadPool,
    min_name_confidence: Confidence,
    /// Whether [`Self::prepare`] and [`Self::prepare_snapshot`] build the hash index.
    has_hash_index: bool,
    suppression: Suppression,
    /// The hash index of identifiers, if it is already built.
    index: Arc<hash_index::Current>,
    /// Threads that [`Self::prepare`] starts. One keeps a read transaction open, so that other
    /// reads make fewer system calls (see the module `hold`). The other builds the hash index.
    helpers: OnceLock<Vec<Background>>,
    /// Marks the data folder as in use while this value exists, so that no other command replaces
    /// the folder; `None` for a snapshot.
    _in_use: Option<Arc<InUse>>,
}

impl SqliteDirectory {
    /// Opens the database at `path`, which must exist and have the current schema.
    pub(crate) fn open(
        path: &Path,
        secrets: &Secrets,
        options: &Options,
        index: Arc<hash_index::Current>,
        in_use: Arc<InUse>,
    ) -> Result<Self, OpenError> {
        let opened = Self::connect(path, secrets, options, sqlite::mapped_reader)?;
        Ok(Self { index, _in_use: Some(in_use), ..opened })
    }

    /// Opens a snapshot: a file that no process changes. The file must have the schema of this
    /// build.
    ///
    /// # Errors
    ///
    /// [`OpenError::DerivedBefore`] when the look-up data was derived by other rules than those of
    /// this program. Another error when the file cannot be read.
    pub fn open_snapshot(
        path: &Path,
        secrets: &Secrets,
        options: &Options,
    ) -> Result<Self, OpenError> {
        Self::connect(path, secrets, options, sqlite::immutable_reader)
    }

    fn connect(
        path: &Path,
        secrets: &Secrets,
        options: &Options,
        connect: Connect,
    ) -> Result<Self, OpenError> {
        let is_due = connect(path).and_then(|connection| deriving::is_due(&connection));
        if is_due.map_err(|source| OpenError::of_sqlite(path, source))? {
            return Err(OpenError::DerivedBefore(path.into()));
        }
        Ok(Self {
            readers: Readers::open(path, connect)?,
            employee_reads: ReadPool::start(path, connect)?,
            name_searches: ReadPool::start(path, connect)?,
            min_name_confidence: options.min_name_confidence,
            has_hash_index: options.hash_index,
            suppression: Suppression::new(secrets),
            index: Arc::default(),
            helpers: OnceLock::new(),
            _in_use: None,
        })
    }
}

impl SqliteDirectory {
    /// Makes look-ups faster. Only servers call this method. A command of the command line makes
    /// too few look-ups to gain from it.
    ///
    /// This method does four things:
    ///
    /// - It reads, on another thread, the lists of words that every search for a name needs. This
    ///   takes a tenth of a second.
    /// - It begins the write-ahead log (`sqlite::begin_log`).
    /// - It starts a thread that keeps a read transaction open, so that all other reads make fewer
    ///   system calls.
    /// - If the options enable the hash index, it starts a thread that loads the stored hash index.
    ///   If none is stored, this thread waits for a second, and then builds one.
    ///
    /// # Errors
    ///
    /// When the operating system cannot start a thread, or the directory cannot be read.
    pub fn prepare(&self) -> Result<(), OpenError> {
        self.name_searches.prepare(|connection| names::prepare(View::of(connection)));
        if self.helpers.get().is_some() {
            return Ok(());
        }
        let log = self.readers.read(|connection| {
            View::of(connection).revision()?;
            sqlite::begin_log(self.readers.path())
        });
        if let Err(error) = log {
            // Without the write-ahead log, reads take a little longer. A possible reason for the
            // error is a full disk.
            debug!(%error, "the directory's log was not begun");
        }
        let path = self.readers.path();
        let mut helpers = vec![hold::start(path)?];
        if self.has_hash_index {
            helpers.push(hash_index::start(path, Arc::clone(&self.index))?);
        }
        // If another thread has already set the helpers, `set` returns the new ones. They are
        // dropped here, and their threads end.
        let _ = self.helpers.set(helpers);
        Ok(())
    }

    /// Prepares a snapshot for many look-ups, as [`prepare`](Self::prepare) does for the directory.
    /// Builds the hash index on the caller's thread, unless the options disable the hash index.
    ///
    /// During the build, calls `goes_on` from time to time. `goes_on` must pause for the given
    /// time, so that other threads can use the processor, and return whether to go on. If `goes_on`
    /// returns `false`, no hash index is built.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn prepare_snapshot(&self, goes_on: impl Fn(Duration) -> bool) -> Result<(), StoreError> {
        self.name_searches.prepare(|connection| names::prepare(View::of(connection)));
        if !self.has_hash_index {
            return Ok(());
        }
        self.readers.read(|connection| self.index.build(connection, goes_on))
    }

    /// If exactly one company has this name, returns the company that the name means, and the
    /// confidence of the match. Returns `None` if similar names must be compared instead.
    ///
    /// If the only company with the name is bare (known only by names), another company may be the
    /// same one under another of its names. Then the other company is returned. Otherwise, the bare
    /// company is returned if its match has at least the confidence `min_name_confidence`. The
    /// returned confidence of a bare company is never higher than that of the sources of its name.
    pub fn only_match(
        &self,
        name: &CompanyName,
        country: Option<Country>,
    ) -> Result<Option<(Company, Confidence)>, StoreError> {
        let min_name_confidence = self.min_name_confidence;
        self.readers.read(|connection| {
            let lookup =
                Lookup { view: View::of(connection), min_name_confidence, may_search: true };
            searched(names::find_only_match(lookup, name, country))
        })
    }

    /// Returns the companies that a name may mean, with their evidence, the likeliest first.
    pub fn judged(
        &self,
        name: &CompanyName,
        country: Option<Country>,
    ) -> Result<Vec<ScoredCandidate>, StoreError> {
        self.readers.read(|connection| names::judged(View::of(connection), name, country))
    }

    /// Makes the look-up of `question` on the caller's thread. The outer `None` means that it may
    /// take long and must run on another thread; the inner `None` means that nothing was found.
    fn find_inline(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Option<Found>>, StoreError> {
        let identifier = one_identifier(question);
        let mut hit = None;
        if let Some((kind, key)) = identifier {
            match self.index.locate(kind, key, || self.revision_now().ok()) {
                IndexResult::Nowhere => return Ok(Some(None)),
                IndexResult::At(it) => hit = Some(it),
                IndexResult::Unknown => {}
            }
        }
        if projection != Projection::Profile {
            return Ok(None);
        }
        self.readers.read(|connection| {
            if let (Question::Company(_), Some((kind, key))) = (question, identifier) {
                let found = find_by(View::of(connection), kind, key, hit)?;
                self.index.learn(hit, found.as_ref().map(|found| found.revision));
                return Ok(Some(found));
            }
            let (index, least) = (self.index.get(), self.min_name_confidence);
            match find(connection, index.as_deref(), question, projection, least, false) {
                Ok(found) => Ok(Some(found)),
                Err(Stop::NeedsSearch) => Ok(None),
                Err(Stop::Sqlite(error)) => Err(error),
            }
        })
    }

    /// Makes the look-up that `question` describes, on another thread: on a thread of
    /// `employee_reads` for a company's employees, otherwise on a thread of `name_searches`.
    async fn find_on_pool(
        &self,
        tenant: Tenant,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        let (question, least) = (question.clone(), self.min_name_confidence);
        let pool = match projection {
            Projection::Profile => &self.name_searches,
            Projection::Employees { .. } => &self.employee_reads,
        };
        pool.read(tenant, move |connection| {
            searched(find(connection, None, &question, projection, least, true))
        })
        .await
    }

    fn revision_now(&self) -> Result<DirectoryRevision, StoreError> {
        self.readers.read(|connection| View::of(connection).revision())
    }
}

#[async_trait]
impl Directory for SqliteDirectory {
    async fn find(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        self.find_for(Tenant::default(), question, projection).await
    }

    async fn find_for(
        &self,
        tenant: Tenant,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        if let Some(found) = self.find_inline(question, projection)? {
            return Ok(found);
        }
        // Most calls end before this line. Boxing this future keeps the futures of all calls small.
        Box::pin(self.find_on_pool(tenant, question, projection)).await
    }

    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        self.readers.read(|connection| self.suppression.current(View::of(connection))).map(Some)
    }

    async fn revision(&self) -> Result<DirectoryRevision, StoreError> {
        self.revision_now()
    }
}

/// Returns the identifier in a look-up question. Returns `None` if the question has no identifier,
/// or if the look-up tries several forms of the identifier. For example, it tries an email address
/// with and without its `+tag`.
fn one_identifier(question: &Question) -> Option<(IdentifierKind, &str)> {
    match question {
        Question::Company(company) => companies::one_identifier(company),
        Question::Person(person) => people::one_identifier(person),
        Question::Candidates { .. } | Question::Host(_) | Question::Domain(_) => None,
    }
}

fn find_by(
    view: View<'_>,
    kind: IdentifierKind,
    key: &str,
    hit: Option<IndexHit>,
) -> rusqlite::Result<Option<Found>> {
    let found = view.first_now(kind, key, hit)?;
    Ok(found.map(|(company, confidence, revision)| Found {
        subject: Subject::Company(company),
        confidence,
        revision,
    }))
}
