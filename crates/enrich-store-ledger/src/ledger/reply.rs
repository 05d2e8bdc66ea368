//! Delivers decisions to the callers that wait for them.
//!
//! All decisions of a group are delivered at once. Waking each waiter from the writer's thread
//! would cost one system call each. So the writer wakes one waiter of each thread, and that one
//! wakes the others of its thread, which costs very little there:
//!
//! ```text
//! 1. take the waker of every waiter, and add it to the list of its thread
//! 2. store every decision, each with the list of its thread
//! 3. wake one waiter of each list; a waiter that takes or drops its decision wakes its whole list
//! ```
//!
//! No list grows after the first decision is stored, and every waiter that ends empties its list. A
//! waiter that is polled between 1 and 2 is not on a list any more and is woken by itself.
//!
//! A waker wakes a task, and a task that waits for several things may take its decision later. So
//! the writer checks after a short delay whether a list still has waiters, and wakes them
//! ([`Woken`]).

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

use parking_lot::Mutex;

/// Where a decision is stored. Dropping it without one reports the decision as lost.
#[derive(Debug)]
pub(super) struct Reply<T>(Arc<Slot<T>>);

/// The future of a decision.
#[derive(Debug)]
pub(super) struct Decision<T>(Arc<Slot<T>>);

/// The writer ended without a decision, so the outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the decision was lost")]
pub(super) struct Lost;

type Slot<T> = Mutex<State<T>>;

#[derive(Debug)]
enum State<T> {
    /// Not decided; the waiter, if there is one.
    Open(Option<Waiter>),
    /// Decided or lost; the list of other waiters to wake.
    Decided(Result<T, Lost>, Option<Arc<List>>),
    /// Taken, or its future was dropped.
    Done,
}

/// A waiting task and its thread.
#[derive(Debug)]
pub(super) struct Waiter {
    thread: ThreadId,
    waker: Waker,
}

/// The waiters of one thread that are woken together.
#[derive(Debug, Default)]
pub(super) struct List(Mutex<Vec<Waker>>);

/// The lists of a group.
#[derive(Default)]
pub(super) struct Round(Vec<(ThreadId, Arc<List>)>);

/// The lists of a group after one waiter of each was woken.
#[derive(Default)]
#[must_use = "dropped, it wakes everybody at once"]
pub(super) struct Woken(Vec<Arc<List>>);

/// A reply and the future of its decision.
pub(super) fn pair<T>() -> (Reply<T>, Decision<T>) {
    let slot = Arc::new(Mutex::new(State::Open(None)));
    (Reply(Arc::clone(&slot)), Decision(slot))
}

impl<T> Reply<T> {
    /// The current waiter.
    pub(super) fn waiter(&self) -> Option<Waiter> {
        match &mut *self.0.lock() {
            State::Open(waiter) => waiter.take(),
            State::Decided(..) | State::Done => None,
        }
    }

    /// Stores the decision, also when its future was dropped.
    pub(super) fn deliver(self, decision: T, list: Option<Arc<List>>) {
        self.leave(Ok(decision), list);
    }

    /// Reports that there is no decision.
    pub(super) fn lose(self, list: Option<Arc<List>>) {
        self.leave(Err(Lost), list);
    }

    fn leave(&self, decision: Result<T, Lost>, list: Option<Arc<List>>) {
        let mut state = self.0.lock();
        let State::Open(waiter) = &mut *state else {
            drop(state);
            // The future is gone, so nobody else would wake the waiters of its list.
            return list.iter().for_each(|list| list.wake_all());
        };
        let came_back = waiter.take();
        *state = State::Decided(decision, list);
        drop(state);
        if let Some(waiter) = came_back {
            waiter.waker.wake();
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        // Does nothing if a decision was stored.
        self.leave(Err(Lost), None);
    }
}

impl<T> Future for Decision<T> {
    type Output = Result<T, Lost>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.lock();
        if let State::Open(waiter) = &mut *state {
            let waker = context.waker().clone();
            *waiter = Some(Waiter { thread: thread::current().id(), waker });
            return Poll::Pending;
        }
        let taken = mem::replace(&mut *state, State::Done);
        drop(state);
        match taken {
            State::Decided(decision, list) => {
                list.iter().for_each(|list| list.wake_all());
                Poll::Ready(decision)
            }
            State::Open(_) | State::Done => Poll::Ready(Err(Lost)),
        }
    }
}

