//! What a look-up reads, each by one point read of an index.

use enrich_core::{
    Attribute, Company, Confidence, DomainFacts, Employee, Employer, Fact, Generation, Person,
    SubjectId, domain_facts_from_facts,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, params};

use super::codes::{COMPANY, IdentifierKind, PERSON, attribute_of, sql_id, subject_id};
use super::profile::{self, BadProfile};

/// The tier of the name of a company of which nothing but names is held.
pub(crate) const BARE_TIER: u8 = 2;

/// The look-up data as one connection sees it.
#[derive(Clone, Copy)]
pub(crate) struct View<'c> {
    connection: &'c Connection,
}

/// A subject that has an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Who has it.
    pub(crate) subject: SubjectId,
    /// How much it is the subject's own: the lower, the more.
    pub(crate) tier: u8,
    /// How far the sources that say so are trusted.
    pub(crate) confidence: Confidence,
}

/// What is known of a domain, and how far the most trusted source of each fact is trusted, which is
/// the one whose value counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownDomain {
    /// What is known.
    pub(crate) facts: DomainFacts,
    /// How sure the address is; `None` where there is none.
    pub(crate) ip_sure: Option<Confidence>,
    /// How sure the rank is; `None` where there is none.
    pub(crate) rank_sure: Option<Confidence>,
}

impl<'c> View<'c> {
    /// What `connection` sees.
    pub(crate) fn of(connection: &'c Connection) -> Self {
        Self { connection }
    }

    /// The state of the directory.
    pub(crate) fn generation(&self) -> rusqlite::Result<Generation> {
        let mut statement = self.connection.prepare_cached("SELECT generation FROM state")?;
        let generation: i64 = statement.query_row([], |row| row.get(0))?;
        Ok(Generation(u64::try_from(generation).unwrap_or_default()))
    }

    /// Those who have an identifier, at most `limit`, the lowest tier and then the lowest id first.
    ///
    /// Rows are taken from the index until there are enough: SQLite may plan a statement anew each
    /// time its `LIMIT` is bound, which takes longer than running it.
    pub(crate) fn holders(
        &self,
        kind: IdentifierKind,
        key: &str,
        limit: usize,
    ) -> rusqlite::Result<Vec<Holder>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT subject, tier, confidence FROM identifier WHERE kind = ?1 AND key = ?2
             ORDER BY tier, subject",
        )?;
        let holders = statement.query_map(params![kind, key], |row| {
            Ok(Holder {
                subject: subject_id(row.get(0)?),
                tier: row.get(1)?,
                confidence: Confidence::clamped(row.get(2)?),
            })
        })?;
        holders.take(limit).collect()
    }

    /// The companies of which nothing but a name of this key is held, at most `limit`, the lowest
    /// id first.
    pub(crate) fn bare_companies(
        &self,
        name_key: &str,
        limit: usize,
    ) -> rusqlite::Result<Vec<SubjectId>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT subject FROM identifier WHERE kind = ?1 AND key = ?2 AND tier = ?3
             ORDER BY subject",
        )?;
        let kind = IdentifierKind::CompanyName;
        let ids = statement
            .query_map(params![kind, name_key, BARE_TIER], |row| Ok(subject_id(row.get(0)?)))?;
        ids.take(limit).collect()
    }

    /// Whether there is a subject with this id.
    pub(crate) fn is_there(&self, id: SubjectId) -> rusqlite::Result<bool> {
        let mut statement =
            self.connection.prepare_cached("SELECT 1 FROM subject WHERE id = ?1")?;
        statement.exists([sql_id(id)])
    }

    /// The company with this id, without its employees.
    pub(crate) fn company(&self, id: SubjectId) -> rusqlite::Result<Option<Company>> {
        let Some(profile) = self.profile(id, COMPANY)? else { return Ok(None) };
        profile::read_company(id, &profile).map(Some).map_err(unreadable)
    }

    /// The person with this id, with what the employer's own profile says of the employer.
    pub(crate) fn person(&self, id: SubjectId) -> rusqlite::Result<Option<Person>> {
        self.person_alone(id)?.map(|person| self.with_employer(person)).transpose()
    }

    /// The person with this id, of whose employer the id alone is read.
    pub(crate) fn person_alone(&self, id: SubjectId) -> rusqlite::Result<Option<Person>> {
        let Some(profile) = self.profile(id, PERSON)? else { return Ok(None) };
        profile::read_person(id, &profile).map(Some).map_err(unreadable)
    }

    /// The person with what the employer's own profile says of the employer.
    pub(crate) fn with_employer(&self, mut person: Person) -> rusqlite::Result<Person> {
        if let Some(employer) = person.employer.take() {
            person.employer = self.company(employer.id)?.map(employer_of);
        }
        Ok(person)
    }

    /// Those who work at a company, first seen first, at most `limit` of them.
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

    /// What is known of this very domain.
    pub(crate) fn domain(&self, domain: &str) -> rusqlite::Result<Option<KnownDomain>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT attribute, value, confidence FROM domain_fact WHERE domain = ?1
             ORDER BY ordinal",
        )?;
        let facts = statement.query_map([domain], |row| {
            Ok(Fact {
                attribute: attribute_of(row.get(0)?)?,
                value: row.get(1)?,
                country: None,
                confidence: Confidence::clamped(row.get(2)?),
            })
        })?;
        let facts: Vec<Fact> = facts.collect::<rusqlite::Result<_>>()?;
        let sure = |attribute| {
            let told = facts.iter().filter(|fact| fact.attribute == attribute);
            told.map(|fact| fact.confidence).max()
        };
        let known = domain_facts_from_facts(domain, &facts);
        Ok(known.map(|facts| KnownDomain {
            facts,
            ip_sure: sure(Attribute::Ip),
            rank_sure: sure(Attribute::PageRank),
        }))
    }

    fn profile(&self, id: SubjectId, kind: i64) -> rusqlite::Result<Option<String>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT profile FROM subject WHERE id = ?1 AND kind = ?2")?;
        statement.query_row(params![sql_id(id), kind], |row| row.get(0)).optional()
    }
}

/// What a person's answer says of the employer.
fn employer_of(company: Company) -> Employer {
    let domains = company.sites.into_iter().map(|site| site.domain).collect();
    Employer { id: company.id, name: company.name, domains }
}

/// A profile that cannot be read, as the error of a query.
pub(crate) fn unreadable(reason: BadProfile) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, reason.into())
}
