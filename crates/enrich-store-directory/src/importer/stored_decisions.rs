//! Reads the stored decisions of the operator.

use enrich_core::Timestamp;
use enrich_core::resolution::{DecidedRecord, Decision, DecisionKind};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::{Connection, Row};

/// A decision that is in force: the operator has not taken it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDecision {
    /// The decision.
    pub decision: Decision,
    /// The time at which the operator made the decision.
    pub at: Timestamp,
}

/// Whether there is any decision that was not taken back.
pub(super) fn has_decisions(connection: &Connection) -> rusqlite::Result<bool> {
    connection.has("SELECT 1 FROM decided_record LIMIT 1", [])
}

/// Reads the decisions that were not taken back, in the order of their numbers.
pub(super) fn stored_decisions(connection: &Connection) -> rusqlite::Result<Vec<StoredDecision>> {
    let in_force = "SELECT id, kind, at FROM decision WHERE taken_back_at IS NULL ORDER BY id";
    let decision = |row: &Row<'_>| {
        let number = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        let kind = if row.get::<_, i64>(1)? == kind_code(DecisionKind::Merge) {
            DecisionKind::Merge
        } else {
            DecisionKind::Split
        };
        let decision = Decision { number, kind, sides: Default::default() };
        Ok(StoredDecision { decision, at: row.get::<_, Column<_>>(2)?.0 })
    };
    let mut all: Vec<StoredDecision> = connection.list(in_force, [], decision)?;
    let of_sides = "SELECT side, source, source_record, name, place FROM decided_record
                    WHERE decision = ?1 ORDER BY side, ordinal";
    for StoredDecision { decision, .. } in &mut all {
        let number = number_of(decision);
        let sides = &mut decision.sides;
        connection.each(of_sides, [number], |row| {
            let side = usize::from(row.get::<_, i64>(0)? != 0);
            sides[side].push(DecidedRecord {
                source: row.get(1)?,
                id: row.get(2)?,
                name: row.get(3)?,
                place: row.get(4)?,
            });
            Ok(())
        })?;
    }
    Ok(all)
}

/// Returns the number that is stored for a kind of decision.
pub(super) fn kind_code(kind: DecisionKind) -> i64 {
    match kind {
        DecisionKind::Merge => 1,
        DecisionKind::Split => 2,
    }
}

/// Returns the number of a decision as SQLite stores it.
pub(super) fn number_of(decision: &Decision) -> i64 {
    i64::try_from(decision.number).unwrap_or(i64::MAX)
}
