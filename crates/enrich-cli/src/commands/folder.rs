//! The data folder of a command.

use std::path::{Path, PathBuf};

use clap::Args;
use enrich_store::{OpenError, Options, Store};

use super::console::{Console, Format, Shown};
use super::failure::{Failure, Verdict};

// The folder. (A doc comment here would become the help of every command.)
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

// The arguments of most commands. (A doc comment here would become the help of every command.)
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) data: DataFolder,
    #[command(flatten)]
    pub(crate) format: Format,
}

impl Common {
    /// Opens the folder, which must exist.
    pub(crate) fn open(&self) -> Result<Store, OpenError> {
        self.data.open()
    }

    /// Writes a result in the chosen format.
    pub(crate) fn show(
        &self,
        result: &impl Shown,
        console: &mut Console<'_>,
    ) -> Result<Verdict, Failure> {
        console.show(result, self.format)
    }
}

impl DataFolder {
    /// The folder's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens an existing folder. A mistyped name must not create a folder.
    pub(crate) fn open(&self) -> Result<Store, OpenError> {
        self.open_with(Options::default())
    }

    /// Opens an existing folder with the given options.
    pub(crate) fn open_with(&self, options: Options) -> Result<Store, OpenError> {
        Store::open_with(&self.path, options)
    }

    /// Opens the folder; creates it if it does not exist.
    pub(crate) fn open_or_make(&self, console: &mut Console<'_>) -> Result<Store, OpenError> {
        match self.open() {
            Err(OpenError::Missing { .. }) => {
                let store = Store::open_or_create(&self.path)?;
                console.note(&format!("created the data folder {}", self.path.display()));
                Ok(store)
            }
            opened => opened,
        }
    }
}
