//! A server process that never outlives the test.
//!
//! A small shell script, the guard, starts the server and then reads a pipe from the test process.
//! The pipe ends when the test process ends, even by SIGKILL. Then the guard kills the server and
//! all its children, including frozen ones (SIGSTOP). It also removes the server's folder, unless
//! the test process has written a line to the pipe before.
//!
//! The guard runs in its own session (setsid), so that two kinds of signals do not reach it. The
//! first kind are signals to the process group of the test. The second kind is SIGHUP: if a process
//! group contains a frozen process, the system may send SIGHUP to the group when the test ends.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::installation::ServerUser;

/// Time limit for a process to freeze (after SIGSTOP) or to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval at which the state of a process is checked.
const INTERVAL: Duration = Duration::from_millis(2);

/// The shell script of the guard. It starts the server. It kills the server when the test process
/// ends or writes a line to the pipe. The arguments are the folder and the server's command.
///
/// The script first freezes the server (SIGSTOP), so that it starts no child while its children are
/// killed. Then the script kills the server and its children. It also removes PostgreSQL's shared
/// memory, which remains when the server is killed. (After a crash of the machine it would be gone
/// too.) Line 7 of `postmaster.pid` has the id of this memory.
const GUARD: &str = r#"
folder=$1; shift
"$@" </dev/null >>"$folder/log" 2>&1 &
server=$!
echo "$server"
read -r word && keep=yes
while read -r _ _ state _ <"/proc/$server/stat" && [ "$state" != T ] && [ "$state" != Z ]; do
    kill -STOP "$server"
done
children=$(cat "/proc/$server/task/$server/children")
kill -KILL $children "$server"
wait "$server"
for child in $children; do
    while read -r _ _ state _ <"/proc/$child/stat" && [ "$state" != Z ]; do sleep 0.01; done
done
shared_memory=$(sed -n '7s/.* //p' "$folder/data/postmaster.pid")
[ -z "$shared_memory" ] || ipcrm -m "$shared_memory"
[ "$keep" ] || rm -rf "$folder"
"#;

/// A running server. Dropping this value kills the server and removes its folder.
#[derive(Debug)]
pub(super) struct GuardedProcess {
    guard: Child,
    /// The pipe that the guard reads. Closing the pipe makes the guard kill the server and remove
    /// its folder.
    input: Option<ChildStdin>,
    id: Pid,
}

impl GuardedProcess {
    /// Starts a server that stays in the foreground. The server's output goes to the file `log` in
    /// `folder`.
    ///
    /// # Errors
    ///
    /// When the guard cannot be started. If the server itself fails, this function succeeds;
    /// [`Self::is_running`] then returns `false`.
    pub(super) fn start(command: &Command, folder: &Path, user: ServerUser) -> io::Result<Self> {
        let mut guard = Command::new("setsid");
        guard.args(["/bin/sh", "-c", GUARD, "guard"]).arg(folder);
        guard.arg(command.get_program()).args(command.get_args());
        user.of(guard.current_dir(folder));
        let pipes = guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut guard = pipes.spawn()?;
        let input = guard.stdin.take();
        let mut line = String::new();
        if let Some(output) = guard.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let id = line.trim().parse().ok().and_then(Pid::from_raw);
        let id = id.ok_or_else(|| io::Error::other("the guard of a server did not start it"))?;
        Ok(Self { guard, input, id })
    }

    pub(super) fn id(&self) -> u32 {
        self.id.as_raw_nonzero().get().unsigned_abs()
    }

    pub(super) fn is_running(&self) -> bool {
        !matches!(state(self.id), None | Some('Z'))
    }

    /// Sends a signal to the server's process, but not to its children.
    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(self.id, signal)?)
    }

    /// Freezes the server and then its children (SIGSTOP), and waits until all are frozen.
    pub(super) fn freeze(&self) -> io::Result<()> {
        self.signal(Signal::STOP)?;
        wait_for_state(self.id, &['T', 'Z'])?;
        for child in self.children()? {
            // An error is ignored, because the child may have ended already.
            let _ = kill_process(child, Signal::STOP);
            wait_for_state(child, &['T', 'Z'])?;
        }
        Ok(())
    }

    /// Lets the server and its children continue (SIGCONT), after [`Self::freeze`] has frozen them.
    pub(super) fn thaw(&self) -> io::Result<()> {
        for child in self.children()? {
            let _ = kill_process(child, Signal::CONT);
        }
        self.signal(Signal::CONT)
    }

    /// Sends SIGKILL to the server and its children, and waits until they have ended. The folder is
    /// kept.
    pub(super) fn kill(mut self) -> io::Result<()> {
        if let Some(mut input) = self.input.take() {
            input.write_all(b"keep\n")?;
        }
        self.guard.wait().map(|_| ())
    }

    /// Sends the server a signal that ends it, and waits until it has ended. The folder is kept.
    pub(super) fn end_by(self, signal: Signal) -> io::Result<()> {
        self.signal(signal)?;
        wait_for_state(self.id, &['Z'])?;
        self.kill()
    }

    fn children(&self) -> io::Result<Vec<Pid>> {
        let id = self.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"))?;
        let ids = children.split_whitespace().filter_map(|id| id.parse().ok());
        Ok(ids.filter_map(Pid::from_raw).collect())
    }
}

impl Drop for GuardedProcess {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.guard.wait();
    }
}

/// Returns the state of a process as `ps` shows it, such as `S` (sleeping), `T` (frozen) or `Z`
/// (ended). Returns `None` if the process does not exist.
fn state(id: Pid) -> Option<char> {
    let line = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).ok()?;
    let (_, after_name) = line.rsplit_once(')')?;
    after_name.trim_start().chars().next()
}

/// Waits until a process is in one of the states `expected`, or no longer exists.
fn wait_for_state(id: Pid, expected: &[char]) -> io::Result<()> {
    let start = Instant::now();
    while state(id).is_some_and(|state| !expected.contains(&state)) {
        if start.elapsed() > PATIENCE {
            return Err(io::Error::other("a server did not obey a signal"));
        }
        thread::sleep(INTERVAL);
    }
    Ok(())
}
