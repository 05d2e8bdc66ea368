//! The maximum lengths of files and functions, in lines. Tests don't count: neither files named
//! `tests.rs` nor a module `tests` at the end of a file. The code is formatted by rustfmt. So a
//! function ends at the first closing brace that has the same indent as the line with `fn`.

use super::imports::{crate_folder, rust_files};

/// The maximum number of lines of a file, including comments.
pub(crate) const MAX_PER_FILE: usize = 400;
/// The maximum number of lines of a function, from the line with its name to its closing brace.
pub(crate) const MAX_PER_FUNCTION: usize = 70;

/// Describes the files and functions of a crate that are too long.
pub(crate) fn too_long(name: &str) -> Vec<String> {
    let home = crate_folder(name).join("src");
    let mut found = Vec::new();
    for (path, text) in rust_files(home.clone()) {
        if path.ends_with("tests.rs") {
            continue;
        }
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let file = format!("{name}: {}", path.strip_prefix(&home).unwrap().display());
        if lines.len() > MAX_PER_FILE {
            found.push(format!("{file} has {} lines", lines.len()));
        }
        for (function, length) in functions(&lines) {
            if length > MAX_PER_FUNCTION {
                found.push(format!("{file}: `{function}` has {length} lines"));
            }
        }
    }
    found.sort();
    found
}

/// Returns the names of the functions with a body in `lines`, each with its number of lines.
fn functions<'t>(lines: &[&'t str]) -> Vec<(&'t str, usize)> {
    let functions = lines.iter().enumerate().filter_map(|(start, line)| {
        let name = function_name(line)?;
        let rest = lines.get(start..).unwrap_or_default();
        let head = rest.iter().position(|line| line.ends_with(['{', ';', '}']))?;
        if !rest.get(head)?.ends_with('{') {
            return Some((name, head + 1));
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_end = |line: &&str| line.strip_prefix(indent) == Some("}");
        Some((name, rest.iter().position(is_end)? + 1))
    });
    functions.collect()
}

/// Returns the name of the function that begins in this line.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.trim_start().split_once("fn ")?;
    let is_qualifier = |word: &str| {
        matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "\"C\"")
            || word.starts_with("pub(")
            || word.ends_with(')')
    };
    let name = after.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
    (!name.is_empty() && before.split(' ').all(|word| word.is_empty() || is_qualifier(word)))
        .then_some(name)
}

#[test]
fn a_function_is_measured_from_its_name_to_its_last_brace() {
    let text = "\
trait Progress {
    fn advance(&mut self);
    fn is_done(&self) -> bool {
        true
    }
}

/// A call of this fn is no function.
pub(crate) const fn short() {}

pub(in crate::ledger) async fn long(
    first: u64,
) -> u64 {
    let second = || {
        first
    };
    second()
}";
    let lines: Vec<&str> = text.lines().collect();
    let expected = [("advance", 1), ("is_done", 3), ("short", 1), ("long", 8)];
    assert_eq!(functions(&lines), expected);
}
