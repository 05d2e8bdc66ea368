//! Long reads and files. They run on separate threads, so that pages do not wait for them, and one
//! at a time for each account, so that no account delays the others.

use std::io;
use std::sync::Arc;

use enrich_core::AccountId;

use crate::account_limit::{AccountLimit, AccountPermit};
use crate::fault::Fault;
use crate::threads::Threads;

const THREADS: usize = 2;
/// Maximum queue length: an account has at most one read and one piece of a download in it.
const WAITING: usize = 512;
/// Concurrent downloads of one account.
const DOWNLOADS_OF_ONE: usize = 4;

/// Threads that accounts share fairly.
pub(crate) struct Scans {
    threads: Arc<Threads>,
    permits: AccountLimit,
    downloads: AccountLimit,
}

/// A download of an account, read in pieces; dropping it releases its permit.
pub(crate) struct Download {
    threads: Arc<Threads>,
    permit: Arc<AccountPermit>,
}

impl Scans {
    /// Starts the threads. Each account may have `of_one` reads, waiting ones included.
    ///
    /// # Errors
    ///
    /// When the system provides no threads.
    pub(crate) fn start(name: &str, of_one: usize) -> io::Result<Self> {
        let threads = Arc::new(Threads::start(name, THREADS, WAITING)?);
        let downloads = AccountLimit::new(DOWNLOADS_OF_ONE);
        Ok(Self { threads, permits: AccountLimit::new(of_one), downloads })
    }

    /// Runs work for an account after its earlier work is done.
    ///
    /// # Errors
    ///
    /// When the account's limit or the queue is full.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        account: AccountId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let permit = Arc::new(self.permits.take(account).ok_or(Fault::Counting)?);
        in_turn(&self.threads, &permit, work).await
    }

    /// Like [`Self::run`], for async work that calls the ports.
    pub(crate) async fn read<T, F>(
        &self,
        account: AccountId,
        work: impl FnOnce() -> F + Send + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>>,
    {
        self.run(account, move || pollster::block_on(work())).await?
    }

    /// Takes a permit for a download of an account.
    ///
    /// # Errors
    ///
    /// When the account has too many downloads.
    pub(crate) fn download(&self, account: AccountId) -> Result<Download, Fault> {
        let permit = Arc::new(self.downloads.take(account).ok_or(Fault::Counting)?);
        Ok(Download { threads: Arc::clone(&self.threads), permit })
    }
}

impl Download {
    /// Reads the next piece once no other download of the account is running.
    ///
    /// # Errors
    ///
    /// When the queue is full.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        in_turn(&self.threads, &self.permit, work).await
    }

    /// Like [`Self::run`], for async work that calls the ports.
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

async fn in_turn<T: Send + 'static>(
    threads: &Threads,
    permit: &Arc<AccountPermit>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let turn = permit.turn().await;
    let permit = Arc::clone(permit);
    let work = move || {
        // The turn lasts as long as the work, even if the caller no longer waits.
        let _turn = (turn, permit);
        work()
    };
    Ok(threads.run(work).await?)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc::sync_channel;
    use std::task::{Context, Waker};

    use enrich_core::Timestamp;

    use super::*;

    #[test]
    fn an_account_waits_for_itself_and_others_do_not_wait_for_it() {
        let scans = Scans::start("test", 4).unwrap();
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
        let scans = Scans::start("test", 4).unwrap();
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
