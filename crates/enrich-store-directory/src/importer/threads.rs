//! Divides work among threads.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

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
