//! Counts the company names that look-ups did not find, if the operator enables it. Here, such a
//! name is called missed.
//!
//! The counts are collected in memory, and the thread that writes the usage counters writes them
//! once a minute. Of a name, a keyed hash is stored: that of its folded form without legal forms
//! and spaces. Its text is stored only if the operator enables this. A count is for one day, and is
//! deleted after [`KEPT_DAYS`] days. For each day, at most [`MOST_A_DAY`] names are kept; if there
//! are more, those with the lowest counts are deleted.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use enrich_core::Timestamp;
use enrich_core::port::misses::Misses;
use enrich_ledger::day_of;
use enrich_secrets::{Purpose, Secrets};
use enrich_store_sqlite::{CountMisses, Statements};
use enrich_text::CompanyName;
use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior, params};
use rustc_hash::FxHashMap;

/// How many days a count is kept, including today.
pub(crate) const KEPT_DAYS: i64 = 30;
/// The most names that are kept for a day.
const MOST_A_DAY: u32 = 10_000;
/// The most names that are collected in memory before they are written. They take less than a
/// megabyte.
const MOST_GATHERED: usize = 4096;
/// The most counts that are written in one transaction.
const PER_TRANSACTION: usize = 100;
/// The longest name that is counted, in bytes.
const LONGEST: usize = 200;
/// The most digits that a text may have to be counted. If it has more, it may be a phone number.
const MOST_DIGITS: usize = 6;

/// A company name that look-ups did not find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissedName {
    /// The keyed hash of the name's folded form without legal forms and spaces.
    pub hash: [u8; 32],
    /// The text of the name; `None` when texts are not stored.
    pub name: Option<String>,
    /// How many look-ups did not find the name.
    pub calls: u64,
    /// The last day on which a look-up did not find the name, in days since 1970-01-01 (UTC).
    pub last_day: i64,
}

/// What a count is for: a day, and the hash of a name.
type Counted = (i64, [u8; 32]);

#[derive(Debug, Default)]
struct Count {
    calls: u64,
    name: Option<String>,
}

/// Counts names in memory.
#[derive(Debug)]
pub struct MissCounter {
    secrets: Secrets,
    keeps_texts: bool,
    gathered: Mutex<FxHashMap<Counted, Count>>,
    /// The number of names that were not counted, because too many names were in memory.
    lost: AtomicU64,
}

impl MissCounter {
    /// Creates a counter; returns `None` if counting is switched off.
    pub(crate) fn new(what: CountMisses, secrets: &Secrets) -> Option<Self> {
        (what != CountMisses::Off).then(|| Self {
            secrets: secrets.clone(),
            keeps_texts: what == CountMisses::Texts,
            gathered: Mutex::default(),
            lost: AtomicU64::new(0),
        })
    }

    pub(crate) fn keeps_texts(&self) -> bool {
        self.keeps_texts
    }

    fn add(&self, counted: Counted, count: Count) {
        let mut gathered = self.gathered.lock();
        let is_full = gathered.len() >= MOST_GATHERED;
        match gathered.get_mut(&counted) {
            Some(known) => known.calls = known.calls.saturating_add(count.calls),
            None if is_full => drop(self.lost.fetch_add(1, Ordering::Relaxed)),
            None => drop(gathered.insert(counted, count)),
        }
    }

    /// Writes the counts that are in memory. Calls `pause` between two transactions. If a count
    /// cannot be written, it stays in memory.
    pub(crate) fn write(
        &self,
        connection: &mut Connection,
        mut pause: impl FnMut(),
    ) -> rusqlite::Result<()> {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(names = lost, "missed names were not counted: too many at once");
        }
        let gathered = mem::take(&mut *self.gathered.lock());
        let mut all: Vec<(Counted, Count)> = gathered.into_iter().collect();
        all.sort_unstable_by_key(|(counted, _)| *counted);
        let days: Vec<i64> = all.iter().map(|((day, _), _)| *day).collect();
        let mut all = all.into_iter().peekable();
        while all.peek().is_some() {
            let some: Vec<_> = all.by_ref().take(PER_TRANSACTION).collect();
            if let Err(error) = write_some(connection, &some) {
                some.into_iter().chain(all).for_each(|(counted, count)| self.add(counted, count));
                return Err(error);
            }
            pause();
        }
        let mut last = None;
        for day in days {
            if last.replace(day) != Some(day) {
                bound(connection, day, MOST_A_DAY)?;
            }
        }
        Ok(())
    }
}

