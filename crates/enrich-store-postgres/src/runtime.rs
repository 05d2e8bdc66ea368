//! The thread that talks to the database.
//!
//! It runs a tokio runtime of its own, so that the ports work under any executor: a caller only
//! waits for a task's result.

use std::future::Future;
use std::io;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with a tokio runtime. Dropping it ends its tasks, then the thread.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A task ended without a result: it panicked, or the store was closed.
#[derive(Debug, thiserror::Error)]
#[error("the task of the database thread was lost")]
pub(crate) struct TaskLost;

impl Runtime {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// The system's, when it cannot give a thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("enrich-postgres".into()).spawn(move || {
            // Also ends when the sender is dropped.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Runs a task on the thread and waits for its result. The task goes on if the caller stops
    /// waiting.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, TaskLost> {
        self.handle.spawn(task).await.map_err(|_| TaskLost)
    }

    /// Starts a task that runs until it ends or the store is closed.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }

    /// Runs a task on the thread and blocks this thread until it ends. Not to be called by a task.
    pub(crate) fn block_on<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, TaskLost> {
        self.start_task(task).wait()
    }

    /// Starts a task on the thread, whose result is waited for later.
    pub(crate) fn start_task<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Started<T> {
        let (reply, result) = std::sync::mpsc::sync_channel(1);
        self.handle.spawn(async move {
            // Nobody may be waiting any more.
            let _ = reply.send(task.await);
        });
        Started(result)
    }
}

/// A task that was started.
pub(crate) struct Started<T>(std::sync::mpsc::Receiver<T>);

impl<T> Started<T> {
    /// Blocks this thread until the task ends. Not to be called by a task.
    pub(crate) fn wait(self) -> Result<T, TaskLost> {
        self.0.recv().map_err(|_| TaskLost)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // A panic of the thread has already been reported on standard error.
            let _ = thread.join();
        }
    }
}
