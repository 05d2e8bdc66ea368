//! Checks that the SQL of this crate uses only what CockroachDB, YugabyteDB, Citus and poolers in
//! transaction mode support.
//!
//! The tests check the migrations and the string literals in the source. Tests and comments are
//! left out.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

/// Words that no statement may contain, in lower or upper case.
const WORDS: [&str; 23] = [
    "bigserial",
    "current_date",
    "current_time",
    "current_timestamp",
    "currval",
    "deferrable",
    "lastval",
    "localtimestamp",
    "nextval",
    "pg_notify",
    "plpgsql",
    "serial",
    "setval",
    "smallserial",
    "statement_timestamp",
    "temp",
    "temporary",
    "transaction_timestamp",
    "trigger",
    "txid_current",
    "unlisten",
    "unlogged",
    "xmin",
];

/// Words that no statement may contain in upper case. In lower case they are ordinary English
/// words.
const CAPITALS: [&str; 8] = [
    "DEALLOCATE",
    "IDENTITY",
    "LISTEN",
    "NOTIFY",
    "PREPARE",
    "PROCEDURE",
    "REFERENCES",
    "SEQUENCE",
];

/// Parts of text that no statement may contain, in lower or upper case.
const PARTS: [&str; 6] =
    ["now()", "pg_advisory", "pg_try_advisory", "create function", "or replace function", "do $$"];

/// Methods of the client library that prepare a named statement. The other methods are allowed:
/// `query_typed`, its variants and `execute_typed` send unnamed statements, and `batch_execute` and
/// `simple_query` have no parameters.
const NAMED: [&str; 7] =
    ["prepare", "prepare_typed", "query", "query_one", "query_opt", "query_raw", "execute"];

/// The names of the variables on which the source calls the methods of the client library.
const CLIENTS: [&str; 2] = ["client", "transaction"];

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Returns the words and parts of a statement that are not portable.
fn unportable(statement: &str) -> Vec<&'static str> {
    let small = statement.to_ascii_lowercase();
    let has_word = |text: &str, wanted: &str| text.split(|it| !is_word(it)).any(|it| it == wanted);
    let words = WORDS.into_iter().filter(|word| has_word(&small, word));
    let capitals = CAPITALS.into_iter().filter(|word| has_word(statement, word));
    let parts = PARTS
        .into_iter()
        .filter(|part| small.match_indices(part).any(|(at, _)| !small[..at].ends_with(is_word)));
    words.chain(capitals).chain(parts).collect()
}

/// Returns the calls in a source text that prepare a named statement, such as `client.query(`.
fn named_statements(source: &str) -> Vec<String> {
    let calls = CLIENTS
        .iter()
        .flat_map(|client| NAMED.iter().map(move |method| format!("{client}.{method}(")));
    // White space is removed, because a chain of calls may be split into several lines.
    let source: String = source.split_whitespace().collect();
    calls.filter(|call| source.contains(call)).collect()
}

/// Returns a source text without its line comments and its module of tests.
fn without_comments_and_tests(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the string literals in a source text without comments.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find('"') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        if before.ends_with('\'') && after.starts_with('\'') {
            rest = after;
            continue;
        }
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw = before.trim_end_matches('#').ends_with('r');
        let end = if is_raw {
            after.find(&format!("\"{}", "#".repeat(hashes)))
        } else {
            let mut is_escaped = false;
            after.find(|letter| {
                let is_end = letter == '"' && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                is_end
            })
        };
        let end = end.unwrap();
        found.push(after[..end].to_owned());
        rest = &after[end + 1..];
    }
    found
}

fn without_sql_comments(migration: &str) -> String {
    let lines = migration.lines().map(|line| line.split("--").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.to_str().unwrap().ends_with(ending) {
            found.push(path);
        }
    }
}

fn read(folder: &str, ending: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    files(&folder, ending, &mut found);
    found.sort();
    let is_test = |path: &PathBuf| path.ends_with("tests.rs") || path.ends_with("test_database.rs");
    let file = |path: PathBuf| (path.display().to_string(), fs::read_to_string(&path).unwrap());
    found.into_iter().filter(|path| !is_test(path)).map(file).collect()
}

#[test]
fn every_engine_has_what_the_statements_use() {
    let (mut seen, mut wrong) = (0, Vec::new());
    let mut look = |file: &str, statement: &str| {
        seen += usize::from(statement.contains("SELECT") || statement.contains("CREATE"));
        wrong.extend(unportable(statement).into_iter().map(|found| format!("{file}: {found}")));
    };
    for (file, migration) in read("migrations", ".sql") {
        look(&file, &without_sql_comments(&migration));
    }
    for (file, source) in read("src", ".rs") {
        let literals = literals(&without_comments_and_tests(&source));
        literals.iter().for_each(|literal| look(&file, literal));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 30, "{seen} statements");
}

#[test]
fn no_statement_has_a_name() {
    let mut wrong = Vec::new();
    for (file, source) in read("src", ".rs") {
        let calls = named_statements(&without_comments_and_tests(&source));
        wrong.extend(calls.into_iter().map(|call| format!("{file}: {call}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_an_engine_lacks_is_found() {
    let none: [&str; 0] = [];
    assert_eq!(unportable("SELECT sequence, clock_timestamp() FROM entry"), none);
    assert_eq!(unportable("SELECT known() FROM entry"), none);
    assert_eq!(unportable("the server is listening"), none);
    assert_eq!(unportable("CREATE TRIGGER kept AFTER INSERT ON entry"), ["trigger"]);
    assert_eq!(unportable("id bigserial PRIMARY KEY"), ["bigserial"]);
    assert_eq!(unportable("CREATE UNLOGGED TABLE rate_count ()"), ["unlogged"]);
    assert_eq!(unportable("UPDATE node SET seen_at = now()"), ["now()"]);
    assert_eq!(unportable("SELECT pg_advisory_xact_lock($1)"), ["pg_advisory"]);
    assert_eq!(unportable("LISTEN key_changes"), ["LISTEN"]);
}

#[test]
fn literals_are_found_in_source() {
    let source = r##"
        /// A "comment".
        const A: &str = "SELECT \"a\" FROM b";
        let quote = '"';
        let raw = r#"no "end" here"#;
        client
            .query(A, &[])
            .await
    "##;
    let source = without_comments_and_tests(source);
    assert_eq!(literals(&source), [r#"SELECT \"a\" FROM b"#, r#"no "end" here"#]);
    assert_eq!(named_statements(&source), ["client.query("]);
    assert!(named_statements("self.background.query(A, &[])").is_empty());
}
