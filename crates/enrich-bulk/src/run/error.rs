//! The errors of runs.

use enrich_import::ReadError;

use crate::mapping::MappingError;
use crate::part::PartError;

/// Why a run failed. The written rows are kept, and a later run can continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The list cannot be read to its end.
    #[error("the list cannot be read")]
    Input(#[from] ReadError),
    /// The mapping is invalid.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The list has changed since the written rows were read from it.
    #[error(
        "this is not the list that the job was started with: its first {0} rows differ; remove the \
         `.part` and `.job` files to start again"
    )]
    OtherInput(u64),
    /// The output file cannot be written.
    #[error(transparent)]
    Part(#[from] PartError),
    /// The output stream cannot be written.
    #[error("the output cannot be written")]
    Stream(#[source] std::io::Error),
}
