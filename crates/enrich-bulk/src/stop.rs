//! The stop signal of a run, and how a run ends.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// The signal that stops a run. The run then sends no more rows, and waits for the rows in flight.
/// Clones share the same signal.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Sends the signal. This can be called from any thread.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Whether the signal was sent.
    pub fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn wait(&self) {
        let mut signal = self.0.subscribe();
        // The wait cannot fail, because `self` holds the sender of the signal.
        let _ = signal.wait_for(|is_set| *is_set).await;
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// All rows are written.
    Whole,
    /// The run was stopped.
    Stopped,
    /// The next row may cost more than is left of the ceiling (the most credits that the list may
    /// cost).
    Ceiling,
    /// The account cannot pay for the next row. The text is the message for the user.
    OutOfCredits(String),
    /// A call was refused for a reason that applies to all rows, such as an invalid API key. The
    /// text is the reason.
    Refused(String),
    /// The run has got no answer for too long. The text is the reason.
    Unreachable(String),
}
