//! `enrich compact`: makes the file with the look-up data, `directory.sqlite`, smaller.

use std::io::{self, Write};

use clap::Args;
use enrich_store::{CompactError, DirectoryStore, Store};
use serde::Serialize;

use super::table::Pairs;
use super::{Common, Console, Failure, Shown, Verdict, named};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich compact

`source remove` and `forget` leave unused space in directory.sqlite, which later imports use. This
command writes the file again without the unused space. It may run while a server runs: look-ups
continue; imports and removals wait, and fail after two minutes. It needs free disk space of twice
the size of the data, and refuses to start with less. It does not change the ledger. JSON:
{\"before_bytes\",\"after_bytes\",\"freed_bytes\"}.

Exit status: 0 when it is done; 2 if there is no data folder, there is too little space, or other
commands write to the directory all the time.")]
pub(crate) struct Compact {
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct Done {
    before_bytes: u64,
    after_bytes: u64,
    freed_bytes: u64,
}

impl Compact {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let report = match self.common.data.store()? {
            Some(_) => DirectoryStore::compact(self.common.data.path())?,
            None => Store::compact(self.common.data.path())?,
        };
        let (before_bytes, after_bytes) = (report.before_bytes, report.after_bytes);
        let freed_bytes = before_bytes.saturating_sub(after_bytes);
        self.common.show(&Done { before_bytes, after_bytes, freed_bytes }, console)
    }
}

impl Shown for Done {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("before", named::size(self.before_bytes))
            .add("after", named::size(self.after_bytes))
            .add("freed", named::size(self.freed_bytes))
            .write(out)
    }
}

impl From<CompactError> for Failure {
    fn from(error: CompactError) -> Self {
        match error {
            CompactError::Open(error) => error.into(),
            error => Self::impossible(&error),
        }
    }
}
