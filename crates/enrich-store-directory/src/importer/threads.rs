//! Divides work among threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Maximum number of chunks of items that [`make_ahead`] keeps until they are taken.
const WAITING: usize = 4;

/// Returns the number of processors that this process may use, but at most `most`.
pub(super) fn processors(most: usize) -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(most)
}

/// Does work in parts, and returns the results in the order of the parts. The first part is done on
/// this thread, by `own`. Each other part is done on a thread of its own, by `other`.
///
/// # Panics
///
/// When a part panics, or the system refuses a thread.
pub(super) fn in_parts<P: Send, T: Send>(
    parts: impl Iterator<Item = P>,
    own: impl FnOnce(P) -> T,
    other: impl Fn(P) -> T + Sync,
) -> Vec<T> {
    let (mut parts, other) = (parts, &other);
    thread::scope(|scope| {
        let first = parts.next();
        let others: Vec<_> = parts.map(|part| scope.spawn(move || other(part))).collect();
        let mut results: Vec<T> = first.map(own).into_iter().collect();
        for other in others {
            results.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    })
}

/// The error for the thread that makes items in [`make_ahead`]: the thread that takes the items has
/// stopped with an error.
pub(super) struct Stopped;

/// The function to which `make` passes each item in [`make_ahead`].
pub(super) type Add<'a, T> = &'a mut dyn FnMut(T) -> Result<(), Stopped>;

/// Makes items on another thread, and passes them to `take` on this thread: in order, and in chunks
/// of `at_once` items; only the last chunk may be shorter. `make` gets a function of the type
/// [`Add`]. It must pass each item to this function, and must return when this function returns an
/// error.
///
/// # Errors
///
/// When `take` fails.
///
/// # Panics
///
/// When `make` panics, or the system refuses the thread.
pub(super) fn make_ahead<T: Send, E>(
    at_once: usize,
    make: impl FnOnce(Add<'_, T>) -> Result<(), Stopped> + Send,
    take: impl FnMut(Vec<T>) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (into, chunks) = sync_channel(WAITING);
        scope.spawn(move || {
            let mut chunk = Vec::new();
            let mut add = |item| {
                chunk.push(item);
                if chunk.len() < at_once {
                    return Ok(());
                }
                into.send(std::mem::take(&mut chunk)).map_err(|_| Stopped)
            };
            if make(&mut add).is_ok() {
                // If the last chunk cannot be sent, the receiver has already stopped and returned
                // its error.
                let _ = into.send(chunk);
            }
        });
        chunks.into_iter().try_for_each(take)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: usize = 8;

    fn numbers(count: usize) -> impl FnOnce(Add<'_, usize>) -> Result<(), Stopped> + Send {
        move |add| (0..count).try_for_each(add)
    }

    #[test]
    fn items_come_in_order_and_whole() {
        for count in [0, 1, AT_ONCE, 10 * AT_ONCE + 1] {
            let mut taken = Vec::new();
            let take = |chunk: Vec<usize>| {
                taken.extend(chunk);
                Ok::<(), ()>(())
            };
            make_ahead(AT_ONCE, numbers(count), take).unwrap();
            assert!(taken.into_iter().eq(0..count));
        }
    }

    #[test]
    fn an_error_ends_both_threads() {
        let mut chunks = 0;
        let take = |_: Vec<usize>| {
            chunks += 1;
            if chunks == 2 { Err("full") } else { Ok(()) }
        };
        assert_eq!(make_ahead(AT_ONCE, numbers(100 * AT_ONCE), take), Err("full"));
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_of_the_maker_is_not_an_end() {
        let make = |add: Add<'_, usize>| {
            (0..3 * AT_ONCE).try_for_each(add)?;
            panic!("half of the items are missing");
        };
        make_ahead(AT_ONCE, make, |_| Ok::<(), ()>(())).unwrap();
    }
}
