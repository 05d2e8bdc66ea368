//! A bounded queue of jobs, from many callers to one thread.
//!
//! The thread takes all waiting items at once, and hands back the emptied memory of the last batch.
//! So the same few pages are reused. A ring buffer of the queue's full capacity would use memory
//! that has left the processor's caches (`docs/performance.md`).

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// The callers' end. Dropping it ends the queue once the waiting items are taken.
#[derive(Debug)]
pub(super) struct Entrance<T>(Arc<Queue<T>>);

/// The deciding thread's end. Dropping it drops the waiting items.
#[derive(Debug)]
pub(super) struct Exit<T>(Arc<Queue<T>>);

#[derive(Debug)]
struct Queue<T> {
    waiting: Mutex<Waiting<T>>,
    /// Signalled when an item arrives or the queue ends.
    changed: Condvar,
    /// The most waiting items.
    room: usize,
}

#[derive(Debug)]
struct Waiting<T> {
    /// The waiting items in order of arrival.
    items: Vec<T>,
    /// Whether both ends exist.
    is_open: bool,
}

/// Why an item was not put into the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The queue is full.
    Full,
    /// The deciding thread has ended.
    Closed,
}

/// The result of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// Items can be taken.
    Arrived,
    /// The time limit has passed.
    TimedOut,
    /// The queue is empty and has ended.
    Closed,
}

/// A queue of at most `room` items.
pub(super) fn bounded<T>(room: usize) -> (Entrance<T>, Exit<T>) {
    let waiting = Mutex::new(Waiting { items: Vec::new(), is_open: true });
    let queue = Arc::new(Queue { waiting, changed: Condvar::new(), room });
    (Entrance(Arc::clone(&queue)), Exit(queue))
}

impl<T> Queue<T> {
    fn len(&self) -> usize {
        self.waiting.lock().items.len()
    }
}

impl<T> Entrance<T> {
    /// The number of waiting items.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts an item at the end of the queue.
    pub(super) fn put(&self, item: T) -> Result<(), Refused> {
        let mut waiting = self.0.waiting.lock();
        if !waiting.is_open {
            return Err(Refused::Closed);
        }
        if waiting.items.len() >= self.0.room {
            return Err(Refused::Full);
        }
        waiting.items.push(item);
        drop(waiting);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Exit<T> {
    /// Waits until an item can be taken, at most for `limit`.
    pub(super) fn wait(&self, limit: Option<Duration>) -> Waited {
        let mut waiting = self.0.waiting.lock();
        let goes_on = |waiting: &mut Waiting<T>| waiting.items.is_empty() && waiting.is_open;
        match limit {
            None => self.0.changed.wait_while(&mut waiting, goes_on),
            Some(limit) => {
                self.0.changed.wait_while_for(&mut waiting, goes_on, limit);
            }
        }
        match (waiting.items.is_empty(), waiting.is_open) {
            (false, _) => Waited::Arrived,
            (true, true) => Waited::TimedOut,
            (true, false) => Waited::Closed,
        }
    }

    /// The number of waiting items.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the first `most` waiting items, in order of arrival. Drops what is still in `taken`
    /// and reuses its memory.
    pub(super) fn take(&self, most: usize, taken: &mut Vec<T>) {
        taken.clear();
        let mut waiting = self.0.waiting.lock();
        mem::swap(&mut waiting.items, taken);
        // Only under overload.
        if taken.len() > most {
            waiting.items.extend(taken.drain(most..));
        }
    }
}

impl<T> Drop for Entrance<T> {
    fn drop(&mut self) {
        self.0.waiting.lock().is_open = false;
        self.0.changed.notify_one();
    }
}

impl<T> Drop for Exit<T> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting.lock();
        waiting.is_open = false;
        let left = mem::take(&mut waiting.items);
        // Dropping an item notifies its waiter; that must not hold the lock.
        drop(waiting);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn taken(exit: &Exit<u32>, most: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        exit.take(most, &mut taken);
        taken
    }

    #[test]
    fn what_waits_is_taken_in_its_order_at_most_so_much_at_once() {
        let (entrance, exit) = bounded(5);
        (0..5).for_each(|number| entrance.put(number).unwrap());
        assert_eq!(taken(&exit, 3), [0, 1, 2]);
        entrance.put(5).unwrap();
        assert_eq!((exit.len(), taken(&exit, 9)), (3, vec![3, 4, 5]));
        assert!(taken(&exit, 9).is_empty());
    }

    #[test]
    fn no_more_waits_than_there_is_room_for() {
        let (entrance, exit) = bounded(2);
        assert_eq!(
            [entrance.put(0), entrance.put(1), entrance.put(2)],
            [Ok(()), Ok(()), Err(Refused::Full)]
        );
        taken(&exit, 1);
        assert_eq!(entrance.put(3), Ok(()));
        assert_eq!(taken(&exit, 9), [1, 3]);
    }

    #[test]
    fn what_was_put_before_the_end_is_taken_first() {
        let (entrance, exit) = bounded(2);
        entrance.put(0).unwrap();
        drop(entrance);
        assert_eq!(exit.wait(None), Waited::Arrived);
        assert_eq!(taken(&exit, 9), [0]);
        assert_eq!(exit.wait(None), Waited::Closed);
    }

    #[test]
    fn where_nobody_takes_nothing_is_kept() {
        let (entrance, exit) = bounded(2);
        let item = Arc::new(());
        entrance.put(Arc::clone(&item)).unwrap();
        drop(exit);
        assert_eq!(Arc::strong_count(&item), 1);
        assert_eq!(entrance.put(item), Err(Refused::Closed));
    }

    #[test]
    fn who_waits_in_vain_is_told() {
        let (entrance, exit) = bounded::<u32>(1);
        assert_eq!(exit.wait(Some(Duration::from_millis(1))), Waited::TimedOut);
        drop(entrance);
        assert_eq!(exit.wait(Some(Duration::from_secs(60))), Waited::Closed);
    }

    #[test]
    fn who_waits_is_woken_by_what_arrives_and_by_the_end() {
        let (entrance, exit) = bounded(1);
        let waits = thread::spawn(move || (exit.wait(None), taken(&exit, 9), exit.wait(None)));
        // Long enough for the thread to wait, on most machines.
        thread::sleep(Duration::from_millis(20));
        entrance.put(7).unwrap();
        thread::sleep(Duration::from_millis(20));
        drop(entrance);
        assert_eq!(waits.join().unwrap(), (Waited::Arrived, vec![7], Waited::Closed));
    }

    /// All items of several senders are taken, each sender's in order.
    #[test]
    fn nothing_is_lost_between_many_and_one() {
        const EACH: u32 = 20_000;
        let (entrance, exit) = bounded(64);
        let put = |who, entrance: Arc<Entrance<(usize, u32)>>| {
            for number in 0..EACH {
                while let Err(refused) = entrance.put((who, number)) {
                    assert_eq!(refused, Refused::Full);
                    thread::yield_now();
                }
            }
        };
        let entrance = Arc::new(entrance);
        let mut next = [0; 4];
        let putting: Vec<_> = (0..next.len())
            .map(|who| (who, Arc::clone(&entrance)))
            .map(|(who, entrance)| thread::spawn(move || put(who, entrance)))
            .collect();
        drop(entrance);
        let mut group = Vec::new();
        while exit.wait(None) == Waited::Arrived {
            exit.take(16, &mut group);
            for (who, number) in group.drain(..) {
                assert_eq!(number, next[who]);
                next[who] += 1;
            }
        }
        assert_eq!(next, [EACH; 4]);
        putting.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
