//! The settings of a node.

use std::path::PathBuf;

use enrich_secrets::Secrets;
use enrich_store_sqlite::Options;

/// Where a node gets its snapshots from, and how it opens them.
#[derive(Clone, Debug)]
pub struct SnapshotSettings {
    /// The data folder. Its subfolder [`SNAPSHOTS`](crate::SNAPSHOTS) holds the snapshots.
    pub data: PathBuf,
    /// The path of the folder that snapshots are published to, on this node.
    pub location: PathBuf,
    /// The secrets of the node.
    pub secrets: Secrets,
    /// The options for look-ups.
    pub options: Options,
}
