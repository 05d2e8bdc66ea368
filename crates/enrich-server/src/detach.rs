//! A future that runs to its end, even if it is dropped.

use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that continues as a separate task if it is dropped before its end. So if a client
/// disconnects, its call still runs to the end. For example, a call that was charged is then also
/// recorded in the metrics.
pub(crate) struct DetachOnDrop<T: 'static>(Option<Pin<Box<dyn Future<Output = T>>>>);

impl<T> DetachOnDrop<T> {
    pub(crate) fn new(future: Pin<Box<dyn Future<Output = T>>>) -> Self {
        Self(Some(future))
    }
}

impl<T> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // The future is taken out while it is polled. If the poll panics, the future is not put
        // back, because it must not be polled again.
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
        // The rest of the future runs as a task of this worker thread. If the thread ends before
        // the task, the rest of the call is lost. But a charge that is already in the ledger stays
        // there.
        if let Some(unfinished) = self.0.take() {
            actix_web::rt::spawn(unfinished);
        }
    }
}
