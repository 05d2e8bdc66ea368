//! Reads the Markdown documents of the repository, and finds their parts, such as blocks of code.

use std::fs;
use std::path::{Path, PathBuf};

/// A Markdown file.
pub(crate) struct DocumentPage {
    /// The file's path, relative to the repository's root.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A fenced block of code.
pub(crate) struct Block<'a> {
    /// The text after the opening fence, such as `sh` or `console`; empty if there is none.
    pub(crate) language: &'a str,
    pub(crate) lines: Vec<&'a str>,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Adds to `found` the files in a folder and its subfolders, if their names end with one of
/// `endings`. Skips build output.
pub(crate) fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            if !matches!(name.as_str(), "target" | ".git" | "node_modules") {
                files(&entry.path(), endings, found);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(entry.path());
        }
    }
}

/// Returns all Markdown files of the repository, sorted by path.
pub(crate) fn pages() -> Vec<DocumentPage> {
    let root = root();
    let mut found = Vec::new();
    files(&root, &[".md"], &mut found);
    found.sort();
    let read = |path: PathBuf| DocumentPage {
        text: fs::read_to_string(&path).unwrap(),
        path: path.strip_prefix(&root).unwrap().to_owned(),
    };
    found.into_iter().map(read).collect()
}

impl DocumentPage {
    /// Returns the fenced blocks, in their order. The lines of an indented block are returned
    /// without the indent.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut indent = None;
        for line in self.text.lines() {
            let bare = line.trim_start();
            match (indent, bare.strip_prefix("```")) {
                (None, Some(language)) => {
                    indent = Some(line.len() - bare.len());
                    blocks.push(Block { language, lines: Vec::new() });
                }
                (Some(_), Some(_)) => indent = None,
                (Some(blanks), None) => {
                    let line = line.get(blanks..).unwrap_or_default();
                    blocks.last_mut().unwrap().lines.push(line);
                }
                (None, None) => {}
            }
        }
        blocks
    }

    /// Returns the lines outside of fenced blocks.
    pub(crate) fn prose(&self) -> Vec<&str> {
        let mut is_code = false;
        let mut lines = Vec::new();
        for line in self.text.lines() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                lines.push(line);
            }
        }
        lines
    }

    /// Returns the texts between backticks, also those that begin on one line and end on the next.
    pub(crate) fn inline_code(&self) -> Vec<String> {
        let prose = self.prose().join("\n");
        let paragraphs = prose.split("\n\n");
        let codes = paragraphs.flat_map(|it| it.split('`').skip(1).step_by(2));
        codes.map(|code| code.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }
}
