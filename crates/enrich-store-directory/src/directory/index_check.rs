//! Checks the index of words. For each word in the names of companies, this index has a list of
//! these companies. It also has the variants of the word, by which a misspelt word is found. A list
//! must be in order and contain only companies that exist. No variant may be missing.

use enrich_store_sqlite::Statements;
use rusqlite::{Connection, params};

use super::codes::COMPANY;
use super::postings::unpack;
use super::variants::variants;

/// After this number of faults, no further words are checked. A longer list of faults would not
/// help, because an index with any fault must be rebuilt.
const MAX_REPORTED: usize = 20;

/// Checks the index of words, and returns its faults as texts. All reads see one state of the
/// directory, even if an import runs.
pub(crate) fn problems(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let reading = connection.unchecked_transaction()?;
    let problems = problems_of_one_state(&reading)?;
    reading.finish()?;
    Ok(problems)
}

/// Like [`problems`], but the caller must have begun a transaction already.
pub(crate) fn problems_of_one_state(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems = Vec::new();
    let companies = companies(connection)?;
    let held: usize = companies.iter().filter(|is_there| **is_there).count();
    let stated: i64 = connection.query_row("SELECT companies FROM state", [], |row| row.get(0))?;
    if u64::try_from(stated) != Ok(held as u64) {
        problems.push(format!("it says that it holds {stated} companies, and holds {held}"));
    }
    let mut words =
        connection.prepare("SELECT word, companies, last FROM name_word ORDER BY word")?;
    let mut rows = words.query([])?;
    let mut number = 0_u64;
    while let Some(row) = rows.next()? {
        number += 1;
        let word = Word {
            connection,
            word: row.get_ref(0)?.as_str()?,
            companies: row.get(1)?,
            last: row.get_ref(2)?.as_blob()?,
        };
        // A word may be part of a person's name, which a report of faults must not contain. So the
        // text of a fault names the word by its number in alphabetical order.
        let fault = word.fault(&companies)?;
        problems.extend(fault.map(|fault| format!("word {number} of the index {fault}")));
        if problems.len() >= MAX_REPORTED {
            break;
        }
    }
    for (stray, query) in STRAY {
        let number: u64 = connection.query_row(query, [], |row| row.get(0))?;
        if number > 0 {
            problems.push(format!("{number} {stray} are of words that the index does not hold"));
        }
    }
    if !problems.is_empty() {
        problems.push(ADVICE.to_owned());
    }
    Ok(problems)
}

const ADVICE: &str =
    "names may not be found, or wrong ones: stop the server and run `enrich reindex`";

const STRAY: [(&str, &str); 2] = [
    (
        "lists",
        "SELECT count(*) FROM name_word_chunk WHERE word NOT IN (SELECT word FROM name_word)",
    ),
    (
        "variants",
        "SELECT count(*) FROM name_word_variant WHERE word NOT IN (SELECT word FROM name_word)",
    ),
];

/// Returns a list in which the element at index `id` is `true` if a company with this id exists.
fn companies(connection: &Connection) -> rusqlite::Result<Vec<bool>> {
    let mut companies = Vec::new();
    connection.each("SELECT id FROM subject WHERE kind = ?1 ORDER BY id", [COMPANY], |row| {
        // Ids count up from 1, so the list has about one element for each subject that was ever
        // added.
        if let Ok(id) = usize::try_from(row.get::<_, i64>(0)?) {
            companies.resize(id + 1, false);
            companies[id] = true;
        }
        Ok(())
    })?;
    Ok(companies)
}

struct Word<'a> {
    connection: &'a Connection,
    word: &'a str,
    companies: u64,
    last: &'a [u8],
}

impl Word<'_> {
    fn fault(&self, companies: &[bool]) -> rusqlite::Result<Option<String>> {
        let mut list = List { companies, before: None, number: 0 };
        let mut chunks = self.connection.prepare_cached(
            "SELECT first, companies FROM name_word_chunk WHERE word = ?1 ORDER BY first",
        )?;
        let mut rows = chunks.query([self.word])?;
        while let Some(row) = rows.next()? {
            let first = u64::try_from(row.get::<_, i64>(0)?).ok();
            if let Err(fault) = list.read(row.get_ref(1)?.as_blob()?, first) {
                return Ok(Some(fault.to_owned()));
            }
        }
        if let Err(fault) = list.read(self.last, None) {
            return Ok(Some(fault.to_owned()));
        }
        if list.number != self.companies {
            let Self { companies: stated, .. } = self;
            return Ok(Some(format!("says {stated} companies and lists {}", list.number)));
        }
        let held = "SELECT 1 FROM name_word_variant WHERE variant = ?1 AND word = ?2";
        for variant in variants(self.word) {
            if !self.connection.has(held, params![variant, self.word])? {
                return Ok(Some("lacks a variant".to_owned()));
            }
        }
        Ok(None)
    }
}

/// Checks the list of companies of one word. The list is read in several parts. `before` is the
/// last company that was read, and `number` is the number of companies read so far. The element
/// `companies[id]` says whether the company with this id exists.
struct List<'a> {
    companies: &'a [bool],
    before: Option<u64>,
    number: u64,
}

impl List<'_> {
    /// Reads and checks the next part of the list. `first` is the company with which the part must
    /// begin; with `None`, the part may begin with any company.
    fn read(&mut self, part: &[u8], first: Option<u64>) -> Result<(), &'static str> {
        for (at, posting) in unpack(part).enumerate() {
            let company = posting.map_err(|_| "has a list that cannot be read")?.company;
            if at == 0 && first.is_some_and(|first| first != company) {
                return Err("has a list that begins with another company than it says");
            }
            if self.before.is_some_and(|before| before >= company) {
                return Err("has a list that is out of order");
            }
            let is_there = usize::try_from(company).ok().and_then(|at| self.companies.get(at));
            if is_there != Some(&true) {
                return Err("lists a company that is not there");
            }
            self.before = Some(company);
            self.number += 1;
        }
        Ok(())
    }
}
