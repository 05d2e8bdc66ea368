//! `enrich reindex`: updates a directory that an earlier version made.

use std::io::{self, Write};

use clap::Args;
use enrich_store::{DirectoryStore, Store};
use serde::Serialize;

use super::{Common, Console, Failure, Shown, Verdict};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich reindex

An earlier Enrich found names by other rules; `serve` and the other commands say so and refuse its
folder. This derives what look-ups read from what the sources said, once more; nothing is lost. It
takes a minute for a million companies. It needs the folder to itself: it is refused while a server
or another command has it open, and those are refused meanwhile. When it is stopped, run it again.
JSON: {\"subjects\"}.

Exit status: 0 when it is done; 2 if there is no data folder, it is in use or it cannot be
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
