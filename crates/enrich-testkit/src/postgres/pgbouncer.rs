//! Starts pgbouncer in transaction mode in front of a cluster.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use tempfile::TempDir;

use super::cluster::{Cluster, INTERVAL, PATIENCE, new_folder};
use super::guarded_process::GuardedProcess;
use super::installation::{pgbouncer, skip_without_pgbouncer};
use super::login::{OWNER, SUPERUSER};
use crate::free_port::FreePort;

/// A pgbouncer on a port of 127.0.0.1, for all databases of its cluster. The process ends when this
/// value is dropped, or when the test ends.
///
/// `database.url_at(&[bouncer.address()])` is the URL of a database through this pgbouncer.
#[derive(Debug)]
pub struct PgBouncer {
    port: FreePort,
    /// The process of pgbouncer. Fields are dropped in the order of declaration. This field is
    /// declared before `folder`, so that the process ends before the folder is removed.
    process: GuardedProcess,
    folder: TempDir,
}

impl PgBouncer {
    /// Starts a pgbouncer that connects to `target`: the address of the cluster, or of a proxy in
    /// front of it. Waits until pgbouncer listens. Returns `None` and prints a message if pgbouncer
    /// is not installed.
    ///
    /// # Errors
    ///
    /// When pgbouncer does not start. The error contains its log.
    pub fn start(cluster: &Cluster, target: SocketAddr) -> io::Result<Option<Self>> {
        if skip_without_pgbouncer() {
            return Ok(None);
        }
        let Some(program) = pgbouncer() else { return Ok(None) };
        let user = cluster.installation.user;
        let folder = new_folder(&cluster.installation)?;
        let port = FreePort::reserve()?;
        let files = [
            ("users", users(&cluster.password)),
            ("settings", settings(port.address(), target, folder.path())),
        ];
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::write(&file, text)?;
            user.own(&file)?;
        }
        let mut command = Command::new(program);
        command.arg(folder.path().join("settings"));
        let process = GuardedProcess::start(&command, folder.path(), user)?;
        let bouncer = Self { port, process, folder };
        bouncer.wait_until_listening()?;
        Ok(Some(bouncer))
    }

    /// Returns the address at which pgbouncer listens.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Returns the path of the temporary folder, which contains the settings and the log.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the text of pgbouncer's log.
    ///
    /// # Errors
    ///
    /// When the log file cannot be read.
    pub fn log(&self) -> io::Result<String> {
        fs::read_to_string(self.folder.path().join("log"))
    }

    fn wait_until_listening(&self) -> io::Result<()> {
        let start = Instant::now();
        while self.process.is_running() && start.elapsed() < PATIENCE {
            if TcpStream::connect(self.address()).is_ok() {
                return Ok(());
            }
            thread::sleep(INTERVAL);
        }
        Err(io::Error::other(format!("pgbouncer did not start: {}", self.log()?)))
    }
}

/// Returns the content of pgbouncer's file of users: each role with its password.
fn users(password: &str) -> String {
    [OWNER, SUPERUSER].map(|role| format!("\"{role}\" \"{password}\"\n")).concat()
}

fn settings(listen: SocketAddr, target: SocketAddr, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "[databases]\n\
         * = host={} port={}\n\
         [pgbouncer]\n\
         listen_addr = {}\n\
         listen_port = {}\n\
         unix_socket_dir =\n\
         pool_mode = transaction\n\
         auth_type = scram-sha-256\n\
         auth_file = {folder}/users\n\
         max_client_conn = 500\n\
         default_pool_size = 20\n\
         log_connections = 0\n\
         log_disconnections = 0\n",
        target.ip(),
        target.port(),
        listen.ip(),
        listen.port(),
    )
}
