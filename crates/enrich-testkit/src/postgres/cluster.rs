//! Starts, configures and queries a PostgreSQL cluster for tests.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use super::guarded_process::GuardedProcess;
use super::installation::{Installation, output};
use super::login::{DATABASE, Database, SUPERUSER};
use super::template::make_data;
use crate::free_port::FreePort;

/// Time limit for a server to start, and for a change to take effect.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Interval at which a waiting function checks its condition.
pub(super) const INTERVAL: Duration = Duration::from_millis(5);
/// Maximum number of attempts to start a server. If the port is in use, the next attempt uses
/// another port.
const STARTS: usize = 5;

/// Whether a commit waits until PostgreSQL's write-ahead log is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Commits wait for the disk, as in production (`fsync = on`).
    #[default]
    Real,
    /// Commits don't wait for the disk (`fsync = off`). This saves time if the disk is slow.
    Fast,
}

/// The settings of a new cluster.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// The value of PostgreSQL's setting `cluster_name`. If this cluster becomes a standby, the
    /// primary's setting `synchronous_standby_names` refers to it by this name.
    pub name: String,
    /// Whether `fsync` is on.
    pub durability: Durability,
    /// Further settings of PostgreSQL, such as `("max_connections", "20")`.
    pub settings: Vec<(String, String)>,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self { name: "node_1".to_owned(), durability: Durability::Real, settings: Vec::new() }
    }
}

/// A cluster in a temporary folder, on a port of 127.0.0.1.
///
/// When the cluster is dropped, or the test's process ends in any way, the cluster's processes end
/// and its folder is removed.
#[derive(Debug)]
pub struct Cluster {
    pub(super) installation: Installation,
    pub(super) name: String,
    pub(super) password: String,
    pub(super) settings: BTreeMap<String, String>,
    /// The server's process; `None` before the first start, and after the server was stopped or
    /// killed. Fields are dropped in the order of declaration. This field is declared before
    /// `folder`, so that the process ends before the folder is removed.
    pub(super) process: Option<GuardedProcess>,
    pub(super) folder: TempDir,
    port: FreePort,
    databases: AtomicU64,
}

impl Cluster {
    /// Starts a cluster and waits until it accepts connections. The first start on a machine takes
    /// about 1 s. Each later one takes about 0.2 s, because it copies the data of the first.
    ///
    /// Returns `None` and prints a message if PostgreSQL is not installed.
    ///
    /// # Errors
    ///
    /// When a program of PostgreSQL fails. If the server does not start, the error contains the end
    /// of its log.
    pub fn start(options: &ClusterOptions) -> io::Result<Option<Self>> {
        let Some(installation) = Installation::find()? else { return Ok(None) };
        let fsync = if options.durability == Durability::Real { "on" } else { "off" };
        let settings = SETTINGS.into_iter().chain([("fsync", fsync), ("full_page_writes", fsync)]);
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = settings.chain(options.settings.iter().cloned()).collect();
        let folder = new_folder(&installation)?;
        let password = make_data(&installation, folder.path())?;
        let mut cluster =
            Self::stopped(installation, options.name.clone(), password, settings, folder)?;
        cluster.start_on_any_port()?;
        Ok(Some(cluster))
    }

