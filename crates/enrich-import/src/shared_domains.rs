//! Finds the domains that many records of a source have. For example, the branches of a chain often
//! have the chain's domain.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::input_fault::InputFault;
use crate::read_error::ReadError;
use crate::sorted_rows::Sorter;

/// A mapping may limit how many records may share a domain. This is the maximum number of domains
/// that occur in more records than the mapping's smallest limit. With more such domains, the import
/// fails. Each such domain takes 12 bytes of memory.
const MAX_SHARED: usize = 4_000_000;

/// Counts for each domain in how many records it occurs. The hashes of the domains are written to a
/// temporary file.
#[derive(Default)]
pub(crate) struct DomainCount {
    hashes: Sorter,
}

impl DomainCount {
    /// Counts a record (in Enrich's own import format) for each domain that it has.
    pub(crate) fn add(&mut self, record: &Map<String, Value>) -> std::io::Result<()> {
        for hash in domains(record) {
            self.hashes.add(&hash, &[])?;
        }
        Ok(())
    }

    /// Returns the domains that occur in more than `least` records: with 3, in at least 4 records.
    /// Returns an error if there are more than [`MAX_SHARED`] such domains.
    pub(crate) fn into_shared_domains(self, least: u32) -> Result<SharedDomains, ReadError> {
        let mut hashes = self.hashes.sorted().map_err(ReadError::Failed)?;
        let (mut shared, mut last, mut count) = (Vec::new(), Hash::default(), 0_u32);
        loop {
            let next = hashes.next_row().map_err(ReadError::Failed)?;
            let next = next.and_then(|(hash, _)| Hash::try_from(hash).ok());
            if next == Some(last) {
                count = count.saturating_add(1);
                continue;
            }
            if count > least {
                shared.push((last, count));
            }
            if shared.len() > MAX_SHARED {
                return Err(InputFault::ManySharedDomains(MAX_SHARED).into());
            }
            let Some(hash) = next else { return Ok(SharedDomains(shared)) };
            (last, count) = (hash, 1);
        }
    }
}

/// The domains that occur in many records. Each is stored as its hash, with the number of records.
/// The list is sorted by hash.
#[derive(Default)]
pub(crate) struct SharedDomains(Vec<(Hash, u32)>);

impl SharedDomains {
    /// Removes fields from a record (in Enrich's own import format). A field is removed if a domain
    /// of the record occurs in more records than the field's limit. Returns the number of removed
    /// values.
    pub(crate) fn remove_shared(
        &self,
        record: &mut Map<String, Value>,
        limits: &BTreeMap<String, u32>,
    ) -> usize {
        if self.0.is_empty() {
            return 0;
        }
        let count = |hash| match self.0.binary_search_by_key(&hash, |(known, _)| *known) {
            Ok(at) => self.0.get(at).map_or(0, |(_, count)| *count),
            Err(_) => 0,
        };
        let most = domains(record).into_iter().map(count).max().unwrap_or_default();
        let exceeded = limits.iter().filter(|(_, limit)| most > **limit);
        let removed = exceeded.filter_map(|(field, _)| record.shift_remove(field));
        removed.map(|values| values.as_array().map_or(1, Vec::len)).sum()
    }
}

/// The first bytes of a domain's hash. With a hundred million domains, the probability that two
/// have the same hash is less than one in three thousand.
type Hash = [u8; 8];

/// Returns the hashes of a record's domains. Each hash occurs once.
fn domains(record: &Map<String, Value>) -> BTreeSet<Hash> {
    let given = ["domains", "domain"].into_iter().filter_map(|field| record.get(field));
    let values = given.flat_map(|value| match value {
        Value::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    });
    let texts = values.filter_map(|value| value.get("domain").unwrap_or(value).as_str());
    let hash = |text: &str| {
        let mut hash = Hash::default();
        blake3::Hasher::new().update(text.as_bytes()).finalize_xof().fill(&mut hash);
        hash
    };
    texts.map(hash).collect()
}
