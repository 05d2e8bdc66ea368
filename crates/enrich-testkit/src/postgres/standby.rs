//! Standbys: clusters that receive the write-ahead log of another cluster, the primary, by
//! streaming.

use std::fs;
use std::io;
use std::thread;

use super::cluster::{Cluster, ClusterOptions, new_folder, wait_until};
use super::installation::output;
use super::login::SUPERUSER;

/// The setting that names the standbys for which a commit waits.
const STANDBY_NAMES: &str = "synchronous_standby_names";

impl Cluster {
    /// Starts a primary and a standby. Each commit of the primary waits until the standby has
    /// confirmed it. The primary's name is in `options`; the standby's name is `node_2`.
    ///
    /// A test can exchange the two roles: it promotes the standby, and makes the old primary a
    /// standby of it. Then the commits of the new primary wait until the old primary has confirmed
    /// them. Returns `None` if PostgreSQL is not installed.
    ///
    /// # Errors
    ///
    /// The errors of [`Cluster::start`].
    pub fn start_pair(options: &ClusterOptions) -> io::Result<Option<(Self, Self)>> {
        let Some(mut primary) = Self::start(options)? else { return Ok(None) };
        let mut standby = primary.start_standby("node_2")?;
        standby.set(STANDBY_NAMES, &primary.name)?;
        primary.require_standby("node_2")?;
        Ok(Some((primary, standby)))
    }

    /// Starts a standby of this cluster, and waits until the standby receives this cluster's
    /// write-ahead log. `name` is the standby's name in `synchronous_standby_names`. The standby
    /// gets the current settings of this cluster.
    ///
    /// # Errors
    ///
    /// When a program of PostgreSQL fails.
    pub fn start_standby(&self, name: &str) -> io::Result<Self> {
        let folder = new_folder(&self.installation)?;
        let (installation, settings) = (self.installation.clone(), self.settings.clone());
        let password = self.password.clone();
        let mut standby = Self::stopped(installation, name.to_owned(), password, settings, folder)?;
        standby.copy_from(self)?;
        standby.start_on_any_port()?;
        self.wait_for(&standby)?;
        Ok(standby)
    }

    /// Makes this cluster a standby of `primary`. Kills this cluster if it runs, and replaces its
    /// data by a new copy of the primary's data. Then waits until this cluster receives the
    /// primary's write-ahead log. The address and name of this cluster do not change.
    ///
    /// # Errors
    ///
    /// When a program of PostgreSQL fails.
    pub fn rebuild_standby_of(&mut self, primary: &Self) -> io::Result<()> {
        self.kill()?;
        self.remove_data()?;
        self.copy_from(primary)?;
        self.start_server()?;
        primary.wait_for(self)
    }

    /// Sets `synchronous_standby_names`, such as `node_2` or `ANY 1 (node_2, node_3)`, and waits
    /// until a standby is synchronous.
    ///
    /// # Errors
    ///
    /// When no standby is synchronous within a minute.
    pub fn require_standby(&mut self, names: &str) -> io::Result<()> {
        self.set(STANDBY_NAMES, names)?;
        self.wait_until_synchronous()
    }

    /// Waits until this cluster has a synchronous standby: a connected standby that must confirm
    /// each commit.
    ///
    /// # Errors
    ///
    /// When no standby is synchronous within a minute.
    pub fn wait_until_synchronous(&self) -> io::Result<()> {
        let is_synchronous = "SELECT count(*) > 0 FROM pg_stat_replication \
             WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')";
        wait_until(|| Ok(self.psql(is_synchronous)? == "t"))
    }

    /// Whether this cluster is a standby.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached.
    pub fn is_standby(&self) -> io::Result<bool> {
        Ok(self.psql("SELECT pg_is_in_recovery()")? == "t")
    }

    /// Waits until `standby` receives this cluster's write-ahead log.
    fn wait_for(&self, standby: &Self) -> io::Result<()> {
        let receives = format!(
            "SELECT count(*) > 0 FROM pg_stat_replication \
             WHERE state = 'streaming' AND application_name = '{}'",
            standby.name
        );
        wait_until(|| Ok(self.psql(&receives)? == "t"))
    }

    /// Removes the data in the background, because this may take seconds on a busy disk. If the
    /// test ends earlier, the guard process of the server (`guarded_process.rs`) removes the data.
    fn remove_data(&self) -> io::Result<()> {
        if self.data().exists() {
            let old = tempfile::Builder::new().prefix("old-").tempdir_in(self.folder.path())?;
            self.installation.user.own(old.path())?;
            fs::rename(self.data(), old.path().join("data"))?;
            thread::spawn(move || drop(old));
        }
        Ok(())
    }

    /// Copies a primary's data, and writes the setting that names this primary.
    fn copy_from(&self, primary: &Self) -> io::Result<()> {
        let mut copy = self.installation.command("pg_basebackup", self.folder.path());
        // With a replication slot, `pg_basebackup` would report to the primary what it has
        // received. If `synchronous_standby_names` is `*`, PostgreSQL would take these reports as
        // the confirmation of commits, although the copy is unfinished. So the copy uses no slot.
        copy.args(["--no-sync", "--no-slot", "--wal-method=stream", "--checkpoint=fast"]);
        copy.args(["--write-recovery-conf", "-h", "127.0.0.1", "-U", SUPERUSER]);
        copy.args(["-p", &primary.address().port().to_string(), "-D"]).arg(self.data());
        output(copy.env("PGPASSWORD", &primary.password)).map(|_| ())
    }
}
