//! Why a run fails.

use enrich_import::ReadError;

use crate::mapping::MappingError;
use crate::part::PartError;

/// Why a run couldn't be carried out, or not on. What is written is kept, and may be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The list can't be read, or not to its end.
    #[error("the list cannot be read")]
    Input(#[from] ReadError),
    /// The mapping can't be used.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The rows that are written come from other ones.
    #[error(
        "this is not the list that the job was started with: its first {0} rows differ; remove the \
         `.part` and `.job` files to start again"
    )]
    OtherInput(u64),
    /// The output can't be written.
    #[error(transparent)]
    Part(#[from] PartError),
    /// The stream can't be written.
    #[error("the output cannot be written")]
    Stream(#[source] std::io::Error),
}
