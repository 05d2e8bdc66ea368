//! The settings with which a node uses snapshots (copies of the look-up data).

use std::path::PathBuf;

use enrich_secrets::Secrets;
use enrich_store_sqlite::Options;

/// Where a node gets its snapshots from, and how it opens them.
#[derive(Clone, Debug)]
pub struct SnapshotSettings {
    /// The data folder. Its subfolder [`SNAPSHOTS`](crate::SNAPSHOTS) contains the snapshots.
    pub data: PathBuf,
    /// The path, on this node, of the folder that snapshots are published to.
    pub location: PathBuf,
    /// The secrets in the node's `secret.key`.
    pub secrets: Secrets,
    /// The options with which snapshots are opened, such as the minimum confidence of a company
    /// that is found by its name.
    pub options: Options,
}
