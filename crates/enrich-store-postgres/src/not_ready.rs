//! The reasons why a node should not get calls.

use std::time::Duration;

use jiff::SignedDuration;

/// Why a node should not get calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// The time since the node last reached the database. It is longer than accepted.
    #[error("the database was last reached {} s ago", .0.as_secs())]
    Silent(Duration),
    /// How far the node's clock is ahead of the database's clock (negative: behind). The
    /// difference is larger than accepted.
    #[error(
        "the clock of this node differs by {} ms from the database's; synchronise both",
        .0.as_millis()
    )]
    Skewed(SignedDuration),
    /// The mode of the database. Nothing is charged in this mode; nodes charge only in the mode
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
