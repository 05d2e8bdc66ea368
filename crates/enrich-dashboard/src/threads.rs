//! Thread pools for slow work: hashing and files.
//!
//! A worker of the HTTP server handles many pages and must not block; blocking work runs here, on a
//! few threads with a bounded queue.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use futures_channel::oneshot;
use parking_lot::Mutex;

type Work = Box<dyn FnOnce() + Send>;

/// The queue is full, or the work panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more is waiting than is taken")]
pub(crate) struct Busy;

/// A pool of threads with a bounded queue. Dropping it ends the threads.
pub(crate) struct Threads {
    queue: SyncSender<Work>,
    /// Number of running and waiting tasks.
    taken: Arc<AtomicUsize>,
    /// The maximum of `taken`.
    most: usize,
}

/// Counts a task until it ends, in whatever way.
struct Taken(Arc<AtomicUsize>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Threads {
    /// Starts the threads; `waiting` tasks may wait for a free thread.
    ///
    /// # Errors
    ///
    /// When the system provides no threads.
    pub(crate) fn start(name: &str, threads: usize, waiting: usize) -> io::Result<Self> {
        let most = threads + waiting;
        let (queue, works) = sync_channel(most);
        let works = Arc::new(Mutex::new(works));
        for _ in 0..threads {
            let works = Arc::clone(&works);
            std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&works))?;
        }
        Ok(Self { queue, taken: Arc::default(), most })
    }

    /// Runs a task on the pool.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let taken = self.take().ok_or(Busy)?;
        let (sender, receiver) = oneshot::channel();
        let work = Box::new(move || {
            let done = work();
            // Released before the result is sent, so that a caller that returns at once finds room.
            drop(taken);
            // The receiver may be gone.
            let _ = sender.send(done);
        });
        self.queue.try_send(work).map_err(|_| Busy)?;
        receiver.await.map_err(|_| Busy)
    }

    fn take(&self) -> Option<Taken> {
        let one_more = |taken| (taken < self.most).then_some(taken + 1);
        let taken = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        taken.is_ok().then(|| Taken(Arc::clone(&self.taken)))
    }
}

fn work(works: &Mutex<Receiver<Work>>) {
    loop {
        let next = works.lock().recv();
        let Ok(work) = next else { return };
        // A panic must not end the thread; the caller gets an error.
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_may_wait_are_turned_away() {
        let threads = Threads::start("test", 1, 1).unwrap();
        let (go_on, waits) = sync_channel::<()>(0);
        let mut both = Box::pin(futures_util::future::join(
            threads.run(move || waits.recv().unwrap()),
            threads.run(|| ()),
        ));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(both.as_mut().poll(&mut context).is_pending());
        assert_eq!(pollster::block_on(threads.run(|| ())), Err(Busy));
        go_on.send(()).unwrap();
        assert_eq!(pollster::block_on(both), (Ok(()), Ok(())));
    }

    #[test]
    fn one_after_the_other_is_never_too_many() {
        let threads = Threads::start("test", 1, 0).unwrap();
        for number in 0..10_000 {
            assert_eq!(pollster::block_on(threads.run(move || number)), Ok(number));
        }
    }

    #[test]
    fn work_that_panics_takes_nothing_with_it() {
        let threads = Threads::start("test", 1, 0).unwrap();
        assert_eq!(pollster::block_on(threads.run(|| -> u8 { panic!("as it should") })), Err(Busy));
        assert_eq!(pollster::block_on(threads.run(|| 7)), Ok(7));
    }

    #[test]
    fn what_is_done_comes_back() {
        let threads = Threads::start("test", 2, 4).unwrap();
        assert_eq!(pollster::block_on(threads.run(|| 6 * 7)), Ok(42));
    }
}
