//! Why a mapping cannot be used.

/// Why a mapping cannot be used. The text is one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// A line of a mapping file is wrong. The text names what is allowed.
    #[error("line {line}: {problem}")]
    AtLine {
        /// The line in the mapping file, from 1.
        line: usize,
        /// A sentence that says what is wrong and what is allowed.
        problem: String,
    },
    /// A pair of a field and a column, given on the command line, is wrong.
    #[error("{0}")]
    Columns(String),
}
