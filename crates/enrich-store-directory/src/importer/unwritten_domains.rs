//! Facts about domains that a load (one import) has changed but not yet written to the database
//! file.
//!
//! In a large directory, the rows of two domains are seldom on the same page of the file, so each
//! change would write a page. Therefore, the changes are collected in memory and written later,
//! many at a time and in the order of the domains.

use std::collections::BTreeMap;

use enrich_core::{Attribute, Confidence, Timestamp};
use enrich_store_sqlite::Column;
use rusqlite::Connection;

use super::rows_at_once::{ROWS, RowsAtOnce};
use super::threads::{Add, make_ahead};
use crate::directory::codes::attribute_code;
use crate::directory::unwritten::WrittenKeys;
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
    /// The texts to which `rows` refers: values of facts, and ids of records.
    texts: Keys,
    /// The domains of which the database file has facts; `None` if they are not known, so that the
    /// file may have facts of any domain.
    pub(super) written_keys: Option<WrittenKeys>,
}

/// A new or changed row. Texts are stored as their numbers in [`UnwrittenDomains::texts`].
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
struct Row {
    ordinal: i64,
    attribute: Attribute,
    source: i64,
    value: u32,
    /// The id that the source gives the record, as the number of its text in `texts`; `None` if the
    /// source gives no id.
    record: Option<u32>,
    confidence: Confidence,
}

impl UnwrittenDomains {
    /// Creates an empty collection. `written_keys` are the domains of which the database file has
    /// facts; `None` if they are not known.
    pub(super) fn new(written_keys: Option<WrittenKeys>) -> Self {
        Self { written_keys, ..Self::default() }
    }

    /// Whether the database file may contain facts about this domain.
    pub(super) fn may_be_in_file(&self, domain: &str) -> bool {
        self.written_keys.as_ref().is_none_or(|written| written.may_have(&domain))
    }

    /// Stores a new or changed fact of a domain. `record` is the id that the source gives the
    /// record of this fact.
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

    /// Applies the collected changes of a domain to `facts`. `facts` must be the domain's facts in
    /// the database file, ordered by the column `ordinal`.
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

    /// Writes the last change of each row to the database file, in the order of the domains.
    /// Returns the domains that have facts in the file after this; `None` if they are not known.
    pub(super) fn write(
        mut self,
        connection: &Connection,
        at: Timestamp,
    ) -> rusqlite::Result<Option<WrittenKeys>> {
        let mut written_keys = self.written_keys.take();
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
            if let Some(keys) = &mut written_keys {
                rows.iter().for_each(|(domain, ..)| {
                    keys.add(&domain.as_str());
                });
            }
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
        })?;
        Ok(written_keys)
    }

    fn fact(&self, row: Row) -> DomainFact {
        let Row { ordinal, attribute, source, value, confidence, .. } = row;
        DomainFact { ordinal, attribute, source, value: self.text(value).to_owned(), confidence }
    }

    fn text(&self, number: u32) -> &str {
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
        let mut unwritten = UnwrittenDomains::new(Some(WrittenKeys::default()));
        assert!(!unwritten.may_be_in_file("d0.example"));
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
        let keys = unwritten.write(&connection, Timestamp::UNIX_EPOCH).unwrap();
        let unwritten = UnwrittenDomains::new(keys);
        assert!((0..100).all(|number| unwritten.may_be_in_file(&format!("d{number}.example"))));
        assert!(!unwritten.may_be_in_file("other.example"));
        let count =
            "SELECT count(*) FROM domain_fact WHERE value = 'last' AND source_record = 'last'";
        let last: u64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(last, 100);
    }
}
