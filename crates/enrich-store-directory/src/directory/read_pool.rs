//! Threads for look-ups that may take long: lists of a company's employees, and searches for names.
//!
//! All other reads take microseconds and run on the caller's thread. The jobs wait in a queue, in
//! which tenants (accounts) take turns ([`FairQueue`]). The number of waiting jobs is limited, both
//! for each tenant and for all tenants together. If the queue is full, a new job of a tenant with
//! few waiting jobs replaces a job of the tenant with the most waiting jobs. The replaced job is
//! refused. A job is also refused if it has waited too long behind other jobs of its own tenant,
//! because its caller has probably stopped waiting.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::Tenant;
use enrich_core::port::error::StoreError;
use enrich_store_sqlite::{OpenError, Worker};
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fair_queue::{FairQueue, Pushed, QueueLimits};

/// The number of threads that each [`ReadPool`] starts.
const THREADS: usize = 2;
/// Maximum number of jobs that may wait: of all tenants together, and of one tenant.
const WAITING: QueueLimits = QueueLimits { total: 512, per_tenant: 256 };
/// Maximum time that a job may wait behind other jobs of the same tenant (account). A job that has
/// waited longer is refused when its turn comes.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// A function that opens a connection for reading to the database at a path.
pub(crate) type Connect = fn(&Path) -> rusqlite::Result<Connection>;

/// The work of a job. Its argument is a connection for the reads. If the job is refused, the
/// argument is `None`, and the function only sends the refusal to the caller.
type Read = Box<dyn FnOnce(Option<&Connection>) + Send>;

struct Job {
    read: Read,
    queued_at: Instant,
    /// Whether jobs of the same tenant (account) were already waiting when this job arrived.
    is_behind_own: bool,
}

/// The threads for look-ups that may take long. Dropping this value waits until the running jobs
/// and the threads have ended. After that, no thread reads the database file, so it may be replaced
/// or truncated. Jobs that still wait in the queue are not run. They have no callers any more,
/// because the future of [`ReadPool::read`] borrows the pool.
pub(crate) struct ReadPool {
    waiting: Arc<Waiting>,
    threads: Vec<Worker>,
}

/// The queue of waiting jobs, which the threads share with the callers.
struct Waiting {
    jobs: Mutex<Jobs>,
    /// The threads wait on this condition. It is signalled when a job arrives, and when the queue
    /// is closed.
    came: Condvar,
}

struct Jobs {
    queue: FairQueue<Tenant, Job>,
    is_closed: bool,
}

impl ReadPool {
    /// Starts the threads. Each has a connection of its own to the database at `path`, which
    /// `connect` opens.
    pub(crate) fn start(path: &Path, connect: Connect) -> Result<Self, OpenError> {
        let mut pool = Self::without_threads(WAITING);
        for _ in 0..THREADS {
            let connection = connect(path).map_err(|source| OpenError::of_sqlite(path, source))?;
            let waiting = Arc::clone(&pool.waiting);
            let work = move || waiting.work(&connection);
            pool.threads.push(Worker::start(path, "enrich-reads", work)?);
        }
        Ok(pool)
    }

    fn without_threads(limits: QueueLimits) -> Self {
        let jobs = Jobs { queue: FairQueue::new(limits), is_closed: false };
        let waiting = Arc::new(Waiting { jobs: Mutex::new(jobs), came: Condvar::new() });
        Self { waiting, threads: Vec::new() }
    }

    /// Runs `prepare` on one of the threads, without waiting until it is done.
    pub(crate) fn prepare(&self, prepare: impl FnOnce(&Connection) + Send + 'static) {
        // If the queue is full, `prepare` does not run. The first look-up is then slower, because
        // it loads the data that `prepare` would have loaded.
        let read = move |connection: Option<&Connection>| {
            if let Some(connection) = connection {
                prepare(connection);
            }
        };
        self.waiting.push(Tenant::default(), Box::new(read));
    }

    /// Runs `read` on one of the threads and returns its result. First, `read` waits in the queue
    /// as a job of `tenant`, which is the account of the call.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        tenant: Tenant,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            // If the channel is closed, the caller no longer waits for the result. Then the job
            // need not run.
            if answer.is_closed() {
                return;
            }
            let _ = answer.send(match connection {
                Some(connection) => read(connection).map_err(StoreError::failed),
                None => Err(StoreError::Overloaded),
            });
        });
        self.waiting.push(tenant, read);
        answered.await.map_err(StoreError::failed)?
    }
}

impl Drop for ReadPool {
    /// Closes the queue, so that the threads end. After this function, Rust drops the field
    /// `threads`. Dropping a [`Worker`] waits for the end of its thread.
    fn drop(&mut self) {
        self.waiting.jobs.lock().is_closed = true;
        self.waiting.came.notify_all();
    }
}

impl Waiting {
    /// Adds a job to the queue. If there is no room, one job is refused: the new job, or a job of
    /// another tenant (account) that has more jobs in the queue.
    fn push(&self, tenant: Tenant, read: Read) {
        let mut jobs = self.jobs.lock();
        let is_behind_own = jobs.queue.waiting(tenant) > 0;
        let job = Job { read, queued_at: Instant::now(), is_behind_own };
        let pushed = jobs.queue.push(tenant, job);
        drop(jobs);
        match pushed {
            Pushed::Queued => {}
            Pushed::Displaced(job) | Pushed::Refused(job) => (job.read)(None),
        }
        self.came.notify_one();
    }

