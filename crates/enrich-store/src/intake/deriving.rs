//! Derives everything from the facts once more, for a directory that was made by other rules.
//!
//! It goes by parts, each a transaction; what they were made by is written with the last. When it
//! is stopped, it begins anew the next time: until then nothing reads the directory.

use std::path::Path;

use enrich_core::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::derive::{Derived, Identifier, Strength};
use super::sheet::Kind;
use super::turn;
use super::words::WordChanges;
use super::writer::Writer;
use crate::directory::codes::{COMPANY, sql_id, subject_id};
use crate::directory::view::unreadable;
use crate::secret::Secrets;

/// The rules by which rows are derived now. They are counted up when a change of the rules needs
/// existing directories to be derived once more.
pub(crate) const DERIVED_BY: i64 = 1;

/// How many subjects are derived in a transaction. Their rows are written in the order of their
/// keys, which goes the quicker the more they are; they take some hundred megabytes.
const PART: usize = 500_000;

/// Whether a directory holds subjects whose derived rows were made by other rules.
pub(crate) fn is_due(connection: &Connection) -> rusqlite::Result<bool> {
    let by: i64 = connection.query_row("SELECT derived_by FROM state", [], |row| row.get(0))?;
    if by == DERIVED_BY {
        return Ok(false);
    }
    let any = connection.query_row("SELECT 1 FROM subject LIMIT 1", [], |_| Ok(()));
    Ok(any.optional()?.is_some())
}

/// Derives all subjects once more; tells how many are done after each part.
pub(crate) fn derive_all(
    path: &Path,
    secrets: &Secrets,
    done: &mut dyn FnMut(u64),
) -> rusqlite::Result<u64> {
    let connection = turn::connect(path)?;
    turn::write(&connection, |transaction| {
        transaction.execute_batch(
            "UPDATE state SET derived_by = 0, companies = 0;
             DELETE FROM identifier; DELETE FROM employee; DELETE FROM name_word;
             DELETE FROM name_word_chunk; DELETE FROM name_word_variant;",
        )
    })?;
    let (mut behind, mut all) = (0, 0);
    loop {
        let subjects = next_subjects(&connection, behind)?;
        let Some(&(last, _)) = subjects.last() else { break };
        turn::write(&connection, |transaction| derive(transaction, secrets, &subjects))?;
        behind = last;
        all += subjects.len() as u64;
        done(all);
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    turn::write(&connection, |transaction| {
        transaction
            .execute("UPDATE state SET derived_by = ?1, generation = generation + 1", [DERIVED_BY])
            .map(|_| ())
    })?;
    Ok(all)
}

/// The ids and kinds of the subjects that follow on one.
fn next_subjects(connection: &Connection, behind: i64) -> rusqlite::Result<Vec<(i64, i64)>> {
    let mut statement =
        connection.prepare_cached("SELECT id, kind FROM subject WHERE id > ?1 ORDER BY id")?;
    let subjects = statement.query_map([behind], |row| Ok((row.get(0)?, row.get(1)?)))?;
    subjects.take(PART).collect()
}

/// Derives some subjects of which nothing derived is there.
fn derive(
    connection: &Connection,
    secrets: &Secrets,
    subjects: &[(i64, i64)],
) -> rusqlite::Result<()> {
    // Nothing that is kept with a time is written.
    let writer = Writer::new(connection, secrets, Timestamp::UNIX_EPOCH)?;
    let mut rows: Vec<(Identifier, Strength, i64)> = Vec::new();
    let mut words = WordChanges::default();
    let mut employees = Vec::new();
    let mut companies = 0_i64;
    for &(id, kind) in subjects {
        let kind = if kind == COMPANY { Kind::Company } else { Kind::Person };
        let subject = subject_id(id);
        let sheet = writer.sheet(subject, kind)?;
        let derived = Derived::from(subject, kind, &sheet.facts).map_err(unreadable)?;
        if let Some(profile) = &derived.profile {
            let mut statement = connection.prepare_cached(
                "UPDATE subject SET profile = ?2 WHERE id = ?1 AND profile <> ?2",
            )?;
            statement.execute(params![id, profile])?;
            companies += i64::from(kind == Kind::Company);
        }
        words.change(subject, &Default::default(), &derived.words);
        employees.extend(derived.employer.map(|company| (sql_id(company), id)));
        rows.extend(derived.identifiers.into_iter().map(|(key, strength)| (key, strength, id)));
    }
    rows.sort_unstable_by(|(a, _, one), (b, _, other)| a.cmp(b).then(one.cmp(other)));
    for (identifier, strength, subject) in rows {
        writer.write_identifier(subject_id(subject), &identifier, strength)?;
    }
    words.write(connection)?;
    employees.sort_unstable();
    for (company, person) in employees {
        let mut statement =
            connection.prepare_cached("INSERT INTO employee (company, person) VALUES (?1, ?2)")?;
        statement.execute([company, person])?;
    }
    connection.execute("UPDATE state SET companies = companies + ?1", [companies])?;
    Ok(())
}
