//! A subject that has an identifier, as a row of the index says.

use enrich_core::{Confidence, SubjectId};
use rusqlite::Row;

use super::codes::subject_id;

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

impl Holder {
    /// How sure it is that this one is meant, the first of all who have the identifier, when the next
    /// one has it with such a tier.
    pub(crate) fn sure_beside(&self, next_tier: Option<u8>) -> Confidence {
        let is_ambiguous = next_tier == Some(self.tier);
        let most = if is_ambiguous { Confidence::AMBIGUOUS } else { Confidence::FULL };
        self.confidence.min(most)
    }
}

/// The holder in a row: subject, tier and confidence, from column `first` on.
pub(crate) fn holder_of(row: &Row<'_>, first: usize) -> rusqlite::Result<Holder> {
    Ok(Holder {
        subject: subject_id(row.get(first)?),
        tier: row.get(first + 1)?,
        confidence: Confidence::clamped(row.get(first + 2)?),
    })
}
