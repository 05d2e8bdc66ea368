//! The basic reads of the look-up data, each by a key, such as an id or a domain. Every look-up
//! consists of such reads.

use enrich_core::{
    Attribute, Company, Confidence, DirectoryRevision, DomainFacts, Employee, Employer, Fact,
    Person, SubjectId, Timestamp, domain_facts_from_facts,
};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};
use rustc_hash::FxHashMap;

use super::codes::{attribute_of, sql_id};
use super::hash_index::HashIndex;
use super::postings::{Damaged, Posting, unpack};
use super::profile::{self, BadProfile, Profiled};
use super::unwritten::UnwrittenIdentifiers;

/// The tier of each name of a bare company (a company that is known only by names). A tier shows
/// how strongly an identifier belongs to a company; 0 is the strongest. The names of other
/// companies have tier 0 or 1, so these companies come before bare ones with the same name.
pub(crate) const BARE_TIER: u8 = 2;

const REVISION: &str = "SELECT generation FROM state";

/// Reads the look-up data of the directory through one connection.
#[derive(Clone, Copy)]
pub(crate) struct View<'c> {
    pub(super) connection: &'c Connection,
    /// A hash index of the state that this view reads, if there is one.
    pub(super) index: Option<&'c HashIndex>,
    /// The identifiers that a load (one import) has changed but not yet written; `None` if this
    /// view belongs to no load.
    pub(super) unwritten: Option<&'c UnwrittenIdentifiers>,
}

/// The facts of a domain with their confidences. If several sources give a fact, the value comes
/// from the source with the highest confidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownDomain {
    pub(crate) facts: DomainFacts,
    /// The confidence of the IP address; `None` when the domain has no IP address.
    pub(crate) ip_confidence: Option<Confidence>,
    /// The confidence of the page rank; `None` when the domain has no page rank.
    pub(crate) rank_confidence: Option<Confidence>,
}

impl KnownDomain {
    /// Combines the facts of all sources about a domain; `None` if there are no facts.
    pub(crate) fn of(domain: &str, facts: &[Fact]) -> Option<Self> {
        let confidence_of = |attribute| {
            let matching = facts.iter().filter(|fact| fact.attribute == attribute);
            matching.map(|fact| fact.confidence).max()
        };
        Some(Self {
            facts: domain_facts_from_facts(domain, facts)?,
            ip_confidence: confidence_of(Attribute::Ip),
            rank_confidence: confidence_of(Attribute::PageRank),
        })
    }
}

impl<'c> View<'c> {
    /// Creates a view of the directory that `connection` reads, without a hash index.
    pub(crate) fn of(connection: &'c Connection) -> Self {
        Self { connection, index: None, unwritten: None }
    }

    /// Creates a view for a load (one import). The view sees the content of the directory's
    /// database file, and also the identifiers that the load has changed but not yet written to
    /// this file.
    pub(crate) fn with_unwritten(
        connection: &'c Connection,
        unwritten: Option<&'c UnwrittenIdentifiers>,
    ) -> Self {
        Self { connection, index: None, unwritten }
    }

    /// Runs `read` and makes all its reads see the same state of the directory. `read` may use
    /// `index` to find identifiers, if `index` has the revision of this state.
    ///
    /// SQLite stays at one state as long as a statement is open. So the statement that reads the
    /// revision stays open until `read` is done. A transaction would need two more statements,
    /// which take about a microsecond.
    pub(crate) fn of_one_state<T, E: From<rusqlite::Error>>(
        self,
        index: Option<&'c HashIndex>,
        read: impl FnOnce(Self, DirectoryRevision) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut statement = self.connection.prepare_cached(REVISION)?;
        let mut rows = statement.query([])?;
        let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let revision = revision_of(row)?;
        let index = index.filter(|index| index.revision() == revision);
        let result = read(Self { index, ..self }, revision);
        // `rows` keeps the statement open, and so keeps SQLite at one state. It must be dropped
        // only after `read` is done.
        drop(rows);
        result
    }

    pub(crate) fn revision(&self) -> rusqlite::Result<DirectoryRevision> {
        self.connection.prepare_cached(REVISION)?.query_row([], revision_of)
    }