impl Misses for MissCounter {
    fn count(&self, name: &CompanyName, at: Timestamp) {
        let text = name.display();
        if !is_countable(text) {
            return;
        }
        let counted = (day_of(at), hash(&self.secrets, name));
        let name = self.keeps_texts.then(|| text.to_owned());
        self.add(counted, Count { calls: 1, name });
    }
}

/// Whether a text is counted as a name. Some callers send an email address, a number or a URL as a
/// name; these are not counted.
fn is_countable(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.len() <= LONGEST && digits <= MOST_DIGITS && !text.contains(['@', '/'])
}

fn hash(secrets: &Secrets, name: &CompanyName) -> [u8; 32] {
    secrets.current().hash(Purpose::MissedName, &[name.squashed().as_bytes()])
}

/// Returns the hashes under which a name may be stored: one for each secret.
pub(crate) fn hashes(secrets: &Secrets, name: &CompanyName) -> Vec<[u8; 32]> {
    let parts = [name.squashed().as_bytes()];
    secrets.newest_first().map(|secret| secret.hash(Purpose::MissedName, &parts)).collect()
}

fn write_some(connection: &mut Connection, some: &[(Counted, Count)]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut add = transaction.prepare_cached(
            "INSERT INTO missed_name (day, hash, name, calls) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (day, hash) DO UPDATE
             SET calls = missed_name.calls + excluded.calls,
                 name = coalesce(excluded.name, missed_name.name)",
        )?;
        for ((day, hash), count) in some {
            add.execute(params![day, hash, count.name, count.calls])?;
        }
    }
    transaction.commit()
}

/// Keeps the `most` names of a day with the highest counts, and deletes its other names.
fn bound(connection: &Connection, day: i64, most: u32) -> rusqlite::Result<()> {
    let count: u32 = connection.value("SELECT count(*) FROM missed_name WHERE day = ?1", [day])?;
    if count > most {
        connection.execute(
            "DELETE FROM missed_name WHERE day = ?1 AND hash IN (
                 SELECT hash FROM missed_name WHERE day = ?1 ORDER BY calls, hash LIMIT ?2)",
            params![day, count - most],
        )?;
    }
    Ok(())
}

/// Deletes counts that are older than [`KEPT_DAYS`] days. Unless `keeps_texts` is true, also
/// deletes all texts of names.
pub(crate) fn tidy(
    connection: &Connection,
    now: Timestamp,
    keeps_texts: bool,
) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM missed_name WHERE day <= ?1", [day_of(now) - KEPT_DAYS])?;
    if !keeps_texts {
        connection.execute("UPDATE missed_name SET name = NULL WHERE name IS NOT NULL", [])?;
    }
    Ok(())
}

/// Returns the company names that most look-ups of the last 30 days did not find, at most `most`
/// names.
///
/// # Errors
///
/// When the database cannot be read.
pub fn most_missed(
    connection: &Connection,
    now: Timestamp,
    most: usize,
) -> rusqlite::Result<Vec<MissedName>> {
    let names = "SELECT hash, max(name), sum(calls), max(day) FROM missed_name WHERE day > ?1
                 GROUP BY hash ORDER BY sum(calls) DESC, hash LIMIT ?2";
    connection.list(names, params![day_of(now) - KEPT_DAYS, most], |row| {
        let (hash, name) = (row.get(0)?, row.get(1)?);
        Ok(MissedName { hash, name, calls: row.get(2)?, last_day: row.get(3)? })
    })
}

/// Returns how many look-ups of the last 30 days did not find this name.
///
/// # Errors
///
/// When the database cannot be read.
pub fn missed(
    connection: &Connection,
    secrets: &Secrets,
    now: Timestamp,
    name: &CompanyName,
) -> rusqlite::Result<u64> {
    let sum = "SELECT coalesce(sum(calls), 0) FROM missed_name WHERE hash = ?1 AND day > ?2";
    let mut calls = 0_u64;
    for hash in hashes(secrets, name) {
        let of_hash = connection.value(sum, params![hash, day_of(now) - KEPT_DAYS])?;
        calls = calls.saturating_add(of_hash);
    }
    Ok(calls)
}

