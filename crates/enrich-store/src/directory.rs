//! The look-up data over SQLite: every look-up is a few point reads of an index.
//!
//! What is known are facts, a row a value; what is read is derived from them when they are
//! written: a profile for each subject, and one index from everything exact to the subjects that
//! have it (`migrations/directory`). Reads are done where they are asked for, on read-only
//! connections with their statements prepared; only what may take long, lists and names that many
//! companies have, goes to threads of its own. Each look-up sees one state of the directory,
//! whatever is being imported.

pub(crate) mod codes;
pub(crate) mod companies;
pub(crate) mod hash_index;
mod hold;
pub(crate) mod identifiers;
pub(crate) mod index_check;
mod lists;
pub(crate) mod lookup;
pub(crate) mod names;
pub(crate) mod people;
pub(crate) mod postings;
pub(crate) mod profile;
mod suppressed;
pub(crate) mod variants;
pub(crate) mod view;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use enrich_core::matching::Judged;
use enrich_core::port::directory::{Directory, Tenant};
use enrich_core::port::error::StoreError;
use enrich_core::{
    Company, Confidence, DirectoryRevision, Found, Projection, Question, Subject, SuppressedValues,
};
use enrich_text::{CompanyName, Country, Domain};
use rusqlite::Connection;
use tracing::debug;

use crate::background::Background;
use crate::error::OpenError;
use crate::importer::deriving;
use crate::in_use::InUse;
use crate::secret::Secrets;
use crate::sqlite::{self, Readers};
use codes::IdentifierKind;
use hash_index::{HashIndex, IndexHit, IndexResult};
use lists::Lists;
use lookup::{Lookup, Stop};
use suppressed::Suppression;
use view::{KnownDomain, View};

/// What is counted when the directory is checked.
pub(crate) const COUNTS: [(&str, &str); 6] = [
    ("companies", "SELECT count(*) FROM subject WHERE kind = 1"),
    ("people", "SELECT count(*) FROM subject WHERE kind = 2"),
    ("domains with facts", "SELECT count(DISTINCT domain) FROM domain_fact"),
    ("values", "SELECT (SELECT count(*) FROM fact) + (SELECT count(*) FROM domain_fact)"),
    ("sources", "SELECT count(*) FROM source"),
    ("suppressed values", "SELECT count(*) FROM suppressed"),
];

/// Answers questions from `directory.sqlite`.
#[derive(Debug)]
pub struct SqliteDirectory {
    readers: Readers,
    /// What reads long lists.
    lists: Lists,
    /// What searches for names that are not found as they are.
    searches: Lists,
    least_by_name: Confidence,
    suppression: Suppression,
    /// Where identifiers lead.
    index: Arc<hash_index::Current>,
    /// They only have to be there, once many look-ups are made.
    helpers: OnceLock<[Background; 2]>,
    _in_use: Arc<InUse>,
}

impl SqliteDirectory {
    /// Reads the database at `path`, which must be there and have its schema.
    /// A match by name is at least as sure as `least_by_name`.
    pub(crate) fn open(
        path: &Path,
        secrets: &Secrets,
        least_by_name: Confidence,
        index: Arc<hash_index::Current>,
        in_use: Arc<InUse>,
    ) -> Result<Self, OpenError> {
        let is_due = sqlite::reader(path).and_then(|connection| deriving::is_due(&connection));
        if is_due.map_err(|source| OpenError::of_sqlite(path, source))? {
            return Err(OpenError::DerivedBefore { path: path.into() });
        }
        Ok(Self {
            readers: Readers::open_mapped(path)?,
            lists: Lists::start(path)?,
            searches: Lists::start(path)?,
            least_by_name,
            suppression: Suppression::new(secrets),
            index,
            helpers: OnceLock::new(),
            _in_use: in_use,
        })
    }
}

impl SqliteDirectory {
    /// Makes many look-ups quick, for a server; a command pays for what it needs.
    ///
    /// What the first search for a name needs is made ready, apart: the lists of words are read
    /// then, which takes a tenth of a second. What each read asks the system for is asked once for
    /// all: the log is begun (`sqlite::begin_log`), and a read is held under way. And from the second
    /// second on, an index of the identifiers is made in memory, which takes about ten bytes each.
    ///
    /// # Errors
    ///
    /// When the system gives no thread, or the directory cannot be read any more.
    pub fn prepare(&self) -> Result<(), OpenError> {
        self.searches.prepare(|connection| names::prepare(View::of(connection)));
        if self.helpers.get().is_some() {
            return Ok(());
        }
        let log = self.readers.read(|connection| {
            View::of(connection).revision()?;
            sqlite::begin_log(self.readers.path())
        });
        if let Err(error) = log {
            // A full disk, or an import at work: reads may take a little longer, and nothing else.
            debug!(%error, "the directory's log was not begun");
        }
        let path = self.readers.path();
        let helpers = [hold::start(path)?, hash_index::start(path, Arc::clone(&self.index))?];
        // Where another thread was quicker, these end here.
        let _ = self.helpers.set(helpers);
        Ok(())
    }

