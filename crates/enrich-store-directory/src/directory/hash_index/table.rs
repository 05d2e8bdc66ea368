//! A hash table of identifiers. For each identifier, it stores the subject (a company or a person)
//! and a fingerprint, which is a part of the identifier's hash. It does not store the identifier
//! itself.
//!
//! A bucket is as long as one line of the processor's cache, because reading an uncached line is
//! the main cost of a look-up. The hash of an entry determines the entry's own bucket. If this
//! bucket is full, the entry is stored in the next bucket with space. A bucket also stores how far
//! away the furthest of its own entries is, so that a search knows where to end. The hash map of
//! the standard library would take twice the memory, and even more while it grows.

use std::fmt;
use std::io::{self, Read, Write};

use enrich_core::{Confidence, SubjectId};

/// The size of a bucket in bytes: one line of the processor's cache.
pub(super) const BUCKET_BYTES: usize = 64;
const ENTRIES: usize = 9;
/// A full table uses this percentage of the places for entries in its buckets. Then about one entry
/// in ten is not in its own bucket. A look-up of an identifier that is not in the table reads about
/// two buckets on average.
const FULL_PERCENT: usize = 85;
/// Marks a free entry. It is stored in place of the entry's confidence.
const FREE: u8 = 0;
/// Stored in place of the id of a subject (a company or a person), if the table cannot say which
/// subject has the identifier: the subject's id is too large for an entry, or another identifier
/// has the same fingerprint. The look-up then reads the table `identifier` in the database file.
const ELSEWHERE: u32 = u32::MAX;

/// A hash table of 64-bit hashes. The upper bits of a hash choose the bucket, and the entry stores
/// the lower 16 bits.
pub(super) struct Table {
    buckets: Vec<Bucket>,
    /// The number of entries that can still be inserted.
    room: usize,
}

/// What the table stores for an identifier. If nobody has the requested identifier, a look-up may
/// still find the entry of another identifier with the same fingerprint. In a full table, this
/// happens in one of 4,000 look-ups of unknown identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The identifier leads to this subject (a company or a person), with this confidence.
    Of(SubjectId, Confidence),
    /// The table does not know to whom the identifier leads; see [`ELSEWHERE`].
    Elsewhere,
}

#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Bucket {
    subjects: [u32; ENTRIES],
    fingerprints: [u16; ENTRIES],
    /// The confidence of each entry, or [`FREE`].
    percents: [u8; ENTRIES],
    /// If this bucket was full, its entries may be stored in later buckets. This is the distance to
    /// the furthest of them, in buckets.
    pub(super) reach: u8,
}

impl Table {
    /// Creates an empty table with room for this number of entries; `None` when there is not enough
    /// memory.
    pub(super) fn with_room_for(entries: usize) -> Option<Self> {
        let hundredths = (ENTRIES * FULL_PERCENT) as u64;
        let count = (entries as u64).saturating_mul(100).div_ceil(hundredths).max(1);
        let count = usize::try_from(count).ok()?;
        let mut buckets = Vec::new();
        buckets.try_reserve_exact(count).ok()?;
        buckets.resize(count, Bucket::EMPTY);
        Some(Self { buckets, room: entries })
    }

    /// Inserts the entry of a hash that is not yet in the table. Returns whether there was space.
    ///
    /// While it searches for space, it changes other entries with the same fingerprint to
    /// [`ELSEWHERE`]. Therefore a look-up of an inserted hash finds its own entry or [`ELSEWHERE`],
    /// never the entry of another hash.
    pub(super) fn insert(&mut self, hash: u64, subject: SubjectId, confidence: Confidence) -> bool {
        if self.room == 0 {
            return false;
        }
        let (home, fingerprint) = (self.home_of(hash), fingerprint(hash));
        for (reach, at) in (0..=u8::MAX).zip(self.from(home)) {
            let bucket = &mut self.buckets[at];
            bucket.confuse(fingerprint);
            if !bucket.insert(fingerprint, subject, confidence) {
                continue;
            }
            let furthest = &mut self.buckets[home].reach;
            *furthest = reach.max(*furthest);
            self.room -= 1;
            return true;
        }
        false
    }

    /// Finds the entry of a hash. If the hash was not inserted, returns `None`, or rarely the entry
    /// of another hash that has the same fingerprint.
    pub(super) fn get(&self, hash: u64) -> Option<Entry> {
        let (home, fingerprint) = (self.home_of(hash), fingerprint(hash));
        (0..=self.buckets[home].reach)
            .zip(self.from(home))
            .find_map(|(_, bucket)| self.buckets[bucket].get(fingerprint))
    }