/// Deletes the counts of a name on all days. Returns how many counts were deleted.
///
/// # Errors
///
/// When the database cannot be written.
pub fn forget_missed(
    connection: &Connection,
    secrets: &Secrets,
    name: &CompanyName,
) -> rusqlite::Result<u64> {
    let mut removed = 0;
    for hash in hashes(secrets, name) {
        removed += connection.execute("DELETE FROM missed_name WHERE hash = ?1", [hash])?;
    }
    Ok(removed as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEDGER;
    use enrich_secrets::SECRET_FILE;
    use enrich_store::Store;
    use enrich_store_sqlite::{self as sqlite, Durability};

    struct Fixture {
        _folder: tempfile::TempDir,
        connection: Connection,
        counter: MissCounter,
    }

    fn fixture(what: CountMisses) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        drop(store);
        let secrets = Secrets::load(&folder.path().join(SECRET_FILE)).unwrap();
        let path = folder.path().join(LEDGER.file);
        let connection = sqlite::writer(&path, Durability::Checkpoint).unwrap();
        Fixture { _folder: folder, connection, counter: MissCounter::new(what, &secrets).unwrap() }
    }

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(day * 24 * 60 * 60 + 7).unwrap()
    }

    impl Fixture {
        fn miss(&self, name: &str, day: i64) {
            self.counter.count(&CompanyName::parse(name).unwrap(), at(day));
        }

        fn write(&mut self) {
            self.counter.write(&mut self.connection, || {}).unwrap();
        }

        fn stored(&self, day: i64) -> Vec<(Option<String>, u64)> {
            let most = most_missed(&self.connection, at(day), 10).unwrap();
            most.into_iter().map(|it| (it.name, it.calls)).collect()
        }
    }

    #[test]
    fn a_name_is_counted_however_it_is_written_and_its_text_kept_only_if_that_is_wanted() {
        for (what, name) in
            [(CountMisses::Hashed, None), (CountMisses::Texts, Some("Quill Ltd".to_owned()))]
        {
            let mut fixture = fixture(what);
            for text in ["Quill Ltd", "quill  LTD", "Ink AG", "Quill Ltd"] {
                fixture.miss(text, 20_000);
                fixture.write();
            }
            let stored = fixture.stored(20_000);
            assert_eq!(stored[0].1, 3, "{stored:?}");
            assert_eq!(stored[0].0.is_some(), name.is_some());
            let name = CompanyName::parse("QUILL Ltd").unwrap();
            let secrets = fixture.counter.secrets.clone();
            let missed =
                |fixture: &Fixture| missed(&fixture.connection, &secrets, at(20_000), &name);
            assert_eq!(missed(&fixture).unwrap(), 3);
            forget_missed(&fixture.connection, &secrets, &name).unwrap();
            assert_eq!((missed(&fixture).unwrap(), fixture.stored(20_000).len()), (0, 1));
        }
    }

    #[test]
    fn counts_are_forgotten_after_thirty_days_and_texts_when_they_are_no_longer_wanted() {
        let mut fixture = fixture(CountMisses::Texts);
        fixture.miss("Quill Ltd", 20_000);
        fixture.miss("Quill Ltd", 20_001);
        fixture.write();
        assert_eq!(fixture.stored(20_029), [(Some("Quill Ltd".to_owned()), 2)]);
        assert_eq!(fixture.stored(20_030), [(Some("Quill Ltd".to_owned()), 1)]);
        let rows = |fixture: &Fixture| {
            let count = "SELECT count(*), count(name) FROM missed_name";
            fixture
                .connection
                .query_row(count, [], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?)))
                .unwrap()
        };
        tidy(&fixture.connection, at(20_029), true).unwrap();
        assert_eq!(rows(&fixture), (2, 2));
        tidy(&fixture.connection, at(20_030), true).unwrap();
        assert_eq!(rows(&fixture), (1, 1));
        tidy(&fixture.connection, at(20_030), false).unwrap();
        assert_eq!(rows(&fixture), (1, 0));
    }

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
    fn the_names_that_were_missed_most_stay_where_there_are_too_many() {
        let mut fixture = fixture(CountMisses::Texts);
        for name in ["Quill", "Quill", "Ink", "Ink", "Feather", "Lamp"] {
            fixture.miss(name, 20_000);
        }
        fixture.write();
        bound(&fixture.connection, 20_000, 2).unwrap();
        let mut stored = fixture.stored(20_000);
        stored.sort();
        assert_eq!(stored, [(Some("Ink".to_owned()), 2), (Some("Quill".to_owned()), 2)]);
    }

    #[test]
    fn what_gathers_in_memory_has_an_end() {
        let fixture = fixture(CountMisses::Hashed);
        for number in 0..MOST_GATHERED + 3 {
            fixture.counter.add((number as i64, [0; 32]), Count { calls: 1, name: None });
        }
        assert_eq!(fixture.counter.gathered.lock().len(), MOST_GATHERED);
        assert_eq!(fixture.counter.lost.load(Ordering::Relaxed), 3);
    }
}
