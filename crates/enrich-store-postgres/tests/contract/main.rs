//! Runs the contract suite with the PostgreSQL store.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod copy;
mod nodes;
mod outages;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use enrich_secrets::Secrets;
use enrich_store_postgres::{Options, Store};
use enrich_testkit::contract::{Harness, Ports};
use enrich_testkit::postgres::{Cluster, Database, skip_without_postgres};
use tempfile::TempDir;

/// A new database for the store, and a temporary folder for the directory.
struct Postgres {
    database: Database,
    folder: enrich_store::Store,
    secrets: Secrets,
    _folder: TempDir,
}

/// The harness of the contract suite. The database is created when a test first asks for ports.
#[derive(Default)]
struct Opened(OnceLock<Postgres>);

impl Postgres {
    /// Creates a new database; `None` if PostgreSQL is not installed.
    fn new() -> Option<Self> {
        Some(Self::in_database(Cluster::shared()?.fresh_database().unwrap()))
    }

    fn in_database(database: Database) -> Self {
        let path = tempfile::tempdir().unwrap();
        let folder = enrich_store::Store::open_or_create(path.path()).unwrap();
        let secrets = Secrets::load(&path.path().join(enrich_secrets::SECRET_FILE)).unwrap();
        enrich_store_postgres::migrate(&database.url(), &secrets).unwrap();
        Self { database, folder, secrets, _folder: path }
    }

    /// Opens the store as another node.
    fn store(&self) -> Store {
        let options = Options { accepts_one_copy: true, ..Options::default() };
        Store::open(&self.database.url(), &self.secrets, options).unwrap()
    }

    fn open_with(&self, options: Options) -> Ports {
        let options = Options { accepts_one_copy: true, ..options };
        let store = Store::open(&self.database.url(), &self.secrets, options).unwrap();
        Ports {
            accounts: Arc::clone(&store.accounts) as _,
            ledger: Arc::clone(&store.ledger) as _,
            sign_ins: Arc::clone(&store.sign_ins) as _,
            usage: Arc::clone(&store.usage) as _,
            directory: Arc::clone(&self.folder.directory) as _,
            importer: Arc::clone(&self.folder.importer) as _,
        }
    }
}

impl Opened {
    fn open_with(&self, options: Options) -> Ports {
        self.0.get_or_init(|| Postgres::new().unwrap()).open_with(options)
    }
}

#[async_trait]
impl Harness for Opened {
    async fn fresh(&self) -> Ports {
        self.open_with(Options::default())
    }

    async fn fresh_keeping(&self, max_kept: u64) -> Ports {
        self.open_with(Options { max_kept, ..Options::default() })
    }

    async fn reopen(&self, ports: Ports) -> Ports {
        drop(ports);
        self.open_with(Options::default())
    }
}

/// Runs a test. Skips it if PostgreSQL is not installed.
fn run(test: impl Future<Output = ()>) {
    if !skip_without_postgres() {
        pollster::block_on(test);
    }
}

enrich_testkit::accounts_contract!(Opened::default(), run);
enrich_testkit::sign_ins_contract!(Opened::default(), run);
enrich_testkit::ledger_contract!(Opened::default(), run);
enrich_testkit::usage_contract!(Opened::default(), run);
