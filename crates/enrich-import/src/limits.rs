//! How much of a line, a row and a list is read.

/// The longest line that is read, in bytes; a longer one is rejected and the rest goes on.
pub(crate) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// How many lines a row may span by quoted line ends. No field that is read holds any, so they
/// stand in fields that are ignored; and a quote that nobody closes costs no more than this.
pub(crate) const MAX_LINES_OF_A_ROW: usize = 100;

/// How many values of a list are read; the rest is dropped. A list of one line may have as many as
/// fit, and each costs a row and a part of every answer.
pub(crate) const MAX_LIST_VALUES: usize = 1_000;
