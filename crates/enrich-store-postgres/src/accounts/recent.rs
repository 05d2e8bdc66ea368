//! The cache of recently used API keys, and when it is emptied.
//!
//! The pulse (a task that polls the database) regularly reads the number of changes to keys. The
//! cache is emptied in three cases:
//!
//! - This number has changed.
//! - The database has another lineage (id of its history).
//! - The connection of the pulse was lost.
//!
//! So a node sees a change by another node within a second, and its own change immediately.
//!
//! The cache also stores hashes that belong to no key, so repeated calls with a wrong key do not
//! read the database. If such a key is added later, the number of changes grows, the cache is
//! emptied, and the node finds the key.

use enrich_ledger::KeyCache;
use uuid::Uuid;

use crate::pulse::Reading;

/// The cache of recently used keys. It is emptied when the value [`Changes`], which is read from
/// the database, has changed.
pub(super) type RecentKeys = KeyCache<Changes>;

/// A value that is different after every change of an API key. The number of changes alone is not
/// enough: after a failover, another primary may have the same number, but other keys. So the value
/// also contains the connection that read the number, and the database's lineage (the id of its
/// history).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Changes {
    number: i64,
    lineage: Uuid,
    connection: u64,
}

impl From<&Reading> for Changes {
    fn from(reading: &Reading) -> Self {
        let state = &reading.state;
        Self { number: state.key_changes, lineage: state.lineage, connection: reading.connection }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_history_or_connection_is_a_change() {
        let changes = |number, lineage, connection| Changes {
            number,
            lineage: Uuid::from_u128(lineage),
            connection,
        };
        let recent = RecentKeys::default();
        let hash = [7; 32];
        for changes in [changes(8, 1, 1), changes(8, 2, 1), changes(7, 2, 1), changes(7, 2, 2)] {
            recent.remember(hash, None, recent.begin());
            recent.confirm(changes);
            assert_eq!(recent.get(&hash), None, "{changes:?}");
        }
        recent.remember(hash, None, recent.begin());
        recent.confirm(changes(7, 2, 2));
        assert_eq!(recent.get(&hash), Some(None), "nothing was changed");
    }
}
