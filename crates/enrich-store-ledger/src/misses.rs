//! Stores how often look-ups missed company names (did not find them), if the operator enables it.
//!
//! Counts are collected in memory ([`MissCounter`]). The thread that writes the usage counters also
//! writes these counts, once a minute. A name is stored as a keyed hash of its folded form: without
//! legal forms, spaces, accents and upper case. The name's text is stored only if the operator
//! enables texts. Each count belongs to a day and is deleted after 30 days. At most
//! [`MissCounter::MAX_PER_DAY`] names are kept for each day. If there are more, the least frequent
//! names are deleted.

use enrich_core::Timestamp;
use enrich_ledger::{
    MissCount, MissCounter, MissedName, expired_day_of_misses, missed_name_hashes,
};
use enrich_secrets::Secrets;
use enrich_store_sqlite::Statements;
use enrich_text::CompanyName;
use rusqlite::{Connection, TransactionBehavior, params};

/// Maximum number of counts that a transaction writes.
const PER_TRANSACTION: usize = 100;

/// Writes the collected counts of missed names. Calls `pause` after each transaction, so that
/// charges can be written. Counts that cannot be written stay in memory and are written later.
pub(crate) fn write(
    counter: &MissCounter,
    connection: &mut Connection,
    mut pause: impl FnMut(),
) -> rusqlite::Result<()> {
    let taken = counter.take();
    if taken.lost > 0 {
        tracing::warn!(names = taken.lost, "missed names were not counted: too many at once");
    }
    let mut days: Vec<i64> = taken.counts.iter().map(|count| count.day).collect();
    days.dedup();
    let mut counts = taken.counts.into_iter().peekable();
    while counts.peek().is_some() {
        let some: Vec<_> = counts.by_ref().take(PER_TRANSACTION).collect();
        if let Err(error) = write_some(connection, &some) {
            some.into_iter().chain(counts).for_each(|count| counter.add(count));
            return Err(error);
        }
        pause();
    }
    for day in days {
        bound(connection, day, MissCounter::MAX_PER_DAY)?;
    }
    Ok(())
}

fn write_some(connection: &mut Connection, some: &[MissCount]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut add = transaction.prepare_cached(
            "INSERT INTO missed_name (day, hash, name, calls) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (day, hash) DO UPDATE
             SET calls = missed_name.calls + excluded.calls,
                 name = coalesce(excluded.name, missed_name.name)",
        )?;
        for count in some {
            add.execute(params![count.day, count.hash, count.name, count.calls])?;
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

/// Deletes counts of missed names that are older than 30 days. If `keeps_texts` is false, also
/// deletes the texts of all missed names.
pub(crate) fn tidy(
    connection: &Connection,
    now: Timestamp,
    keeps_texts: bool,
) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM missed_name WHERE day <= ?1", [expired_day_of_misses(now)])?;
    if !keeps_texts {
        connection.execute("UPDATE missed_name SET name = NULL WHERE name IS NOT NULL", [])?;
    }
    Ok(())
}

/// Returns the company names that look-ups of the last 30 days missed most often, at most `most`
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
    connection.list(names, params![expired_day_of_misses(now), most], |row| {
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
    for hash in missed_name_hashes(secrets, name) {
        let of_hash = connection.value(sum, params![hash, expired_day_of_misses(now)])?;
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
    for hash in missed_name_hashes(secrets, name) {
        removed += connection.execute("DELETE FROM missed_name WHERE hash = ?1", [hash])?;
    }
    Ok(removed as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LEDGER;
    use enrich_core::port::misses::{CountMisses, Misses as _};
    use enrich_secrets::SECRET_FILE;
    use enrich_store::Store;
    use enrich_store_sqlite::{self as sqlite, Durability};

    struct Fixture {
        _folder: tempfile::TempDir,
        connection: Connection,
        secrets: Secrets,
        counter: MissCounter,
    }

    fn fixture(what: CountMisses) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        drop(store);
        let secrets = Secrets::load(&folder.path().join(SECRET_FILE)).unwrap();
        let path = folder.path().join(LEDGER.file);
        let connection = sqlite::writer(&path, Durability::Checkpoint).unwrap();
        let counter = MissCounter::new(what, &secrets).unwrap();
        Fixture { _folder: folder, connection, secrets, counter }
    }

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(day * 24 * 60 * 60 + 7).unwrap()
    }

    impl Fixture {
        fn miss(&self, name: &str, day: i64) {
            self.counter.count(&CompanyName::parse(name).unwrap(), at(day));
        }

        fn write(&mut self) {
            write(&self.counter, &mut self.connection, || {}).unwrap();
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
            let secrets = fixture.secrets.clone();
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
}
