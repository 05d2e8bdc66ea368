//! Threads for work that takes its time: hashing, files.
//!
//! A page's worker answers many at once and must not wait; what waits is done here, by few, and
//! only so many are in line.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use futures_channel::oneshot;
use parking_lot::Mutex;

type Work = Box<dyn FnOnce() + Send>;

/// More work is waiting than is taken, or what was begun broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more is waiting than is taken")]
pub(crate) struct Busy;

/// So many threads, and what waits for them. They end with it.
pub(crate) struct Threads {
    queue: SyncSender<Work>,
    /// What is under way or waits.
    taken: Arc<AtomicUsize>,
    /// The most of that.
    most: usize,
}

/// A piece of work that was taken, until it is done, however it ends.
struct Taken(Arc<AtomicUsize>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Threads {
    /// Starts them; `waiting` pieces of work may wait for one to be free.
    ///
    /// # Errors
    ///
    /// When the system gives no threads.
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

    /// Does a piece of work on one of them.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let taken = self.take().ok_or(Busy)?;
        let (sender, receiver) = oneshot::channel();
        let work = Box::new(move || {
            let done = work();
            // Who hears of it and comes again at once finds room.
            drop(taken);
            // Whoever asked may be gone.
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
        // Work that panics must not take its thread with it; whoever waits is told that it broke off.
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
