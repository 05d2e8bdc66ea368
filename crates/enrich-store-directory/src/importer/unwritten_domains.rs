//! Facts about domains that a load (one import) has changed but not yet written to the file.
//!
//! In a large directory, the rows of two domains are seldom on the same page of the file, so each
//! change would write a page. Therefore, the changes are collected in memory and written later,
//! many at a time and in the order of the domains.

use std::collections::BTreeMap;

use enrich_core::{Attribute, Confidence, Timestamp};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::Connection;

use super::rows_at_once::{ROWS, RowsAtOnce};
use super::threads::{Add, make_ahead};
use crate::directory::codes::attribute_code;
use crate::noted::{Keys, Noted};

const WRITE: &str = "INSERT INTO domain_fact (domain, ordinal, attribute, value, source,
                                              source_record, confidence, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (domain, ordinal) DO UPDATE
     SET value = excluded.value, source_record = excluded.source_record,
         confidence = excluded.confidence, at = excluded.at";

/// What a source says about a domain: one row of `domain_fact`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DomainFact {
    pub(super) ordinal: i64,
    pub(super) attribute: Attribute,
    pub(super) source: i64,
    pub(super) value: String,
    pub(super) confidence: Confidence,
}

#[derive(Debug, Default)]
pub(crate) struct UnwrittenDomains {
    rows: Noted<Row>,
    /// The values and record ids of the rows.
    texts: Keys,
    /// Whether the database file contains no facts about domains. If so, reads need not look in the
    /// file.
    is_file_empty: bool,
}

/// A new or changed row. Texts are stored as their numbers in [`UnwrittenDomains::texts`].
#[derive(Clone, Copy, Debug)]
struct Row {
    ordinal: i64,
    attribute: Attribute,
    source: i64,
    value: usize,
    /// The source's own id of the record.
    record: Option<usize>,
    confidence: Confidence,
}

impl UnwrittenDomains {
    pub(super) fn new(connection: &Connection) -> rusqlite::Result<Self> {
        let is_file_empty = !connection.has("SELECT 1 FROM domain_fact LIMIT 1", [])?;
        Ok(Self { is_file_empty, ..Self::default() })
    }

    pub(super) fn is_file_empty(&self) -> bool {
        self.is_file_empty
    }

    /// Stores a new or changed fact, and the source's own id of its record.
    pub(super) fn change(&mut self, domain: &str, fact: &DomainFact, record: Option<&str>) {
        let row = Row {
            ordinal: fact.ordinal,
            attribute: fact.attribute,
            source: fact.source,
            value: self.texts.number_of(fact.value.as_bytes()),
            record: record.map(|record| self.texts.number_of(record.as_bytes())),
            confidence: fact.confidence,
        };
        self.rows.note(domain.as_bytes(), row);
    }

    /// Applies the changes of a domain to `facts`, which are the facts in the file, ordered by
    /// their ordinals.
    pub(super) fn apply(&self, domain: &str, facts: &mut Vec<DomainFact>) {
        let mut rows: Vec<Row> = self.rows.of(domain.as_bytes()).collect();
        // `rows` begins with the last change. In reversed order, a later change replaces an earlier
        // one.
        rows.reverse();
        for row in rows {
            let fact = self.fact(row);
            match facts.binary_search_by_key(&fact.ordinal, |held| held.ordinal) {
                Ok(at) => facts[at] = fact,
                Err(at) => facts.insert(at, fact),
            }
        }
    }

    /// Returns the memory that the changes take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes() + self.texts.bytes()
    }

    /// Writes the last change of each row, in the order of the domains.
    pub(super) fn write(&self, connection: &Connection, at: Timestamp) -> rusqlite::Result<()> {
        let mut insert = RowsAtOnce::new(connection, WRITE)?;
        let collect = |add: Add<'_, _>| {
            self.rows.each_in_order(|domain, rows| {
                let last = rows.iter().map(|row| (row.ordinal, *row)).collect::<BTreeMap<_, _>>();
                last.into_values().try_for_each(|row| {
                    let record = row.record.map(|record| self.text(record).to_owned());
                    add((text_of(domain).to_owned(), self.fact(row), record))
                })
            })
        };
        make_ahead(ROWS, collect, |rows: Vec<(String, DomainFact, Option<String>)>| {
            insert.write(&rows, |(domain, fact, record), bind| {
                bind(domain)?;
                bind(&fact.ordinal)?;
                bind(&attribute_code(fact.attribute))?;
                bind(&fact.value)?;
                bind(&fact.source)?;
                bind(record)?;
                bind(&fact.confidence.percent())?;
                bind(&Column(at))
            })
        })
    }

    fn fact(&self, row: Row) -> DomainFact {
        let Row { ordinal, attribute, source, value, confidence, .. } = row;
        DomainFact { ordinal, attribute, source, value: self.text(value).to_owned(), confidence }
    }

    fn text(&self, number: usize) -> &str {
        text_of(self.texts.get(number))
    }
}

fn text_of(bytes: &[u8]) -> &str {
    // All domains, values and ids were added as texts, so the conversion cannot fail.
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_of_each_row_is_written() {
        let connection = Connection::open_in_memory().unwrap();
        let create = "CREATE TABLE domain_fact (domain, ordinal, attribute, value, source,
                          source_record, confidence, at, PRIMARY KEY (domain, ordinal))";
        connection.execute_batch(create).unwrap();
        let mut unwritten = UnwrittenDomains::new(&connection).unwrap();
        for value in ["first", "last"] {
            for number in 0..100 {
                let fact = DomainFact {
                    ordinal: 0,
                    attribute: Attribute::Ip,
                    source: 1,
                    value: value.to_owned(),
                    confidence: Confidence::FULL,
                };
                unwritten.change(&format!("d{number}.example"), &fact, Some(value));
            }
        }
        unwritten.write(&connection, Timestamp::UNIX_EPOCH).unwrap();
        let count =
            "SELECT count(*) FROM domain_fact WHERE value = 'last' AND source_record = 'last'";
        let last: u64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(last, 100);
    }
}