    /// Returns the number of changes of suppressions. Each suppression of a value is one change,
    /// and each time a suppression is taken back is another.
    pub(crate) fn suppression_changes(&self) -> rusqlite::Result<u64> {
        self.connection.value("SELECT coalesce(sum(changes), 0) FROM suppressed", [])
    }

    /// Reads the keyed hashes of the suppressed values, each with the time from which the value is
    /// suppressed.
    pub(crate) fn suppressed_hashes(&self) -> rusqlite::Result<FxHashMap<[u8; 32], Timestamp>> {
        let suppressed = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, Column<_>>(1)?.0));
        let all = "SELECT hash, at FROM suppressed WHERE taken_back_at IS NULL";
        self.connection.list(all, [], suppressed)
    }

    pub(crate) fn is_there(&self, id: SubjectId) -> rusqlite::Result<bool> {
        self.connection.has("SELECT 1 FROM subject WHERE id = ?1", [sql_id(id)])
    }

    /// Reads the company with this id, without its employees.
    pub(crate) fn company(&self, id: SubjectId) -> rusqlite::Result<Option<Company>> {
        self.subject(id)
    }

    /// Reads the person with this id. Reads the employer's name and domains from the employer's own
    /// profile.
    pub(crate) fn person(&self, id: SubjectId) -> rusqlite::Result<Option<Person>> {
        self.person_alone(id)?.map(|person| self.with_employer(person)).transpose()
    }

    /// Reads the person with this id. The person's employer gets only its id, without name and
    /// domains.
    pub(crate) fn person_alone(&self, id: SubjectId) -> rusqlite::Result<Option<Person>> {
        self.subject(id)
    }

    /// Completes a person whose employer has only an id: reads the employer's name and domains from
    /// the profile of the employer. If the company does not exist, the person gets no employer.
    pub(crate) fn with_employer(&self, mut person: Person) -> rusqlite::Result<Person> {
        if let Some(employer) = person.employer.take() {
            person.employer = self.company(employer.id)?.map(employer_of);
        }
        Ok(person)
    }

    pub(crate) fn companies(&self) -> rusqlite::Result<u64> {
        self.connection.value("SELECT companies FROM state", [])
    }

    /// Reads the id that the next new company or person will get. Ids count up from 1. So this is
    /// roughly the number of companies and people that were ever added, including removed ones.
    pub(crate) fn subjects_ever(&self) -> rusqlite::Result<usize> {
        self.connection.value("SELECT next_subject FROM state", [])
    }

    /// Reads how many companies have a word in one of their names.
    pub(crate) fn companies_with_word(&self, word: &str) -> rusqlite::Result<u64> {
        Ok(self
            .connection
            .find("SELECT companies FROM name_word WHERE word = ?1", [word], |row| row.get(0))?
            .unwrap_or(0))
    }

    /// Calls `take` for each company that has `word` in one of its names. The list of these
    /// companies is stored in several parts: the last part, with the highest company ids, is in the
    /// table `name_word`, and the other parts are in `name_word_chunk`. The last part is read
    /// first, so the companies are not passed in the order of their ids.
    pub(crate) fn postings(
        &self,
        word: &str,
        mut take: impl FnMut(Posting),
    ) -> rusqlite::Result<()> {
        let mut take_list = |row: &Row<'_>| -> rusqlite::Result<()> {
            for posting in unpack(row.get_ref(0)?.as_blob()?) {
                take(posting.map_err(damaged)?);
            }
            Ok(())
        };
        self.connection.each(
            "SELECT last FROM name_word WHERE word = ?1",
            [word],
            &mut take_list,
        )?;
        let chunks = "SELECT companies FROM name_word_chunk WHERE word = ?1 ORDER BY first";
        self.connection.each(chunks, [word], take_list)
    }

    /// Reads words from the index of the words in company names: at most `limit` words that have
    /// the variant with the hash `variant`. A variant is the word itself, or the word without one
    /// of its letters ([`variants`](super::variants)).
    pub(crate) fn words_with_variant(
        &self,
        variant: i64,
        limit: usize,
    ) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT word FROM name_word_variant WHERE variant = ?1 ORDER BY word",
        )?;
        let words = statement.query_map([variant], |row| row.get(0))?;
        words.take(limit).collect()
    }

    /// Returns the employees of a company, at most `limit`, in the order in which the people were
    /// added.
    pub(crate) fn employees(
        &self,
        company: SubjectId,
        limit: Option<u64>,
    ) -> rusqlite::Result<Vec<Employee>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT subject.profile FROM employee CROSS JOIN subject
             WHERE employee.company = ?1 AND subject.id = employee.person
             ORDER BY employee.person",
        )?;
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let mut rows = statement.query([sql_id(company)])?;
        let mut employees = Vec::new();
        while employees.len() < limit
            && let Some(row) = rows.next()?
        {
            let profile = row.get_ref(0)?.as_str()?;
            employees.push(profile::read_employee(profile).map_err(unreadable)?);
        }
        Ok(employees)
    }

    /// Reads the facts of exactly this domain. Facts of the domains above it are not read.
    pub(crate) fn domain(&self, domain: &str) -> rusqlite::Result<Option<KnownDomain>> {
        let facts = "SELECT attribute, value, confidence FROM domain_fact WHERE domain = ?1
                     ORDER BY ordinal";
        let facts: Vec<Fact> = self.connection.list(facts, [domain], |row| {
            Ok(Fact {
                attribute: attribute_of(row.get(0)?)?,
                value: row.get(1)?,
                country: None,
                confidence: Confidence::clamped(row.get(2)?),
            })
        })?;
        Ok(KnownDomain::of(domain, &facts))
    }

    /// Returns the page rank of exactly this domain; `None` if it has none, or one that is not a
    /// number.
    pub(crate) fn page_rank(&self, domain: &str) -> rusqlite::Result<Option<f64>> {
        let known = self.domain(domain)?;
        Ok(known.and_then(|known| known.facts.page_rank?.trim().parse().ok()))
    }

    fn subject<T: Profiled>(&self, id: SubjectId) -> rusqlite::Result<Option<T>> {
        let profile = "SELECT profile FROM subject WHERE id = ?1 AND kind = ?2";
        self.connection.find(profile, params![sql_id(id), T::KIND], |row| {
            T::read(id, row.get_ref(0)?.as_str()?).map_err(unreadable)
        })
    }
}

