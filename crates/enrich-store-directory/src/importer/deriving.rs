//! Derives all look-up data of a directory again, from its facts. This is needed if an earlier
//! build of the program has derived this data by other rules.
//!
//! The work is divided into parts. Each part is one transaction. The last part writes the version
//! of the rules. If a run is interrupted, the next run starts from the beginning. Until a run is
//! complete, no process can open the directory for look-ups.

use std::path::Path;

use enrich_core::Timestamp;
use enrich_secrets::Secrets;
use enrich_store_sqlite::Statements;
use rusqlite::{Connection, OptionalExtension, params};

use super::derive::{DERIVED_BY, Derived, Strength};
use super::identifier_rows::{IdentifierRow, IdentifierRows};
use super::rows_at_once::ROWS;
use super::subject_facts::Kind;
use super::words::WordChanges;
use super::writer::Writer;
use super::{fact_rows, resolution, stored_facts, turn};
use crate::directory::codes::{COMPANY, sql_id, subject_id};
use crate::directory::unwritten::Change;
use crate::directory::view::unreadable;

/// The number of subjects (companies and people) whose look-up data is derived in one transaction.
/// Each transaction writes its rows in the order of their keys. So with larger transactions, fewer
/// database pages are written more than once, and the work takes less time. With this number, a
/// transaction takes some hundred megabytes of memory.
const PART: usize = 500_000;

/// Returns the version of this build's derivation rules.
pub(crate) fn known() -> u32 {
    u32::try_from(DERIVED_BY).unwrap_or_default()
}

/// Returns the version of the rules by which the look-up data of a directory was derived. If the
/// directory contains no companies and no people, this is the version of this build's rules.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    if is_due(connection)? {
        return connection.query_row("SELECT derived_by FROM state", [], |row| row.get(0));
    }
    Ok(known())
}

/// Whether the directory contains rows that were derived by other rules than those of this build.
pub(crate) fn is_due(connection: &Connection) -> rusqlite::Result<bool> {
    let by: i64 = connection.query_row("SELECT derived_by FROM state", [], |row| row.get(0))?;
    if by == DERIVED_BY {
        return Ok(false);
    }
    let any = connection.query_row("SELECT 1 FROM subject LIMIT 1", [], |_| Ok(()));
    Ok(any.optional()?.is_some())
}

/// Derives all look-up data in the directory at `path` from its facts again, and divides all
/// records into companies again. No other process may have the directory open.
///
/// The look-up data is derived in several steps. Before the first step and after each step, calls
/// `done` with two numbers: how many companies and people are finished, and how many there are.
/// Returns the second number.
///
/// # Errors
///
/// When the file cannot be written. The caller can then try again.
pub fn derive_all(
    path: &Path,
    secrets: &Secrets,
    done: &mut dyn FnMut(u64, u64),
) -> rusqlite::Result<u64> {
    let connection = turn::connect(path)?;
    let all: u64 = connection.query_row("SELECT count(*) FROM subject", [], |row| row.get(0))?;
    turn::write(&connection, |transaction| {
        transaction.execute_batch(
            "UPDATE state SET derived_by = 0, companies = 0;
             DELETE FROM identifier; DELETE FROM employee; DELETE FROM name_word;
             DELETE FROM name_word_chunk; DELETE FROM name_word_variant;
             INSERT OR IGNORE INTO unresolved SELECT id FROM subject WHERE kind = 1;",
        )
    })?;
    let (mut behind, mut derived) = (0, 0);
    loop {
        done(derived, all);
        let subjects = next_subjects(&connection, behind)?;
        let Some(&(last, _)) = subjects.last() else { break };
        turn::write(&connection, |transaction| derive(transaction, secrets, &subjects))?;
        behind = last;
        derived += subjects.len() as u64;
    }
    resolution::resolve_all(&connection, secrets, None, || ())?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    turn::write(&connection, |transaction| {
        fact_rows::delete_all(transaction)?;
        transaction
            .execute(
                "UPDATE state SET derived_by = ?1, generation = generation + 1,
                                  change_id = randomblob(16)",
                [DERIVED_BY],
            )
            .map(|_| ())
    })?;
    Ok(derived)
}

/// Reads the id and the kind (company or person) of the next [`PART`] subjects, in the order of
/// their ids. `behind` is the last id that was read before.
fn next_subjects(connection: &Connection, behind: i64) -> rusqlite::Result<Vec<(i64, i64)>> {
    let mut statement =
        connection.prepare_cached("SELECT id, kind FROM subject WHERE id > ?1 ORDER BY id")?;
    let subjects = statement.query_map([behind], |row| Ok((row.get(0)?, row.get(1)?)))?;
    subjects.take(PART).collect()
}

