//! Conditions on an input record.

use serde_json::{Map, Value};

use crate::error::MappingError;
use crate::no_value::is_no_value;
use crate::node::{Node, Table};
use crate::path::{Path, texts};

/// A condition on the values at one or more places of an input record. A place is a column or a key
/// (see [`Path`]).
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    places: Vec<Path>,
    tests: Vec<Test>,
}

#[derive(Clone, Debug)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Empty(bool),
    Present(bool),
}

/// The keys that the table of a condition may have.
pub(crate) const KEYS: [&str; 6] = ["column", "equals", "in", "not-in", "empty", "present"];

impl Condition {
    /// Reads the conditions of the key `when`: one table, or a list of tables.
    pub(crate) fn read_all(node: Node<'_, '_>) -> Result<Vec<Self>, MappingError> {
        let read = |node: &Node<'_, '_>| {
            let table = node.table()?;
            table.only(&KEYS)?;
            Self::read(&table)
        };
        node.list().iter().map(read).collect()
    }

    /// Reads a condition from a table of a mapping file. The table may also have other keys, such
    /// as `reason` in a table `[[skip]]`.
    pub(crate) fn read(table: &Table<'_, '_>) -> Result<Self, MappingError> {
        let columns = table.texts("column")?;
        let places: Vec<Path> =
            columns.iter().filter_map(|text| Path::read(text)).flatten().collect();
        if places.is_empty() {
            return Err(table.wrong("needs a `column`"));
        }
        let mut tests = Vec::new();
        if let Some(text) = table.text("equals")? {
            tests.push(Test::In(vec![text]));
        }
        if table.get("in").is_some() {
            tests.push(Test::In(table.texts("in")?));
        }
        if table.get("not-in").is_some() {
            tests.push(Test::NotIn(table.texts("not-in")?));
        }
        tests.extend(table.flag("empty")?.map(Test::Empty));
        tests.extend(table.flag("present")?.map(Test::Present));
        if tests.is_empty() {
            let tests = "`equals`, `in`, `not-in`, `empty` or `present`";
            return Err(table.wrong(&format!("needs {tests}")));
        }
        Ok(Self { places, tests })
    }

    /// Whether an input record meets the condition. If the record has no value at the places of the
    /// condition, the tests `equals`, `in` and `not-in` all fail.
    pub(crate) fn is_met(&self, record: &Map<String, Value>) -> bool {
        let found = self.places.iter().flat_map(|place| place.find(record));
        let values: Vec<String> = found.flat_map(texts).collect();
        self.tests.iter().all(|test| match test {
            Test::In(allowed) => values.iter().any(|value| allowed.contains(value)),
            Test::NotIn(allowed) => {
                !values.is_empty() && !values.iter().any(|value| allowed.contains(value))
            }
            Test::Empty(is_empty) => values.iter().all(|value| is_no_value(value)) == *is_empty,
            Test::Present(is_there) => {
                self.places.iter().any(|place| place.is_in(record)) == *is_there
            }
        })
    }
}
