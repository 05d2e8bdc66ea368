//! The data that a node answers from: a snapshot, and the values that are left out of its answers.

use std::sync::Arc;

use enrich_core::SuppressedValues;
use enrich_core::port::snapshots::Suppression;
use enrich_secrets::Secrets;
use enrich_store_directory::SuppressedHashes;

use crate::opened::Opened;

/// A snapshot, and the suppressions (values that no answer may contain) that apply to its answers.
pub(crate) struct Live {
    pub(crate) opened: Arc<Opened>,
    /// The keyed hashes of all suppressed values, from the store and from the snapshot.
    pub(crate) suppressed: Arc<SuppressedHashes>,
    /// The suppressed values that the snapshot may still contain; `None` if there are none.
    pub(crate) overlay: Option<SuppressedHashes>,
}

/// The suppressions (values that no answer may contain) that were read from the store so far.
#[derive(Debug)]
pub(crate) struct StoreSuppressions {
    /// The number of the last suppression that was read from the store.
    pub(crate) number: u64,
    pub(crate) hashes: SuppressedHashes,
}

impl StoreSuppressions {
    /// Creates an empty set of suppressions.
    pub(crate) fn none(secrets: &Secrets) -> Self {
        Self { number: 0, hashes: SuppressedHashes::none(secrets) }
    }

    /// Adds the next suppressions. They must be in the order of their numbers.
    pub(crate) fn add(&mut self, page: &[Suppression]) {
        for suppression in page {
            self.hashes.add(suppression.hash, suppression.at);
            self.number = suppression.number;
        }
    }
}

impl Live {
    /// Combines a snapshot with the suppressions (values that no answer may contain) of the store.
    ///
    /// When a value is suppressed in the directory (the look-up data), one transaction stores the
    /// suppression and removes the value. So if a snapshot contains a suppression, it does not
    /// contain the suppressed value. Only a suppression that is in the store and not in the
    /// snapshot must be applied to answers.
    pub(crate) fn new(opened: Arc<Opened>, store: &StoreSuppressions) -> Self {
        // A suppression can be taken back (ended). The store still contains such suppressions; only
        // a snapshot shows that they were taken back. So a value stays suppressed until the node
        // answers from a snapshot in which its suppression is taken back.
        let mut in_store = store.hashes.clone();
        in_store.take_back(opened.taken_back.iter());
        let overlay = in_store.without(&opened.suppressed);
        let changes = opened.suppression_changes + overlay.version();
        let mut suppressed = in_store;
        opened.suppressed.iter().for_each(|(hash, at)| suppressed.add(hash, at));
        let suppressed = suppressed.with_changes(changes);
        let overlay = (!overlay.is_empty()).then_some(overlay);
        Self { opened, suppressed: Arc::new(suppressed), overlay }
    }
}
