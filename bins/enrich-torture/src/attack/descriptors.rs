//! The limit of open files: each connection of an attack uses one, here and in the server, which
//! inherits the limit.

use anyhow::{Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The number of files that the largest attack needs.
const NEEDED: u64 = 9_500;

/// Raises the limit as far as this user may.
///
/// # Errors
///
/// When that is not enough.
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
