//! The contract suite over PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod nodes;

use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;
use enrich_secrets::Secrets;
use enrich_store_postgres::{Options, Store};
use enrich_testkit::contract::{Harness, Ports};
use tempfile::TempDir;
use uuid::Uuid;

/// A store in a database of its own, and a directory in a temporary folder.
struct Postgres {
    database: Database,
    folder: enrich_store::Store,
    secrets: Secrets,
    _folder: TempDir,
}

impl Postgres {
    fn new() -> Self {
        let path = tempfile::tempdir().unwrap();
        let folder = enrich_store::Store::open_or_create(path.path()).unwrap();
        let secrets = Secrets::load(&path.path().join(enrich_secrets::SECRET_FILE)).unwrap();
        let database = Database::create();
        enrich_store_postgres::migrate(&database.url(), &secrets).unwrap();
        Self { database, folder, secrets, _folder: path }
    }

    /// Another node.
    fn store(&self) -> Store {
        let options = Options { accepts_one_copy: true, ..Options::default() };
        Store::open(&self.database.url(), &self.secrets, options).unwrap()
    }

    fn open(&self) -> Ports {
        self.open_with(Options::default())
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

#[async_trait]
impl Harness for Postgres {
    async fn fresh(&self) -> Ports {
        self.open()
    }

    async fn fresh_keeping(&self, max_kept: u64) -> Ports {
        self.open_with(Options { max_kept, ..Options::default() })
    }

    async fn reopen(&self, ports: Ports) -> Ports {
        drop(ports);
        self.open()
    }
}

/// A database that is dropped with the test.
struct Database(String);

impl Database {
    fn create() -> Self {
        let name = format!("test_{}", Uuid::now_v7().simple());
        psql(&format!("CREATE DATABASE {name}"));
        Self(name)
    }

    fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:5499/{}?sslmode=disable", self.0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        psql(&format!("DROP DATABASE {} WITH (FORCE)", self.0));
    }
}

fn psql(statement: &str) {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-h", "127.0.0.1", "-p", "5499", "-U", "postgres", "-c", statement]);
    assert!(psql.status().unwrap().success(), "{statement}");
}

enrich_testkit::accounts_contract!(Postgres::new(), pollster::block_on);
enrich_testkit::sign_ins_contract!(Postgres::new(), pollster::block_on);
enrich_testkit::ledger_contract!(Postgres::new(), pollster::block_on);
enrich_testkit::usage_contract!(Postgres::new(), pollster::block_on);
