//! Selects the byte to flip: a byte in one of the small, important tables, or any byte.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use rusqlite::{Connection, OpenFlags};

pub(super) const LEDGER: &str = "ledger.sqlite";
pub(super) const LOG: &str = "ledger.sqlite-wal";

/// SQLite's page size, in bytes.
const PAGE_BYTES: usize = 4096;
/// Maximum length of the header of a B-tree page, in bytes.
const PAGE_HEAD_BYTES: usize = 12;
/// Length of a pointer to a cell, in bytes. SQLite calls each entry of a database page, such as a
/// row, a cell. After its header, a page has one pointer for each of its cells.
const CELL_POINTER_BYTES: usize = 2;

/// The tables at which flips are aimed. In a large file, a random flip seldom hits a small table.
pub(super) const TABLES: [&str; 7] = ["head", "mark", "seal", "kept", "api_key", "account", "used"];

/// The pages of a table and of its indexes.
#[derive(Debug, Default)]
pub(super) struct Pages(Vec<DatabasePage>);

#[derive(Clone, Copy, Debug)]
struct DatabasePage {
    number: usize,
    cells: usize,
    unused: usize,
}

/// A byte of the ledger, and how it is changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flip {
    pub(super) in_log: bool,
    /// The index of the table in [`TABLES`] at which the flip is aimed; `None` if the position is
    /// random.
    pub(super) table: Option<usize>,
    pub(super) at: usize,
    pub(super) mask: u8,
}

impl Pages {
    /// Returns the pages of each table in a closed ledger. Fails if a table is empty.
    pub(super) fn of_tables(folder: &Path) -> Result<[Self; TABLES.len()]> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(folder.join(LEDGER), flags)?;
        let size: usize = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        ensure!(size == PAGE_BYTES, "the ledger has pages of {size} bytes");
        let mut pages = connection.prepare(
            "SELECT dbstat.pageno, dbstat.ncell, dbstat.unused
             FROM dbstat JOIN sqlite_schema USING (name)
             WHERE sqlite_schema.tbl_name = ?1 ORDER BY dbstat.pageno",
        )?;
        let mut found: [Self; TABLES.len()] = Default::default();
        for (place, table) in TABLES.into_iter().enumerate() {
            let read = pages.query_map([table], |row| {
                Ok(DatabasePage { number: row.get(0)?, cells: row.get(1)?, unused: row.get(2)? })
            })?;
            found[place] = Self(read.collect::<rusqlite::Result<_>>()?);
            let is_filled = found[place].0.iter().any(|page| page.cells > 0);
            ensure!(is_filled, "the ledger that copies are damaged of has nothing in `{table}`");
        }
        Ok(found)
    }

    /// Returns the position in the database file of a random used byte of these pages; `None` if
    /// there are no pages. A page has pointers to its cells (entries) at the beginning, and the
    /// cells at the end; the space between them is free.
    fn byte(&self, chance: &mut Rng) -> Option<usize> {
        let page = self.0.get(chance.usize(..self.0.len().max(1)))?;
        let used = PAGE_BYTES - page.unused;
        let front = PAGE_HEAD_BYTES + CELL_POINTER_BYTES * page.cells;
        let byte = chance.usize(..used.max(1));
        let offset = if byte < front { byte } else { PAGE_BYTES - (used - byte) };
        Some((page.number - 1) * PAGE_BYTES + offset)
    }
}

impl Flip {
    /// Selects a byte in the pages of `table`. If `table` is `None`, selects any byte of a database
    /// of `ledger_bytes` bytes.
    pub(super) fn in_ledger(
        ledger_bytes: usize,
        pages: &[Pages; TABLES.len()],
        table: Option<usize>,
        chance: &mut Rng,
    ) -> Result<Self> {
        let at = match table {
            Some(place) => pages[place].byte(chance).context("a table without a page")?,
            None => chance.usize(..ledger_bytes),
        };
        Ok(Self { in_log: false, table, at, mask: mask(chance) })
    }

    /// Selects any byte of a write-ahead log of `log_bytes` bytes.
    pub(super) fn in_log(log_bytes: usize, chance: &mut Rng) -> Self {
        let at = chance.usize(..log_bytes);
        Self { in_log: true, table: None, at, mask: mask(chance) }
    }

    pub(super) fn strike(self, ledger: &mut [u8], log: &mut [u8]) {
        let bytes = if self.in_log { log } else { ledger };
        bytes[self.at] ^= self.mask;
    }

    pub(super) fn named(self) -> String {
        let Self { in_log, table, at, mask } = self;
        let (page, offset) = (at / PAGE_BYTES + 1, at % PAGE_BYTES);
        let aimed = table.map(|table| format!(", aimed at {}", TABLES[table])).unwrap_or_default();
        match in_log {
            true => format!("{LOG}, byte {at}, mask {mask:#04x}"),
            false => format!(
                "{LEDGER}, byte {at} (page {page}, offset {offset}{aimed}), mask {mask:#04x}"
            ),
        }
    }
}

/// Returns the bits to flip: a single bit, as a worn disk does, or random bits.
fn mask(chance: &mut Rng) -> u8 {
    if chance.bool() { 1 << chance.u8(..8) } else { chance.u8(1..) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aimed_byte_is_none_that_is_free() {
        let mut chance = Rng::with_seed(1);
        let pages = Pages(vec![DatabasePage { number: 3, cells: 2, unused: 4000 }]);
        for _ in 0..1000 {
            let at = pages.byte(&mut chance).unwrap();
            assert_eq!(at / PAGE_BYTES, 2);
            let offset = at % PAGE_BYTES;
            // The page has 96 used bytes: 16 at its beginning and 80 at its end.
            assert!(!(16..PAGE_BYTES - 80).contains(&offset), "{offset}");
        }
        assert_eq!(Pages::default().byte(&mut chance), None);
    }
}
