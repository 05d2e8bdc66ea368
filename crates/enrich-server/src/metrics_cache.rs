//! Limits the memory for the texts of the metrics. Anybody who can reach `/metrics` can request the
//! metrics any number of times. Each request creates a text, which stays in memory until the client
//! has read it. So if many clients read slowly, further clients get a text that already exists.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

/// While fewer texts of `/metrics` than this are in memory, each client gets a text of its own,
/// with the present values. Otherwise a client may get a text that already exists.
const OWN: usize = 8;
/// A client may get a text of `/metrics` that was created for another client, but only if the text
/// is younger than this. Otherwise a new text is created.
const SHARED_TIME: Duration = Duration::from_secs(1);

/// The texts of `/metrics` that clients are reading, each with the time of its creation. The newest
/// text is last.
#[derive(Default)]
pub(crate) struct MetricsCache(Mutex<Vec<(Instant, Weak<Vec<u8>>)>>);

struct Rendering(Arc<Vec<u8>>);

impl AsRef<[u8]> for Rendering {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl MetricsCache {
    /// Returns a text that `render` creates. But if clients are reading [`OWN`] or more texts, and
    /// the newest text is younger than [`SHARED_TIME`], returns the newest text.
    pub(crate) fn get(&self, render: impl FnOnce() -> Vec<u8>) -> Bytes {
        let mut kept = self.0.lock();
        kept.retain(|(_, text)| text.strong_count() > 0);
        let newest =
            kept.last().filter(|(made, _)| kept.len() >= OWN && made.elapsed() < SHARED_TIME);
        if let Some(text) = newest.and_then(|(_, text)| text.upgrade()) {
            return Bytes::from_owner(Rendering(text));
        }
        let text = Arc::new(render());
        kept.push((Instant::now(), Arc::downgrade(&text)));
        Bytes::from_owner(Rendering(text))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn slow_readers_share_and_everybody_else_gets_what_is_true_now() {
        let cache = MetricsCache::default();
        let made = Cell::new(0_u8);
        let get = || {
            cache.get(|| {
                made.set(made.get() + 1);
                vec![made.get()]
            })
        };
        for number in 1..=50 {
            assert_eq!(get()[0], number);
        }
        let slow: Vec<Bytes> = (0..OWN).map(|_| get()).collect();
        let app = get();
        assert_eq!(app.as_ptr(), slow[OWN - 1].as_ptr());
        drop((slow, app));
        assert_eq!(get()[0], made.get());
        assert!(cache.0.lock().len() < 3, "what nobody reads is kept");
    }
}
