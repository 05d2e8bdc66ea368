#![doc = include_str!("../README.md")]

mod clock;
mod columns;
mod database;
mod disk;
mod error;
pub mod in_use;
mod log;
mod options;
mod priority;
mod refresh_gate;
mod size;
mod statements;
mod threads;
pub mod turns;

pub use clock::SystemClock;
pub use columns::Column;
pub use database::{
    Database, DatabaseReport, Durability, Readers, check_version, create, examine,
    immutable_reader, mapped_reader, newest_known, prepare, reader, refuse_other_schema,
    schema_version, store_error, writer,
};
pub use disk::{SpaceError, check_space};
pub use error::{DataFile, OpenError};
pub use log::{begin_log, move_log, refuse_without_log, wal_and_shm_paths, write_log_again};
pub use options::Options;
pub use priority::{at_lower_priority, lower_priority};
pub use refresh_gate::{Moment, RefreshGate};
pub use size::{DatabaseSize, bytes, database_size, file_bytes};
pub use statements::Statements;
pub use threads::{Background, Owner, Worker, run_on_new_thread};
