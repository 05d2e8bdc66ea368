//! Why a mapping can't be used.

/// Why a mapping can't be used, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// A line of a mapping file is wrong. The text names what is allowed.
    #[error("line {line}: {problem}")]
    AtLine {
        /// The line in the mapping file, from 1.
        line: usize,
        /// What is wrong, and what is allowed.
        problem: String,
    },
    /// A mapping that was not written as a file is wrong.
    #[error("{0}")]
    Columns(String),
}
