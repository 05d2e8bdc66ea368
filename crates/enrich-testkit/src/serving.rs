//! Starts and stops an `enrich serve` process.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

/// The beginning of the line in which the server prints its address.
const GREETING: &str = "enrich listening on http://";

/// The beginning of the line in which the server prints the address of the admin pages, if these
/// pages have their own listener.
const ADMIN_GREETING: &str = "enrich admin pages on http://";

/// A server process on a free port of the loopback address. Dropping this value kills the process.
#[derive(Debug)]
pub struct Serving {
    child: Child,
    address: SocketAddr,
    admin_address: Option<SocketAddr>,
}

impl Serving {
    /// Starts `PROGRAM serve --listen 127.0.0.1:0 --data DATA OPTIONS…` and waits until the server
    /// listens. The server's standard error goes to `log`.
    ///
    /// # Errors
    ///
    /// When the program cannot be started, or ends before it listens.
    pub fn start(program: &Path, data: &Path, options: &[&str], log: Stdio) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).args(options);
        Self::spawn(command, log)
    }

    /// Starts a server with a given command, and waits until the server listens. The command must
    /// have the arguments that [`Serving::start`] gives: `serve --listen 127.0.0.1:0 --data DATA`.
    ///
    /// # Errors
    ///
    /// The errors of [`Serving::start`].
    pub fn spawn(mut command: Command, log: Stdio) -> io::Result<Self> {
        let has_admin = command.get_args().any(|argument| argument == "--admin-listen");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn()?;
        let (mut line, mut admin_line) = (String::new(), String::new());
        if let Some(output) = child.stdout.take() {
            let mut output = BufReader::new(output);
            output.read_line(&mut line)?;
            if has_admin {
                output.read_line(&mut admin_line)?;
            }
            // A thread reads the rest of the output and drops it. If nobody read it, the pipe could
            // become full, and the server would block when it writes to the pipe.
            thread::spawn(move || io::copy(&mut output, &mut io::sink()));
        }
        let admin_address = address_behind(ADMIN_GREETING, &admin_line);
        match address_behind(GREETING, &line) {
            Some(address) if has_admin == admin_address.is_some() => {
                Ok(Self { child, address, admin_address })
            }
            _ => {
                child.kill()?;
                let ended = child.wait()?;
                Err(io::Error::other(format!("no server came up ({ended}): it said {line:?}")))
            }
        }
    }

    /// Returns the address at which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of the admin pages, if the server was started with `--admin-listen`.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// Returns the id of the started process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process, as `kill -9` does, and waits until it has ended.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    pub fn kill(mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }

    /// Asks the process to shut down (SIGTERM), and waits until it has ended.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    pub fn stop(mut self) -> io::Result<()> {
        Command::new("kill").args(["-TERM", &self.process_id().to_string()]).status()?;
        self.child.wait().map(|_| ())
    }
}

/// Parses the address in a line that the server prints. Returns `None` if the line doesn't begin
/// with `greeting`, or if no address follows.
fn address_behind(greeting: &str, line: &str) -> Option<SocketAddr> {
    line.trim().strip_prefix(greeting)?.parse().ok()
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Errors are ignored, because the process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
