//! Rows that a load (one import) keeps in memory, so that they can be written in the order of their
//! keys.

use enrich_store_sqlite::Statements;
use rusqlite::Connection;

use super::unwritten_domains::UnwrittenDomains;
use super::unwritten_records::UnwrittenRecords;
use crate::directory::unwritten::{UnwrittenIdentifiers, WrittenKeys};

/// The rows of the tables `identifier`, `domain_fact` and `record` that are not yet written.
#[derive(Debug)]
pub(crate) struct Unwritten {
    pub(super) identifiers: UnwrittenIdentifiers,
    pub(super) domains: UnwrittenDomains,
    pub(super) records: UnwrittenRecords,
}

/// The keys of the rows that the database file contains, for each table whose keys are known.
#[derive(Debug, Default)]
pub(crate) struct KnownKeys {
    identifiers: Option<WrittenKeys>,
    domains: Option<WrittenKeys>,
    records: Option<WrittenKeys>,
}

impl Unwritten {
    pub(super) fn new(known: KnownKeys) -> Self {
        Self {
            identifiers: UnwrittenIdentifiers::new(known.identifiers),
            domains: UnwrittenDomains::new(known.domains),
            records: UnwrittenRecords::new(known.records),
        }
    }

    /// Returns the memory that the rows take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.identifiers.bytes() + self.domains.bytes() + self.records.bytes()
    }

    /// Returns the keys of the rows that the database file contains. All rows in memory must have
    /// been written before.
    pub(super) fn known_keys(self) -> KnownKeys {
        KnownKeys {
            identifiers: self.identifiers.written_keys,
            domains: self.domains.written_keys,
            records: self.records.written_keys,
        }
    }
}

impl KnownKeys {
    /// Returns the keys that are known when a load begins. If a table is empty, its keys are known:
    /// there are none. The keys of a table with rows are not known.
    pub(super) fn of_empty_tables(connection: &Connection) -> rusqlite::Result<Self> {
        let keys = |select| -> rusqlite::Result<_> {
            Ok((!connection.has(select, [])?).then(WrittenKeys::default))
        };
        Ok(Self {
            identifiers: keys("SELECT 1 FROM identifier LIMIT 1")?,
            domains: keys("SELECT 1 FROM domain_fact LIMIT 1")?,
            records: keys("SELECT 1 FROM record LIMIT 1")?,
        })
    }
}
