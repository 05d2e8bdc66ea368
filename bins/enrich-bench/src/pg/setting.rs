//! A PostgreSQL cluster with the schema, behind a proxy that delays the bytes.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Grant, Ledger as _};
use enrich_core::{Account, Clock as _, NewKey};
use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_store::SystemClock;
use enrich_store_postgres::{Options, Store, migrate};
use enrich_testkit::postgres::{Cluster, ClusterOptions, Database};
use enrich_testkit::tcp_proxy::TcpProxy;
use futures_util::StreamExt as _;
use futures_util::stream::{self, TryStreamExt as _};
use tempfile::TempDir;

use crate::pg::load::Customer;

/// Credits of each account. They are enough for every run.
const CREDITS: i64 = 1_000_000_000_000;

pub(crate) struct Setting {
    // Dropped in this order: connections, proxy, servers.
    proxy: TcpProxy,
    database: Database,
    secrets: Secrets,
    _folder: TempDir,
    _cluster: Cluster,
    _standby: Option<Cluster>,
}

impl Setting {
    /// Starts the cluster. Returns `None` if PostgreSQL is not installed.
    pub(crate) fn start(delay: Duration, has_standby: bool) -> Result<Option<Self>> {
        let options = ClusterOptions {
            settings: vec![
                ("shared_buffers".into(), "512MB".into()),
                ("max_wal_size".into(), "8GB".into()),
                ("checkpoint_timeout".into(), "30min".into()),
            ],
            ..ClusterOptions::default()
        };
        let (cluster, standby) = if has_standby {
            match Cluster::start_pair(&options)? {
                Some((primary, standby)) => (primary, Some(standby)),
                None => return Ok(None),
            }
        } else {
            match Cluster::start(&options)? {
                Some(cluster) => (cluster, None),
                None => return Ok(None),
            }
        };
        let folder = tempfile::tempdir()?;
        let secrets = Secrets::create(&folder.path().join(SECRET_FILE))?;
        let database = cluster.database();
        migrate(&database.url(), &secrets)?;
        // The proxy delays each direction by half of the whole delay.
        let proxy = TcpProxy::start(cluster.address(), delay / 2)?;
        Ok(Some(Self {
            proxy,
            database,
            secrets,
            _folder: folder,
            _cluster: cluster,
            _standby: standby,
        }))
    }

    /// Returns the URL of the database through the proxy.
    pub(crate) fn url(&self) -> String {
        self.database.url_at(&[self.proxy.address()])
    }

    /// Runs a statement in the database.
    pub(crate) fn execute(&self, statement: &str) -> Result<()> {
        let psql = std::process::Command::new("psql")
            .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, &self.database.url()])
            .status()
            .context("psql does not start")?;
        if psql.success() { Ok(()) } else { bail!("psql refused a statement") }
    }

    /// Opens new nodes.
    pub(crate) fn nodes(&self, number: usize) -> Result<Vec<Store>> {
        let options = Options { accepts_one_copy: true, ..Options::default() };
        let open = |_| Ok(Store::open(&self.url(), &self.secrets, options.clone())?);
        (0..number).map(open).collect()
    }

    /// Creates new accounts with credits.
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

    /// Verifies the ledger. Returns its faults.
    pub(crate) fn verify(&self) -> Result<Vec<String>> {
        let nodes = self.nodes(1)?;
        let node = nodes.first().context("a node")?;
        Ok(pollster::block_on(node.ledger.verify())?.faults)
    }
}

/// A database session that holds a snapshot, as a dump does.
pub(crate) struct HeldSnapshot(std::process::Child);

impl HeldSnapshot {
    pub(crate) fn take(setting: &Setting) -> Result<Self> {
        let hold = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM account; \
                    SELECT pg_sleep(3600)";
        let psql = std::process::Command::new("psql")
            .args(["-X", "-q", "-c", hold, &setting.database.url()])
            .stdout(std::process::Stdio::null())
            .spawn()
            .context("psql does not start")?;
        Ok(Self(psql))
    }
}

impl Drop for HeldSnapshot {
    fn drop(&mut self) {
        // It ends with its connection in any case.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
