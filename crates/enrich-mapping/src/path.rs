//! Places in an input record: where a value is found.
//!
//! A place is a column or key (`Company Name`), keys joined by dots (`organisasjonsform.kode`),
//! or a JSON pointer (`/records/0/LEI`). If the value of one of the keys is a list, the rest of
//! the place applies to each element: `names.value` is the `value` of each element of the list
//! `names`. A number selects one element of a list. `*` means every member of an object, or every
//! element of a list.

use serde_json::{Map, Value};

/// A place in an input record: a column, a key, or a way through nested keys to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    whole: String,
    steps: Vec<String>,
}

/// Maximum number of places in a record (columns or keys) that one text with a numbered range may
/// stand for. For example, `Name_{1..10}` stands for ten.
const MOST_OF_A_RANGE: usize = 1_000;

impl Path {
    /// Reads a text that says where a value is in an input record, such as `Company Name`. A text
    /// with a numbered range stands for several places: `Name_{1..2}` for `Name_1` and `Name_2`.
    /// Returns `None` if the range is wrong or too long.
    pub(crate) fn read(text: &str) -> Option<Vec<Self>> {
        let Some((before, range, after)) = range(text) else {
            return Some(vec![Self::column(text)]);
        };
        let (from, to) = range.split_once("..")?;
        let (from, to): (usize, usize) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        if to < from || to - from >= MOST_OF_A_RANGE {
            return None;
        }
        Some((from..=to).map(|number| Self::column(&format!("{before}{number}{after}"))).collect())
    }

    /// Parses a text that stands for one place: the name of a column or key, keys joined by dots,
    /// or a JSON pointer. Unlike [`Self::read`], this function does not treat braces as a numbered
    /// range.
    pub(crate) fn column(text: &str) -> Self {
        let steps = match text.strip_prefix('/') {
            Some(pointer) => {
                pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
            }
            None => text.split('.').map(str::to_owned).collect(),
        };
        Self { whole: text.to_owned(), steps }
    }

    /// Returns the name of the column, or the top-level key, that contains the value. For the place
    /// `names.value`, this is `names`, unless the record has a column whose whole name is
    /// `names.value`.
    pub(crate) fn first<'a>(&'a self, record: &Map<String, Value>) -> &'a str {
        match self.steps.first() {
            Some(first) if !record.contains_key(&self.whole) => first,
            _ => &self.whole,
        }
    }

    /// Returns the values at this place of the record.
    pub(crate) fn find<'v>(&self, record: &'v Map<String, Value>) -> Vec<&'v Value> {
        if let Some(value) = record.get(&self.whole) {
            return vec![value];
        }
        let mut found = Vec::new();
        if self.steps.len() > 1 || self.whole == "*" || self.whole.starts_with('/') {
            in_object(record, &self.steps, &mut found);
        }
        if found.is_empty() {
            found.extend(column(record, &self.whole));
        }
        found
    }

    /// Whether the record has a value at this place, even an empty one.
    pub(crate) fn is_in(&self, record: &Map<String, Value>) -> bool {
        !self.find(record).is_empty()
    }
}

/// Splits a text with a numbered range into the three parts before, within and after the braces:
/// `Name_{1..3}.Text` gives `Name_`, `1..3` and `.Text`.
fn range(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    inside.contains("..").then_some((before, inside, after))
}

/// Returns the value of the column with this name ([`is_same_column`]).
fn column<'v>(record: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    record.iter().find(|(key, _)| is_same_column(key, name)).map(|(_, value)| value)
}

/// Whether two names mean the same column. Ignores the case of ASCII letters, and which white space
/// separates the words. For example, `Phone (office)` and `phone\n(office)` mean the same column.
pub fn is_same_column(one: &str, other: &str) -> bool {
    one == other || folded(one).eq(folded(other))
}

/// Returns the bytes of a name, with ASCII letters in lower case and one blank after each word.
fn folded(name: &str) -> impl Iterator<Item = u8> + '_ {
    let words = name.split_whitespace().flat_map(|word| word.bytes().chain([b' ']));
    words.map(|byte| byte.to_ascii_lowercase())
}

fn in_object<'v>(object: &'v Map<String, Value>, steps: &[String], found: &mut Vec<&'v Value>) {
    let Some((step, rest)) = steps.split_first() else { return };
    if step == "*" {
        for value in object.values() {
            in_value(value, rest, found);
        }
    } else if let Some(value) = object.get(step) {
        in_value(value, rest, found);
    }
}

fn in_value<'v>(value: &'v Value, steps: &[String], found: &mut Vec<&'v Value>) {
    let Some((step, rest)) = steps.split_first() else {
        found.push(value);
        return;
    };
    match value {
        Value::Object(object) => in_object(object, steps, found),
        Value::Array(values) => {
            if let Ok(index) = step.parse::<usize>() {
                if let Some(value) = values.get(index) {
                    in_value(value, rest, found);
                }
                return;
            }
            let steps = if step == "*" { rest } else { steps };
            for value in values {
                in_value(value, steps, found);
            }
        }
        _ => {}
    }
}

/// Returns the texts of a value. A text, a number, `true` or `false` gives one text. A list gives
/// the texts of its values. An object that was read from an XML element gives its text (`$`).
/// `null`, a blank text and any other object give nothing.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    add_texts(value, &mut found);
    found
}

fn add_texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Bool(truth) => found.push(truth.to_string()),
        Value::Number(number) => found.push(number.to_string()),
        Value::String(text) => {
            let text = text.trim();
            if !text.is_empty() {
                found.push(text.to_owned());
            }
        }
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, found)),
        Value::Object(object) => {
            if let Some(text) = object.get("$") {
                add_texts(text, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(record: &Value, path: &str) -> Vec<String> {
        let paths = Path::read(path).unwrap();
        let record = record.as_object().unwrap();
        paths.iter().flat_map(|path| path.find(record)).flat_map(texts).collect()
    }

    #[test]
    fn a_place_is_a_column_or_keys_or_a_pointer() {
        let record = json!({
            "a.b": "column", "c": {"d": [{"e": 1}, {"e": null}, {"e": "x"}]},
            " Padded Name": " p ", "x/y": {"z": {"$": "element", "@lang": "de"}},
        });
        assert_eq!(found(&record, "a.b"), ["column"]);
        assert_eq!(found(&record, "c.d.e"), ["1", "x"]);
        assert_eq!(found(&record, "c.d.2.e"), ["x"]);
        assert_eq!(found(&record, "c.*.e"), ["1", "x"]);
        assert_eq!(found(&record, "/c/d/0/e"), ["1"]);
        assert_eq!(found(&record, "padded name"), ["p"]);
        assert_eq!(found(&record, "/x~1y/z"), ["element"]);
        assert_eq!(found(&record, "c.d.x"), Vec::<String>::new());
    }

    #[test]
    fn a_numbered_range_stands_for_columns() {
        let record = json!({"Name_2.Text": "b", "Name_1.Text": "a"});
        assert_eq!(found(&record, "Name_{1..3}.Text"), ["a", "b"]);
        assert!(Path::read("Name_{3..1}").is_none());
        assert!(Path::read("Name_{1..x}").is_none());
        assert!(Path::read("Name_{1..100000}").is_none());
    }
}