    /// The company that alone bears a name, which is found without a search, and how sure such a
    /// match is, before it is held against the least confidence and the trust in its sources;
    /// `None` where the name is searched for.
    pub fn only_bearer(
        &self,
        name: &CompanyName,
        country: Option<Country>,
    ) -> Result<Option<(Company, Confidence)>, StoreError> {
        self.readers.read(|connection| names::find_only_bearer(View::of(connection), name, country))
    }

    /// The companies that a name may mean, with what speaks for and against each, the likeliest
    /// first.
    pub fn judged(
        &self,
        name: &CompanyName,
        country: Option<Country>,
    ) -> Result<Vec<Judged>, StoreError> {
        self.readers.read(|connection| names::judged(View::of(connection), name, country))
    }

    /// What is found on the thread that asks, or that nothing is; outer `None` where that may take long
    /// and is not for this thread.
    fn find_here(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Option<Found>>, StoreError> {
        let identifier = one_identifier(question);
        let mut hit = None;
        if let Some((kind, key)) = identifier {
            match self.index.locate(kind, key, || self.generation_now().ok()) {
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
            let index = self.index.get();
            match find(
                connection,
                index.as_deref(),
                question,
                projection,
                self.least_by_name,
                false,
            ) {
                Ok(found) => Ok(Some(found)),
                Err(Stop::NeedsSearch) => Ok(None),
                Err(Stop::Sqlite(error)) => Err(error),
            }
        })
    }

    /// Looks up on a thread for searches, or for lists.
    async fn find_apart(
        &self,
        tenant: Tenant,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        let (question, least) = (question.clone(), self.least_by_name);
        let pool = if projection == Projection::Profile { &self.searches } else { &self.lists };
        pool.read(tenant, move |connection| {
            match find(connection, None, &question, projection, least, true) {
                Ok(found) => Ok(found),
                // It may, so that it never does.
                Err(Stop::NeedsSearch) => Ok(None),
                Err(Stop::Sqlite(error)) => Err(error),
            }
        })
        .await
    }

    fn generation_now(&self) -> Result<DirectoryRevision, StoreError> {
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
        if let Some(found) = self.find_here(question, projection)? {
            return Ok(found);
        }
        // A future of its own: most calls are answered by now, and keep no place for it.
        Box::pin(self.find_apart(tenant, question, projection)).await
    }

    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        self.readers.read(|connection| self.suppression.current(View::of(connection))).map(Some)
    }

    async fn revision(&self) -> Result<DirectoryRevision, StoreError> {
        self.generation_now()
    }
}

/// What is asked for by one identifier alone.
fn one_identifier(question: &Question) -> Option<(IdentifierKind, &str)> {
    match question {
        Question::Company(company) => companies::one_identifier(company),
        Question::Person(person) => people::one_identifier(person),
        Question::Host(_) | Question::Domain(_) => None,
    }
}

/// The look-up of a company by one identifier.
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

/// One look-up, of one state of the directory.
fn find(
    connection: &Connection,
    index: Option<&HashIndex>,
    question: &Question,
    projection: Projection,
    least_by_name: Confidence,
    may_search: bool,
) -> Result<Option<Found>, Stop> {
    View::of(connection).of_one_state(index, |view, revision| {
        let lookup = Lookup { view, least_by_name, may_search };
        let found = subject(lookup, question, projection)?;
        Ok(found.map(|(subject, confidence)| Found { subject, confidence, revision }))
    })
}

fn subject(
    lookup: Lookup<'_>,
    question: &Question,
    projection: Projection,
) -> Result<Option<(Subject, Confidence)>, Stop> {
    let view = lookup.view;
    match question {
        Question::Company(company) => {
            let Some((mut company, confidence)) = companies::find(lookup, company)? else {
                return Ok(None);
            };
            if let Projection::Employees { limit } = projection {
                company.employees = view.employees(company.id, limit)?;
            }
            Ok(Some((Subject::Company(company), confidence)))
        }
        Question::Person(person) => {
            let found = people::find(lookup, person)?;
            Ok(found.map(|(person, confidence)| (Subject::Person(person), confidence)))
        }
        Question::Host(host) => {
            let found = view.domain(host.as_str())?;
            Ok(found.and_then(|known| {
                let sure = known.ip_sure.or(known.rank_sure)?;
                Some((Subject::Domain(known.facts), sure))
            }))
        }
        Question::Domain(domain) => {
            let found = ranked_domain(view, domain)?;
            Ok(found.and_then(|known| {
                let sure = known.rank_sure.or(known.ip_sure)?;
                Some((Subject::Domain(known.facts), sure))
            }))
        }
    }
}

/// What is known of a host, or of its registrable domain where that has a rank and the host none:
/// an address is the host's alone, and a rank counts for what lies below.
fn ranked_domain(view: View<'_>, domain: &Domain) -> rusqlite::Result<Option<KnownDomain>> {
    let host = view.domain(domain.as_str())?;
    if host.as_ref().is_some_and(|known| known.rank_sure.is_some()) {
        return Ok(host);
    }
    let registrable = domain.registrable();
    if registrable == *domain {
        return Ok(host);
    }
    let above = view.domain(registrable.as_str())?;
    Ok(above.filter(|known| known.rank_sure.is_some()).or(host))
}
