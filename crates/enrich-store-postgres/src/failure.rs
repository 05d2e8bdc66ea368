//! The failures of statements, and what each means for the caller.

use enrich_core::port::error::StoreError;
use tokio_postgres::error::SqlState;

use crate::connect::ConnectError;

/// Why the database could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The statement conflicted with another transaction, and may succeed if it is repeated. This
    /// variant is for conflicts that PostgreSQL's error code alone does not show, such as a
    /// violated unique constraint. [`Self::is_conflict`] lists the error codes that do.
    #[error("another transaction was in the way")]
    Conflict(#[source] tokio_postgres::Error),
    #[error("the database did not answer in time")]
    TimedOut,
    /// A stored value was altered, or a rule of the store forbids the change.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Failure {
    /// Returns the failure for a stored value that cannot be used, or for a change that a rule
    /// forbids.
    pub(crate) fn of(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store(StoreError::failed(source))
    }

    /// Whether the statement may succeed if its transaction is repeated. Such failures are a
    /// deadlock, a serialization failure, and a lock that was held for too long.
    pub(crate) fn is_conflict(&self) -> bool {
        let is_of_server = self.code().is_some_and(|code| {
            [
                SqlState::T_R_SERIALIZATION_FAILURE,
                SqlState::T_R_DEADLOCK_DETECTED,
                SqlState::LOCK_NOT_AVAILABLE,
            ]
            .contains(code)
        });
        is_of_server || matches!(self, Self::Conflict(_))
    }

    /// Returns `true` only if the failure proves that the statement changed nothing, because
    /// PostgreSQL has refused the statement.
    ///
    /// A failure that makes the connection useless usually proves nothing. For example, if the
    /// server is shutting down, the statement may have run. There is one exception: a server that
    /// refuses a change because it is not a primary has certainly not made the change.
    pub(crate) fn is_answer(&self) -> bool {
        let is_sql = matches!(self, Self::Database(error) if error.code().is_some());
        is_sql && !self.loses_connection()
            || self.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
    }

    /// Whether the connection cannot be used any more: it is lost, or the database server is
    /// shutting down or is not a primary.
    pub(crate) fn loses_connection(&self) -> bool {
        match self {
            Self::Database(error) => match error.code() {
                Some(code) => {
                    code.code().starts_with("08")
                        || [
                            SqlState::ADMIN_SHUTDOWN,
                            SqlState::CRASH_SHUTDOWN,
                            SqlState::CANNOT_CONNECT_NOW,
                            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                            SqlState::IDLE_SESSION_TIMEOUT,
                            SqlState::READ_ONLY_SQL_TRANSACTION,
                        ]
                        .contains(code)
                }
                None => true,
            },
            Self::Connect(_) | Self::TimedOut => true,
            Self::Conflict(_) | Self::Store(_) => false,
        }
    }

    fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Database(error) => error.code(),
            Self::Conflict(_) | Self::Connect(_) | Self::TimedOut | Self::Store(_) => None,
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => error,
            failure if failure.is_conflict() || failure.loses_connection() => {
                Self::unavailable(failure)
            }
            failure => Self::failed(failure),
        }
    }
}
