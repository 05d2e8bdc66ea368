//! The thread that communicates with the database.
//!
//! The thread runs its own tokio runtime. So the ports work with any async executor: a caller
//! only waits for the result of a task.

use std::future::Future;
use std::io;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with a tokio runtime. Dropping this value ends the tasks and then the thread.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A task gave no result, because it panicked or the store was closed.
#[derive(Debug, thiserror::Error)]
#[error("the task of the database thread was lost")]
pub(crate) struct TaskLost;

impl Runtime {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// When the operating system cannot start a thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("enrich-postgres".into()).spawn(move || {
            // When `stop` is dropped, `stopped` returns an error and the runtime ends.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Runs a task on the thread and waits for its result. If the caller stops waiting, the task
    /// still runs to its end.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, TaskLost> {
        self.handle.spawn(task).await.map_err(|_| TaskLost)
    }

    /// Starts a task, which runs until its end or until the store is closed.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }

    /// Runs a task on the thread, and blocks the caller's thread until the task ends. A task must
    /// not call this method, because it would block the thread that runs all tasks.
    pub(crate) fn block_on<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, TaskLost> {
        self.start_task(task).wait()
    }

    /// Polls a future on the caller's thread until it ends. The future may wait for tasks of the
    /// runtime's thread. A task must not call this method, because it would block the thread that
    /// runs all tasks.
    pub(crate) fn poll_here<T>(&self, future: impl Future<Output = T>) -> T {
        self.handle.block_on(future)
    }

    /// Starts a task on the thread. The caller can wait for its result later.
    pub(crate) fn start_task<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Started<T> {
        let (reply, result) = std::sync::mpsc::sync_channel(1);
        self.handle.spawn(async move {
            // Sending fails if the caller no longer waits. That is no error.
            let _ = reply.send(task.await);
        });
        Started(result)
    }
}

/// A task that was started, whose result the caller can wait for.
pub(crate) struct Started<T>(std::sync::mpsc::Receiver<T>);

impl<T> Started<T> {
    /// Blocks the caller's thread until the task ends. A task must not call this method, because it
    /// would block the thread that runs all tasks.
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
            // If the thread panicked, the panic was already printed to standard error.
            let _ = thread.join();
        }
    }
}
