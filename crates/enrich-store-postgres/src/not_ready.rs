//! The reasons why a node should not get calls.

use std::time::Duration;

use jiff::SignedDuration;

/// Why a node should not get calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// The node has not reached the database for a while.
    #[error("the database was last reached {} s ago", .0.as_secs())]
    Silent(Duration),
    /// The clocks of the node and the database differ too much.
    #[error(
        "the clock of this node differs by {} ms from the database's; synchronise both",
        .0.as_millis()
    )]
    Skewed(SignedDuration),
    /// The database is in a mode in which nothing is charged.
    #[error("the database is in mode `{0}`, in which nothing is charged")]
    NotServing(String),
    /// The database lacks rows that this node has written or read.
    #[error(
        "the database is older than what this node has read from it, so nothing is charged; if \
         no newer copy can be had, run `enrich store accept-loss`"
    )]
    Outdated,
    /// The database has not confirmed a commit for a while.
    #[error("no primary confirms commits, so nothing is charged until one does")]
    NoPrimary,
}
