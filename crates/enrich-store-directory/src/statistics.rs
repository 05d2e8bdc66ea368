//! Counts the content of the directory, for the operator.
//!
//! The companies and people are counted by reading their profiles, 20,000 in one read. Reading in
//! parts limits the memory, and lets an import empty the write-ahead log between two reads. If a
//! record is imported during the count, it may be counted or not. Counting a million companies
//! takes a few seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;
use std::path::Path;

use enrich_core::{Attribute, Company, Person};
use enrich_store_sqlite::{self as sqlite, Statements};
use enrich_text::{CompanyName, Country, Network};
use rusqlite::Connection;
use rusqlite::types::FromSqlError;
use rustc_hash::FxBuildHasher;

use crate::directory::codes::{COMPANY, attribute_code, subject_id};
use crate::directory::profile::{read_company, read_person};
use crate::directory::view::unreadable;
use crate::importer::stored_facts;

/// Maximum number of companies and people that one read counts.
const PART: i64 = 20_000;

/// How many companies, people and domains the directory contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryStatistics {
    /// How many companies there are: in all, with each attribute, and in each country.
    pub companies: KindStatistics,
    /// How many people there are: in all, with each attribute, and in each country.
    pub people: KindStatistics,
    /// The number of domains for which an IP address or a page rank is stored.
    pub domains: u64,
    /// The number of domains with an IP address.
    pub domains_with_ip: u64,
    /// The number of domains with a page rank.
    pub domains_with_page_rank: u64,
    /// The number of companies with employees.
    pub employers: u64,
    /// The number of companies by the number of their sources: how many companies are in one
    /// source, how many in two, and so on.
    pub companies_by_sources: BTreeMap<usize, u64>,
    /// How many names are shared by several companies, and how many companies share them.
    pub shared_names: SharedNames,
}

/// Counts of the names that several companies share. Aliases are not counted. Names that differ
/// only in case, accents, punctuation or legal forms count as one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedNames {
    /// The number of shared names: names that at least two companies have.
    pub names: u64,
    /// The number of companies that have a shared name.
    pub companies: u64,
}

impl SharedNames {
    /// Counts the names that occur more than once. `hashes` contains a hash of each company's name.
    fn of(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        let bearers = hashes.chunk_by(|one, next| one == next).map(<[u64]>::len);
        bearers.filter(|bearers| *bearers > 1).fold(Self::default(), |counted, bearers| Self {
            names: counted.names + 1,
            companies: counted.companies + bearers as u64,
        })
    }
}

/// How many subjects of one kind (companies or people) there are: in all, with each attribute, and
/// in each country.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindStatistics {
    /// The number of all companies, or of all people.
    pub subjects: u64,
    /// The number of companies or people that have each attribute. The key is the name of the
    /// attribute. If anything was counted, every attribute is in the map, even with the number 0.
    pub with_attribute: BTreeMap<&'static str, u64>,
    /// The number of subjects in each country. The key is the country's alpha-2 code, such as `DE`.
    /// A company with two countries is counted in both.
    pub in_country: BTreeMap<&'static str, u64>,
}

