//! Tests of the mappings. The fixtures have the layouts of the real sources, but their rows are
//! invented.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod company_and_person;
mod detection;
mod mapping_file;
mod properties;
mod reader;
mod registers;
mod sources;
mod traps;
