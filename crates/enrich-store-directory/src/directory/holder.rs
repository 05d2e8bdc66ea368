//! The holders of identifiers: the companies and people that have an identifier. Each row of the
//! table `identifier` contains one holder.

use enrich_core::{Confidence, SubjectId};
use rusqlite::Row;

use super::codes::subject_id;

/// A subject (a company or a person) that has an identifier, such as a domain or an email address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) subject: SubjectId,
    /// The tier of the identifier: how strongly it belongs to the subject. Tier 0 is the strongest.
    pub(crate) tier: u8,
    /// The confidence of the source that gives the subject this identifier. With several such
    /// sources, the highest confidence.
    pub(crate) confidence: Confidence,
}

impl Holder {
    /// Returns the confidence that the identifier means this company or person. `self` must be the
    /// first holder of the identifier. `next_tier` is the tier of the second holder, if there is
    /// one. If both holders have the same tier, the confidence is at most
    /// [`Confidence::AMBIGUOUS`].
    pub(crate) fn confidence_beside(&self, next_tier: Option<u8>) -> Confidence {
        let is_ambiguous = next_tier == Some(self.tier);
        let most = if is_ambiguous { Confidence::AMBIGUOUS } else { Confidence::FULL };
        self.confidence.min(most)
    }
}

/// Reads a holder from a row. The column with the index `first` is the id of the company or person.
/// The tier and the confidence follow it.
pub(crate) fn holder_of(row: &Row<'_>, first: usize) -> rusqlite::Result<Holder> {
    Ok(Holder {
        subject: subject_id(row.get(first)?),
        tier: row.get(first + 1)?,
        confidence: confidence_of(row.get(first + 2)?),
    })
}

/// Returns the number that is stored for the confidence of an identifier. Most identifiers have the
/// full confidence. It is stored as 0, because SQLite needs no byte for the value 0.
pub(crate) fn stored_confidence(confidence: Confidence) -> u8 {
    if confidence == Confidence::FULL { 0 } else { confidence.percent() }
}

/// Returns the confidence for a stored number. 0 means the full confidence, and so does 100,
/// because earlier versions stored 100 instead of 0.
pub(crate) fn confidence_of(stored: u8) -> Confidence {
    if stored == 0 { Confidence::FULL } else { Confidence::clamped(stored) }
}