impl<T> Drop for Decision<T> {
    fn drop(&mut self) {
        let left = mem::replace(&mut *self.0.lock(), State::Done);
        if let State::Decided(_, Some(list)) = left {
            list.wake_all();
        }
    }
}

impl List {
    fn wake_all(&self) {
        let wakers = mem::take(&mut *self.0.lock());
        wakers.into_iter().for_each(Waker::wake);
    }

    fn wake_one(&self) {
        // The list must not be locked here: the woken waiter may use it at once.
        let one = self.0.lock().pop();
        if let Some(waker) = one {
            waker.wake();
        }
    }
}

impl Round {
    /// Adds a waiter to the list of its thread.
    pub(super) fn add(&mut self, waiter: Waiter) -> Arc<List> {
        let known = self.0.iter().find(|(thread, _)| *thread == waiter.thread);
        let list = match known {
            Some((_, list)) => Arc::clone(list),
            None => {
                let list = Arc::new(List::default());
                self.0.push((waiter.thread, Arc::clone(&list)));
                list
            }
        };
        list.0.lock().push(waiter.waker);
        list
    }

    /// Wakes one waiter of each list. All decisions of the group must be stored before.
    pub(super) fn wake(self) -> Woken {
        self.0.iter().for_each(|(_, list)| list.wake_one());
        Woken(self.0.into_iter().map(|(_, list)| list).collect())
    }
}

/// Also when the writer's thread panics: the decisions of these waiters are stored.
impl Drop for Woken {
    fn drop(&mut self) {
        self.wake_remaining();
    }
}

impl Woken {
    /// Whether all lists are empty.
    pub(super) fn is_complete(&self) -> bool {
        self.0.iter().all(|list| list.0.lock().is_empty())
    }

