//! Limits on the length of lines, rows and lists.

/// Maximum length of a line, in bytes. A longer line is rejected.
pub(crate) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// Maximum number of lines of one row of CSV. A row has several lines if a field in quotes contains
/// line breaks. If a quote is not closed within this number of lines, the first line of the row is
/// rejected, and the next row begins with the second line.
pub(crate) const MAX_LINES_OF_A_ROW: usize = 100;

/// Maximum number of values of a list field, such as `emails`; further values are dropped. Each
/// value becomes a row of the database, and a part of every answer that contains the list.
pub(crate) const MAX_LIST_VALUES: usize = 1_000;

/// Maximum number of lines that are examined to detect the format and the delimiter.
pub(crate) const LOOKED_AT_LINES: usize = 100;

/// Maximum number of bytes of the lines that are examined to detect the format and the delimiter.
pub(crate) const LOOKED_AT_BYTES: usize = 256 * 1024;
