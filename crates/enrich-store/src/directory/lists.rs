//! A few threads that read long lists, so that whoever asks for one holds up nobody else.
//!
//! Everything else a look-up reads takes microseconds and is read where it is asked for. The
//! queue is bounded: what does not fit is refused at once, and what has waited too long is refused
//! when its turn comes, so that a queue that cannot be kept up with does not make everybody wait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use enrich_core::port::error::StoreError;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::OpenError;
use crate::sqlite;

/// How many lists are read at once.
const THREADS: usize = 2;
/// How many wait to be read.
const WAITING: usize = 256;
/// How long one waits at most. Whoever asked is told to come again rather than answered when they
/// have stopped to listen.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The threads; they end when this is dropped and what is waiting is read.
#[derive(Debug)]
pub(crate) struct Lists {
    queue: SyncSender<Job>,
}

impl Lists {
    /// Starts the threads, each with a connection of its own to the database at `path`.
    pub(crate) fn start(path: &Path) -> Result<Self, OpenError> {
        let (queue, jobs) = mpsc::sync_channel(WAITING);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..THREADS {
            let connection =
                sqlite::mapped_reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name("enrich-lists".to_owned())
                .spawn(move || work(&jobs, &connection))
                .map_err(|source| OpenError::unusable(path, source))?;
        }
        Ok(Self { queue })
    }

    /// Has one of the threads do something that nobody waits for.
    pub(crate) fn prepare(&self, prepare: impl FnOnce(&Connection) + Send + 'static) {
        // Where the queue is full, look-ups prepare what they need.
        let _ = self.queue.try_send(Box::new(prepare));
    }

    /// Reads on one of the threads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let asked = Instant::now();
        let job: Job = Box::new(move |connection| {
            // Whoever asked may have gone: then nobody needs the list.
            if answer.is_closed() {
                return;
            }
            let has_waited_too_long = asked.elapsed() > LONGEST_WAIT;
            let _ = answer.send(match has_waited_too_long {
                true => Err(StoreError::Overloaded),
                false => read(connection).map_err(StoreError::failed),
            });
        });
        self.queue.try_send(job).map_err(|refused| match refused {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Disconnected(_) => StoreError::failed("no thread reads lists any more"),
        })?;
        answered.await.map_err(StoreError::failed)?
    }
}

fn work(jobs: &Mutex<Receiver<Job>>, connection: &Connection) {
    loop {
        // The lock is held while waiting: one thread waits for the next job, the others for it.
        let job = jobs.lock().recv();
        match job {
            // One that panics must not take the thread with it; whoever waits is told it failed.
            Ok(job) => {
                let _ = catch_unwind(AssertUnwindSafe(|| job(connection)));
            }
            Err(mpsc::RecvError) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::DIRECTORY;

    #[test]
    fn what_has_waited_too_long_is_refused_without_being_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DIRECTORY.file);
        sqlite::create(&path, &DIRECTORY).unwrap();
        let lists = Lists::start(&path).unwrap();
        for _ in 0..THREADS {
            lists.prepare(|_| thread::sleep(LONGEST_WAIT + Duration::from_millis(50)));
        }
        let late = lists.read(|_| -> rusqlite::Result<()> { panic!("nobody waits for this") });
        assert!(matches!(pollster::block_on(late), Err(StoreError::Overloaded)));
        assert_eq!(pollster::block_on(lists.read(|_| Ok(7))).unwrap(), 7);
    }

    #[test]
    fn what_does_not_fit_the_queue_is_refused() {
        let (queue, jobs) = mpsc::sync_channel(1);
        let lists = Lists { queue };
        let waiting = lists.read(|_| Ok(()));
        let mut waiting = Box::pin(waiting);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        let mut refused = Box::pin(lists.read(|_| Ok(())));
        let outcome = refused.as_mut().poll(&mut context);
        assert!(matches!(outcome, std::task::Poll::Ready(Err(StoreError::Overloaded))));
        drop(jobs);
    }
}
