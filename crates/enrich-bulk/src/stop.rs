//! Telling a run to stop.

use std::sync::Arc;

use tokio::sync::watch;

/// Tells a run to stop: what is on its way is waited for, nothing more is asked. Clones are one.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Tells it, from any thread.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was told.
    pub fn is_told(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once it was told.
    pub(crate) async fn told(&self) {
        let mut told = self.0.subscribe();
        // It fails where the sender is gone, and that is held here.
        let _ = told.wait_for(|told| *told).await;
    }
}
