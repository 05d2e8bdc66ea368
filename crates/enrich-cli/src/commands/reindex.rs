//! `enrich reindex`: updates look-up data that an earlier version of the program made.

use std::io::{self, Write};

use clap::Args;
use enrich_store::{DirectoryStore, Store};
use serde::Serialize;

use super::{Common, Console, Failure, Shown, Verdict};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich reindex

An earlier version of Enrich found names by other rules: `serve` and all other commands then refuse
its folder with a message. This command makes the look-up data again from the imported values; no
value is lost. It takes about a minute for a million companies. It is refused while a server or
another command has the folder open, and they are refused while it runs. If it was stopped, run it
again.
JSON: {\"subjects\"}.

Exit status: 0 when it is done; 2 if there is no data folder, or the folder is in use or cannot be
written.")]
pub(crate) struct Reindex {
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct Done {
    subjects: u64,
}

impl Reindex {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let mut progress = |done, all| {
            if console.is_watched {
                console.note(&format!("{done} of {all} companies and people are ready"));
            }
        };
        let folder = self.common.data.path();
        let subjects = match self.common.data.store()? {
            Some(_) => DirectoryStore::reindex(folder, &mut progress)?,
            None => Store::reindex(folder, &mut progress)?,
        };
        self.common.show(&Done { subjects }, console)
    }
}

impl Shown for Done {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "made {} companies and people ready", self.subjects)
    }
}
