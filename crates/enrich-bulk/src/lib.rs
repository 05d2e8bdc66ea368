//! Looks up all rows of a list, such as a CSV file: copies the rows and adds the answers.
//!
//! [`run`] reads the rows of an [`Input`], sends many of them at the same time to a [`Caller`],
//! which answers them, and writes them in the order of the list. A checkpoint next to the output
//! makes it possible to continue an interrupted run. Every row has its own idempotency key, so that
//! no row is paid twice. [`preview`] computes the highest possible cost of a list before any row is
//! sent. [`Jobs`] stores the lists of accounts in a folder, with limits for each account, and runs
//! them so that the accounts take turns.
//!
//! This crate contains no endpoint, no store, no web framework and no terminal output. It takes the
//! endpoints from the tables of the API versions.

mod account_limit;
mod answer;
mod caller;
mod candidates;
mod export;
mod guess;
mod input;
pub mod jobs;
mod mapping;
mod part;
mod preview;
mod row;
mod run;
mod shape;
mod spreadsheet;
mod stop;
mod workbook;

pub use account_limit::{AccountLimit, AccountPermit};
pub use caller::{
    CallResult, Caller, DirectoryCaller, MeteredCaller, RemoteCaller, RemoteError, RowFields,
    Target,
};
pub use candidates::can_have_candidates;
pub use enrich_import::{
    Delimiter, Format, Layout, NoList, ReadAs, ReadError, Source, TextEncoding,
    format_from_file_name,
};
pub use export::Status;
pub use guess::guess;
pub use input::Input;
pub use jobs::Jobs;

pub use mapping::{Mapping, MappingError};
pub use part::{
    Opened, Output, Part, PartError, Purpose, counts_of, rows_until_now, whole_cells_of,
};
pub use preview::{NationalNumbers, Preview, PreviewError, preview};
pub use run::{Counts, End, Options, Outcome, Progress, RunError, Work, run};
pub use spreadsheet::neutralised;
pub use stop::Stop;
