//! The data folder that a command uses, and the PostgreSQL database with the accounts, if there is
//! one.

use std::path::{Path, PathBuf};

use clap::Args;
use confique::Layer;
use enrich_store::{DataFile, DirectoryStore, OpenError, Options, Secrets, Store, load_secrets};

use super::console::{Console, Format, Shown};
use super::failure::{Failure, Verdict};
use crate::account_ports::AccountPorts;
use crate::missed_names::MissedNames;
use crate::settings::{Settings, SettingsLayer, StoreUrl};

// The option for the data folder. (A doc comment here would become the help of every command.)
#[derive(Clone, Debug, Args)]
pub(crate) struct DataPath {
    /// Data folder
    #[arg(
        long = "data",
        value_name = "DIR",
        env = "ENRICH_DATA",
        hide_env_values = true,
        default_value = "./enrich-data"
    )]
    pub(crate) path: PathBuf,
}

// The options for the data folder and the PostgreSQL database. (A doc comment here would become
// the help of every command.)
#[derive(Clone, Debug, Args)]
pub(crate) struct DataFolder {
    #[command(flatten)]
    folder: DataPath,
    /// PostgreSQL database with the accounts and the ledger,
    /// postgres://USER:PASSWORD@HOST/DATABASE; safer in ENRICH_STORE or the settings file, because
    /// other users of the machine can see command lines
    #[arg(long, env = "ENRICH_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<StoreUrl>,
    /// Settings file of the server
    #[arg(long, env = "ENRICH_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

// The options that most commands have. (A doc comment here would become the help of every
// command.)
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) data: DataFolder,
    #[command(flatten)]
    pub(crate) format: Format,
}

impl Common {
    /// Opens the accounts: those in the PostgreSQL database, if one is configured, else those in
    /// the data folder, which must exist.
    pub(crate) fn open_accounts(&self) -> Result<AccountPorts, Failure> {
        self.data.open_accounts()
    }

    /// Opens the directory (the look-up data) in the data folder. Both must exist.
    pub(crate) fn open_directory(&self) -> Result<DirectoryStore, Failure> {
        self.data.open_directory(&Options::default())
    }

    /// Opens the counts of company names that look-ups did not find: the counts in the PostgreSQL
    /// database, if one is configured, else the counts in the data folder, which must exist.
    pub(crate) fn open_missed_names(&self) -> Result<MissedNames, Failure> {
        match self.data.store()? {
            Some(url) => Ok(MissedNames::open(&url, &self.data.secrets()?)?),
            None => Ok(MissedNames::Folder(Store::open(self.data.path())?)),
        }
    }

    /// Opens the data folder with its ledger. The folder must exist. This function is for commands
    /// that cannot work with a PostgreSQL database. If one is configured, the function returns an
    /// error with the text `instead`, which tells the user what to do.
    pub(crate) fn open_whole(&self, instead: &str) -> Result<Store, Failure> {
        Ok(Store::open(self.data.whole_path(instead)?)?)
    }

    /// Prints a result in the format that the user has chosen.
    pub(crate) fn show(
        &self,
        result: &impl Shown,
        console: &mut Console<'_>,
    ) -> Result<Verdict, Failure> {
        console.show(result, self.format)
    }
}

impl DataFolder {
    /// Returns the path of the data folder.
    pub(crate) fn path(&self) -> &Path {
        &self.folder.path
    }

    /// Returns the path of the server's settings file; `None` if the option is not given.
    pub(crate) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Returns the URL of the PostgreSQL database; `None` if the accounts are in the data folder.
    pub(crate) fn store(&self) -> Result<Option<StoreUrl>, Failure> {
        match &self.store {
            Some(url) => Ok(Some(url.clone())),
            None => Ok(self.settings()?.store),
        }
    }

    /// Returns the URL of the PostgreSQL database, for a command that needs one.
    pub(crate) fn store_url(&self) -> Result<StoreUrl, Failure> {
        self.store()?.ok_or_else(|| {
            Failure::Impossible(
                "name the database with --store, ENRICH_STORE or `store` in the settings file"
                    .to_owned(),
            )
        })
    }

    /// Returns the settings in the settings file; the defaults if there is no settings file.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        Ok(Settings::load(SettingsLayer::empty(), self.config.clone())?)
    }

    /// Returns the path of the data folder. This function is for commands that cannot work with a
    /// PostgreSQL database. If one is configured, the function returns an error with the text
    /// `instead`, which tells the user what to do.
    pub(crate) fn whole_path(&self, instead: &str) -> Result<&Path, Failure> {
        match self.store()? {
            Some(_) => Err(Failure::Impossible(instead.to_owned())),
            None => Ok(self.path()),
        }
    }

    /// Returns the secrets of the data folder. If a PostgreSQL database is configured, its keyed
    /// hashes use the same secrets.
    pub(crate) fn secrets(&self) -> Result<Secrets, Failure> {
        load_secrets(self.path()).map_err(Failure::of_node)
    }

    /// Opens the accounts: those in the PostgreSQL database, if one is configured, else those in
    /// the data folder. Does not create the folder, because the user may have mistyped its name.
    pub(crate) fn open_accounts(&self) -> Result<AccountPorts, Failure> {
        match self.store()? {
            Some(url) => Ok(AccountPorts::open(&url, &self.secrets()?)?),
            None => Ok(AccountPorts::from(&Store::open(self.path())?)),
        }
    }

    /// Opens the accounts as [`open_accounts`](Self::open_accounts) does. But if no PostgreSQL
    /// database is configured, and the data folder does not exist, creates the folder.
    pub(crate) fn open_or_make_accounts(
        &self,
        console: &mut Console<'_>,
    ) -> Result<AccountPorts, Failure> {
        match self.store()? {
            Some(url) => Ok(AccountPorts::open(&url, &self.secrets()?)?),
            None => Ok(AccountPorts::from(&self.open_or_make(console)?)),
        }
    }

    /// Opens the directory (the look-up data) in the data folder. Both must exist.
    pub(crate) fn open_directory(&self, options: &Options) -> Result<DirectoryStore, Failure> {
        match self.store()? {
            Some(_) => DirectoryStore::open_with(self.path(), options).map_err(Failure::of_node),
            None => Ok(Store::open_with(self.path(), options)?.into_directory_store()),
        }
    }

    /// Opens the directory (the look-up data) in the folder of a node (a server that shares a
    /// PostgreSQL database). Returns `None` if the folder has no directory. Then the node answers
    /// from snapshots: published copies of another machine's directory.
    pub(crate) fn find_directory(&self) -> Result<Option<DirectoryStore>, Failure> {
        match DirectoryStore::open(self.path()) {
            Err(OpenError::Incomplete { missing, .. }) if missing == [DataFile::Directory] => {
                Ok(None)
            }
            opened => opened.map(Some).map_err(Failure::of_node),
        }
    }

    /// Opens the directory (the look-up data) in a data folder. Creates the folder or the directory
    /// if it does not exist.
    pub(crate) fn open_or_make_directory(
        &self,
        console: &mut Console<'_>,
    ) -> Result<DirectoryStore, Failure> {
        match self.store()? {
            Some(_) => DirectoryStore::open_or_create(self.path()).map_err(Failure::of_node),
            None => Ok(self.open_or_make(console)?.into_directory_store()),
        }
    }

    /// Opens the data folder; creates it if it does not exist.
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
