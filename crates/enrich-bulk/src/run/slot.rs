//! A row of the list between two steps: it was read, and is not written to the output yet.

use enrich_import::Row;

use crate::export::{Added, Status};

pub(super) struct Slot {
    pub(super) row: Row,
    /// The row's idempotency key; empty if the row is invalid and therefore not looked up.
    pub(super) key: String,
    /// The credits reserved for the row while it is in flight.
    pub(super) reserved: u64,
    pub(super) memory_bytes: usize,
    pub(super) added: Option<Added>,
}

impl Slot {
    pub(super) fn new(row: Row, key: String) -> Self {
        let memory_bytes = row.memory_bytes();
        Self { row, key, reserved: 0, memory_bytes, added: None }
    }

    pub(super) fn invalid(row: Row, error: String) -> Self {
        let added = Some(Added::without_answer(Status::Invalid, error));
        Self { added, ..Self::new(row, String::new()) }
    }

    /// Returns the idempotency key of the row, and the result of its look-up. Returns `None` if
    /// there is no result yet, or if the row is invalid and therefore not looked up.
    pub(super) fn answered(&self) -> Option<(String, Added)> {
        let added = self.added.as_ref().filter(|_| !self.key.is_empty())?;
        Some((self.key.clone(), added.clone()))
    }
}
