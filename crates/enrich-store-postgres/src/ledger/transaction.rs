//! The transactions of a lane, and what a failure in them means.

use std::future::Future;
use std::time::Duration;

use futures_util::future::{join, join3};
use tokio::time::timeout;

use crate::connect::Connection;
use crate::failure::Failure;

/// How long the database may take to answer the statements of a group.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Begins a group's transaction: its commit waits for the standby, and it does not wait for locks
/// for long. The server ends it when this node is cut off in its midst, so that its locks are free.
pub(super) const BEGIN: &str = "BEGIN; SET LOCAL synchronous_commit = on; \
     SET LOCAL lock_timeout = '1s'; SET LOCAL idle_in_transaction_session_timeout = '2s'";

/// Why a group was not written, or perhaps not.
#[derive(Debug)]
pub(super) enum NotWritten {
    /// Certainly nothing was written.
    Certainly(Failure),
    /// A reply was lost after the write was sent, or the wait for the standby was cancelled.
    InDoubt(Failure),
    /// Certainly nothing was written: the database has fewer rows than this process has seen.
    Outdated,
}

/// Sends `adding` and `COMMIT` at once, with `BEGIN` and `before` in front if there is a `before`.
/// Returns the result of `adding` when it is durable.
pub(super) async fn write_and_commit<T>(
    connection: &Connection,
    before: Option<impl Future<Output = Result<(), Failure>>>,
    adding: impl Future<Output = Result<T, Failure>>,
) -> Result<T, NotWritten> {
    let client = &connection.client;
    let warnings = connection.warnings();
    // The futures are polled in their order, and send when they are first polled.
    let commit = client.batch_execute("COMMIT");
    let sent = async {
        match before {
            Some(before) => {
                let begin = async { join(client.batch_execute(BEGIN), before).await };
                let ((begun, locked), added, committed) = join3(begin, adding, commit).await;
                (begun.map_err(Failure::from).and(locked), added, committed)
            }
            None => {
                let (added, committed) = join(adding, commit).await;
                (Ok(()), added, committed)
            }
        }
    };
    let (before, added, committed) =
        timeout(ANSWER_TIMEOUT, sent).await.map_err(|_| NotWritten::InDoubt(Failure::TimedOut))?;
    // A statement that the server refused has ended the transaction: its `COMMIT` is a rollback.
    let added = before.and(added).map_err(|failure| match failure.is_answer() {
        true => NotWritten::Certainly(failure),
        false => NotWritten::InDoubt(failure),
    })?;
    match committed {
        Ok(()) if connection.warnings() == warnings => Ok(added),
        Ok(()) => Err(NotWritten::InDoubt(Failure::TimedOut)),
        Err(error) => {
            let failure = Failure::from(error);
            Err(if failure.is_conflict() {
                NotWritten::Certainly(failure)
            } else {
                NotWritten::InDoubt(failure)
            })
        }
    }
}
