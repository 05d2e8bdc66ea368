//! What a node answers from: a snapshot, and the values that are suppressed over it.

use std::sync::Arc;

use enrich_core::SuppressedValues;
use enrich_core::port::snapshots::Suppression;
use enrich_secrets::Secrets;
use enrich_store_directory::SuppressedHashes;

use crate::opened::Opened;

/// A snapshot with the suppressions of all nodes.
pub(crate) struct Live {
    pub(crate) opened: Arc<Opened>,
    /// All suppressed values.
    pub(crate) suppressed: Arc<SuppressedHashes>,
    /// The suppressed values that the snapshot still has; `None` when there are none.
    pub(crate) overlay: Option<SuppressedHashes>,
}

/// The suppressions of the store, as far as they were read.
#[derive(Debug)]
pub(crate) struct StoreSuppressions {
    /// The number of the last one.
    pub(crate) number: u64,
    pub(crate) hashes: SuppressedHashes,
}

impl StoreSuppressions {
    /// None.
    pub(crate) fn none(secrets: &Secrets) -> Self {
        Self { number: 0, hashes: SuppressedHashes::none(secrets) }
    }

    /// Adds the next suppressions.
    pub(crate) fn add(&mut self, page: &[Suppression]) {
        for suppression in page {
            self.hashes.add(suppression.hash, suppression.at);
            self.number = suppression.number;
        }
    }
}

impl Live {
    /// A snapshot and the suppressions of the store.
    ///
    /// A snapshot that has a suppression is without the value: both change in one transaction. So
    /// only the other suppressions are applied to answers.
    pub(crate) fn new(opened: Arc<Opened>, store: &StoreSuppressions) -> Self {
        let overlay = store.hashes.without(&opened.suppressed);
        let mut suppressed = store.hashes.clone();
        opened.suppressed.iter().for_each(|(hash, at)| suppressed.add(hash, at));
        let overlay = (overlay.count() > 0).then_some(overlay);
        Self { opened, suppressed: Arc::new(suppressed), overlay }
    }
}
