//! Three kinds of threads: a thread that ends by itself, a thread that ends when its owner is
//! dropped, and a thread for a single task.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use enrich_core::port::error::StoreError;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::OpenError;

/// A thread that ends by itself, for example when its channel closes. Dropping this value waits for
/// the end of the thread. Fields of a struct are dropped in the order of their declaration. So a
/// struct must declare its end of the channel before this value. Then the channel closes first, and
/// the thread can end.
#[derive(Debug)]
pub struct Worker(Option<JoinHandle<()>>);

impl Worker {
    /// Starts a thread that runs `work`. `path` is the database that the thread works on; it is
    /// used only in the error.
    ///
    /// # Errors
    ///
    /// When the operating system cannot start a thread.
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
            // The result is not needed: if the thread has panicked, the callers that waited for it
            // have already got errors.
            let _ = thread.join();
        }
    }
}

/// A thread that runs as long as this value exists. Dropping the value asks the thread to end, and
/// waits for its end.
#[derive(Debug)]
pub struct Background {
    _owner: SyncSender<()>,
    _worker: Worker,
}

/// The thread of a [`Background`] gets this value. With it, the thread waits, and finds out whether
/// its owner, the `Background` value, still exists.
pub struct Owner(Mutex<Receiver<()>>);

impl Background {
    /// Starts a thread that runs `work`. `path` is the database that the thread works on; it is
    /// used only in the error.
    ///
    /// # Errors
    ///
    /// When the operating system cannot start a thread.
    pub fn start(
        path: &Path,
        name: &str,
        work: impl FnOnce(&Owner) + Send + 'static,
    ) -> Result<Self, OpenError> {
        let (owner, gone) = mpsc::sync_channel(0);
        let worker = Worker::start(path, name, move || work(&Owner(Mutex::new(gone))))?;
        Ok(Self { _owner: owner, _worker: worker })
    }
}

impl Owner {
    /// Waits for the time `pause`, or until the [`Background`] is dropped. Returns whether the
    /// `Background` still exists. If several threads call this at the same time, the pause of each
    /// begins only after the pause of the previous one has ended.
    pub fn wait_or_stopped(&self, pause: Duration) -> bool {
        self.0.lock().recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
    }
}

/// Runs `work` on a new thread and returns its result. This function is for commands of the
/// operator, which are rare. API calls use threads that already run instead, because starting a
/// thread takes time.
///
/// # Errors
///
/// When `work` returns an error, or the operating system cannot start a thread.
pub async fn run_on_new_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (reply, answer) = oneshot::channel();
    let run = move || {
        // Sending fails if the caller no longer waits. The work was done nevertheless.
        let _ = reply.send(work());
    };
    let thread = thread::Builder::new().name("enrich-store".to_owned()).spawn(run);
    thread.map_err(StoreError::failed)?;
    answer.await.map_err(StoreError::failed)?
}
