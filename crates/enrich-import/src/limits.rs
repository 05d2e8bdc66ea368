//! Limits on the length of lines, rows and lists.

/// Maximum length of a line, in bytes. A longer line is rejected.
pub(crate) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// Maximum number of lines of one row. A row has several lines if it has line breaks inside quotes,
/// which only ignored fields need. A quote that is never closed affects at most this many lines.
pub(crate) const MAX_LINES_OF_A_ROW: usize = 100;

/// Maximum number of values of a list; further values are dropped. Each value takes a row of the
/// database and is part of every answer.
pub(crate) const MAX_LIST_VALUES: usize = 1_000;
