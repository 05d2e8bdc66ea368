//! One file of a backup, as the manifest lists it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileEntry {
    /// The file's path in the backup, with `/` between folders.
    pub(super) name: String,
    pub(super) bytes: u64,
    /// The BLAKE3 hash of the file's content, in hex.
    pub(super) blake3: String,
}
