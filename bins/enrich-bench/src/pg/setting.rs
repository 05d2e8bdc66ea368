//! A PostgreSQL cluster with Enrich's tables, behind a proxy that delays the bytes as a network
//! does.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Grant, Ledger as _};
use enrich_core::{Account, Clock as _, NewKey};
use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_store::SystemClock;
use enrich_store_postgres::{Options, Store, migrate};
use futures_util::StreamExt as _;
use futures_util::stream::{self, TryStreamExt as _};
use tempfile::TempDir;

use crate::pg::load::Customer;
use crate::postgres::Postgres;

/// Credits of each account. They are enough for every run.
const CREDITS: i64 = 1_000_000_000_000;

pub(crate) struct Setting {
    postgres: Postgres,
    secrets: Secrets,
    _folder: TempDir,
}

impl Setting {
    /// Starts the cluster and makes the tables.
    pub(crate) fn start(delay: Duration, has_standby: bool) -> Result<Self> {
        let postgres = Postgres::start(delay, has_standby)?;
        let folder = tempfile::tempdir()?;
        let secrets = Secrets::create(&folder.path().join(SECRET_FILE))?;
        migrate(&postgres.database.url(), &secrets)?;
        Ok(Self { postgres, secrets, _folder: folder })
    }

    /// Returns the URL of the database, through the proxy if there is one.
    pub(crate) fn url(&self) -> String {
        self.postgres.url()
    }

    pub(crate) fn execute(&self, statement: &str) -> Result<()> {
        let psql = std::process::Command::new("psql")
            .args([
                "-X",
                "-q",
                "-v",
                "ON_ERROR_STOP=1",
                "-c",
                statement,
                &self.postgres.database.url(),
            ])
            .status()
            .context("psql does not start")?;
        if psql.success() { Ok(()) } else { bail!("psql refused a statement") }
    }

    pub(crate) fn nodes(&self, number: usize) -> Result<Vec<Store>> {
        let options = Options { accepts_one_copy: true, ..Options::default() };
        let open = |_| Ok(Store::open(&self.url(), &self.secrets, options.clone())?);
        (0..number).map(open).collect()
    }

    pub(crate) fn customers(&self, number: usize) -> Result<Vec<Customer>> {
        let nodes = self.nodes(1)?;
        let node = nodes.first().context("a node")?;
        let create = |_| async move {
            let now = SystemClock.now();
            let account = Account::new("Northwind", now);
            let id = account.id;
            let key = NewKey::generate(id, "", now)?;
            let customer = Customer { account: id, key: key.id };
            node.accounts.create(account, key).await?;
            node.ledger.grant(Grant::new(id, CREDITS, now)).await?;
            anyhow::Ok(customer)
        };
        pollster::block_on(stream::iter(0..number).map(create).buffered(64).try_collect())
    }

    pub(crate) fn verify(&self) -> Result<Vec<String>> {
        let nodes = self.nodes(1)?;
        let node = nodes.first().context("a node")?;
        Ok(pollster::block_on(node.ledger.verify())?.faults)
    }
}

/// A database session that keeps a snapshot of the database open, as `pg_dump` does.
pub(crate) struct HeldSnapshot(std::process::Child);

impl HeldSnapshot {
    pub(crate) fn take(setting: &Setting) -> Result<Self> {
        let hold = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM account; \
                    SELECT pg_sleep(3600)";
        let psql = std::process::Command::new("psql")
            .args(["-X", "-q", "-c", hold, &setting.postgres.database.url()])
            .stdout(std::process::Stdio::null())
            .spawn()
            .context("psql does not start")?;
        Ok(Self(psql))
    }
}

impl Drop for HeldSnapshot {
    fn drop(&mut self) {
        // An error here does no harm: `psql` also ends when its connection ends.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