impl KindStatistics {
    fn add(
        &mut self,
        attributes: impl IntoIterator<Item = (&'static str, bool)>,
        countries: impl IntoIterator<Item = Country>,
    ) {
        self.subjects += 1;
        for (attribute, has_it) in attributes {
            *self.with_attribute.entry(attribute).or_default() += u64::from(has_it);
        }
        for country in countries {
            *self.in_country.entry(country.alpha2()).or_default() += 1;
        }
    }

    fn add_company(&mut self, company: Company) {
        let attributes = [
            ("aliases", !company.aliases.is_empty()),
            ("country", !company.seats.is_empty()),
            ("domains", !company.sites.is_empty()),
            ("emails", !company.emails.is_empty()),
            ("phones", !company.phones.is_empty()),
        ];
        let pages =
            Network::ALL.map(|network| (network.as_str(), company.page_on(network).is_some()));
        self.add(attributes.into_iter().chain(pages), company.seats);
    }

    fn add_person(&mut self, person: &Person) {
        let attributes = [
            ("title", person.title.is_some()),
            ("employer", person.employer.is_some()),
            ("country", person.country.is_some()),
            (Network::LinkedIn.as_str(), person.page.is_some()),
            ("emails", !person.emails.is_empty()),
            ("phones", !person.phones.is_empty()),
        ];
        self.add(attributes, person.country);
    }
}

/// Counts the content of the directory at `path`. This reads every company and person.
///
/// # Errors
///
/// When the file cannot be read.
pub fn directory_statistics(path: &Path) -> rusqlite::Result<DirectoryStatistics> {
    let connection = sqlite::mapped_reader(path)?;
    let mut counted = DirectoryStatistics::default();
    let (mut last, mut names) = (0, Vec::new());
    while let Some(read_to) = count_part(&connection, last, &mut counted, &mut names)? {
        last = read_to;
    }
    counted.shared_names = SharedNames::of(names);
    count_domains(&connection, &mut counted)?;
    let employers = "SELECT count(*) FROM (SELECT DISTINCT company FROM employee)";
    counted.employers = connection.value(employers, [])?;
    Ok(counted)
}

/// Counts the next subjects after the id `last`. Returns the id of the last counted subject; `None`
/// if there were no more subjects. Adds a hash of each company's name to `names`, which takes 8
/// bytes of memory for each company.
fn count_part(
    connection: &Connection,
    last: i64,
    counted: &mut DirectoryStatistics,
    names: &mut Vec<u64>,
) -> rusqlite::Result<Option<i64>> {
    let part = "SELECT id, kind, profile, facts FROM subject WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut read_to = None;
    connection.each(part, [last, PART], |row| {
        let (id, profile) = (row.get(0)?, row.get_ref(2)?.as_str()?);
        read_to = Some(id);
        if row.get::<_, i64>(1)? == COMPANY {
            let company = read_company(subject_id(id), profile).map_err(unreadable)?;
            names.extend(CompanyName::parse(&company.name).map(|name| name_hash(&name)));
            counted.companies.add_company(company);
            let sources = sources(row.get_ref(3)?.as_blob()?, profile)?;
            *counted.companies_by_sources.entry(sources).or_default() += 1;
        } else {
            counted.people.add_person(&read_person(subject_id(id), profile).map_err(unreadable)?);
        }
        Ok(())
    })?;
    Ok(read_to)
}

/// Returns the number of sources that give values of one company or person.
fn sources(facts: &[u8], profile: &str) -> rusqlite::Result<usize> {
    let mut sources = BTreeSet::new();
    stored_facts::each_source(facts, profile, |source, _| {
        sources.insert(source);
    })
    .map_err(FromSqlError::other)?;
    Ok(sources.len())
}

/// Returns the hash of a name without legal forms, accents and upper case
/// ([`CompanyName::stripped`]).
fn name_hash(name: &CompanyName) -> u64 {
    FxBuildHasher.hash_one(name.stripped())
}

/// Counts the domains that have facts. The rows of the table are ordered by domain, so SQLite
/// groups them without sorting.
fn count_domains(
    connection: &Connection,
    counted: &mut DirectoryStatistics,
) -> rusqlite::Result<()> {
    let counts = connection.query_row(
        "SELECT count(*), coalesce(sum(has_ip), 0), coalesce(sum(has_rank), 0) FROM (
             SELECT max(attribute = ?1) AS has_ip, max(attribute = ?2) AS has_rank
             FROM domain_fact GROUP BY domain)",
        [attribute_code(Attribute::Ip), attribute_code(Attribute::PageRank)],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    (counted.domains, counted.domains_with_ip, counted.domains_with_page_rank) = counts;
    Ok(())
}
