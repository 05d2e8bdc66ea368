//! Limits work that takes long: hashing passwords, and reading and writing files.
//!
//! A worker thread of the HTTP server handles many requests at the same time and must not block. So
//! blocking work runs on tokio's blocking threads. For each kind of work, the numbers of running
//! and of waiting tasks are limited.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The error for work that was not done: the queue is full, or the work panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more is waiting than is taken")]
pub(crate) struct Busy;

/// A limited number of tokio's blocking threads, with a bounded queue. [`Self::run`] must be called
/// in a tokio runtime.
pub(crate) struct Threads {
    running: Arc<Semaphore>,
    running_or_waiting: Arc<Semaphore>,
}

impl Threads {
    /// Creates the limits: at most `threads` tasks run at the same time, and at most `waiting`
    /// tasks wait.
    pub(crate) fn new(threads: usize, waiting: usize) -> Self {
        let [running, running_or_waiting] =
            [threads, threads + waiting].map(|most| Arc::new(Semaphore::new(most)));
        Self { running, running_or_waiting }
    }

    /// Runs a task on a blocking thread. Tasks start in the order of the calls.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let place = Arc::clone(&self.running_or_waiting).try_acquire_owned().map_err(|_| Busy)?;
        let turn = Arc::clone(&self.running).acquire_owned().await.map_err(|_| Busy)?;
        let work = move || {
            // If the future of this call is dropped, the task still runs to its end. The permits
            // are kept until then.
            let _permits = (place, turn);
            work()
        };
        spawn_blocking(work).await.map_err(|_| Busy)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use tokio::runtime::Runtime;

    use super::*;

    #[test]
    fn more_than_may_wait_are_turned_away() {
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        let threads = Threads::new(1, 1);
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
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        let threads = Threads::new(1, 0);
        for number in 0..10_000 {
            assert_eq!(pollster::block_on(threads.run(move || number)), Ok(number));
        }
    }

    #[test]
    fn work_that_panics_takes_nothing_with_it() {
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        let threads = Threads::new(1, 0);
        assert_eq!(pollster::block_on(threads.run(|| -> u8 { panic!("as it should") })), Err(Busy));
        assert_eq!(pollster::block_on(threads.run(|| 7)), Ok(7));
    }

    #[test]
    fn what_is_done_comes_back() {
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        let threads = Threads::new(2, 4);
        assert_eq!(pollster::block_on(threads.run(|| 6 * 7)), Ok(42));
    }
}
