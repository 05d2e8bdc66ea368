//! What a store says when it cannot tell.

/// A store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// More work is waiting than it takes; nothing was done.
    #[error("too many requests are waiting for the store")]
    Overloaded,
    /// It failed; nothing was changed.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Wraps what failed.
    pub fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(source.into())
    }
}
