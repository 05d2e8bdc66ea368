//! A row of the file's index: a subject that has an identifier.

use enrich_core::{Confidence, SubjectId};
use rusqlite::Row;

use super::codes::subject_id;

/// A subject that has an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) subject: SubjectId,
    /// How strongly the identifier belongs to the subject; 0 is the strongest.
    pub(crate) tier: u8,
    /// The highest confidence of a source that gives the subject this identifier.
    pub(crate) confidence: Confidence,
}

impl Holder {
    /// Returns the confidence that the first holder is meant. `next_tier` is the tier of the next
    /// holder, if there is one: with the same tier, the confidence is at most
    /// [`Confidence::AMBIGUOUS`].
    pub(crate) fn confidence_beside(&self, next_tier: Option<u8>) -> Confidence {
        let is_ambiguous = next_tier == Some(self.tier);
        let most = if is_ambiguous { Confidence::AMBIGUOUS } else { Confidence::FULL };
        self.confidence.min(most)
    }
}

/// Reads a holder from a row: the columns from `first` on are subject, tier and confidence.
pub(crate) fn holder_of(row: &Row<'_>, first: usize) -> rusqlite::Result<Holder> {
    Ok(Holder {
        subject: subject_id(row.get(first)?),
        tier: row.get(first + 1)?,
        confidence: Confidence::clamped(row.get(first + 2)?),
    })
}
