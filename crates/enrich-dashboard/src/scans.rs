//! Runs slow work on separate threads, so that it does not block the threads that answer requests.
//! Slow work is a long read, such as an export, or the use of an uploaded list's files. The reads
//! of one account run one after the other. Otherwise one account could occupy all threads and delay
//! other accounts.

use std::sync::Arc;

use enrich_bulk::{AccountLimit, AccountPermit};
use enrich_core::AccountId;

use crate::fault::Fault;
use crate::threads::Threads;

const THREADS: usize = 2;
/// Maximum number of tasks that wait for a thread. A task is a read, or one piece of a download. An
/// account has at most one read and one piece in this queue, even if several of its downloads run.
/// Its next read or piece enters the queue when the previous one is done.
const WAITING: usize = 512;
/// Maximum number of concurrent downloads of one account.
const DOWNLOADS_OF_ONE: usize = 4;

/// Threads for slow work, which all accounts share. For each account, at most one read and one
/// piece of a download run at the same time.
pub(crate) struct Scans {
    threads: Arc<Threads>,
    reads: AccountLimit,
    downloads: AccountLimit,
}

/// An account's permit for one download, which is read piece by piece. [`Scans::run`] and
/// [`Scans::read`] also use this type, as the permit for a single read. Dropping this value
/// releases the permit; if work still runs with the permit, it is released when the work is done.
pub(crate) struct Download {
    threads: Arc<Threads>,
    permit: Arc<AccountPermit>,
}

impl Scans {
    /// Returns threads on which each account may have at most `of_one` reads, running and waiting
    /// together.
    pub(crate) fn new(of_one: usize) -> Self {
        let threads = Arc::new(Threads::new(THREADS, WAITING));
        let [reads, downloads] = [of_one, DOWNLOADS_OF_ONE].map(AccountLimit::new);
        Self { threads, reads, downloads }
    }

    /// Runs work for an account when the account's earlier work is done.
    ///
    /// # Errors
    ///
    /// When the account's limit is reached, or the queue is full.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        account: AccountId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        self.permitted(&self.reads, account)?.run(work).await
    }

    /// Does the same as [`Self::run`] for async work, such as reads from a store.
    pub(crate) async fn read<T, F>(
        &self,
        account: AccountId,
        work: impl FnOnce() -> F + Send + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>>,
    {
        self.permitted(&self.reads, account)?.read(work).await
    }

    /// Takes a permit for one download by `account`.
    ///
    /// # Errors
    ///
    /// When the maximum number of downloads by the account is already running.
    pub(crate) fn download(&self, account: AccountId) -> Result<Download, Fault> {
        self.permitted(&self.downloads, account)
    }

    fn permitted(&self, limit: &AccountLimit, account: AccountId) -> Result<Download, Fault> {
        let permit = Arc::new(limit.take(account).ok_or(Fault::Counting)?);
        Ok(Download { threads: Arc::clone(&self.threads), permit })
    }
}

impl Download {
    /// Runs `work` when the account's earlier work of the same kind (reads or downloads) is done.
    /// For a download, `work` reads the next piece.
    ///
    /// # Errors
    ///
    /// When the queue is full.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let turn = self.permit.turn().await;
        let permit = Arc::clone(&self.permit);
        let work = move || {
            // If the future of this call is dropped, the work still runs to its end. Until then,
            // the account's next work of this kind waits.
            let _turn = (turn, permit);
            work()
        };
        Ok(self.threads.run(work).await?)
    }

    /// Does the same as [`Self::run`] for async work, such as reads from a store.
    pub(crate) async fn read<T, F>(
        &self,
        work: impl FnOnce() -> F + Send + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>>,
    {
        self.run(move || pollster::block_on(work())).await?
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc::sync_channel;
    use std::task::{Context, Waker};

    use enrich_core::Timestamp;
    use tokio::runtime::Runtime;

    use super::*;

    #[test]
    fn an_account_waits_for_itself_and_others_do_not_wait_for_it() {
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        let scans = Scans::new(4);
        let [ada, ben] = [0, 1].map(|_| AccountId::new(Timestamp::UNIX_EPOCH));
        let (go_on, waits) = sync_channel::<()>(0);
        let mut context = Context::from_waker(Waker::noop());
        let mut long = pin!(scans.run(ada, move || waits.recv().unwrap()));
        assert!(long.as_mut().poll(&mut context).is_pending());
        let run = |number| Box::pin(scans.run(ada, move || number));
        let mut next = [1, 2, 3].map(run);
        for next in &mut next {
            assert!(next.as_mut().poll(&mut context).is_pending());
        }
        assert!(matches!(pollster::block_on(scans.run(ada, || ())), Err(Fault::Counting)));
        for number in 0..100 {
            assert_eq!(pollster::block_on(scans.run(ben, move || number)).unwrap(), number);
        }
        for next in &mut next {
            assert!(next.as_mut().poll(&mut context).is_pending());
        }
        go_on.send(()).unwrap();
        pollster::block_on(long).unwrap();
        for (next, number) in next.into_iter().zip(1..) {
            assert_eq!(pollster::block_on(next).unwrap(), number);
        }
    }

    #[test]
    fn a_download_waits_for_the_accounts_other_downloads_and_searches_do_not_wait_for_it() {
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        let scans = Scans::new(4);
        let [ada, ben] = [0, 1].map(|_| AccountId::new(Timestamp::UNIX_EPOCH));
        let downloads: Vec<Download> =
            (0..DOWNLOADS_OF_ONE).map(|_| scans.download(ada).unwrap()).collect();
        assert!(matches!(scans.download(ada), Err(Fault::Counting)));
        let (go_on, waits) = sync_channel::<()>(0);
        let mut context = Context::from_waker(Waker::noop());
        let mut long = Box::pin(downloads[0].run(move || waits.recv().unwrap()));
        assert!(long.as_mut().poll(&mut context).is_pending());
        let mut next = Box::pin(downloads[1].run(|| 7));
        assert!(next.as_mut().poll(&mut context).is_pending());
        assert_eq!(pollster::block_on(scans.run(ada, || 1)).unwrap(), 1);
        assert_eq!(pollster::block_on(scans.download(ben).unwrap().run(|| 2)).unwrap(), 2);
        assert!(next.as_mut().poll(&mut context).is_pending());
        go_on.send(()).unwrap();
        pollster::block_on(long).unwrap();
        assert_eq!(pollster::block_on(next).unwrap(), 7);
        drop(downloads);
        assert!(scans.download(ada).is_ok());
    }
}