    /// Returns a cluster that all tests of this process share. The first call starts the cluster. A
    /// test that stops the server or changes its settings needs a cluster of its own. Returns
    /// `None` if PostgreSQL is not installed.
    ///
    /// # Panics
    ///
    /// When the cluster cannot be started.
    pub fn for_tests() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        let start = || Self::start(&ClusterOptions::default()).expect("PostgreSQL starts");
        SHARED.get_or_init(start).as_ref()
    }

    pub(super) fn stopped(
        installation: Installation,
        name: String,
        password: String,
        settings: BTreeMap<String, String>,
        folder: TempDir,
    ) -> io::Result<Self> {
        Ok(Self {
            installation,
            name,
            password,
            settings,
            process: None,
            folder,
            port: FreePort::reserve()?,
            databases: AtomicU64::new(0),
        })
    }

    /// Returns the value of the setting `cluster_name`. If this cluster is a standby, its primary
    /// refers to it by this name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the server's address.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Returns the database `enrich`, which every cluster has.
    pub fn database(&self) -> Database {
        Database::new(DATABASE.to_owned(), self.address(), self.password.clone())
    }

    /// Returns the URL of the database `enrich`:
    /// `postgres://enrich:PASSWORD@127.0.0.1:PORT/enrich`.
    pub fn url(&self) -> String {
        self.database().url()
    }

    /// Creates an empty database.
    ///
    /// # Errors
    ///
    /// When the server refuses to create the database.
    pub fn fresh_database(&self) -> io::Result<Database> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql(&format!("CREATE DATABASE {name} OWNER enrich"))?;
        Ok(Database::new(name, self.address(), self.password.clone()))
    }

    /// Runs statements with `psql` in the database `enrich`, as superuser. Returns each row as a
    /// line, with `|` between its columns.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, or refuses a statement.
    pub fn psql(&self, statements: &str) -> io::Result<String> {
        self.psql_at(self.address(), statements)
    }

    /// Runs statements as [`psql`](Self::psql) does, but through a proxy or pgbouncer at `address`.
    ///
    /// # Errors
    ///
    /// The errors of [`psql`](Self::psql).
    pub fn psql_at(&self, address: SocketAddr, statements: &str) -> io::Result<String> {
        // `psql` can run as the user of this process, because it needs no access to the server's
        // folder.
        let mut psql = Command::new(self.installation.program("psql"));
        psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1"]);
        psql.args(["-p", &address.port().to_string(), "-U", SUPERUSER, "-d", DATABASE]);
        psql.env("PGPASSWORD", &self.password).env("PGCONNECT_TIMEOUT", "5");
        let rows = output(psql.args(["-c", statements]))?;
        Ok(rows.trim_end().to_owned())
    }

    /// Changes a setting. If the server is running, waits until it has read the new value;
    /// otherwise the server reads the value at its next start. Some settings take effect only after
    /// [`restart`](Self::restart).
    ///
    /// # Errors
    ///
    /// When the server refuses the value, or does not read the value within a minute.
    pub fn set(&mut self, name: &str, value: &str) -> io::Result<()> {
        const READ_AT: &str = "SELECT pg_conf_load_time()";
        self.settings.insert(name.to_owned(), value.to_owned());
        let Some(process) = &self.process else { return Ok(()) };
        let before = self.psql(READ_AT)?;
        self.write_settings()?;
        process.signal(Signal::HUP)?;
        wait_until(|| Ok(self.psql(READ_AT)? != before))?;
        let refused = self.psql(&format!(
            "SELECT f.error FROM pg_file_settings f JOIN pg_settings s USING (name) \
             WHERE name = {} AND f.error IS NOT NULL AND NOT s.pending_restart",
            quoted(name),
        ))?;
        if refused.is_empty() {
            return Ok(());
        }
        Err(io::Error::other(format!("{name} = {}: {refused}", quoted(value))))
    }

    /// Waits until a connection to the server succeeds.
    ///
    /// # Errors
    ///
    /// When no connection succeeds within a minute.
    pub fn wait_until_accepting(&self) -> io::Result<()> {
        wait_until(|| Ok(self.psql("SELECT 1").is_ok()))
    }

    /// Returns the path of the temporary folder, which contains the data and the log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the text of the server's log.
    ///
    /// # Errors
    ///
    /// When the log file cannot be read.
    pub fn log(&self) -> io::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(self.log_file())?).into_owned())
    }

    /// Starts the server. If its port is in use, tries other free ports.
    pub(super) fn start_on_any_port(&mut self) -> io::Result<()> {
        for _ in 1..STARTS {
            match self.start_server() {
                Err(_) if self.log()?.contains("could not create any TCP/IP sockets") => {
                    self.port = FreePort::reserve()?;
                }
                result => return result,
            }
        }
        self.start_server()
    }

    /// Starts the server and waits until it accepts connections.
    pub(super) fn start_server(&mut self) -> io::Result<()> {
        self.write_settings()?;
        let mut server = Command::new(self.installation.program("postgres"));
        server.arg("-D").arg(self.data());
        let process = GuardedProcess::start(&server, self.folder.path(), self.installation.user)?;
        self.process = Some(process);
        let start = Instant::now();
        while self.is_running() && start.elapsed() < PATIENCE {
            if self.status()? == "ready" {
                return Ok(());
            }
            thread::sleep(INTERVAL);
        }
        // The process is killed, but its folder is kept, so that the server can be started again.
        if let Some(process) = self.process.take() {
            process.kill()?;
        }
        Err(io::Error::other(format!("PostgreSQL did not start: {}", end_of(&self.log()?))))
    }

    /// Returns the status that the server reports, such as `starting` or `ready`; empty if the
    /// server has not reported one.
    pub(super) fn status(&self) -> io::Result<String> {
        let id = self.process_id()?.to_string();
        let lines = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let mut lines = lines.lines();
        let is_own = lines.next() == Some(&id);
        let status = if is_own { lines.nth(6) } else { None };
        Ok(status.unwrap_or_default().trim().to_owned())
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    pub(super) fn write_settings(&self) -> io::Result<()> {
        let port = self.address().port().to_string();
        let own = [("port", port.as_str()), ("cluster_name", &self.name)];
        let settings = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut text = String::new();
        for (name, value) in settings.chain(own) {
            writeln!(text, "{name} = {}", quoted(value)).map_err(io::Error::other)?;
        }
        let file = self.data().join("postgresql.conf");
        fs::write(&file, text)?;
        self.installation.user.own(&file)
    }
}

