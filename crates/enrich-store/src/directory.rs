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
mod hold;
mod lists;
pub(crate) mod names;
pub(crate) mod people;
pub(crate) mod profile;
pub(crate) mod view;

use std::path::Path;

use async_trait::async_trait;
use enrich_core::port::directory::Directory;
use enrich_core::port::error::StoreError;
use enrich_core::{Confidence, Found, Generation, Question, Subject, Want};
use enrich_text::Domain;
use rusqlite::Connection;

use crate::error::OpenError;
use crate::sqlite::Readers;
use codes::IdentifierKind;
use hold::Hold;
use lists::Lists;
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
    lists: Lists,
    /// Only has to be there.
    _hold: Hold,
}

impl SqliteDirectory {
    /// Reads the database at `path`, which must be there and have its schema.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let (readers, lists) = (Readers::open_mapped(path)?, Lists::start(path)?);
        Ok(Self { readers, lists, _hold: Hold::start(path)? })
    }
}

#[async_trait]
impl Directory for SqliteDirectory {
    async fn find(&self, question: &Question, want: Want) -> Result<Option<Found>, StoreError> {
        if want == Want::Profile {
            let here = self.readers.read(|connection| {
                if let Question::Company(company) = question
                    && let Some((kind, key)) = companies::one_identifier(company)
                {
                    return find_by(View::of(connection), kind, key).map(Some);
                }
                let is_short = !names::has_many(View::of(connection), question)?;
                is_short.then(|| find(connection, question, want)).transpose()
            })?;
            if let Some(found) = here {
                return Ok(found);
            }
        }
        let question = question.clone();
        self.lists.read(move |connection| find(connection, &question, want)).await
    }

    async fn generation(&self) -> Result<Generation, StoreError> {
        self.readers.read(|connection| View::of(connection).generation())
    }
}

/// The look-up of a company by one identifier.
fn find_by(view: View<'_>, kind: IdentifierKind, key: &str) -> rusqlite::Result<Option<Found>> {
    let found = view.company_now(kind, key)?;
    Ok(found.map(|(company, confidence, generation)| Found {
        subject: Subject::Company(company),
        confidence,
        generation,
    }))
}

/// One look-up, of one state of the directory.
fn find(
    connection: &Connection,
    question: &Question,
    want: Want,
) -> rusqlite::Result<Option<Found>> {
    View::of(connection).of_one_state(|view, generation| {
        let found = subject(view, question, want)?;
        Ok(found.map(|(subject, confidence)| Found { subject, confidence, generation }))
    })
}

fn subject(
    view: View<'_>,
    question: &Question,
    want: Want,
) -> rusqlite::Result<Option<(Subject, Confidence)>> {
    match question {
        Question::Company(company) => {
            let Some((mut company, confidence)) = companies::find(view, company)? else {
                return Ok(None);
            };
            if let Want::Employees { limit } = want {
                company.employees = view.employees(company.id, limit)?;
            }
            Ok(Some((Subject::Company(company), confidence)))
        }
        Question::Person(person) => {
            let found = people::find(view, person)?;
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
