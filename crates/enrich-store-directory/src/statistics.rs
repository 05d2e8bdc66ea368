//! Counts of the directory's content, for its operator.
//!
//! Subjects are counted from their profiles, the one row that a look-up reads, some thousands at a
//! time: memory is bounded, and no read stays open long enough to keep an import's log from being
//! emptied. Records imported meanwhile may be counted or not. A million companies take a few
//! seconds.

use std::collections::BTreeMap;
use std::path::Path;

use enrich_core::Attribute;
use enrich_core::port::error::StoreError;
use enrich_store_sqlite as sqlite;
use rusqlite::Connection;

use crate::directory::codes::{COMPANY, attribute_code};
use crate::directory::profile::{Coverage, cover_company, cover_person};
use crate::directory::view::unreadable;

/// Subjects per read.
const PART: i64 = 20_000;

/// The directory's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryStatistics {
    /// Companies.
    pub companies: KindStatistics,
    /// People.
    pub people: KindStatistics,
    /// Domains with any facts, independent of owners.
    pub domains: u64,
    /// Those of them with an IP address.
    pub domains_with_ip: u64,
    /// Those of them with a page rank.
    pub domains_with_page_rank: u64,
    /// Companies with employees.
    pub employers: u64,
}

/// The subjects of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindStatistics {
    /// Their number.
    pub subjects: u64,
    /// How many of them have each attribute; an attribute that none has is included with 0.
    pub with_attribute: BTreeMap<&'static str, u64>,
    /// How many are in each country, alpha-2. A company with two countries counts in both.
    pub in_country: BTreeMap<String, u64>,
}

impl KindStatistics {
    fn add(&mut self, coverage: Coverage<'_>) {
        self.subjects += 1;
        for (attribute, has_it) in coverage.attributes {
            *self.with_attribute.entry(attribute).or_default() += u64::from(has_it);
        }
        for country in coverage.countries {
            match self.in_country.get_mut(country) {
                Some(count) => *count += 1,
                // Profiles name countries by their codes, of which there are 250.
                None => drop(self.in_country.insert(country.to_owned(), 1)),
            }
        }
    }
}

/// Counts the content of the directory at `path`. Reads every subject.
///
/// # Errors
///
/// When the file cannot be read.
pub fn directory_statistics(path: &Path) -> Result<DirectoryStatistics, StoreError> {
    let connection = sqlite::mapped_reader(path).map_err(StoreError::failed)?;
    let mut counted = DirectoryStatistics::default();
    let mut last = 0;
    while let Some(read_to) = count_part(&connection, last, &mut counted)? {
        last = read_to;
    }
    count_domains(&connection, &mut counted).map_err(StoreError::failed)?;
    let employers = "SELECT count(*) FROM (SELECT DISTINCT company FROM employee)";
    counted.employers =
        connection.query_row(employers, [], |row| row.get(0)).map_err(StoreError::failed)?;
    Ok(counted)
}

/// Counts the subjects after `last`; returns the last of them, `None` when there are no more.
fn count_part(
    connection: &Connection,
    last: i64,
    counted: &mut DirectoryStatistics,
) -> Result<Option<i64>, StoreError> {
    let mut count = || -> rusqlite::Result<Option<i64>> {
        let mut statement = connection.prepare_cached(
            "SELECT id, kind, profile FROM subject WHERE id > ?1 ORDER BY id LIMIT ?2",
        )?;
        let mut rows = statement.query([last, PART])?;
        let mut read_to = None;
        while let Some(row) = rows.next()? {
            read_to = Some(row.get(0)?);
            let profile = row.get_ref(2)?.as_str()?;
            if row.get::<_, i64>(1)? == COMPANY {
                counted.companies.add(cover_company(profile).map_err(unreadable)?);
            } else {
                counted.people.add(cover_person(profile).map_err(unreadable)?);
            }
        }
        Ok(read_to)
    };
    count().map_err(StoreError::failed)
}

/// Counts the domains, whose facts are adjacent.
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
