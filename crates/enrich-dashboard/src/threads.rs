//! Threads for work that takes its time: hashing, files.
//!
//! A page's worker answers many at once and must not wait; what waits is done here, by few, and
//! only so many are in line.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use futures_channel::oneshot;
use parking_lot::Mutex;

type Work = Box<dyn FnOnce() + Send>;

/// More work is waiting than is taken, or what was begun broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more is waiting than is taken")]
pub(crate) struct Busy;

/// So many threads, and what waits for them. They end with it.
pub(crate) struct Threads(SyncSender<Work>);

impl Threads {
    /// Starts them. With no room to wait, work is taken only by a thread that has none.
    ///
    /// # Errors
    ///
    /// When the system gives no threads.
    pub(crate) fn start(name: &str, threads: usize, waiting: usize) -> io::Result<Self> {
        let (queue, works) = sync_channel(waiting);
        let works = Arc::new(Mutex::new(works));
        for _ in 0..threads {
            let works = Arc::clone(&works);
            std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&works))?;
        }
        Ok(Self(queue))
    }

    /// Does a piece of work on one of them.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let (sender, receiver) = oneshot::channel();
        let work = Box::new(move || {
            // Whoever asked may be gone.
            let _ = sender.send(work());
        });
        self.0.try_send(work).map_err(|_| Busy)?;
        receiver.await.map_err(|_| Busy)
    }
}

fn work(works: &Mutex<Receiver<Work>>) {
    loop {
        let next = works.lock().recv();
        let Ok(work) = next else { return };
        work();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_may_wait_are_turned_away() {
        let threads = Threads::start("test", 1, 1).unwrap();
        let (go_on, waits) = sync_channel::<()>(0);
        let (begun, has_begun) = sync_channel::<()>(1);
        let first = threads.run(move || {
            begun.send(()).unwrap();
            waits.recv().unwrap();
        });
        let second = threads.run(|| ());
        let mut both = Box::pin(futures_util::future::join(first, second));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        // The first may not have been taken from the line when the second comes.
        assert!(both.as_mut().poll(&mut context).is_pending());
        has_begun.recv().unwrap();
        let mut third = Box::pin(threads.run(|| ()));
        let pending = third.as_mut().poll(&mut context).is_pending();
        let fourth = pollster::block_on(threads.run(|| ()));
        assert!(fourth.is_err() || pending);
        go_on.send(()).unwrap();
        assert!(pollster::block_on(both).0.is_ok());
    }

    #[test]
    fn what_is_done_comes_back() {
        let threads = Threads::start("test", 2, 4).unwrap();
        assert_eq!(pollster::block_on(threads.run(|| 6 * 7)), Ok(42));
    }
}