/// Reads the revision from the first column of a row.
pub(crate) fn revision_of(row: &Row<'_>) -> rusqlite::Result<DirectoryRevision> {
    let revision: i64 = row.get(0)?;
    Ok(DirectoryRevision(u64::try_from(revision).unwrap_or_default()))
}

fn employer_of(company: Company) -> Employer {
    let domains = company.sites.into_iter().map(|site| site.domain).collect();
    Employer { id: company.id, name: company.name, domains }
}

/// Converts [`Damaged`] to an error of a query.
pub(crate) fn damaged(reason: Damaged) -> rusqlite::Error {
    // `rusqlite::Error` has no variant for damaged data. `ToSqlConversionFailure` shows the inner
    // error without adding text.
    rusqlite::Error::ToSqlConversionFailure(Box::new(reason))
}

/// Converts [`BadProfile`] to an error of a query.
pub(crate) fn unreadable(reason: BadProfile) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DIRECTORY;
    use enrich_store_sqlite::{self as sqlite, Durability};

    #[test]
    fn a_look_up_keeps_to_one_state_whatever_is_written_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DIRECTORY.file);
        sqlite::create(&path, &DIRECTORY).unwrap();
        let writer = sqlite::writer(&path, Durability::Commit).unwrap();
        let profile = r#"{"n":"Quill"}"#;
        writer
            .execute(
                "INSERT INTO subject (id, kind, profile) VALUES (7, ?1, ?2)",
                params![Company::KIND, profile],
            )
            .unwrap();
        let reader = sqlite::mapped_reader(&path).unwrap();
        let (view, id) = (View::of(&reader), SubjectId(7));
        let (before, is_there) = view
            .of_one_state(None, |view, revision| {
                // During the look-up, another connection changes the directory. The statements
                // before and after this change must see the same state.
                assert!(view.company(id)?.is_some());
                writer.execute("UPDATE state SET generation = generation + 1", [])?;
                writer.execute("DELETE FROM subject", [])?;
                assert_eq!(view.revision()?, revision);
                Ok::<_, rusqlite::Error>((revision, view.company(id)?.is_some()))
            })
            .unwrap();
        assert!(is_there);
        assert_eq!(view.revision().unwrap(), DirectoryRevision(before.0 + 1));
        assert_eq!(view.company(id).unwrap(), None);
    }
}
