//! The stop signal of a run.

use std::sync::Arc;

use tokio::sync::watch;

/// Stops a run: rows in flight are waited for, and no more are sent. Clones share the signal.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Sends the signal, from any thread.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Whether the signal was sent.
    pub fn is_told(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for the signal.
    pub(crate) async fn told(&self) {
        let mut told = self.0.subscribe();
        // Cannot fail: `self` holds the sender.
        let _ = told.wait_for(|told| *told).await;
    }
}
