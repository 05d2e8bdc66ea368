//! The error that most methods of the ports return. A port is a trait, such as `Ledger`.

/// Why an operation of a store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A queue of the store is full. Nothing was changed.
    #[error("too many requests are waiting for the store")]
    Overloaded,
    /// The store cannot be used for now: it cannot be reached, another process holds it, it has
    /// stopped, or it is being closed. Nothing was changed. The source error never contains a
    /// database password.
    #[error("the store cannot be used for now")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store failed. Nothing was changed.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It is unknown whether a remote store made the change, because its reply did not arrive. For
    /// example, the connection was lost. The caller may make the same change again.
    #[error("it is not known whether the change was made")]
    Unknown(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Creates [`StoreError::Failed`] from the cause of a failure.
    pub fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(source.into())
    }

    /// Creates [`StoreError::Unavailable`] from its cause, which may be a text.
    pub fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(source.into())
    }
}
