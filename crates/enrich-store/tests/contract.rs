//! Runs the contract suite with the SQLite store.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::Confidence;
use enrich_store::{Options, Store};
use enrich_testkit::contract::{Harness, Ports};
use tempfile::TempDir;

struct Sqlite(TempDir);

impl Sqlite {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn open(&self) -> Ports {
        self.open_with(Options::default())
    }

    fn open_with(&self, options: Options) -> Ports {
        let options = Options { min_name_confidence: Confidence::clamped(40), ..options };
        let store = Store::open_or_create_with(self.0.path(), &options).unwrap();
        Ports {
            accounts: Arc::clone(&store.accounts) as _,
            ledger: Arc::clone(&store.ledger) as _,
            sign_ins: Arc::clone(&store.sign_ins) as _,
            usage: Arc::clone(&store.usage) as _,
            directory: Arc::clone(&store.directory) as _,
            importer: Arc::clone(&store.importer) as _,
        }
    }
}

#[async_trait]
impl Harness for Sqlite {
    async fn fresh(&self) -> Ports {
        self.open()
    }

    async fn fresh_keeping(&self, max_idempotency_records: u64) -> Ports {
        self.open_with(Options { max_idempotency_records, ..Options::default() })
    }

    async fn reopen(&self, ports: Ports) -> Ports {
        drop(ports);
        self.open()
    }
}

enrich_testkit::accounts_contract!(Sqlite::new(), pollster::block_on);
enrich_testkit::ledger_contract!(Sqlite::new(), pollster::block_on);
enrich_testkit::sign_ins_contract!(Sqlite::new(), pollster::block_on);
enrich_testkit::usage_contract!(Sqlite::new(), pollster::block_on);
enrich_testkit::directory_contract!(Sqlite::new(), pollster::block_on);
enrich_testkit::importer_contract!(Sqlite::new(), pollster::block_on);
