//! Writes the index of words: a list of companies for each word. An import changes the lists of
//! many words, and some lists many times. So the changes are collected in memory. When they are
//! written, each changed list is written only once. The changes are written before the transaction
//! is committed, and also earlier if they take too much memory.

use std::collections::BTreeMap;

use enrich_core::SubjectId;
use enrich_store_sqlite::Statements;
use rusqlite::{Connection, params};

use super::threads::{Add, make_ahead};
use crate::directory::codes::sql_id;
use crate::directory::postings::{Posting, pack, unpack};
use crate::directory::variants::variants;
use crate::directory::view::damaged;
use crate::noted::Noted;

/// Maximum length of a packed list in one row, in bytes. SQLite keeps a row of this length within
/// one page.
const MAX_BYTES: usize = 900;

/// Maximum number of changes that are collected in memory outside of a load, for example when a
/// source is removed. They take some tens of megabytes. A load (one import) has another limit: the
/// memory of all its rows that are not written yet.
const MAX_NOTED: usize = 400_000;
/// The number of words whose changes are passed together from one thread to the other
/// ([`make_ahead`]). The number is small, because a word may have many changes.
const WORDS: usize = 32;

/// The words of a company's names. The value for a word is the number of words in the shortest name
/// that contains it.
pub(crate) type Words = BTreeMap<String, u8>;

#[derive(Debug, Default)]
pub(crate) struct WordChanges {
    changes: Noted<PostingChange>,
    /// The number of changes that were collected since they were last written.
    noted: usize,
}

/// The change of a posting (one company) in the list of a word. A load keeps millions of such
/// changes in memory. With this alignment, one change takes 12 bytes instead of 16.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
struct PostingChange {
    company: u64,
    /// The number of words in the company's shortest name that contains this word; `None` if none
    /// of its names contains the word any more.
    words: Option<u8>,
}

impl WordChanges {
    /// Collects how the words of a company have changed.
    pub(crate) fn change(&mut self, company: SubjectId, before: &Words, now: &Words) {
        for word in before.keys().filter(|word| !now.contains_key(*word)) {
            self.note(word, company, None);
        }
        for (word, words) in now {
            if before.get(word) != Some(words) {
                self.note(word, company, Some(*words));
            }
        }
    }

    fn note(&mut self, word: &str, company: SubjectId, words: Option<u8>) {
        self.noted += 1;
        self.changes.note(word.as_bytes(), PostingChange { company: company.0, words });
    }

    /// Whether there are so many changes that they must be written now, to limit the memory.
    pub(crate) fn are_many(&self) -> bool {
        self.noted >= MAX_NOTED
    }

    /// Returns the memory that the changes take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.changes.bytes()
    }

    pub(crate) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.noted == 0 {
            return Ok(());
        }
        self.noted = 0;
        let changes = std::mem::take(&mut self.changes);
        let collect = |add: Add<'_, _>| {
            changes.each_in_order(|word, changes| {
                // Every word was added as a text, so the conversion cannot fail.
                let word = std::str::from_utf8(word).unwrap_or_default().to_owned();
                let last = changes.iter().map(|change| (change.company, change.words));
                add((word, last.collect()))
            })
        };
        make_ahead(WORDS, collect, |words: Vec<(String, BTreeMap<u64, Option<u8>>)>| {
            words
                .into_iter()
                .try_for_each(|(word, changes)| Word { connection, word: &word }.change(changes))
        })
    }
}

/// Reads and writes the list of companies of one word. The list is ordered by the companies' ids
/// and stored in two tables: the row of the word in `name_word` has the last part of the list. The
/// rows of the word in `name_word_chunk` have the earlier parts (chunks), if the list has any.
struct Word<'a> {
    connection: &'a Connection,
    word: &'a str,
}

