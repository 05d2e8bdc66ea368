//! A future that goes on to its end when nobody waits for it any more.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs on as a task of its own when it is dropped before its end: a client who hangs up must not
/// stop a call between its charge and its place in the counters.
pub(crate) struct DetachOnDrop<T: 'static>(Option<Pin<Box<dyn Future<Output = T>>>>);

impl<T> DetachOnDrop<T> {
    /// Detaches a future.
    pub(crate) fn new(future: Pin<Box<dyn Future<Output = T>>>) -> Self {
        Self(Some(future))
    }
}

impl<T> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out while it is polled: a future that panicked must not be polled again.
        let Some(mut future) = self.0.take() else { return Poll::Pending };
        let output = future.as_mut().poll(context);
        if output.is_pending() {
            self.0 = Some(future);
        }
        output
    }
}

impl<T> Drop for DetachOnDrop<T> {
    fn drop(&mut self) {
        // Where the worker itself ends, so does this, and the ledger has what was charged.
        if let Some(unfinished) = self.0.take() {
            actix_web::rt::spawn(unfinished);
        }
    }
}
