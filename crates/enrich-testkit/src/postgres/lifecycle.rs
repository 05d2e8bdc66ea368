//! What tests do to a running server.

use std::fs;
use std::io;

use rustix::process::Signal;

use super::cluster::{Cluster, wait_until};
use super::guarded_process::GuardedProcess;

impl Cluster {
    /// Whether the server runs; a frozen one does.
    pub fn is_running(&self) -> bool {
        self.process.as_ref().is_some_and(GuardedProcess::is_running)
    }

    /// The process id of the server, the parent of all its processes.
    ///
    /// # Errors
    ///
    /// When the server is stopped.
    pub fn process_id(&self) -> io::Result<u32> {
        self.running().map(GuardedProcess::id)
    }

    /// Ends all processes by SIGKILL, frozen ones too, and waits for their end. The data stays.
    ///
    /// # Errors
    ///
    /// Errors of the system.
    pub fn kill(&mut self) -> io::Result<()> {
        self.process.take().map_or(Ok(()), GuardedProcess::kill)
    }

    /// Stops all processes where they are (SIGSTOP), and waits until they stand still. Connections
    /// stay open, and new ones are still accepted by the system.
    ///
    /// # Errors
    ///
    /// When the server is stopped.
    pub fn freeze(&self) -> io::Result<()> {
        self.running()?.freeze()
    }

    /// Lets a frozen server go on.
    ///
    /// # Errors
    ///
    /// When the server is stopped.
    pub fn thaw(&self) -> io::Result<()> {
        self.running()?.thaw()
    }

    /// Shuts down at once, without a checkpoint (SIGQUIT). Clients are told so.
    ///
    /// # Errors
    ///
    /// When the server does not end in a minute.
    pub fn stop_immediate(&mut self) -> io::Result<()> {
        self.process.take().map_or(Ok(()), |process| process.end_by(Signal::QUIT))
    }

    /// Ends connections, writes a checkpoint and shuts down (SIGINT).
    ///
    /// # Errors
    ///
    /// When the server does not end in a minute.
    pub fn stop(&mut self) -> io::Result<()> {
        self.process.take().map_or(Ok(()), |process| process.end_by(Signal::INT))
    }

    /// Starts the server at the same address, after [`stop`](Self::stop) if it runs. Waits until it
    /// accepts connections.
    ///
    /// # Errors
    ///
    /// As [`Cluster::start`].
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop()?;
        self.start_server()
    }

    /// Makes a standby a primary, and waits until it accepts writes. It keeps its own settings,
    /// `synchronous_standby_names` too.
    ///
    /// # Errors
    ///
    /// When the server is stopped, or takes longer than a minute.
    pub fn promote(&self) -> io::Result<()> {
        let process = self.running()?;
        // As `pg_ctl promote` does, which looks ten times a second only.
        fs::write(self.data().join("promote"), "")?;
        process.signal(Signal::USR1)?;
        wait_until(|| Ok(!self.is_standby()?))
    }

    pub(super) fn running(&self) -> io::Result<&GuardedProcess> {
        self.process.as_ref().ok_or_else(|| io::Error::other("the server is stopped"))
    }
}
