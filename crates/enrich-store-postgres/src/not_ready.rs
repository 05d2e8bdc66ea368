//! The reasons why a node should not get calls.

use std::time::Duration;

use jiff::SignedDuration;

/// Why a node should not get calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// The node has not reached the database for this time, which is too long.
    #[error("the database was last reached {} s ago", .0.as_secs())]
    Silent(Duration),
    /// The clocks of the node and the database differ too much. The value is how far the node's
    /// clock is ahead; negative if it is behind.
    #[error(
        "the clock of this node differs by {} ms from the database's; synchronise both",
        .0.as_millis()
    )]
    Skewed(SignedDuration),
    /// The database is in this mode, in which nodes do not charge. They charge only in the mode
    /// `serving`.
    #[error("the database is in mode `{0}`, in which nothing is charged")]
    NotServing(String),
    /// The database lacks rows that this node has written or read, for example because it is an old
    /// primary or was restored from an old backup. Charging resumes when the rows are there again,
    /// or when an operator accepts their loss.
    #[error(
        "the database is older than what this node has read from it, so nothing is charged; if \
         no newer copy can be had, run `enrich store accept-loss`"
    )]
    Outdated,
    /// The database has not confirmed a commit for two seconds. Charging resumes without an
    /// operator when the database confirms a commit.
    #[error("no primary confirms commits, so nothing is charged until one does")]
    NoPrimary,
}
