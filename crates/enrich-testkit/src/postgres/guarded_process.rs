//! A server process that never outlives the test.
//!
//! A small shell script, the guard, starts the server and then reads a pipe from the test process.
//! When the test process ends, also by SIGKILL, the pipe ends; the guard then kills the server with
//! all its children, stopped ones too, and removes the server's folder. The guard has a session of
//! its own: neither a signal to the test's process group reaches it, nor the SIGHUP that the system
//! sends to a group with a stopped process when the test ends.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::installation::ServerUser;

/// How long a process may take to stop or to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval of looking at a process.
const INTERVAL: Duration = Duration::from_millis(2);

/// The arguments: the folder, then the server's command.
///
/// The server is stopped first, so that it starts no child while its children are killed. What
/// PostgreSQL keeps in shared memory of the system (its number is in line 7 of `postmaster.pid`)
/// is removed, as a crash of the machine would do.
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

/// A running server; killed, and its folder removed, when it is dropped.
#[derive(Debug)]
pub(super) struct GuardedProcess {
    guard: Child,
    /// The guard's pipe.
    input: Option<ChildStdin>,
    id: Pid,
}

impl GuardedProcess {
    /// Starts a server that stays in the foreground. Its output goes to the file `log` in `folder`.
    ///
    /// # Errors
    ///
    /// When the guard cannot be started. A server that fails is seen by [`Self::is_running`].
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

    /// The id of the server's process.
    pub(super) fn id(&self) -> u32 {
        self.id.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether the server has not ended.
    pub(super) fn is_running(&self) -> bool {
        !matches!(state(self.id), None | Some('Z'))
    }

    /// Sends a signal to the server, not to its children.
    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(self.id, signal)?)
    }

    /// Stops the server and then its children, and waits until they stand still.
    pub(super) fn freeze(&self) -> io::Result<()> {
        self.signal(Signal::STOP)?;
        wait_for_state(self.id, &['T', 'Z'])?;
        for child in self.children()? {
            // It may have ended in between.
            let _ = kill_process(child, Signal::STOP);
            wait_for_state(child, &['T', 'Z'])?;
        }
        Ok(())
    }

    /// Lets a frozen server go on.
    pub(super) fn thaw(&self) -> io::Result<()> {
        for child in self.children()? {
            let _ = kill_process(child, Signal::CONT);
        }
        self.signal(Signal::CONT)
    }

    /// Sends SIGKILL to the server and its children, and waits for their end. The folder stays.
    pub(super) fn kill(mut self) -> io::Result<()> {
        if let Some(mut input) = self.input.take() {
            input.write_all(b"keep\n")?;
        }
        self.guard.wait().map(|_| ())
    }

    /// Sends a signal upon which the server ends, and waits for that. The folder stays.
    pub(super) fn end_by(self, signal: Signal) -> io::Result<()> {
        self.signal(signal)?;
        wait_for_state(self.id, &['Z'])?;
        self.kill()
    }

    /// The server's children at this moment.
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

/// A process's state as in `ps`, such as `S`, `T` (stopped) and `Z` (ended); `None` if it is gone.
fn state(id: Pid) -> Option<char> {
    let line = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).ok()?;
    let (_, after_name) = line.rsplit_once(')')?;
    after_name.trim_start().chars().next()
}

/// Waits until a process is in one of the states, or gone.
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
