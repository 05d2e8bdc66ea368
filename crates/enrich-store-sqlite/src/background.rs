//! A thread that runs as long as its owner exists.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::OpenError;

/// The thread. Dropping this ends it and waits for it.
#[derive(Debug)]
pub struct Background {
    /// `None` only during the drop.
    owner: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The thread's view of its owner.
pub struct Owner(Receiver<()>);

impl Background {
    /// Starts a thread that works on the database at `path`.
    pub fn start(
        path: &Path,
        name: &str,
        work: impl FnOnce(&Owner) + Send + 'static,
    ) -> Result<Self, OpenError> {
        let (owner, gone) = mpsc::sync_channel(0);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(&Owner(gone)))
            .map_err(|source| OpenError::unusable(path, source))?;
        Ok(Self { owner: Some(owner), thread: Some(thread) })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.owner = None;
        if let Some(thread) = self.thread.take() {
            // Such a thread saves work for others; if it panicked, they do the work themselves.
            let _ = thread.join();
        }
    }
}

impl Owner {
    /// Waits for a time, or until the owner is gone; returns whether it still exists.
    pub fn is_there_after(&self, pause: Duration) -> bool {
        self.0.recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
    }
}
