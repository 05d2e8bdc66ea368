//! Runs work that waits for the disk, away from the threads that answer calls.

use std::thread;

use enrich_core::port::error::StoreError;
use tokio::sync::oneshot;

/// Runs `work` on a thread of its own and returns its result.
///
/// For the operator's rare commands: each takes a thread while it runs. Work for calls has
/// permanent threads.
pub async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (reply, answer) = oneshot::channel();
    let run = move || {
        // Nobody waits any more if the caller was cancelled; the work is done all the same.
        let _ = reply.send(work());
    };
    thread::Builder::new()
        .name("enrich-store".to_owned())
        .spawn(run)
        .map_err(StoreError::failed)?;
    answer.await.map_err(StoreError::failed)?
}