impl Word<'_> {
    fn change(&self, changes: BTreeMap<u64, Option<u8>>) -> rusqlite::Result<()> {
        let held = self.held()?;
        let is_new = held.is_none();
        let (mut companies, mut last) = held.unwrap_or_default();
        let has_chunks = companies > last.len();
        let first_of_last = match last.first() {
            Some(first) => first.company,
            None if has_chunks => u64::MAX,
            None => 0,
        };
        let mut earlier = BTreeMap::new();
        for (company, words) in changes {
            if has_chunks && company < first_of_last {
                earlier.insert(company, words);
            } else {
                companies = companies.saturating_add_signed(set(&mut last, company, words));
            }
        }
        companies = companies.saturating_add_signed(self.change_chunks(earlier)?);
        if companies == 0 {
            return self.delete();
        }
        while let Some(full) = cut(&mut last) {
            self.write_chunk(&full)?;
        }
        if is_new {
            self.for_variants("INSERT INTO name_word_variant (variant, word) VALUES (?1, ?2)")?;
        }
        self.connection.run(
            "INSERT INTO name_word (word, companies, last) VALUES (?1, ?2, ?3)
             ON CONFLICT (word) DO UPDATE SET companies = excluded.companies, last = excluded.last",
            params![self.word, companies, pack(&last)],
        )?;
        Ok(())
    }

    fn held(&self) -> rusqlite::Result<Option<(usize, Vec<Posting>)>> {
        let held = "SELECT companies, last FROM name_word WHERE word = ?1";
        self.connection.find(held, [self.word], |row| {
            let last = unpack(row.get_ref(1)?.as_blob()?).collect::<Result<_, _>>();
            Ok((row.get(0)?, last.map_err(damaged)?))
        })
    }

    /// Changes postings (companies) in the chunks, which are all parts of the list except the last.
    /// Returns the change of the number of companies; negative if there are fewer companies now.
    fn change_chunks(&self, mut changes: BTreeMap<u64, Option<u8>>) -> rusqlite::Result<isize> {
        let mut more = 0;
        while let Some((&company, _)) = changes.first_key_value() {
            let (first, mut chunk, next) = self.chunk_of(company)?;
            let behind = next.map_or_else(BTreeMap::new, |next| changes.split_off(&next));
            for (company, words) in std::mem::replace(&mut changes, behind) {
                more += set(&mut chunk, company, words);
            }
            let delete = "DELETE FROM name_word_chunk WHERE word = ?1 AND first = ?2";
            self.connection.run(delete, params![self.word, first])?;
            while let Some(full) = cut(&mut chunk) {
                self.write_chunk(&full)?;
            }
            if !chunk.is_empty() {
                self.write_chunk(&chunk)?;
            }
        }
        Ok(more)
    }

    /// Finds the chunk of the list that contains a company, or to which the company must be added.
    /// Returns the first company of this chunk, the postings (companies) of the chunk, and the
    /// first company of the next chunk.
    fn chunk_of(&self, company: u64) -> rusqlite::Result<(Option<i64>, Vec<Posting>, Option<u64>)> {
        let company = sql_id(SubjectId(company));
        let chunk = "SELECT first, companies FROM name_word_chunk WHERE word = ?1 AND first <= ?2
                     ORDER BY first DESC LIMIT 1";
        let chunk = self.connection.find(chunk, params![self.word, company], |row| {
            let list = unpack(row.get_ref(1)?.as_blob()?).collect::<Result<_, _>>();
            Ok((Some(row.get(0)?), list.map_err(damaged)?))
        })?;
        let (first, list) = chunk.unwrap_or_default();
        let next: Option<i64> = self.connection.find(
            "SELECT first FROM name_word_chunk WHERE word = ?1 AND first > ?2
             ORDER BY first LIMIT 1",
            params![self.word, company],
            |row| row.get(0),
        )?;
        Ok((first, list, next.and_then(|next| u64::try_from(next).ok())))
    }

    fn write_chunk(&self, postings: &[Posting]) -> rusqlite::Result<()> {
        let Some(first) = postings.first() else { return Ok(()) };
        self.connection.run(
            "INSERT INTO name_word_chunk (word, first, companies) VALUES (?1, ?2, ?3)",
            params![self.word, sql_id(SubjectId(first.company)), pack(postings)],
        )?;
        Ok(())
    }

    fn delete(&self) -> rusqlite::Result<()> {
        self.connection.run("DELETE FROM name_word WHERE word = ?1", [self.word])?;
        self.for_variants("DELETE FROM name_word_variant WHERE variant = ?1 AND word = ?2")
    }

    /// Runs `statement` for each of the word's [`variants`], by which a misspelt word finds it.
    fn for_variants(&self, statement: &str) -> rusqlite::Result<()> {
        for variant in variants(self.word) {
            self.connection.run(statement, params![variant, self.word])?;
        }
        Ok(())
    }
}

