//! The transactions in which a lane writes groups of charges, and what their failures mean.

use std::future::Future;
use std::time::Duration;

use futures_util::future::{join, join3};
use tokio::time::timeout;

use crate::connect::Connection;
use crate::failure::Failure;

/// Time limit for the answers of the database to the statements of a group of charges.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Begins the transaction of a group of charges. The commit waits until the standby has the
/// changes. A statement waits for a lock for at most one second. If this node loses its connection
/// during the transaction, PostgreSQL ends the transaction after two seconds, which releases its
/// locks.
pub(super) const BEGIN: &str = "BEGIN; SET LOCAL synchronous_commit = on; \
     SET LOCAL lock_timeout = '1s'; SET LOCAL idle_in_transaction_session_timeout = '2s'";

/// Why a group of charges was not written, or may not have been written.
#[derive(Debug)]
pub(super) enum NotWritten {
    /// It is certain that nothing was written.
    Certainly(Failure),
    /// It is unknown whether the group of charges was written: a reply was lost after the write was
    /// sent, or the wait for the standby was cancelled.
    InDoubt(Failure),
    /// The database lacks ledger rows that this process has already read or written. It may be a
    /// restored backup or an old primary, so nothing was written to it.
    Outdated,
}

/// Sends the statements of `adding`, and then `COMMIT`, in one round trip. If `before` is present,
/// `BEGIN` and the statements of `before` are sent first, in the same round trip. If it is absent,
/// the caller must have begun the transaction. Returns the result of `adding` when it is durable.
pub(super) async fn write_and_commit<T>(
    connection: &Connection,
    before: Option<impl Future<Output = Result<(), Failure>>>,
    adding: impl Future<Output = Result<T, Failure>>,
) -> Result<T, NotWritten> {
    let client = &connection.client;
    let warnings = connection.warnings();
    // The statements are sent in the order `BEGIN`, `before`, `adding`, `COMMIT`, because the
    // futures are polled in this order and each sends its statement when it is first polled.
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
    // If PostgreSQL refused a statement, the transaction has failed, and `COMMIT` only rolls it
    // back.
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