/// The settings that every cluster has.
const SETTINGS: [(&str, &str); 18] = [
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_directories", ""),
    ("max_connections", "200"),
    ("synchronous_commit", "on"),
    // With this setting, dynamic shared memory is in files of the data folder. So when the server
    // is killed, no shared memory remains outside this folder.
    ("dynamic_shared_memory_type", "mmap"),
    ("shared_buffers", "128MB"),
    // With this setting, recovery after a kill reads at most about 30 s of the write-ahead log.
    ("checkpoint_timeout", "30s"),
    ("max_wal_size", "512MB"),
    // After a kill, all files are synced before recovery. Syncing them one by one would take
    // seconds. `syncfs` is faster. The setting exists since PostgreSQL 14.
    ("recovery_init_sync_method", "syncfs"),
    // With this setting, enough of the write-ahead log is kept for a standby that was not connected
    // for a while.
    ("wal_keep_size", "256MB"),
    ("max_wal_senders", "10"),
    ("hot_standby", "on"),
    ("hot_standby_feedback", "off"),
    // The interval after which a standby tries again to reach its primary.
    ("wal_retrieve_retry_interval", "200ms"),
    ("timezone", "UTC"),
    ("log_timezone", "UTC"),
    ("log_line_prefix", "%m [%p] "),
    ("log_statement", "none"),
];

/// Creates a temporary folder that belongs to the user that runs the server.
pub(super) fn new_folder(installation: &Installation) -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("enrich-postgres-").tempdir()?;
    installation.user.own(folder.path())?;
    Ok(folder)
}

/// Waits until a condition is true. Returns an error if it is not true within a minute.
pub(super) fn wait_until(mut holds: impl FnMut() -> io::Result<bool>) -> io::Result<()> {
    let start = Instant::now();
    while !holds()? {
        if start.elapsed() > PATIENCE {
            return Err(io::Error::other("PostgreSQL took too long"));
        }
        thread::sleep(INTERVAL);
    }
    Ok(())
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn end_of(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines.get(lines.len().saturating_sub(10)..).unwrap_or_default().join("\n")
}