/// Sets the posting of a company in the list of a word; removes the posting if `words` is `None`.
/// Returns the change of the number of companies: 1, 0 or -1.
fn set(list: &mut Vec<Posting>, company: u64, words: Option<u8>) -> isize {
    let at = list.binary_search_by_key(&company, |posting| posting.company);
    match (at, words) {
        (Ok(at), Some(words)) => {
            list[at].words = words;
            0
        }
        (Ok(at), None) => {
            list.remove(at);
            -1
        }
        (Err(at), Some(words)) => {
            list.insert(at, Posting { company, words });
            1
        }
        (Err(_), None) => 0,
    }
}

/// If a list is longer than one chunk, removes a full chunk from its beginning and returns this
/// chunk.
fn cut(list: &mut Vec<Posting>) -> Option<Vec<Posting>> {
    // The id in the first posting of a chunk takes at most ten bytes. Each later posting usually
    // takes three. So a chunk with this number of postings has about [`MAX_BYTES`] bytes.
    const MAX: usize = MAX_BYTES / 3;
    if list.len() <= MAX {
        return None;
    }
    let rest = list.split_off(MAX);
    Some(std::mem::replace(list, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DIRECTORY;
    use crate::directory::view::View;
    use enrich_store_sqlite::{self as sqlite, Durability};

    fn words(words: &[&str]) -> Words {
        words.iter().map(|word| ((*word).to_owned(), 1)).collect()
    }

    fn companies(connection: &Connection, word: &str) -> Vec<u64> {
        let mut found = Vec::new();
        View::of(connection).postings(word, |posting| found.push(posting.company)).unwrap();
        found.sort_unstable();
        let counted = View::of(connection).companies_with_word(word).unwrap();
        assert_eq!(counted, found.len() as u64, "{word}");
        found
    }

    fn rows(connection: &Connection, table: &str) -> u64 {
        let count = format!("SELECT count(*) FROM {table}");
        connection.query_row(&count, [], |row| row.get(0)).unwrap()
    }

    /// Adds and removes companies in an order in which lists grow, are divided and become empty.
    /// After each change, compares the stored list with a set in memory.
    #[test]
    fn lists_hold_whoever_has_the_word_whatever_came_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DIRECTORY.file);
        sqlite::create(&path, &DIRECTORY).unwrap();
        let connection = sqlite::writer(&path, Durability::Commit).unwrap();
        let (one, none) = (words(&["quill"]), words(&[]));
        let mut known = std::collections::BTreeSet::new();
        let turns: [(bool, Vec<u64>); 9] = [
            (true, (1000..2000).collect()),
            (true, (2000..2300).rev().collect()),
            (false, (1990..2300).collect()),
            (true, (5000..5003).collect()),
            (true, (1..400).collect()),
            (false, (900..1500).collect()),
            (true, vec![1200, 4999, 6000, 1]),
            (false, (5000..7000).collect()),
            (true, vec![7000, 1]),
        ];
        for (adds, ids) in turns {
            let mut changes = WordChanges::default();
            for id in ids {
                let held = known.contains(&id);
                let (before, now) = match (held, adds) {
                    (true, true) => (&one, &one),
                    (true, false) => (&one, &none),
                    (false, true) => (&none, &one),
                    (false, false) => (&none, &none),
                };
                changes.change(SubjectId(id), before, now);
                if adds {
                    known.insert(id)
                } else {
                    known.remove(&id)
                };
            }
            changes.write(&connection).unwrap();
            let wanted: Vec<u64> = known.iter().copied().collect();
            assert_eq!(companies(&connection, "quill"), wanted);
        }
        let mut changes = WordChanges::default();
        for id in &known {
            changes.change(SubjectId(*id), &one, &none);
        }
        changes.write(&connection).unwrap();
        for table in ["name_word", "name_word_chunk", "name_word_variant"] {
            assert_eq!(rows(&connection, table), 0, "nothing is left in {table}");
        }
    }
}
