//! How a command ends: its exit status and its error message.

use std::error::Error;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use enrich_core::error_chain;
use enrich_core::port::error::StoreError;
use enrich_snapshot::SNAPSHOTS;
use enrich_store::{DataFile, LedgerCopyError, OpenError};
use enrich_store_postgres as postgres;

use super::advice::explained;
use crate::account_ports::node_folder_error;

/// The result of a command that has run to its end. It decides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The command has succeeded: status 0.
    Yes,
    /// The command has printed that something is wrong, or that nothing was found. The exit status
    /// is 1.
    No,
}

/// Why a command has not run to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Something that the command line names does not exist, or the command's request is refused.
    /// The exit status is 1.
    Refused(String),
    /// An error has prevented the command from running. The exit status is 2.
    Impossible(String),
    /// The program that reads the output has ended. This is not an error; the exit status is 0.
    ReaderGone,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Yes => Self::SUCCESS,
            Verdict::No => Self::from(1),
        }
    }
}

impl From<bool> for Verdict {
    fn from(is_well: bool) -> Self {
        if is_well { Self::Yes } else { Self::No }
    }
}

impl Failure {
    /// Creates the failure for something that does not exist, or for a request that is refused.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }

    /// Creates the failure for an error that has prevented the command from running.
    pub(crate) fn impossible(error: &(dyn Error + 'static)) -> Self {
        Self::Impossible(explained(error))
    }

    /// Creates the failure for a file that could not be used because of `error`.
    pub(crate) fn of_file(file: &Path, error: &dyn Error) -> Self {
        Self::Impossible(format!("{}: {}", file.display(), error_chain(error)))
    }

    /// Creates the failure for a data folder that could not be opened, if the accounts are not in
    /// the folder but in PostgreSQL.
    pub(crate) fn of_node(error: OpenError) -> Self {
        node_folder_error(error).into()
    }

    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::ReaderGone => 0,
            Self::Refused(_) => 1,
            Self::Impossible(_) => 2,
        }
    }

    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Self::Refused(message) | Self::Impossible(message) => Some(message),
            Self::ReaderGone => None,
        }
    }
}

/// Converts an error that occurred when the output was written. Errors of other files are converted
/// by [`Failure::of_file`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Impossible(format!("the output cannot be written: {error}")),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::impossible(&error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::impossible(error.as_ref())
    }
}

impl From<LedgerCopyError> for Failure {
    fn from(error: LedgerCopyError) -> Self {
        Self::impossible(&error)
    }
}

impl From<postgres::copy::CopyError> for Failure {
    fn from(error: postgres::copy::CopyError) -> Self {
        Self::impossible(&error)
    }
}

impl From<postgres::OpenError> for Failure {
    fn from(error: postgres::OpenError) -> Self {
        Self::impossible(&error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Incomplete { ref missing, .. } if missing == &[DataFile::Ledger] => {
                Self::Impossible(format!(
                    "{error}; if its accounts are in PostgreSQL, name the database with --store"
                ))
            }
            OpenError::Incomplete { ref folder, ref missing }
                if missing == &[DataFile::Directory] && folder.join(SNAPSHOTS).is_dir() =>
            {
                Self::Impossible(format!(
                    "{} answers from published snapshots; run this with --data of the folder that \
                     imports",
                    folder.display()
                ))
            }
            OpenError::Missing { .. } => Self::Impossible(format!(
                "{error}; run `enrich account create` or `enrich import` to make one, or name \
                 another with --data"
            )),
            error => Self::impossible(&error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_node_with_snapshots_is_not_called_incomplete() {
        let node = tempfile::tempdir().unwrap();
        let incomplete = || OpenError::Incomplete {
            folder: node.path().to_owned(),
            missing: vec![DataFile::Directory],
        };
        let message = |error| Failure::from(error).message().unwrap().to_owned();
        assert!(message(incomplete()).contains("restore it from a backup"));
        std::fs::create_dir(node.path().join(SNAPSHOTS)).unwrap();
        assert!(message(incomplete()).contains("run this with --data of the folder that imports"));
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let gone = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((gone.exit_status(), gone.message()), (0, None));
        let full = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.exit_status(), 2);
    }
}