    /// Returns the memory of the table in bytes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>()
    }

    /// Returns the number of buckets, and the number of entries that can still be inserted.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.buckets.len(), self.room)
    }

    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        self.buckets.iter().try_for_each(|bucket| to.write_all(&bucket.to_bytes()))
    }

    /// Reads a table with `count` buckets, into which `room` more entries can be inserted.
    pub(super) fn read(from: &mut impl Read, (count, room): (usize, usize)) -> io::Result<Self> {
        let mut buckets = Vec::new();
        buckets.try_reserve_exact(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = [0; BUCKET_BYTES];
        for _ in 0..count {
            from.read_exact(&mut bytes)?;
            buckets.push(Bucket::from_bytes(&bytes));
        }
        Ok(Self { buckets, room })
    }

    fn home_of(&self, hash: u64) -> usize {
        home_of(hash, self.buckets.len())
    }

    /// Returns the indexes of all buckets in the order in which they are searched: from `home` to
    /// the last bucket, then from the first bucket to the one before `home`.
    fn from(&self, home: usize) -> impl Iterator<Item = usize> + use<> {
        (home..self.buckets.len()).chain(0..home)
    }
}

impl Bucket {
    const EMPTY: Self = Self {
        subjects: [0; ENTRIES],
        fingerprints: [0; ENTRIES],
        percents: [FREE; ENTRIES],
        reach: 0,
    };

    /// Inserts an entry, if there is space. Returns whether there was space.
    pub(super) fn insert(
        &mut self,
        fingerprint: u16,
        subject: SubjectId,
        confidence: Confidence,
    ) -> bool {
        let Some(free) = self.percents.iter().position(|it| *it == FREE) else { return false };
        self.subjects[free] = u32::try_from(subject.0).unwrap_or(ELSEWHERE);
        self.fingerprints[free] = fingerprint;
        self.percents[free] = confidence.percent();
        true
    }

    /// Marks all entries with this fingerprint as [`ELSEWHERE`].
    pub(super) fn confuse(&mut self, fingerprint: u16) {
        for (subject, it) in self.subjects.iter_mut().zip(&self.fingerprints) {
            if *it == fingerprint {
                *subject = ELSEWHERE;
            }
        }
    }

    pub(super) fn get(&self, fingerprint: u16) -> Option<Entry> {
        let is_it = |&at: &usize| self.fingerprints[at] == fingerprint && self.percents[at] != FREE;
        let at = (0..ENTRIES).find(is_it)?;
        Some(match self.subjects[at] {
            ELSEWHERE => Entry::Elsewhere,
            id => Entry::Of(SubjectId(u64::from(id)), Confidence::clamped(self.percents[at])),
        })
    }

    /// Returns the bucket as it is stored. The order of its bytes does not depend on the processor.
    pub(super) fn to_bytes(&self) -> [u8; BUCKET_BYTES] {
        let subjects = self.subjects.iter().flat_map(|subject| subject.to_le_bytes());
        let fingerprints = self.fingerprints.iter().flat_map(|it| it.to_le_bytes());
        let rest = self.percents.iter().copied().chain([self.reach]);
        let mut bytes = [0; BUCKET_BYTES];
        for (to, byte) in bytes.iter_mut().zip(subjects.chain(fingerprints).chain(rest)) {
            *to = byte;
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; BUCKET_BYTES]) -> Self {
        let (subjects, rest) = bytes.split_at(ENTRIES * size_of::<u32>());
        let (fingerprints, rest) = rest.split_at(ENTRIES * size_of::<u16>());
        let mut bucket = Self::EMPTY;
        for (subject, bytes) in bucket.subjects.iter_mut().zip(subjects.as_chunks().0) {
            *subject = u32::from_le_bytes(*bytes);
        }
        for (fingerprint, bytes) in bucket.fingerprints.iter_mut().zip(fingerprints.as_chunks().0) {
            *fingerprint = u16::from_le_bytes(*bytes);
        }
        for (percent, byte) in bucket.percents.iter_mut().zip(rest) {
            *percent = *byte;
        }
        bucket.reach = rest[ENTRIES];
        bucket
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("room", &self.room).finish_non_exhaustive()
    }
}

/// Returns the index of a hash's own bucket. It is made from the upper bits of the hash, scaled to
/// the number of buckets.
pub(super) fn home_of(hash: u64, buckets: usize) -> usize {
    ((u128::from(hash) * buckets as u128) >> 64) as usize
}

