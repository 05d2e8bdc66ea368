//! Divides work among threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread;

/// The number of items in a chunk of [`make_ahead`].
const CHUNK: usize = 1024;
/// Maximum number of chunks of [`make_ahead`] that wait to be taken.
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

/// The receiver of the items has stopped with an error.
pub(super) struct Stopped;

/// Makes items on another thread, and passes them to `take` on this thread: in order, and many at
/// once. `make` passes each item to the function that it gets, and ends when this function returns
/// an error.
///
/// # Errors
///
/// When `take` fails.
///
/// # Panics
///
/// When `make` panics, or the system refuses the thread.
pub(super) fn make_ahead<T: Send, E>(
    make: impl FnOnce(&mut dyn FnMut(T) -> Result<(), Stopped>) -> Result<(), Stopped> + Send,
    take: impl FnMut(Vec<T>) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (into, chunks) = sync_channel(WAITING);
        scope.spawn(move || {
            let mut chunk = Vec::with_capacity(CHUNK);
            let mut add = |item| {
                chunk.push(item);
                if chunk.len() < CHUNK {
                    return Ok(());
                }
                let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK));
                into.send(full).map_err(|_| Stopped)
            };
            if make(&mut add).is_ok() {
                // If nobody receives it, the receiver has returned its error already.
                let _ = into.send(chunk);
            }
        });
        chunks.into_iter().try_for_each(take)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(
        count: usize,
    ) -> impl FnOnce(&mut dyn FnMut(usize) -> Result<(), Stopped>) -> Result<(), Stopped> + Send
    {
        move |add| (0..count).try_for_each(add)
    }

    #[test]
    fn items_come_in_order_and_whole() {
        for count in [0, 1, CHUNK, 10 * CHUNK + 1] {
            let mut taken = Vec::new();
            let take = |chunk: Vec<usize>| {
                taken.extend(chunk);
                Ok::<(), ()>(())
            };
            make_ahead(numbers(count), take).unwrap();
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
        assert_eq!(make_ahead(numbers(100 * CHUNK), take), Err("full"));
    }
}
