//! Counts company names that look-ups did not find. The counts are in memory until a store writes
//! them.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use enrich_core::port::misses::{CountMisses, Misses};
use enrich_core::{Timestamp, day_of};
use enrich_secrets::{Purpose, Secret, Secrets};
use enrich_text::CompanyName;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// The number of days for which counts are kept, including today.
const KEPT_DAYS: i64 = 30;
/// Maximum number of counts in memory. There is one count for each name and day. They take less
/// than a megabyte.
const MAX_GATHERED: usize = 4096;
/// Maximum length of a name that is counted, in bytes.
const LONGEST: usize = 200;
/// Maximum number of digits in a text that is counted. A text with more digits may be a phone
/// number.
const MAX_DIGITS: usize = 6;

/// A company name that look-ups did not find, with the sum of its counts over several days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissedName {
    /// The keyed hash of the name in the form of [`CompanyName::squashed`]. For `L'Oréal S.A.`,
    /// this is the hash of `loreal`.
    pub hash: [u8; 32],
    /// The name's text; `None` when only hashes are stored.
    pub name: Option<String>,
    /// The number of look-ups that did not find the name.
    pub calls: u64,
    /// The last day on which a look-up did not find the name, in days since 1970-01-01 (UTC).
    pub last_day: i64,
}

/// The number of look-ups on one day that did not find a certain name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissCount {
    /// The day, in days since 1970-01-01 (UTC).
    pub day: i64,
    /// The keyed hash of the name in the form of [`CompanyName::squashed`]. For `L'Oréal S.A.`,
    /// this is the hash of `loreal`.
    pub hash: [u8; 32],
    /// The number of look-ups on this day that did not find the name.
    pub calls: u64,
    /// The name's text; `None` when only hashes are stored.
    pub name: Option<String>,
}

/// The counts that [`MissCounter::take`] took out of memory.
#[derive(Debug)]
pub struct TakenMisses {
    /// The counts, sorted by day and then by hash.
    pub counts: Vec<MissCount>,
    /// The number of counts that [`MissCounter::add`] has dropped, because there were too many
    /// counts in memory.
    pub lost: u64,
}

/// Counts in memory how often look-ups did not find a company name.
#[derive(Debug)]
pub struct MissCounter {
    secrets: Secrets,
    keeps_texts: bool,
    /// The counts in memory, by day and by the hash of the name.
    gathered: Mutex<FxHashMap<(i64, [u8; 32]), MissCount>>,
    lost: AtomicU64,
}

impl MissCounter {
    /// Maximum number of names that a store keeps for each day. If there are more names, those with
    /// the highest counts are kept.
    pub const MAX_PER_DAY: u32 = 10_000;

    /// Creates a counter; `None` if the setting `what` says that nothing is to be counted.
    pub fn new(what: CountMisses, secrets: &Secrets) -> Option<Self> {
        (what != CountMisses::Off).then(|| Self {
            secrets: secrets.clone(),
            keeps_texts: what == CountMisses::Texts,
            gathered: Mutex::default(),
            lost: AtomicU64::new(0),
        })
    }

    /// Whether the texts of the counted names are stored, and not only their hashes.
    pub fn keeps_texts(&self) -> bool {
        self.keeps_texts
    }

    /// Adds a count to the counts in memory. The count may be one that a store could not write. If
    /// the memory already contains too many counts, a count of a new name or a new day is dropped.
    pub fn add(&self, count: MissCount) {
        let mut gathered = self.gathered.lock();
        let is_full = gathered.len() >= MAX_GATHERED;
        let counted = (count.day, count.hash);
        match gathered.get_mut(&counted) {
            Some(known) => known.calls = known.calls.saturating_add(count.calls),
            None if is_full => drop(self.lost.fetch_add(1, Ordering::Relaxed)),
            None => drop(gathered.insert(counted, count)),
        }
    }

    /// Takes all counts out of memory. Returns them sorted by day and hash.
    pub fn take(&self) -> TakenMisses {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        let gathered = mem::take(&mut *self.gathered.lock());
        let mut counts: Vec<MissCount> = gathered.into_values().collect();
        counts.sort_unstable_by_key(|count| (count.day, count.hash));
        TakenMisses { counts, lost }
    }
}

impl Misses for MissCounter {
    fn count(&self, name: &CompanyName, at: Timestamp) {
        let text = name.display();
        if !is_countable(text) {
            return;
        }
        let hash = hash(self.secrets.current(), name);
        let name = self.keeps_texts.then(|| text.to_owned());
        self.add(MissCount { day: day_of(at), hash, calls: 1, name });
    }
}

/// Returns the keyed hashes under which a store may have the count of a name, one for each secret.
/// A store hashes a name with the current secret. When a new secret was added, older counts keep
/// the hash that was made with an earlier secret.
pub fn missed_name_hashes(secrets: &Secrets, name: &CompanyName) -> Vec<[u8; 32]> {
    secrets.newest_first().map(|secret| hash(secret, name)).collect()
}

fn hash(secret: &Secret, name: &CompanyName) -> [u8; 32] {
    secret.hash(Purpose::MissedName, &[name.squashed().as_bytes()])
}

/// Returns the last day whose counts have expired at `now`, in days since 1970-01-01 (UTC). The
/// counts of all earlier days have expired too.
pub fn expired_day_of_misses(now: Timestamp) -> i64 {
    day_of(now) - KEPT_DAYS
}

/// Whether a text is counted as a company name. Some callers send an email address, a number or a
/// URL in place of a company name. Such texts are not counted.
fn is_countable(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.len() <= LONGEST && digits <= MAX_DIGITS && !text.contains(['@', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_numbers_and_pages_are_not_counted() {
        for text in [
            "ada@quill.example",
            "+44 20 7946 0123",
            "linkedin.com/in/ada-penn",
            &"a".repeat(LONGEST + 1),
        ] {
            assert!(!is_countable(text), "{text}");
        }
        for text in ["Quill Ltd", "3M", "1-800-Flowers", "Café Zürich GmbH"] {
            assert!(is_countable(text), "{text}");
        }
    }

    #[test]
    fn what_gathers_in_memory_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::create(&folder.path().join(enrich_secrets::SECRET_FILE)).unwrap();
        let counter = MissCounter::new(CountMisses::Hashed, &secrets).unwrap();
        for number in 0..MAX_GATHERED + 3 {
            let (day, hash) = (number as i64, [0; 32]);
            counter.add(MissCount { day, hash, calls: 1, name: None });
        }
        let taken = counter.take();
        assert_eq!((taken.counts.len(), taken.lost), (MAX_GATHERED, 3));
    }
}
