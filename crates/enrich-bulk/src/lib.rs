//! Look-ups of whole lists: rows in, the same rows out with the answers added.
//!
//! [`run`] takes the rows of an [`Input`], asks a [`Caller`] about many of them at once and writes
//! them in their order. The output says how far it is, so a run that was stopped or killed goes on
//! where it was; every row has an idempotency key of its own, so none is paid twice. [`preview`]
//! says what a list may cost before anything is asked. [`Jobs`] keeps lists of accounts in a
//! folder, within limits for each account, and runs them in turns.
//!
//! What is not here: the endpoints (they come as rows of a table), any store, a web framework, the
//! terminal.

mod answer;
mod caller;
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

pub use caller::{
    Asked, Called, Caller, DirectoryCaller, MeteredCaller, RemoteCaller, RemoteError, RowFields,
};
pub use enrich_import::{
    Delimiter, Format, Layout, NoList, ReadAs, ReadError, Source, TextEncoding, told_by_name,
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
