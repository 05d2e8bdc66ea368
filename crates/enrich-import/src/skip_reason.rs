//! Why a record of a source was skipped, so that nothing is imported from it.

use std::fmt;

/// Why a record of a source was skipped, so that nothing is imported from it. Reports count the
/// skipped records by reason, and print the reason as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// A row of totals, such as `Total;12`.
    TotalRow,
    /// A row that has only a sentence, such as a footnote.
    Remark,
    /// A row that repeats the header of its table.
    RepeatedHeader,
    /// A row above the header of its table, such as a title.
    RowAboveHeader,
    /// The mapping made no record. The text is the mapping's reason, such as `dissolved`.
    ByMapping(String),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TotalRow => "total row",
            Self::Remark => "remark",
            Self::RepeatedHeader => "repeated header",
            Self::RowAboveHeader => "row above the header",
            Self::ByMapping(reason) => reason,
        })
    }
}