    fn work(&self, connection: &Connection) {
        while let Some(job) = self.next() {
            let is_too_late = job.is_behind_own && job.queued_at.elapsed() > LONGEST_WAIT;
            let connection = (!is_too_late).then_some(connection);
            // If a job panics, the thread continues with the next job. The caller of the panicked
            // job gets an error.
            let _ = catch_unwind(AssertUnwindSafe(|| (job.read)(connection)));
        }
    }

    /// Waits for the next job. Returns `None` when the queue is closed.
    fn next(&self) -> Option<Job> {
        let mut jobs = self.jobs.lock();
        loop {
            if jobs.is_closed {
                return None;
            }
            if let Some(job) = jobs.queue.pop() {
                return Some(job);
            }
            self.came.wait(&mut jobs);
        }
    }
}

impl std::fmt::Debug for ReadPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadPool")
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::task::{Context, Poll, Waker};
    use std::thread;

    use enrich_core::{AccountId, Timestamp};
    use enrich_store_sqlite as sqlite;

    use super::*;
    use crate::DIRECTORY;

    fn pool() -> (tempfile::TempDir, ReadPool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DIRECTORY.file);
        sqlite::create(&path, &DIRECTORY).unwrap();
        let pool = ReadPool::start(&path, sqlite::mapped_reader).unwrap();
        (folder, pool)
    }

    fn tenant() -> Tenant {
        AccountId::new(Timestamp::UNIX_EPOCH).into()
    }

    fn poll<T>(future: &mut Pin<Box<impl Future<Output = T>>>) -> Poll<T> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn what_has_waited_too_long_behind_its_own_is_refused_without_being_read() {
        let (_folder, pool) = pool();
        let [patient, hasty] = [tenant(), tenant()];
        for _ in 0..THREADS {
            pool.prepare(|_| thread::sleep(LONGEST_WAIT + Duration::from_millis(50)));
        }
        let mut only = Box::pin(pool.read(patient, |_| Ok(1)));
        let mut first = Box::pin(pool.read(hasty, |_| Ok(2)));
        assert!(poll(&mut only).is_pending() && poll(&mut first).is_pending());
        let late = pool.read(hasty, |_| -> rusqlite::Result<()> { panic!("too late") });
        assert!(matches!(pollster::block_on(late), Err(StoreError::Overloaded)));
        assert_eq!(pollster::block_on(first).unwrap(), 2);
        assert_eq!(pollster::block_on(only).unwrap(), 1);
    }

    #[test]
    fn a_tenant_that_floods_the_queue_is_refused_and_another_is_served() {
        const LIMITS: QueueLimits = QueueLimits { total: 4, per_tenant: 4 };
        let pool = ReadPool::without_threads(LIMITS);
        let [flooder, victim] = [tenant(), tenant()];
        let mut flood: Vec<_> = (0..10).map(|_| Box::pin(pool.read(flooder, |_| Ok(())))).collect();
        let refused = flood.iter_mut().map(poll).filter(Poll::is_ready).count();
        assert_eq!(refused, 10 - LIMITS.per_tenant);
        let mut served = Box::pin(pool.read(victim, |_| Ok(7)));
        assert!(poll(&mut served).is_pending());
        // The last waiting job of `flooder` was refused, to make room for the job of `victim`.
        assert!(matches!(poll(&mut flood[3]), Poll::Ready(Err(StoreError::Overloaded))));

        let connection = Connection::open_in_memory().unwrap();
        let next = |number: usize| {
            for _ in 0..number {
                (pool.waiting.next().unwrap().read)(Some(&connection));
            }
        };
        next(2);
        assert!(matches!(poll(&mut served), Poll::Ready(Ok(7))));
        assert!(matches!(poll(&mut flood[0]), Poll::Ready(Ok(()))));
        assert!(poll(&mut flood[1]).is_pending());
    }

    #[test]
    fn no_job_runs_after_the_pool_was_dropped() {
        let (_folder, pool) = pool();
        let (running, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        for _ in 0..3 * THREADS {
            let (running, ended) = (Arc::clone(&running), Arc::clone(&ended));
            pool.prepare(move |_| {
                running.fetch_add(1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(50));
                ended.fetch_add(1, Ordering::SeqCst);
            });
        }
        while running.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        drop(pool);
        assert_eq!(Arc::strong_count(&ended), 1, "a job still waits or runs");
        assert_eq!(running.load(Ordering::SeqCst), ended.load(Ordering::SeqCst));
    }

    #[test]
    fn a_read_that_panics_leaves_its_thread_to_others() {
        let (_folder, pool) = pool();
        for _ in 0..2 * THREADS {
            let broken =
                pool.read(tenant(), |_| -> rusqlite::Result<()> { panic!("as it should") });
            assert!(matches!(pollster::block_on(broken), Err(StoreError::Failed(_))));
        }
        assert_eq!(pollster::block_on(pool.read(tenant(), |_| Ok(7))).unwrap(), 7);
    }
}
