//! The reasons why a snapshot cannot be published or used.

use std::io;
use std::path::{Path, PathBuf};

use enrich_core::port::error::StoreError;
use enrich_core::port::snapshots::SnapshotNumber;
use enrich_store_sqlite::{OpenError, SpaceError};

/// Why a snapshot could not be published or used. If a node cannot use a new snapshot, it
/// continues to answer from its present snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The list of snapshots is empty.
    #[error(
        "no directory is published yet; run `enrich directory publish` on the machine that imports"
    )]
    NonePublished,
    /// The list has no snapshot with this number.
    #[error("there is no snapshot {}; see `enrich directory list`", .0.0)]
    NotListed(SnapshotNumber),
    /// The snapshot in use, from which all nodes should answer, is not in the data folder.
    #[error(
        "snapshot {} is in use and not in this folder yet; a server that runs copies it, and logs \
         why if it can't",
        .0.0
    )]
    NotCopied(SnapshotNumber),
    /// The file of the snapshot in use (from which all nodes should answer) is damaged in the data
    /// folder.
    #[error("{0} is damaged; restart the server, which then copies it again")]
    DamagedHere(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be read or written")]
    File {
        /// The file or folder that cannot be read or written.
        path: PathBuf,
        /// Why the file or folder cannot be read or written.
        #[source]
        source: io::Error,
    },
    /// A snapshot's file, in the published folder or in the data folder, has another length than
    /// when it was published.
    #[error("{0} is not complete, or longer than it was published; publish the directory again")]
    Length(PathBuf),
    /// A snapshot's file, in the published folder or in the data folder, has the right length,
    /// but its content differs from the published content.
    #[error("{0} is not as it was published; publish the directory again")]
    Altered(PathBuf),
    /// The snapshot has a schema that this build does not read.
    #[error(
        "the snapshot has schema {found} and this Enrich reads {known}; publish it by the Enrich \
         that the nodes run"
    )]
    Schema {
        /// The version of the snapshot's schema.
        found: u32,
        /// The version of the schema that this build reads.
        known: u32,
    },
    /// The look-up data in the snapshot was derived from the imported facts by derivation rules
    /// whose version differs from the version in this build.
    #[error(
        "the snapshot was derived by rules {found} and this Enrich has rules {known}; run `enrich \
         reindex` and publish it by the Enrich that the nodes run"
    )]
    DerivedBy {
        /// The version of the rules by which the snapshot's look-up data was derived.
        found: u32,
        /// The version of the rules in this build.
        known: u32,
    },
    /// The snapshot uses a secret that this node does not have. The value is the number of this
    /// secret in `secret.key`.
    #[error(
        "the snapshot was made with another secret {0} than this node has; all nodes and the \
         machine that imports share one `secret.key`"
    )]
    NodeSecret(u32),
    /// The directory (the look-up data) uses a secret that is missing in the store with the list of
    /// snapshots. So it cannot be published. The value is the number of this secret in
    /// `secret.key`.
    #[error(
        "the directory was made with another secret {0} than the store; use the store's \
         `secret.key`, or run `enrich store migrate` after a secret was added"
    )]
    StoreSecret(u32),
    /// The disk has too little space.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The database file of a directory (the look-up data) cannot be opened or copied.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The list of snapshots cannot be read or changed.
    #[error("the list of snapshots cannot be read or changed")]
    Store(#[from] StoreError),
    /// The node is being shut down, so it does not finish its work on the snapshot.
    #[error("the node is being stopped")]
    Stopped,
}

impl SnapshotError {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.into(), source }
    }

    /// Whether the error means that the content of a file differs from the published content.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Length(_) | Self::Altered(_) | Self::Open(OpenError::Damaged { .. }))
    }
}
