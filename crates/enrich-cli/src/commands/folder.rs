//! The data folder of a command, and the store of its accounts.

use std::path::{Path, PathBuf};

use clap::Args;
use confique::Layer;
use enrich_store::{DirectoryStore, OpenError, Options, Secrets, Store, load_secrets};

use super::console::{Console, Format, Shown};
use super::failure::{Failure, Verdict};
use crate::account_ports::AccountPorts;
use crate::settings::{Settings, SettingsLayer, StoreUrl};

// The folder. (A doc comment here would become the help of every command.)
#[derive(Clone, Debug, Args)]
pub(crate) struct DataPath {
    /// Folder of the data
    #[arg(
        long = "data",
        value_name = "DIR",
        env = "ENRICH_DATA",
        hide_env_values = true,
        default_value = "./enrich-data"
    )]
    pub(crate) path: PathBuf,
}

// The folder, and the store. (A doc comment here would become the help of every command.)
#[derive(Clone, Debug, Args)]
pub(crate) struct DataFolder {
    #[command(flatten)]
    folder: DataPath,
    /// PostgreSQL database with the accounts and the ledger, postgres://USER:PASSWORD@HOST/DATABASE;
    /// better given as ENRICH_STORE or in the settings file, which others cannot see
    #[arg(long, env = "ENRICH_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<StoreUrl>,
    /// The server's settings file, if it has one
    #[arg(long, env = "ENRICH_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,
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
    /// Opens the accounts of an existing folder, or of the store.
    pub(crate) fn open_accounts(&self) -> Result<AccountPorts, Failure> {
        self.data.open_accounts()
    }

    /// Opens the directory of an existing folder.
    pub(crate) fn open_directory(&self) -> Result<DirectoryStore, Failure> {
        self.data.open_directory(Options::default())
    }

    /// Opens an existing folder with a ledger of its own.
    pub(crate) fn open_whole(&self, instead: &str) -> Result<Store, Failure> {
        Ok(Store::open(self.data.whole_path(instead)?)?)
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
        &self.folder.path
    }

    /// The settings file of the server.
    pub(crate) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The URL of the store; `None` if the accounts are in the folder.
    pub(crate) fn store(&self) -> Result<Option<StoreUrl>, Failure> {
        match &self.store {
            Some(url) => Ok(Some(url.clone())),
            None => Ok(self.settings()?.store),
        }
    }

    /// The settings file; the defaults if there is none.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        Ok(Settings::load(SettingsLayer::empty(), self.config.clone())?)
    }

    /// The path of a folder with a ledger of its own. With a store, the command is refused:
    /// `instead` says what it does and what to do.
    pub(crate) fn whole_path(&self, instead: &str) -> Result<&Path, Failure> {
        match self.store()? {
            Some(_) => Err(Failure::Impossible(instead.to_owned())),
            None => Ok(self.path()),
        }
    }

    /// The secrets of the folder, which belong to the store too.
    pub(crate) fn secrets(&self) -> Result<Secrets, Failure> {
        load_secrets(self.path()).map_err(Failure::of_node)
    }

    /// Opens the accounts of an existing folder, or of the store. A mistyped name must not create a
    /// folder.
    pub(crate) fn open_accounts(&self) -> Result<AccountPorts, Failure> {
        match self.store()? {
            Some(url) => Ok(AccountPorts::open(&url, &self.secrets()?)?),
            None => Ok(AccountPorts::from(&Store::open(self.path())?)),
        }
    }

    /// As [`open_accounts`](Self::open_accounts); creates the folder of accounts if it does not
    /// exist.
    pub(crate) fn open_or_make_accounts(
        &self,
        console: &mut Console<'_>,
    ) -> Result<AccountPorts, Failure> {
        match self.store()? {
            Some(url) => Ok(AccountPorts::open(&url, &self.secrets()?)?),
            None => Ok(AccountPorts::from(&self.open_or_make(console)?)),
        }
    }

    /// Opens the directory of an existing folder.
    pub(crate) fn open_directory(&self, options: Options) -> Result<DirectoryStore, Failure> {
        match self.store()? {
            Some(_) => DirectoryStore::open_with(self.path(), &options).map_err(Failure::of_node),
            None => Ok(Store::open_with(self.path(), options)?.into_directory()),
        }
    }

    /// Opens the directory of a folder; creates what is missing.
    pub(crate) fn open_or_make_directory(
        &self,
        console: &mut Console<'_>,
    ) -> Result<DirectoryStore, Failure> {
        match self.store()? {
            Some(_) => DirectoryStore::open_or_create_with(self.path(), &Options::default())
                .map_err(Failure::of_node),
            None => Ok(self.open_or_make(console)?.into_directory()),
        }
    }

    /// Opens the folder; creates it if it does not exist.
    fn open_or_make(&self, console: &mut Console<'_>) -> Result<Store, OpenError> {
        match Store::open(self.path()) {
            Err(OpenError::Missing { .. }) => {
                let store = Store::open_or_create(self.path())?;
                console.note(&format!("created the data folder {}", self.path().display()));
                Ok(store)
            }
            opened => opened,
        }
    }
}
