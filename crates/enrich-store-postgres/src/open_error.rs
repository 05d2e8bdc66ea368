//! The errors of opening the store. Each message tells the operator what to do.

use enrich_secrets::SecretError;

use crate::connect::{ConnectError, UrlError};
use crate::failure::Failure;

/// Why the store cannot be opened. No message contains any part of the database's URL.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL cannot be used.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// No primary can be reached.
    #[error("the database cannot be reached; check the store's URL and that a primary is running")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database has no schema yet.
    #[error("the database has no tables of Enrich; run `enrich store migrate` once")]
    NoSchema,
    /// The database has an older schema than this build needs.
    #[error(
        "the database has schema {found} and this Enrich needs {known}; run `enrich store migrate`"
    )]
    OlderSchema {
        /// The version of the database's schema.
        found: i32,
        /// The version of the schema that this build needs.
        known: i32,
    },
    /// The database has a newer schema than this build knows.
    #[error(
        "the database has schema {found} and this Enrich knows up to {known}; use the Enrich that \
         migrated it, or a newer one"
    )]
    NewerSchema {
        /// The version of the database's schema.
        found: i32,
        /// The newest version of the schema that this build knows.
        known: i32,
    },
    /// A migration failed; nothing was changed.
    #[error("the schema cannot be made; check that the user of the URL owns the database")]
    Schema(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database does not sync its commits to disk.
    #[error("the database has fsync=off and can lose acknowledged charges; set fsync=on")]
    NoSync,
    /// The database has no synchronous standby.
    #[error(
        "the database has no synchronous standby, so the loss of its machine would lose \
         acknowledged charges; set synchronous_standby_names, or start with --one-copy to accept \
         that"
    )]
    NoStandby,
    /// The database is in another mode than `serving`, for example because its ledger is being
    /// copied.
    #[error("the database is in mode `{0}`; see `enrich store check`")]
    NotServing(String),
    /// The secrets do not belong to the database.
    #[error("the secrets in secret.key do not belong to this database")]
    Secret(#[from] SecretError),
    /// The number of a secret is too large for the database.
    #[error("secret {0} has too large a number; use one below 2147483648")]
    SecretNumber(u32),
    /// The operating system could not start the thread that communicates with the database.
    #[error("no thread could be started")]
    Thread(#[source] std::io::Error),
    /// The database refused a statement.
    #[error("the database refused a statement")]
    Statement(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<ConnectError> for OpenError {
    fn from(error: ConnectError) -> Self {
        Self::Unreachable(Box::new(error))
    }
}

impl From<Failure> for OpenError {
    fn from(failure: Failure) -> Self {
        if failure.loses_connection() {
            Self::Unreachable(Box::new(failure))
        } else {
            Self::Statement(Box::new(failure))
        }
    }
}

impl From<tokio_postgres::Error> for OpenError {
    fn from(error: tokio_postgres::Error) -> Self {
        Failure::from(error).into()
    }
}
