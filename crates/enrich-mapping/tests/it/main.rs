//! The mappings, over files in the layout of each source, with invented rows.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod detection;
mod mapping_file;
mod properties;
mod reader;
mod sources;
mod traps;
