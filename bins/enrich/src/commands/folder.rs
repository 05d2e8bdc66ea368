//! The data folder that a command works on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use enrich_store::{Options, Store};

use super::console::Console;
use super::failure::Failure;

/// What an empty file system brings along.
const LOST_AND_FOUND: &str = "lost+found";

// Which folder. (A doc comment here would become the help of every command.)
#[derive(Clone, Debug, Args)]
pub(crate) struct DataFolder {
    /// Folder of the data
    #[arg(
        long = "data",
        value_name = "DIR",
        env = "ENRICH_DATA",
        hide_env_values = true,
        default_value = "./enrich-data"
    )]
    path: PathBuf,
}

impl DataFolder {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder, which has to be there: a mistyped name makes no folder.
    pub(crate) fn open(&self) -> Result<Store, Failure> {
        self.has_to_be_there()?;
        Ok(Store::open(&self.path, Options::default())?)
    }

    /// Refuses where there is no folder.
    pub(crate) fn has_to_be_there(&self) -> Result<(), Failure> {
        if !holds_nothing(&self.path) {
            return Ok(());
        }
        Err(Failure::Impossible(format!(
            "there is no data folder at {}; run `enrich account create` or `enrich import` to make \
             one, or name another with --data",
            self.path.display()
        )))
    }

    /// Opens the folder, and makes it first where there is none.
    pub(crate) fn open_or_make(&self, console: &mut Console<'_>) -> Result<Store, Failure> {
        let is_new = holds_nothing(&self.path);
        let store = Store::open(&self.path, Options::default())?;
        if is_new {
            console.note(&format!("made the data folder {}", self.path.display()));
        }
        Ok(store)
    }
}

/// Whether there is no folder, or an empty one, which opening would fill. What cannot be read may
/// hold something.
fn holds_nothing(folder: &Path) -> bool {
    let is_something = |name: OsString| name != LOST_AND_FOUND;
    match folder.read_dir() {
        Ok(entries) => !entries.flatten().any(|entry| is_something(entry.file_name())),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}
