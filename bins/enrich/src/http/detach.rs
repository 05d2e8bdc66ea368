//! What goes on to its end even if nobody waits for it any more.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A call on its way to its answer. A caller who hangs up must not stop it between its charge and
/// its place in the counters: when it is dropped unfinished, it runs on as a task of its own.
pub(super) struct DetachOnDrop<T: 'static>(Option<Pin<Box<dyn Future<Output = T>>>>);

impl<T> DetachOnDrop<T> {
    /// The call that `begin` begins.
    ///
    /// Its future is made where it stays: it is large, and would be copied there as a whole.
    pub(super) fn of<F: Future<Output = T> + 'static>(begin: impl FnOnce() -> F) -> Self {
        let place = Box::<F>::new_uninit();
        let future = Box::write(place, begin());
        Self(Some(Box::into_pin(future)))
    }
}

impl<T> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out meanwhile: what panics is not to be polled again.
        let Some(mut future) = self.0.take() else {
            // It has ended and been read; nobody asks again.
            return Poll::Pending;
        };
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
            actix_rt::spawn(unfinished);
        }
    }
}
