//! Tests of the links between documents, and of the names of documents in the source code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::document_page::{DocumentPage, files, pages, root};

/// Returns the targets of a page's links and images.
fn targets(page: &DocumentPage) -> Vec<String> {
    let prose = page.prose().join("\n");
    let parts = prose.split("](").skip(1);
    parts.map(|part| part.split(')').next().unwrap().to_owned()).collect()
}

/// Returns the anchors of a page of documentation. GitHub derives one from each heading:
/// `the-server` from the heading `The server`.
fn anchors(text: &str) -> BTreeSet<String> {
    let page = DocumentPage { path: "".into(), text: text.to_owned() };
    let headings = page.prose().into_iter().filter(|line| line.starts_with('#'));
    let kept = |letter: char| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || matches!(letter, '-' | '_') => Some(letter),
        _ => None,
    };
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        title.chars().filter_map(kept).collect::<String>()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = root();
    let mut broken = Vec::new();
    for page in pages() {
        let folder = root.join(page.path.parent().unwrap());
        for target in targets(&page) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if path.is_empty() { root.join(&page.path) } else { folder.join(path) };
            let leads = file.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&file).unwrap()).contains(anchor));
            if !leads {
                broken.push(format!("{}: {target}", page.path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// Returns the names of documents in a text: everything from `docs/` to `.md` or `.json`.
fn named(text: &str) -> Vec<&str> {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || "_-/.".contains(letter);
    let mut found = Vec::new();
    for (at, _) in text.match_indices("docs/") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(is_path) {
            continue;
        }
        let rest = &text[at..];
        let end = rest.find(|letter| !is_path(letter)).unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches('.');
        if path.ends_with(".md") || path.ends_with(".json") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_document_that_is_named_is_there() {
    let root = root();
    let mut sources = Vec::new();
    let endings = [".rs", ".md", ".toml", ".sh", ".sql", ".html", "justfile", "run"];
    files(&root, &endings, &mut sources);
    let mut missing = Vec::new();
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        let names = named(&text).into_iter().filter(|name| !root.join(name).exists());
        missing.extend(names.map(|name| format!("{}: {name}", source.display())));
    }
    assert!(missing.is_empty(), "named, but not there:\n{}", missing.join("\n"));
}

#[test]
fn the_files_in_the_tables_of_a_crate_are_there() {
    let mut missing = Vec::new();
    for page in pages().iter().filter(|page| page.path.ends_with("README.md")) {
        let sources = root().join(&page.path).with_file_name("src");
        let cells =
            page.text.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
        for name in cells.flat_map(|cell| cell.split('`').step_by(2)) {
            if name.ends_with(".rs") && !sources.join(name).exists() {
                missing.push(format!("{}: {name}", page.path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "named, but not there:\n{}", missing.join("\n"));
}

#[test]
fn every_document_stands_on_the_map() {
    let map = pages().into_iter().find(|page| page.path == Path::new("docs/README.md")).unwrap();
    for page in pages() {
        let Ok(path) = page.path.strip_prefix("docs") else { continue };
        let path = path.to_str().unwrap();
        if path != "README.md" && !path.starts_with("decisions/") {
            assert!(targets(&map).iter().any(|target| target == path), "{path} is not on the map");
        }
    }
}

#[test]
fn no_document_is_longer_than_400_lines() {
    for page in pages() {
        let lines = page.text.lines().count();
        assert!(lines <= 400, "{}: {lines} lines", page.path.display());
    }
}

#[test]
fn every_name_of_the_source_in_the_glossary_is_there() {
    let mut sources = Vec::new();
    for folder in ["crates", "bins"] {
        files(&root().join(folder), &[".rs"], &mut sources);
    }
    let texts = sources.iter().map(|file| fs::read_to_string(file).unwrap());
    let code = texts.collect::<Vec<_>>().join("\n");
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: BTreeSet<&str> = code.split(|letter| !is_name(letter)).collect();
    let glossary = pages().into_iter().find(|page| page.path.ends_with("glossary.md")).unwrap();
    for name in glossary.inline_code() {
        assert!(!name.chars().all(is_name) || words.contains(name.as_str()), "`{name}` is gone");
    }
}
