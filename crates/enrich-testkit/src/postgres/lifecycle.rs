//! Starts, stops, kills, freezes and promotes the server of a cluster.

use std::fs;
use std::io;

use rustix::process::Signal;

use super::cluster::{Cluster, wait_until};
use super::guarded_process::GuardedProcess;

impl Cluster {
    /// Whether the server runs. A frozen server counts as running.
    pub fn is_running(&self) -> bool {
        self.process.as_ref().is_some_and(GuardedProcess::is_running)
    }

    /// Returns the id of the server's main process, the parent of all its processes.
    ///
    /// # Errors
    ///
    /// When the server was shut down or killed.
    pub fn process_id(&self) -> io::Result<u32> {
        self.running().map(GuardedProcess::id)
    }

    /// Ends all processes of the server by SIGKILL, including frozen ones, and waits until they
    /// have ended. The data is kept.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    pub fn kill(&mut self) -> io::Result<()> {
        self.process.take().map_or(Ok(()), GuardedProcess::kill)
    }

    /// Freezes all processes of the server (SIGSTOP) and waits until they are frozen. Connections
    /// stay open, and the operating system still accepts new ones.
    ///
    /// # Errors
    ///
    /// When the server was shut down or killed.
    pub fn freeze(&self) -> io::Result<()> {
        self.running()?.freeze()
    }

    /// Lets a frozen server continue (SIGCONT).
    ///
    /// # Errors
    ///
    /// When the server was shut down or killed.
    pub fn thaw(&self) -> io::Result<()> {
        self.running()?.thaw()
    }

    /// Shuts the server down immediately, without a checkpoint (SIGQUIT). The server informs its
    /// clients.
    ///
    /// # Errors
    ///
    /// When the server does not end within a minute.
    pub fn stop_immediate(&mut self) -> io::Result<()> {
        self.process.take().map_or(Ok(()), |process| process.end_by(Signal::QUIT))
    }

    /// Shuts the server down (SIGINT). The server ends its connections and writes a checkpoint.
    ///
    /// # Errors
    ///
    /// When the server does not end within a minute.
    pub fn stop(&mut self) -> io::Result<()> {
        self.process.take().map_or(Ok(()), |process| process.end_by(Signal::INT))
    }

    /// Starts the server at the same address and waits until it accepts connections. If the server
    /// runs, [`stop`](Self::stop)s it first.
    ///
    /// # Errors
    ///
    /// The errors of [`Cluster::start`].
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop()?;
        self.start_server()
    }

    /// Makes this standby a primary, and waits until it accepts writes. The new primary keeps its
    /// own settings, including `synchronous_standby_names`.
    ///
    /// # Errors
    ///
    /// When the server was shut down or killed, or does not accept writes within a minute.
    pub fn promote(&self) -> io::Result<()> {
        let process = self.running()?;
        // The file and the signal do the same as `pg_ctl promote`. `pg_ctl promote` is not used,
        // because it checks only ten times a second whether it has succeeded.
        fs::write(self.data().join("promote"), "")?;
        process.signal(Signal::USR1)?;
        wait_until(|| Ok(!self.is_standby()?))
    }

    pub(super) fn running(&self) -> io::Result<&GuardedProcess> {
        self.process.as_ref().ok_or_else(|| io::Error::other("the server is stopped"))
    }
}
