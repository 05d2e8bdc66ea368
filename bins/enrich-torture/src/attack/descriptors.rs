//! The limit of open files. Each connection of an attack uses one file in this process and one in
//! the server. The server inherits the limit from this process.

use anyhow::{Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Number of open files that the largest attack needs.
const NEEDED: u64 = 9_500;

/// Raises the limit of open files as far as the operating system allows.
///
/// # Errors
///
/// When the operating system allows fewer open files than the largest attack needs.
pub(crate) fn raise_limit() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let maximum = limit.maximum.unwrap_or(u64::MAX);
    ensure!(
        maximum >= NEEDED,
        "an attack needs {NEEDED} open files and {maximum} are allowed; raise it with `ulimit -n`"
    );
    if limit.current.is_some_and(|current| current < maximum) {
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    }
    Ok(())
}