/// Derives the look-up data of `subjects` (companies and people), and writes its rows. The caller
/// must have deleted the old rows.
fn derive(
    connection: &Connection,
    secrets: &Secrets,
    subjects: &[(i64, i64)],
) -> rusqlite::Result<()> {
    // This function writes no facts, so the timestamp is not used.
    let writer = Writer::new(connection, secrets, Timestamp::UNIX_EPOCH)?;
    let mut rows: Vec<IdentifierRow> = Vec::new();
    let mut words = WordChanges::default();
    let mut employees = Vec::new();
    let mut companies = 0_i64;
    for &(id, kind) in subjects {
        let kind = if kind == COMPANY { Kind::Company } else { Kind::Person };
        let subject = subject_id(id);
        let subject_facts = writer.subject_facts(subject, kind)?;
        let derived = Derived::from(subject, kind, &subject_facts.merged()).map_err(unreadable)?;
        if let Some(profile) = &derived.profile {
            connection.run(
                "UPDATE subject SET profile = ?2, facts = ?3
                 WHERE id = ?1 AND (profile <> ?2 OR facts <> ?3)",
                params![id, profile, stored_facts::pack(&subject_facts, profile)],
            )?;
            companies += i64::from(kind == Kind::Company);
        }
        words.change(subject, &Default::default(), &derived.words);
        employees.extend(derived.employer.map(|company| (sql_id(company), id)));
        rows.extend(derived.identifiers.into_iter().map(|((kind, key), strength)| {
            let Strength { tier, confidence } = strength;
            (kind, key, Change { subject, tier, confidence: Some(confidence) })
        }));
    }
    rows.sort_unstable_by(|(kind, key, change), (other_kind, other_key, other)| {
        let rows = (kind, key, change.tier, change.subject);
        rows.cmp(&(other_kind, other_key, other.tier, other.subject))
    });
    let mut identifiers = IdentifierRows::new(connection)?;
    rows.chunks(ROWS).try_for_each(|rows| identifiers.write(rows))?;
    words.write(connection)?;
    employees.sort_unstable();
    for (company, person) in employees {
        connection
            .run("INSERT INTO employee (company, person) VALUES (?1, ?2)", [company, person])?;
    }
    connection.execute("UPDATE state SET companies = companies + ?1", [companies])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use enrich_core::{Attribute, Confidence, Fact, SubjectId};

    use super::super::subject_facts::MergedFacts;
    use super::*;

    /// The BLAKE3 hash of all data that the rules of version [`DERIVED_BY`] derive from
    /// [`COMPANIES`] and [`PEOPLE`], and of the lists of words that the rules use.
    const DERIVED: &str = "9f9b41e2820c4d8be01def8e32c3fa9ae5056e254d19ce6524ab89f94aa0f219";

    /// The data files of enrich-text that determine the names under which a company or person is
    /// found.
    const LISTS: [&str; 6] = [
        "countries.csv",
        "filler_words.txt",
        "given_names.txt",
        "legal_forms.txt",
        "organisation_words.txt",
        "place_words.txt",
    ];

    /// Names for which the derivation rules have special cases, each with a domain.
    const COMPANIES: [(&str, &str); 16] = [
        ("Quill & Pens Ltd", "quill-pens.example"),
        ("The Royal Quill Company of Canada", "shop.quill.example"),
        ("Universität für Federn (Schweiz)", "federn.ch"),
        ("S.A. des Plumes d'Encre", "plumes.fr"),
        ("Lowe's Inkwells", "lowes.example"),
        ("COOP", "coop.example"),
        ("QUILL1 24/7", "quill24.example"),
        ("AcmeGmbH & Co. KG", "acme.de"),
        ("ООО «Перо и Чернила»", "pero.ru"),
        ("Российские перьевые дороги", "rpd.ru"),
        ("Ελληνική Πένα Α.Ε.", "pena.gr"),
        ("株式会社ペン", "pen.jp"),
        ("东方羽毛笔有限公司", "yumao.cn"),
        ("شركة الريشة", "risha.example"),
        ("Ünïcödé Pens A.Ş.", "unicode-pens.com.tr"),
        ("n.v. Veer", "veer.nl"),
    ];

    const PEOPLE: [(&str, &str); 6] = [
        ("Bob", "Quill"),
        ("Anne-Marie", "van der Veer"),
        ("José María", "Pluma García"),
        ("Лев", "Чернилов"),
        ("羽", "山"),
        ("Dr. Liz", "O'Quill Jr."),
    ];

    fn fact(attribute: Attribute, value: &str) -> Fact {
        Fact { attribute, value: value.to_owned(), country: None, confidence: Confidence::FULL }
    }

    fn add(hasher: &mut blake3::Hasher, kind: Kind, facts: &[Fact]) {
        let merged = MergedFacts { facts: facts.to_vec(), has_name_alone: false };
        let derived = Derived::from(SubjectId(1), kind, &merged).unwrap();
        let identifiers = derived.identifiers.iter();
        let identifiers: Vec<_> =
            identifiers.map(|((kind, key), held)| (*kind as i64, key, held.tier)).collect();
        assert!(!identifiers.is_empty(), "{facts:?}");
        hasher.update(format!("{identifiers:?} {:?}\n", derived.words).as_bytes());
    }

    /// If this test fails, the rules, or the lists of words that they use, have changed. The
    /// look-up data of existing directories must then be derived again, so `DERIVED_BY` must be
    /// increased.
    #[test]
    fn rules_that_changed_have_another_number() {
        let mut hasher = blake3::Hasher::new();
        let lists = Path::new(env!("CARGO_MANIFEST_DIR")).join("../enrich-text/data");
        for list in LISTS {
            let text = fs::read_to_string(lists.join(list)).unwrap();
            for row in text.lines().filter(|line| !line.starts_with('#')) {
                hasher.update(format!("{row}\n").as_bytes());
            }
        }
        for (name, domain) in COMPANIES {
            let facts = [fact(Attribute::Name, name), fact(Attribute::Domain, domain)];
            add(&mut hasher, Kind::Company, &facts);
        }
        for (first, last) in PEOPLE {
            let mut facts =
                vec![fact(Attribute::FirstName, first), fact(Attribute::LastName, last)];
            facts.push(fact(Attribute::Country, "CH"));
            add(&mut hasher, Kind::Person, &facts);
        }
        assert_eq!(
            hasher.finalize().to_string(),
            DERIVED,
            "names are found by other rules than before: count DERIVED_BY up (once for a release) \
             and put this hash into DERIVED"
        );
    }
}
