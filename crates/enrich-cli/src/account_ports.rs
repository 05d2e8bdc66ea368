//! The ports (traits) for accounts, keys, credits and sign-ins. They are implemented over a data
//! folder and over PostgreSQL.

use std::sync::Arc;

use anyhow::anyhow;
use enrich_core::port::accounts::Accounts;
use enrich_core::port::ledger::Ledger;
use enrich_sign_in::SignIns;
use enrich_store::{OpenError, Secrets, SqliteDirectory, Store};
use enrich_store_postgres as postgres;

use crate::settings::StoreUrl;

/// The ports through which a command reaches accounts, keys, credits and sign-ins.
pub(crate) struct AccountPorts {
    pub(crate) accounts: Arc<dyn Accounts>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) sign_ins: Arc<dyn SignIns>,
    /// The directory (the look-up data) of the data folder. It is never read. It is kept open
    /// because an open directory marks the folder as in use. `None` if the accounts are in
    /// PostgreSQL.
    _directory: Option<Arc<SqliteDirectory>>,
}

/// Returns the error for a node (a process that uses the PostgreSQL database) whose data folder
/// cannot be opened. If the folder does not exist, the message says what to do.
pub(crate) fn node_folder_error(error: OpenError) -> anyhow::Error {
    let what_to_do = match error {
        OpenError::Missing(_) => {
            "; copy secret.key of another node into it, or run `enrich store migrate` for a new \
             database"
        }
        _ => return error.into(),
    };
    anyhow!("{error}{what_to_do}")
}

impl AccountPorts {
    /// Opens the ports over the PostgreSQL database at `url`.
    pub(crate) fn open(url: &StoreUrl, secrets: &Secrets) -> Result<Self, postgres::OpenError> {
        let postgres::CommandPorts { accounts, ledger, sign_ins, .. } =
            postgres::CommandPorts::open(url.expose(), secrets)?;
        Ok(Self { accounts, ledger, sign_ins, _directory: None })
    }
}

impl From<&Store> for AccountPorts {
    fn from(store: &Store) -> Self {
        Self {
            accounts: Arc::clone(&store.accounts) as _,
            ledger: Arc::clone(&store.ledger) as _,
            sign_ins: Arc::clone(&store.sign_ins) as _,
            _directory: Some(Arc::clone(&store.directory)),
        }
    }
}