/// Returns the lower 16 bits of a hash, which do not affect the choice of the bucket.
pub(super) fn fingerprint(hash: u64) -> u16 {
    (hash & 0xffff) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pseudo-random hash for a number (splitmix64).
    fn hash(number: u64) -> u64 {
        let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn percent(number: u64) -> Confidence {
        Confidence::clamped(u8::try_from(number % 101).unwrap())
    }

    /// Returns a full table: it has room for `count` entries, and `count` entries are inserted.
    fn full(count: u64) -> Table {
        let mut table = Table::with_room_for(usize::try_from(count).unwrap()).unwrap();
        assert!((0..count).all(|n| table.insert(hash(n), SubjectId(n), percent(n))));
        table
    }

    #[test]
    fn whatever_is_put_in_is_there_and_nearly_nothing_else() {
        for count in [1, 8, 9, 10, 100, 50_000] {
            let table = full(count);
            // A few entries in neighbouring buckets may have the same fingerprint by chance. For
            // these entries, `get` returns `Elsewhere`: the answer has to be read from the
            // database. For the same reason, `get` finds a few hashes that were never added.
            let entries = (0..count).map(|n| (table.get(hash(n)), SubjectId(n), percent(n)));
            let elsewhere = entries
                .filter(|&(entry, subject, percent)| match entry {
                    Some(Entry::Elsewhere) => true,
                    entry => {
                        assert_eq!(entry, Some(Entry::Of(subject, percent)));
                        false
                    }
                })
                .count();
            assert!(elsewhere <= 40, "{elsewhere} of {count}");
            let strangers = (count..count + 50_000).filter(|&n| table.get(hash(n)).is_some());
            let strangers = strangers.count();
            assert!(strangers <= 40, "{strangers} beside {count}");
        }
    }

    #[test]
    fn a_full_table_takes_nothing_more_and_loses_nothing() {
        let mut table = full(1_000);
        assert!(!table.insert(hash(1_000), SubjectId(1_000), Confidence::FULL));
        assert!((0..1_000).all(|n| table.get(hash(n)).is_some()));
        let mut none = Table::with_room_for(0).unwrap();
        assert!(!none.insert(1, SubjectId(1), Confidence::FULL));
        assert_eq!(none.get(1), None);
    }

    #[test]
    fn what_finds_its_bucket_full_goes_on_to_the_next_from_the_last_to_the_first() {
        let mut table = Table::with_room_for(100).unwrap();
        let last = u64::MAX;
        for n in 0..40 {
            assert!(table.insert(last - n, SubjectId(n), Confidence::FULL));
        }
        for n in 0..40 {
            assert_eq!(table.get(last - n), Some(Entry::Of(SubjectId(n), Confidence::FULL)));
        }
        assert_eq!(table.get(last - 40), None);
    }

    #[test]
    fn what_looks_the_same_leads_nowhere_in_either_order() {
        // These two hashes have the same bucket and the same fingerprint.
        let (low, high) = (0x1_0001, 0x2_0001);
        for hashes in [[low, high], [high, low]] {
            let mut table = Table::with_room_for(100).unwrap();
            for (hash, id) in hashes.into_iter().zip(1..) {
                assert!(table.insert(hash, SubjectId(id), Confidence::FULL));
            }
            assert_eq!(hashes.map(|hash| table.get(hash)), [Some(Entry::Elsewhere); 2]);
        }
    }

    #[test]
    fn what_is_too_far_from_its_bucket_finds_no_room() {
        let mut table = Table::with_room_for(10_000).unwrap();
        // All these hashes have the same own bucket, because their upper bits are 0. All their
        // fingerprints are different.
        let reachable = 256 * ENTRIES as u64;
        for n in 0..reachable {
            assert!(table.insert(n, SubjectId(n), Confidence::FULL));
        }
        assert!(!table.insert(reachable, SubjectId(reachable), Confidence::FULL));
        for n in 0..reachable {
            assert_eq!(table.get(n), Some(Entry::Of(SubjectId(n), Confidence::FULL)));
        }
    }

    #[test]
    fn a_subject_whose_id_is_too_large_is_elsewhere() {
        let mut table = Table::with_room_for(3).unwrap();
        for (hash, id) in [(1, u64::from(u32::MAX) - 1), (2, u64::from(u32::MAX)), (3, u64::MAX)] {
            assert!(table.insert(hash, SubjectId(id), Confidence::FULL));
        }
        let entries = [1, 2, 3].map(|hash| table.get(hash));
        let fits = Entry::Of(SubjectId(u64::from(u32::MAX) - 1), Confidence::FULL);
        assert_eq!(entries, [Some(fits), Some(Entry::Elsewhere), Some(Entry::Elsewhere)]);
    }

    #[test]
    fn an_entry_takes_eight_bytes_and_a_half() {
        assert_eq!(size_of::<Bucket>(), BUCKET_BYTES);
        let table = Table::with_room_for(1_000_000).unwrap();
        assert!((8_300_000..8_400_000).contains(&table.bytes()), "{}", table.bytes());
    }
}
