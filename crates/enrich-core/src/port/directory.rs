//! The look-up data.

use async_trait::async_trait;

use crate::port::error::StoreError;
use crate::question::{Question, Want};
use crate::subject::{Found, Generation};

/// Answers questions from the look-up data.
#[async_trait]
pub trait Directory: Send + Sync {
    /// The subject that answers `question`, with at least what `want` names.
    ///
    /// `None` when nobody fits, or when several fit a name and cannot be told apart.
    async fn find(&self, question: &Question, want: Want) -> Result<Option<Found>, StoreError>;

    /// The state the directory is in.
    async fn generation(&self) -> Result<Generation, StoreError>;
}