    /// Wakes the remaining waiters.
    pub(super) fn wake_remaining(&mut self) {
        self.0.drain(..).for_each(|list| list.wake_all());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::task::Wake;
    use std::time::Duration;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A thread that waits for a decision.
    struct Waiting {
        decision: Option<Decision<u8>>,
        woken: Arc<Count>,
    }

    impl Waiting {
        /// Starts waiting on this thread.
        fn begin() -> (Reply<u8>, Self) {
            let (reply, decision) = pair();
            let mut waiting = Self { decision: Some(decision), woken: Arc::default() };
            assert_eq!(waiting.poll(), Poll::Pending);
            (reply, waiting)
        }

        fn poll(&mut self) -> Poll<Result<u8, Lost>> {
            let waker = Waker::from(Arc::clone(&self.woken));
            let decision = self.decision.as_mut().unwrap();
            Pin::new(decision).poll(&mut Context::from_waker(&waker))
        }

        fn times_woken(&self) -> usize {
            self.woken.0.load(Ordering::SeqCst)
        }
    }

    fn deliver(replies: Vec<Reply<u8>>) -> Woken {
        let mut round = Round::default();
        let lists: Vec<_> =
            replies.iter().map(|reply| reply.waiter().map(|waiter| round.add(waiter))).collect();
        for (reply, list) in replies.into_iter().zip(lists) {
            reply.deliver(7, list);
        }
        round.wake()
    }

    fn three() -> (Vec<Reply<u8>>, Vec<Waiting>) {
        (0..3).map(|_| Waiting::begin()).unzip()
    }

    fn times_woken(waiting: &[Waiting]) -> Vec<usize> {
        waiting.iter().map(Waiting::times_woken).collect()
    }

    #[test]
    fn one_of_a_thread_is_woken_and_wakes_the_others() {
        let (replies, mut waiting) = three();
        let _woken = deliver(replies);
        assert_eq!(times_woken(&waiting), [0, 0, 1]);
        assert_eq!(waiting[2].poll(), Poll::Ready(Ok(7)));
        assert_eq!(times_woken(&waiting), [1, 1, 1]);
        assert_eq!(waiting[0].poll(), Poll::Ready(Ok(7)));
        assert_eq!(waiting[1].poll(), Poll::Ready(Ok(7)));
        assert_eq!(times_woken(&waiting), [1, 1, 1], "nobody is woken twice");
    }

    #[test]
    fn one_that_is_gone_hands_on_whom_it_was_to_wake() {
        let (replies, mut waiting) = three();
        let _woken = deliver(replies);
        waiting[2].decision = None;
        assert_eq!(times_woken(&waiting), [1, 1, 1]);
    }

    #[test]
    fn one_that_does_not_come_when_woken_holds_nobody_up_for_long() {
        let (replies, waiting) = three();
        let mut woken = deliver(replies);
        assert!(!woken.is_complete());
        assert_eq!(times_woken(&waiting), [0, 0, 1]);
        woken.wake_remaining();
        assert_eq!(times_woken(&waiting), [1, 1, 1]);
        assert!(woken.is_complete());
    }

    #[test]
    fn one_that_left_before_the_decision_is_not_counted_on() {
        let (replies, mut waiting) = three();
        waiting[2].decision = None;
        let _woken = deliver(replies);
        assert_eq!(times_woken(&waiting), [0, 1, 0]);
        assert_eq!(waiting[1].poll(), Poll::Ready(Ok(7)));
        assert_eq!(times_woken(&waiting), [1, 1, 0]);
    }

    #[test]
    fn one_that_comes_back_before_its_decision_is_woken_by_itself() {
        let (reply, mut waiting) = Waiting::begin();
        let mut round = Round::default();
        let list = reply.waiter().map(|waiter| round.add(waiter));
        assert_eq!(waiting.poll(), Poll::Pending);
        reply.deliver(7, list);
        assert_eq!(waiting.times_woken(), 1);
        assert_eq!(waiting.poll(), Poll::Ready(Ok(7)));
    }

    #[test]
    fn waiters_of_two_threads_are_woken_apart() {
        let (here, waits_here) = Waiting::begin();
        let (there, waits_there) = thread::spawn(Waiting::begin).join().unwrap();
        let _woken = deliver(vec![here, there]);
        assert_eq!((waits_here.times_woken(), waits_there.times_woken()), (1, 1));
    }

    #[test]
    fn a_decision_that_is_never_made_is_lost() {
        let (reply, mut waiting) = Waiting::begin();
        drop(reply);
        assert_eq!(waiting.times_woken(), 1);
        assert_eq!(waiting.poll(), Poll::Ready(Err(Lost)));
    }

    #[test]
    fn a_decision_made_before_anyone_waits_is_there() {
        let (reply, decision) = pair();
        reply.deliver(7, None);
        assert_eq!(pollster::block_on(decision), Ok(7));
    }

    /// Every waiter on every thread gets its decision.
    #[test]
    fn everyone_is_told() {
        let (sender, replies) = mpsc::channel();
        let (done, all_decisions) = mpsc::channel();
        for _ in 0..4 {
            let (sender, done) = (sender.clone(), done.clone());
            thread::spawn(move || {
                let waiting = (0..5_000).map(|_| {
                    let (reply, decision) = pair::<u8>();
                    sender.send(reply).unwrap();
                    decision
                });
                let waiting = futures_util::future::join_all(waiting);
                drop(sender);
                done.send(pollster::block_on(waiting)).unwrap();
            });
        }
        drop(sender);
        // Kept, so that waiters are woken by each other only.
        let mut woken = Vec::new();
        while let Ok(first) = replies.recv() {
            woken.push(deliver(
                std::iter::once(first).chain(replies.try_iter().take(300)).collect(),
            ));
        }
        for _ in 0..4 {
            let decisions =
                all_decisions.recv_timeout(Duration::from_secs(60)).expect("somebody still waits");
            assert!(decisions.iter().all(|decisions| *decisions == Ok(7)));
        }
    }
}
