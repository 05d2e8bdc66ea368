//! Checks the list of symptoms in the runbook: the program must be able to print each message that
//! the list quotes.

use std::fs;
use std::path::Path;

use crate::document_page::{files, pages, root};

/// Symptoms of the runbook that are not in the source code as one text: SQLite prints them, or the
/// program composes them from parts.
const FROM_ELSEWHERE: [&str; 3] =
    ["database or disk is full", "Retry-After: 60", "lacks secret.key"];

/// Returns the source code of the product as one text. A string literal that continues on the next
/// line after `\` is joined to one line.
fn source() -> String {
    let mut sources = Vec::new();
    for folder in ["crates", "bins/enrich"] {
        files(&root().join(folder), &[".rs"], &mut sources);
    }
    let mut source = String::new();
    for file in sources {
        for line in fs::read_to_string(file).unwrap().lines() {
            match line.strip_suffix('\\') {
                Some(begun) => source.push_str(begun.trim_start()),
                None => source.extend([line.trim_start(), "\n"]),
            }
        }
    }
    source
}

#[test]
fn every_symptom_is_a_text_of_the_program() {
    let runbook = pages().into_iter().find(|page| page.path == Path::new("docs/runbook.md"));
    let runbook = runbook.unwrap();
    let (_, symptoms) = runbook.text.split_once("\n## Symptoms\n").unwrap();
    let symptoms = symptoms.split("\n## ").next().unwrap();
    let source = source();
    let mut seen = 0;
    for row in symptoms.lines().filter(|line| line.starts_with("| ")) {
        let symptom = row.split('|').nth(1).unwrap();
        let quoted = symptom.split('`').skip(1).step_by(2);
        for text in quoted.filter(|text| !FROM_ELSEWHERE.contains(text)) {
            for part in text.split('…').map(str::trim) {
                seen += 1;
                assert!(source.contains(part), "the program never says: {part}");
            }
        }
    }
    assert!(seen > 12, "{seen} texts");
}
