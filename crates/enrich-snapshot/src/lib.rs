#![doc = include_str!("../README.md")]

mod check;
mod compression;
mod error;
mod follow;
mod forget;
mod live;
mod local_files;
mod opened;
mod publish;
mod settings;
mod snapshot_directory;

pub use check::check;
pub use error::SnapshotError;
pub use forget::{forget, forget_all_of};
pub use local_files::{SNAPSHOTS, file_name};
pub use publish::{PublishFrom, publish};
pub use settings::SnapshotSettings;
pub use snapshot_directory::{SnapshotDirectory, SnapshotStatus};
