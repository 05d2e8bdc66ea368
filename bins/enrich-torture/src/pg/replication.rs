//! The connection over which a standby receives the write-ahead log of its primary. The connection
//! goes through a proxy, which can hold the log back before a fault. If the primary confirms
//! commits while the log is held back, the fault loses these commits.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use enrich_testkit::postgres::Cluster;
use enrich_testkit::tcp_proxy::{Cut, TcpProxy};

/// Time limit for a standby to connect.
const CONNECTED_WITHIN: Duration = Duration::from_secs(60);
/// Interval at which this process checks whether the standby is connected.
const INTERVAL: Duration = Duration::from_millis(5);
/// The query that shows whether a standby receives the write-ahead log.
const STREAMS: &str = "SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming'";

/// The connection over which a standby replicates its primary. A proxy between the two can cut it.
pub(crate) struct Replication(TcpProxy);

impl Replication {
    /// Makes a standby connect to its primary through a new proxy.
    pub(crate) fn start(primary: &Cluster, standby: &Cluster) -> Result<Self> {
        let proxy = TcpProxy::start(primary.address(), Duration::ZERO)?;
        let direct = standby.psql("SHOW primary_conninfo")?;
        let port = |port: u16| format!("port={port}");
        let (from, to) = (port(primary.address().port()), port(proxy.address().port()));
        ensure!(direct.contains(&from), "the standby does not follow this primary");
        let by_proxy = direct.replace(&from, &to).replace('\'', "''");
        standby.psql(&format!("ALTER SYSTEM SET primary_conninfo = '{by_proxy}'"))?;
        standby.psql("SELECT pg_reload_conf()")?;
        let begun = Instant::now();
        while proxy.connections() == 0 || primary.psql(STREAMS)? != "t" {
            ensure!(begun.elapsed() < CONNECTED_WITHIN, "the standby did not connect again");
            thread::sleep(INTERVAL);
        }
        Ok(Self(proxy))
    }

    /// Holds the write-ahead log back until the connection is cut.
    pub(crate) fn hold(&self) {
        self.0.pause_to_client();
    }

    /// Cuts the connection. The part of the write-ahead log that was held back is lost.
    pub(crate) fn cut(&self) {
        self.0.cut(Cut::Reset);
        self.0.resume();
    }
}
