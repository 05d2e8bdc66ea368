//! Commands in documents: checks that the program, `cargo` or `just` knows each of them.

use std::fs;
use std::process::Command;

use crate::document_page::{DocumentPage, pages, root};

/// Returns the commands on a page: lines of shell blocks, and code between backticks.
fn typed(page: &DocumentPage) -> Vec<String> {
    let mut commands = page.inline_code();
    for block in page.blocks() {
        let text = block.lines.join("\n").replace("\\\n", " ");
        for line in text.lines() {
            match (block.language, line.strip_prefix("$ ")) {
                (_, Some(command)) => commands.push(command.to_owned()),
                ("sh", None) => commands.push(line.to_owned()),
                _ => {}
            }
        }
    }
    commands
}

/// Splits a command line into words, and removes the quotes. A shell operator, such as `|` or `;`,
/// is a word of its own.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        let word = words.last_mut().unwrap();
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => word.push(letter),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '#') if word.is_empty() => break,
            (None, ';' | '(' | ')') => words.extend([letter.to_string(), String::new()]),
            (None, ' ') => words.push(String::new()),
            (None, _) => word.push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Finds the commands of the program `name` in a line. Returns the words of each command, without
/// the program's name.
pub(crate) fn of_program(line: &str, name: &str) -> Vec<Vec<String>> {
    let words = words(line);
    let is_operator =
        |word: &&str| matches!(*word, "|" | "&&" | ";" | "(" | ")" | "<" | ">" | ">>" | "2>&1");
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut commands = Vec::new();
    for part in all.split(is_operator) {
        let begin = part.iter().position(|word| !word.contains('=') && *word != "sudo");
        let begin = match begin {
            Some(at) if part[at] == "-u" => part[at + 2..]
                .iter()
                .position(|word| !word.contains('='))
                .map(|further| at + 2 + further),
            begin => begin,
        };
        if let Some(at) = begin.filter(|at| part[*at] == name) {
            commands.push(part[at + 1..].iter().map(|word| (*word).to_owned()).collect());
        }
    }
    commands
}

/// Replaces a placeholder by a value that the program accepts.
fn filled_in(word: &str) -> String {
    match word.trim_end_matches('…') {
        "KEY_ID" | "ENTRY_ID" => "01a1fda8-b255-7b5a-831c-1bcf8352e75d".to_owned(),
        "ENDPOINT" => "cuf".to_owned(),
        "COMMAND" => "import".to_owned(),
        "BALANCE" => "1000".to_owned(),
        "NUMBER" => "41".to_owned(),
        "CC" => "GB".to_owned(),
        "ADDR" => "ada@quill.example".to_owned(),
        other => other.to_owned(),
    }
}

/// Runs the command with `--help` added: the program parses the arguments and does nothing else.
/// Returns the error message, if any.
pub(crate) fn complaint(words: &[String]) -> Option<String> {
    let words = words.iter().map(|word| filled_in(word)).filter(|word| word != "…");
    let mut command = Command::new(env!("CARGO_BIN_EXE_enrich"));
    let output = command.args(words).arg("--help").output().unwrap();
    let is_understood = output.status.success();
    (!is_understood).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_program_understands_every_command_of_a_document() {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for page in pages() {
        for line in typed(&page) {
            for words in of_program(&line, "enrich") {
                seen += 1;
                if let Some(complaint) = complaint(&words) {
                    wrong.push(format!("{}: {line}\n{complaint}", page.path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 150, "{seen} commands");
}

/// Returns the value that follows an option in `words`; `names` are the option's two spellings.
fn option<'a>(words: &'a [String], names: [&str; 2]) -> Option<&'a str> {
    let at = words.iter().position(|word| names.contains(&word.as_str()))?;
    words.get(at + 1).map(String::as_str)
}

#[test]
fn cargo_and_just_have_what_the_documents_run() {
    let root = root();
    let recipes = fs::read_to_string(root.join("justfile")).unwrap();
    let has_recipe = |name: &str| {
        recipes
            .lines()
            .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', ':'])))
    };
    for page in pages() {
        let place = page.path.display();
        for line in typed(&page) {
            for words in of_program(&line, "just") {
                let Some(name) = words.first() else { continue };
                assert!(has_recipe(name), "{place}: just {name}");
            }
            for words in of_program(&line, "cargo") {
                let package = option(&words, ["-p", "--package"]);
                let folders = ["crates", "bins"].map(|it| root.join(it));
                let folder = package.and_then(|package| {
                    folders.iter().map(|it| it.join(package)).find(|it| it.exists())
                });
                assert_eq!(package.is_some(), folder.is_some(), "{place}: {line}");
                let tests = words.iter().zip(words.iter().skip(1));
                for (_, test) in tests.filter(|(word, _)| *word == "--test") {
                    let tests = folder.as_ref().unwrap().join("tests");
                    let files = [format!("{test}.rs"), format!("{test}/main.rs")];
                    let is_there = files.iter().any(|file| tests.join(file).exists());
                    assert!(is_there, "{place}: {line}");
                }
            }
        }
    }
}
