//! Finds PostgreSQL's installed programs, and the user that runs them.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

/// The folder in which Debian and Ubuntu install PostgreSQL. The programs of version 15, for
/// example, are in `/usr/lib/postgresql/15/bin`.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The names of unprivileged users that servers may run as. The first one that exists is used.
const USERS: [&str; 2] = ["postgres", "nobody"];

/// A folder with PostgreSQL's programs.
#[derive(Clone, Debug)]
pub(super) struct Installation {
    programs: PathBuf,
    pub(super) user: ServerUser,
}

/// The user that runs a server. PostgreSQL and pgbouncer refuse to run as root.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerUser {
    /// The ids of the user and of the group; `None` if the server runs as the user of this process.
    ids: Option<(u32, u32)>,
}

/// Whether tests with PostgreSQL must be skipped, because PostgreSQL is not installed.
///
/// If so, prints a line to standard error, once in a process.
pub fn skip_without_postgres() -> bool {
    static SAID: Once = Once::new();
    skip_without(bin_folder(), "PostgreSQL", "postgresql", &SAID)
}

/// Whether tests with pgbouncer must be skipped, because pgbouncer is not installed.
///
/// If so, prints a line to standard error, once in a process.
pub fn skip_without_pgbouncer() -> bool {
    static SAID: Once = Once::new();
    skip_without(pgbouncer(), "pgbouncer", "pgbouncer", &SAID)
}

/// Returns the path of the program pgbouncer; `None` if pgbouncer is not installed.
pub(super) fn pgbouncer() -> Option<PathBuf> {
    let debian = PathBuf::from("/usr/sbin/pgbouncer");
    if debian.is_file() { Some(debian) } else { on_the_path("pgbouncer") }
}

fn skip_without(found: Option<PathBuf>, name: &str, package: &str, said: &Once) -> bool {
    if found.is_none() {
        // The text is written to standard error directly instead of with `eprintln`, because the
        // test harness hides what `eprintln` prints in a test that passes.
        said.call_once(|| {
            let _ = writeln!(
                io::stderr(),
                "left out: tests that need {name}; install it by `apt-get install {package}`"
            );
        });
    }
    found.is_none()
}

impl Installation {
    /// Returns the newest installed PostgreSQL. Returns `None` and prints a message if none is
    /// installed.
    ///
    /// # Errors
    ///
    /// When this process runs as root and there is no unprivileged user.
    pub(super) fn find() -> io::Result<Option<Self>> {
        if skip_without_postgres() {
            return Ok(None);
        }
        let user = ServerUser::find()?;
        Ok(bin_folder().map(|programs| Self { programs, user }))
    }

    /// Returns a command that runs one of PostgreSQL's programs in `folder`, as the user of the
    /// server.
    pub(super) fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(self.program(program));
        // The command runs in `folder`, because the server's user may have no permission to enter
        // the current folder of this process.
        command.current_dir(folder);
        self.user.of(&mut command);
        command
    }

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// Returns the version of PostgreSQL, such as `15.20`.
    pub(super) fn version(&self) -> io::Result<String> {
        let said = output(Command::new(self.program("postgres")).arg("--version"))?;
        Ok(said.split_whitespace().nth(2).unwrap_or("unknown").to_owned())
    }
}

impl ServerUser {
    /// Returns the user of this process, or an unprivileged user if this process runs as root.
    pub(super) fn find() -> io::Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { ids: None });
        }
        let users = fs::read_to_string("/etc/passwd")?;
        let ids = USERS.iter().find_map(|name| ids(&users, name));
        let missing = || io::Error::other("there is no user postgres or nobody to run a server as");
        ids.ok_or_else(missing).map(|ids| Self { ids: Some(ids) })
    }

    /// Makes the command run as this user.
    pub(super) fn of(self, command: &mut Command) {
        if let Some((user, group)) = self.ids {
            command.uid(user).gid(group);
        }
    }

    /// Makes this user the owner of a file or folder.
    pub(super) fn own(self, path: &Path) -> io::Result<()> {
        self.ids.map_or(Ok(()), |(user, group)| chown(path, Some(user), Some(group)))
    }
}

fn on_the_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Runs a command until it ends. Returns its standard output.
///
/// # Errors
///
/// When the command cannot be started, or fails. After a failure, the error contains the command's
/// standard error.
pub(super) fn output(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let program = Path::new(command.get_program()).display();
    let error = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{program} failed ({}): {}", output.status, error.trim())))
}

/// Returns the folder with the programs of the newest version; `None` if PostgreSQL is not
/// installed.
fn bin_folder() -> Option<PathBuf> {
    let has_all = |folder: &PathBuf| {
        ["initdb", "postgres", "psql"].iter().all(|program| folder.join(program).is_file())
    };
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, folder)| has_all(folder))
        .max();
    newest.map(|(_, folder)| folder).or_else(|| {
        let program = on_the_path("postgres")?.canonicalize().ok()?;
        program.parent().map(Path::to_path_buf).filter(has_all)
    })
}

/// Returns the ids of a user and the user's group. `users` is the text of `/etc/passwd`.
fn ids(users: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields = users.lines().map(|line| line.split(':')).find_map(|mut fields| {
        let is_this = fields.next() == Some(name);
        is_this.then_some(fields)
    })?;
    Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
}
