//! The limit of open files. Each connection needs one file, and the databases need some.

use std::num::NonZeroUsize;

/// The number of open files that are reserved for the databases and for guests. A guest is a
/// connection beyond the maximum number of connections.
const OTHER_FILES: usize = 512;

/// Returns how many connections to allow: `wanted`, or fewer if the limit of open files is too low.
///
/// First raises the limit of open files, as far as this is needed and permitted. Services often
/// start with a limit of 1,024, although far more is permitted. With so few files, connections
/// could take all of them, and leave none for the databases.
pub(crate) fn connection_limit(wanted: NonZeroUsize) -> NonZeroUsize {
    let Some(limit) = raised(wanted.get().saturating_add(OTHER_FILES)) else { return wanted };
    let connections = fitting(wanted, limit);
    if connections < wanted {
        tracing::warn!(
            limit,
            max_connections = connections,
            "fewer files may be open than max_connections needs; raise the limit (ulimit -n, \
             LimitNOFILE) or lower max_connections"
        );
    }
    connections
}

/// Returns how many connections fit into `limit`, the limit of open files. Returns at most
/// `wanted`. [`OTHER_FILES`] files are reserved for the databases and for guests. If this is more
/// than half of `limit`, only half of `limit` is reserved.
fn fitting(wanted: NonZeroUsize, limit: usize) -> NonZeroUsize {
    let most = limit.saturating_sub(OTHER_FILES).max(limit / 2);
    wanted.min(NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN))
}

/// Raises the limit of open files to `needed`, or as far as it is permitted. Returns the new limit;
/// `None` if there is no limit.
#[cfg(unix)]
fn raised(needed: usize) -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let current = usize::try_from(limit.current?).ok()?;
    if current >= needed {
        return Some(current);
    }
    let most = limit.maximum.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let raised = needed.min(most);
    let current = u64::try_from(raised).ok()?;
    match setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit }) {
        Ok(()) => Some(raised),
        Err(_) => usize::try_from(limit.current?).ok(),
    }
}

/// Returns `None`, because systems other than Unix have no limit of open files.
#[cfg(not(unix))]
fn raised(_: usize) -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_left_for_the_databases() {
        let number = |number| NonZeroUsize::new(number).unwrap();
        let fits = |wanted, limit| fitting(number(wanted), limit).get();
        assert_eq!(fits(8192, 20_000), 8192);
        assert_eq!(fits(8192, 8192), 8192 - OTHER_FILES);
        assert_eq!([fits(8192, 1024), fits(8192, 600), fits(100, 600)], [512, 300, 100]);
        assert_eq!(fits(8192, 0), 1);
    }
}
