//! Lists that are read to count them: on threads of their own, so that pages and downloads wait for
//! none of them, and one of an account at a time, so that no account holds up all others.

use std::io;

use enrich_core::AccountId;

use crate::fault::Fault;
use crate::places::Places;
use crate::threads::Threads;

const THREADS: usize = 2;
const WAITING: usize = 64;
/// How many of one account may be under way or wait for their turn.
const OF_ONE: usize = 4;

/// Reads lists.
pub(crate) struct Scans {
    threads: Threads,
    places: Places,
}

impl Scans {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// When the system gives none.
    pub(crate) fn start() -> io::Result<Self> {
        let threads = Threads::start("enrich-scan", THREADS, WAITING)?;
        Ok(Self { threads, places: Places::new(OF_ONE) })
    }

    /// Reads a list of an account once its others are read.
    ///
    /// # Errors
    ///
    /// When too many are to be read, of the account or of all.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        account: AccountId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let place = self.places.take(account).ok_or(Fault::Counting)?;
        let turn = place.turn().await;
        let read = move || {
            // Its turn lasts as long as the work, even if nobody waits for it any more.
            let _turn = (turn, place);
            work()
        };
        Ok(self.threads.run(read).await?)
    }
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
        let scans = Scans::start().unwrap();
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
}
