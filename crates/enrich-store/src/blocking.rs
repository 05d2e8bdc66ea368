//! Work that waits for the disk, kept away from the threads that answer calls.

use std::thread;

use enrich_core::port::error::StoreError;
use tokio::sync::oneshot;

/// Runs `work` on a thread of its own and gives back what came of it.
///
/// For the operator's rare commands: each takes a thread for as long as it runs. What every call
/// needs has threads that stay.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (reply, answer) = oneshot::channel();
    let run = move || {
        // Nobody waits any more when the caller was cancelled; the work counts all the same.
        let _ = reply.send(work());
    };
    thread::Builder::new()
        .name("enrich-store".to_owned())
        .spawn(run)
        .map_err(StoreError::failed)?;
    answer.await.map_err(StoreError::failed)?
}
