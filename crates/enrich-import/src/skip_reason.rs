//! Why a record of a source gave no native record.

use std::fmt;

/// Why a record of a source gave no native record. Reports count these records by reason, and print
/// the reason as text.
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
    /// The mapping made no native record. The text is the reason of the mapping, such as
    /// `dissolved`.
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
