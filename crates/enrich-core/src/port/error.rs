//! The error of the ports.

/// A store operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Too much work is waiting; nothing was done.
    #[error("too many requests are waiting for the store")]
    Overloaded,
    /// The store failed; nothing was changed.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The reply of a remote store was lost, so it is not known whether the change was made. The
    /// caller may make the same change again.
    #[error("it is not known whether the change was made")]
    Unknown(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Wraps the cause of a failure.
    pub fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(source.into())
    }
}
