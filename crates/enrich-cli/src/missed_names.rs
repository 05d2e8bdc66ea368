//! The counts of missed names: the company names that look-ups did not find. A data folder or a
//! PostgreSQL database contains the counts.

use enrich_core::Timestamp;
use enrich_core::port::error::StoreError;
use enrich_store::{MissedName, Secrets, Store};
use enrich_store_postgres as postgres;
use enrich_text::CompanyName;
use pollster::block_on;

use crate::settings::StoreUrl;

/// The store in which missed names are counted: company names that look-ups did not find.
pub(crate) enum MissedNames {
    Folder(Store),
    Database(postgres::MissedNames),
}

impl MissedNames {
    /// Opens the counts of missed names in the PostgreSQL database at `url`.
    pub(crate) fn open(url: &StoreUrl, secrets: &Secrets) -> Result<Self, postgres::OpenError> {
        let ports = postgres::CommandPorts::open(url.expose(), secrets)?;
        Ok(Self::Database(ports.missed_names))
    }

    /// Returns the company names that were looked up in the last 30 days and not found. The names
    /// that were missed most often come first. Returns at most `most` names.
    pub(crate) fn most(&self, now: Timestamp, most: usize) -> Result<Vec<MissedName>, StoreError> {
        match self {
            Self::Folder(store) => store.most_missed(now, most),
            Self::Database(names) => block_on(names.most(now, most)),
        }
    }

    /// Returns the number of look-ups in the last 30 days that did not find this company name.
    pub(crate) fn calls(&self, now: Timestamp, name: &CompanyName) -> Result<u64, StoreError> {
        match self {
            Self::Folder(store) => store.missed(now, name),
            Self::Database(names) => block_on(names.calls(now, name)),
        }
    }

    /// Deletes the counts of a company name that look-ups did not find. Returns the number of
    /// deleted counts.
    pub(crate) fn forget(&self, name: &CompanyName) -> Result<u64, StoreError> {
        match self {
            Self::Folder(store) => store.forget_missed(name),
            Self::Database(names) => block_on(names.forget(name)),
        }
    }
}
