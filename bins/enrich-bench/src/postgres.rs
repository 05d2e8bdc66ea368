//! A PostgreSQL cluster for one measurement, behind a proxy that delays the bytes.

use std::time::Duration;

use anyhow::{Result, bail};
use enrich_testkit::postgres::{Cluster, ClusterOptions, Database};
use enrich_testkit::tcp_proxy::TcpProxy;

/// A running cluster. Dropping this value removes the cluster and its data.
pub(crate) struct Postgres {
    // Rust drops the fields in the order of their declaration: the proxy before the servers behind
    // it.
    proxy: Option<TcpProxy>,
    pub(crate) database: Database,
    _cluster: Cluster,
    _standby: Option<Cluster>,
}

impl Postgres {
    /// Starts a PostgreSQL server, and a synchronous standby if `has_standby` is true. `delay` is
    /// the delay of one round trip between a node and the database.
    ///
    /// # Errors
    ///
    /// When PostgreSQL is not installed, or does not start.
    pub(crate) fn start(delay: Duration, has_standby: bool) -> Result<Self> {
        let options = ClusterOptions {
            settings: vec![
                ("shared_buffers".into(), "512MB".into()),
                ("max_wal_size".into(), "8GB".into()),
                ("checkpoint_timeout".into(), "30min".into()),
            ],
            ..ClusterOptions::default()
        };
        let started = if has_standby {
            let pair = Cluster::start_pair(&options)?;
            pair.map(|(primary, standby)| (primary, Some(standby)))
        } else {
            Cluster::start(&options)?.map(|cluster| (cluster, None))
        };
        let Some((cluster, standby)) = started else {
            bail!("PostgreSQL is not installed; `apt-get install postgresql` installs it");
        };
        // The proxy delays each direction by half of `delay`. The proxy uses processor time, so it
        // is left out if there is no delay.
        let proxy = if delay.is_zero() {
            None
        } else {
            Some(TcpProxy::start(cluster.address(), delay / 2)?)
        };
        let database = cluster.database();
        Ok(Self { proxy, database, _cluster: cluster, _standby: standby })
    }

    /// Returns the URL of the database, through the proxy if there is one.
    pub(crate) fn url(&self) -> String {
        match &self.proxy {
            Some(proxy) => self.database.url_at(&[proxy.address()]),
            None => self.database.url(),
        }
    }
}
