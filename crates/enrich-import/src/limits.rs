//! Limits on the length of lines, rows and lists.

/// The longest line, in bytes. A longer line is rejected.
pub(crate) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// The most lines of one row. Line breaks inside quotes make a row longer than one line, but only
/// ignored fields need them. A quote that is never closed affects at most this many lines.
pub(crate) const MAX_LINES_OF_A_ROW: usize = 100;

/// The most values of a list; further values are dropped. Each value is a database row and a part
/// of every answer.
pub(crate) const MAX_LIST_VALUES: usize = 1_000;
