//! Detects from the beginning of a JSON text whether it is JSON Lines, and where its records are.

use std::io::{self, Cursor};

use super::path::{Path, Step};
use super::scanner::{Copied, Scanner};

/// Maximum number of simple members (neither objects nor arrays) that an object around the records
/// may have before the array with the records. `{"total":2,"rows":[…]}` has one, `total`. If an
/// object has more than the maximum, it is a record itself.
const MAX_ENVELOPE_MEMBERS: usize = 5;
/// Maximum depth of nested objects in which records are searched for.
const MAX_DEPTH: usize = 2;

/// The layout of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonLayout {
    /// An object on each line.
    Lines,
    /// One JSON text with the records at this [`Path`], such as `/records/*`.
    Records(String),
}

/// Detects the layout of a text that begins with `head`. If `is_whole` is `true`, `head` is the
/// whole text.
pub(crate) fn detected(head: &[u8], is_whole: bool) -> JsonLayout {
    let mut scanner = Scanner::new(Box::new(Cursor::new(head.to_vec())));
    if matches!(scanner.peek(), Ok(Some(b'['))) {
        return JsonLayout::Records("/*".to_owned());
    }
    match scanner.skip().and_then(|()| scanner.peek()) {
        Ok(Some(_)) => return JsonLayout::Lines,
        Ok(None) if !is_whole => return JsonLayout::Lines,
        _ => {}
    }
    let mut scanner = Scanner::new(Box::new(Cursor::new(head.to_vec())));
    let path = envelope(&mut scanner, 0).ok().flatten().unwrap_or_default();
    JsonLayout::Records(path.to_string())
}

/// Returns the names of the first members, at most `most`, of the object at the beginning of
/// `head`. Stops at the first place that isn't JSON.
pub(crate) fn first_names(head: &[u8], most: usize) -> Vec<String> {
    member_names(&mut Scanner::new(Box::new(Cursor::new(head.to_vec()))), most)
}

/// Returns the path to the records in the next object. Returns `None` if the object is a record.
///
/// Returns an error if the text ends, or isn't JSON, before records were found.
fn envelope(scanner: &mut Scanner, depth: usize) -> io::Result<Option<Path>> {
    scanner.expect(b'{')?;
    let mut found = Found::default();
    let ended = members(scanner, depth, &mut found);
    if found.path.is_none() && found.is_table_of_objects() {
        found.path = Some(Path(vec![Step::Each]));
    }
    match (found.path, ended) {
        (None, Err(error)) => Err(error),
        (path, _) => Ok(path),
    }
}

/// What was found in an object so far: the numbers of its members by kind, and the path to the
/// records.
#[derive(Default)]
struct Found {
    plain: usize,
    /// The number of members that are objects. `names` has the names of the members inside the last
    /// of these objects.
    objects: usize,
    names: Vec<String>,
    have_same_names: bool,
    path: Option<Path>,
}

impl Found {
    fn is_table_of_objects(&self) -> bool {
        self.plain == 0 && self.objects > 1 && self.have_same_names
    }
}

fn members(scanner: &mut Scanner, depth: usize, found: &mut Found) -> io::Result<()> {
    let mut has_columns = false;
    loop {
        scanner.accept(b',')?;
        if scanner.accept(b'}')? {
            return Ok(());
        }
        let name = text(scanner)?;
        scanner.expect(b':')?;
        match scanner.peek()? {
            Some(b'[') => {
                has_columns |= super::COLUMN_NAMES.contains(&name.as_str());
                if is_array_of_records(scanner, has_columns)? && found.is_envelope() {
                    found.path = Some(Path(vec![Step::Member(name), Step::Each]));
                    return Ok(());
                }
            }
            Some(b'{') => {
                object(scanner, depth, name, found)?;
                if found.path.is_some() {
                    return Ok(());
                }
            }
            _ => {
                found.plain += 1;
                scanner.skip()?;
            }
        }
    }
}

impl Found {
    fn is_envelope(&self) -> bool {
        self.plain <= MAX_ENVELOPE_MEMBERS
    }
}

/// Reads a member that is an object, and counts it in `found`. If the member contains the records,
/// sets `found.path`.
fn object(scanner: &mut Scanner, depth: usize, name: String, found: &mut Found) -> io::Result<()> {
    let mut copy = Vec::new();
    let copied = scanner.copy(&mut copy, usize::MAX);
    let mut inner = Scanner::new(Box::new(Cursor::new(copy.clone())));
    let names = member_names(&mut inner, usize::MAX);
    found.have_same_names = match found.objects {
        0 => true,
        _ => found.have_same_names && found.names == names,
    };
    found.objects += 1;
    found.names = names;
    if found.is_envelope() && !found.is_table_of_objects() && depth + 1 < MAX_DEPTH {
        let mut inner = Scanner::new(Box::new(Cursor::new(copy)));
        if let Ok(Some(mut path)) = envelope(&mut inner, depth + 1)
            && path.0.first() != Some(&Step::Each)
        {
            path.0.insert(0, Step::Member(name));
            found.path = Some(path);
        }
    }
    copied.map(|_: Copied| ())
}

/// Returns the names of an object's members, at most `most`. Stops at the first place that isn't
/// JSON.
fn member_names(scanner: &mut Scanner, most: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut read = || -> io::Result<bool> {
        if names.is_empty() {
            scanner.expect(b'{')?;
        }
        scanner.accept(b',')?;
        let name = text(scanner)?;
        scanner.expect(b':')?;
        names.push(name);
        scanner.skip()?;
        Ok(names.len() < most)
    };
    while read().unwrap_or(false) {}
    names
}

/// Returns whether the next array contains records. It does if its first element is an object. If
/// the names of the columns were found before (`has_columns`), each record may be an array of
/// values, so the first element may also be an array. If the result is `false`, the whole array was
/// skipped.
fn is_array_of_records(scanner: &mut Scanner, has_columns: bool) -> io::Result<bool> {
    scanner.expect(b'[')?;
    let first = scanner.peek()?;
    if first == Some(b'{') || (has_columns && first == Some(b'[')) {
        return Ok(true);
    }
    loop {
        scanner.accept(b',')?;
        if scanner.accept(b']')? {
            return Ok(false);
        }
        scanner.skip()?;
    }
}

fn text(scanner: &mut Scanner) -> io::Result<String> {
    let mut bytes = Vec::new();
    if scanner.peek()? != Some(b'"') {
        return Err(scanner.not_json());
    }
    scanner.copy(&mut bytes, usize::MAX)?;
    serde_json::from_slice(&bytes).map_err(|_| scanner.not_json())
}
