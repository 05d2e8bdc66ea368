//! The suppressed values in memory. They are compared with answers that were stored before the
//! values were forgotten.

use std::sync::Arc;

use enrich_core::port::importer::Suppressed;
use enrich_core::{DirectoryRevision, SuppressedValues, Timestamp};
use enrich_secrets::Secrets;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::view::View;
use crate::importer::suppression;

/// Reads the suppressed values when they have changed.
#[derive(Debug)]
pub(super) struct Suppression {
    secrets: Secrets,
    known: Mutex<Option<(DirectoryRevision, Arc<Hashes>)>>,
}

/// The suppressed values as keyed hashes, each with the time from which it is suppressed.
#[derive(Debug)]
struct Hashes {
    secrets: Secrets,
    hashes: FxHashMap<[u8; 32], Timestamp>,
}

impl Suppression {
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), known: Mutex::new(None) }
    }

    /// The suppressed values of the visible directory. They are read again only if the directory's
    /// revision and their number have changed.
    pub(super) fn current(&self, view: View<'_>) -> rusqlite::Result<Arc<dyn SuppressedValues>> {
        let revision = view.revision()?;
        let mut known = self.known.lock();
        if let Some((of, hashes)) = known.as_mut() {
            if *of == revision {
                return Ok(Arc::clone(hashes) as _);
            }
            if hashes.count() == view.suppressed_count()? {
                *of = revision;
                return Ok(Arc::clone(hashes) as _);
            }
        }
        let hashes = view.suppressed_hashes()?;
        let hashes = Arc::new(Hashes { secrets: self.secrets.clone(), hashes });
        *known = Some((revision, Arc::clone(&hashes)));
        Ok(hashes)
    }
}

impl SuppressedValues for Hashes {
    fn count(&self) -> u64 {
        self.hashes.len() as u64
    }

    fn holds(&self, value: &Suppressed) -> bool {
        self.holds_since(value, Timestamp::MIN)
    }

    fn holds_since(&self, value: &Suppressed, since: Timestamp) -> bool {
        let is_since = |hash| self.hashes.get(&hash).is_some_and(|&at| at >= since);
        !self.hashes.is_empty() && suppression::hashes(&self.secrets, value).any(is_since)
    }
}
