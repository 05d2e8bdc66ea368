//! Threads: workers that end with their owner, and threads for single pieces of work.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use enrich_core::port::error::StoreError;
use tokio::sync::oneshot;

use crate::OpenError;

/// A thread that its owner waits for when it drops this. The thread must end by itself, for
/// instance with its channel: the owner declares the channel's other end first, so that it is
/// dropped before.
#[derive(Debug)]
pub struct Worker(Option<JoinHandle<()>>);

impl Worker {
    /// Starts a thread that works on the database at `path`.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(
        path: &Path,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<Self, OpenError> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
        let thread = thread.map_err(|source| OpenError::unusable(path, source))?;
        Ok(Self(Some(thread)))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // The callers of a thread that panicked got errors.
            let _ = thread.join();
        }
    }
}

/// A worker that ends when this is dropped.
#[derive(Debug)]
pub struct Background {
    _owner: SyncSender<()>,
    _worker: Worker,
}

/// The thread's view of its owner.
pub struct Owner(Receiver<()>);

impl Background {
    /// Starts a thread that works on the database at `path`.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(
        path: &Path,
        name: &str,
        work: impl FnOnce(&Owner) + Send + 'static,
    ) -> Result<Self, OpenError> {
        let (owner, gone) = mpsc::sync_channel(0);
        let worker = Worker::start(path, name, move || work(&Owner(gone)))?;
        Ok(Self { _owner: owner, _worker: worker })
    }
}

impl Owner {
    /// Waits for a time, or until the owner is gone; returns whether it still exists.
    pub fn is_there_after(&self, pause: Duration) -> bool {
        self.0.recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
    }
}

/// Runs `work` on a thread of its own and returns its result.
///
/// For the operator's rare commands: each takes a thread while it runs. Work for calls has
/// permanent threads.
///
/// # Errors
///
/// Those of `work`, and when the system gives no thread.
pub async fn run_on_new_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (reply, answer) = oneshot::channel();
    let run = move || {
        // The caller may have been cancelled; the work is done in either case.
        let _ = reply.send(work());
    };
    let thread = thread::Builder::new().name("enrich-store".to_owned()).spawn(run);
    thread.map_err(StoreError::failed)?;
    answer.await.map_err(StoreError::failed)?
}
