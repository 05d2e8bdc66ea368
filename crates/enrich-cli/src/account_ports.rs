//! The ports of accounts: over a data folder, or over PostgreSQL.

use std::sync::Arc;

use enrich_core::port::accounts::Accounts;
use enrich_core::port::ledger::Ledger;
use enrich_sign_in::SignIns;
use enrich_store::{Secrets, Store};
use enrich_store_postgres as postgres;

use crate::settings::StoreUrl;

/// Accounts with their keys, credits and sign-ins.
pub(crate) struct AccountPorts {
    /// Accounts and keys.
    pub(crate) accounts: Arc<dyn Accounts>,
    /// The ledger.
    pub(crate) ledger: Arc<dyn Ledger>,
    /// The sign-ins of owners to the account page.
    pub(crate) sign_ins: Arc<dyn SignIns>,
    /// The folder that the ports are over. It counts as in use while it is open.
    _folder: Option<Store>,
}

impl AccountPorts {
    /// The ports over the database at `url`. A command accepts a database without a standby: it is
    /// the server that depends on one.
    pub(crate) fn open(url: &StoreUrl, secrets: &Secrets) -> Result<Self, postgres::OpenError> {
        let options = postgres::Options { accepts_one_copy: true, ..postgres::Options::default() };
        let store = postgres::Store::open(url.expose(), secrets, options)?;
        Ok(Self {
            accounts: store.accounts,
            ledger: store.ledger,
            sign_ins: store.sign_ins,
            _folder: None,
        })
    }
}

impl From<Store> for AccountPorts {
    fn from(store: Store) -> Self {
        Self {
            accounts: Arc::clone(&store.accounts) as _,
            ledger: Arc::clone(&store.ledger) as _,
            sign_ins: Arc::clone(&store.sign_ins) as _,
            _folder: Some(store),
        }
    }
}
