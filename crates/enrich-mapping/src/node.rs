//! Values of a TOML file with their lines, so that every error names its line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::MappingError;

/// A value of a TOML file.
#[derive(Clone, Copy)]
pub(crate) struct Node<'t, 'i> {
    text: &'i str,
    /// The value's key, for error messages.
    name: &'t str,
    at: usize,
    value: &'t DeValue<'i>,
}

/// A table of a TOML file.
#[derive(Clone, Copy)]
pub(crate) struct Table<'t, 'i> {
    text: &'i str,
    name: &'t str,
    at: usize,
    entries: &'t DeTable<'i>,
}

/// The name of the whole file in error messages.
const WHOLE: &str = "the mapping";

/// Parses a TOML file.
pub(crate) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, MappingError> {
    DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        wrong(text, at, error.message().lines().collect::<Vec<_>>().join(": "))
    })
}

impl<'t, 'i> Table<'t, 'i> {
    /// Creates the table that stands for the whole file.
    pub(crate) fn whole(text: &'i str, table: &'t Spanned<DeTable<'i>>) -> Self {
        Self { text, name: WHOLE, at: 0, entries: table.get_ref() }
    }

    /// Returns an error if the table has a key that is not in `allowed`.
    pub(crate) fn only(&self, allowed: &[&str]) -> Result<(), MappingError> {
        for key in self.entries.keys() {
            if !allowed.contains(&key.get_ref().as_ref()) {
                let (name, key_text) = (self.shown(), key.get_ref());
                let problem = format!("{name} has no `{key_text}`; it has {}", list(allowed));
                return Err(wrong(self.text, key.span().start, problem));
            }
        }
        Ok(())
    }

    pub(crate) fn get(&self, name: &'t str) -> Option<Node<'t, 'i>> {
        let value = self.entries.get(name)?;
        let at = value.span().start;
        Some(Node { text: self.text, name, at, value: value.get_ref() })
    }

    /// Returns the text of a key; `None` if the table does not have the key.
    pub(crate) fn text(&self, name: &'t str) -> Result<Option<String>, MappingError> {
        self.get(name).map(|node| node.text()).transpose()
    }

    /// Returns the value of a key as a list of texts. A single text becomes a list of one text. If
    /// the table does not have the key, returns an empty list.
    pub(crate) fn texts(&self, name: &'t str) -> Result<Vec<String>, MappingError> {
        self.get(name).map_or(Ok(Vec::new()), |node| node.texts())
    }

    /// Returns the value of a key as a boolean; `None` if the table does not have the key. Any
    /// value other than `true` and `false` is an error.
    pub(crate) fn flag(&self, name: &'t str) -> Result<Option<bool>, MappingError> {
        let flag = |node: Node<'_, '_>| {
            node.value.as_bool().ok_or_else(|| node.wrong("is `true` or `false`"))
        };
        self.get(name).map(flag).transpose()
    }

    /// Returns all keys with their values, in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(&'t str, Node<'t, 'i>)> {
        let mut entries: Vec<_> = self
            .entries
            .iter()
            .map(|(key, value)| {
                let (name, at) = (key.get_ref().as_ref(), key.span().start);
                (name, Node { text: self.text, name, at, value: value.get_ref() })
            })
            .collect();
        entries.sort_by_key(|(_, node)| node.at);
        entries
    }

    /// Creates an error with the line and the name of this table. `problem` continues the
    /// sentence that begins with the name, such as `needs a column`.
    pub(crate) fn wrong(&self, problem: &str) -> MappingError {
        wrong(self.text, self.at, format!("{} {problem}", self.shown()))
    }

    /// Returns the table's name for error messages.
    fn shown(&self) -> String {
        if self.name == WHOLE { WHOLE.to_owned() } else { format!("`{}`", self.name) }
    }
}

impl<'t, 'i> Node<'t, 'i> {
    pub(crate) fn is_text(&self) -> bool {
        self.value.is_str()
    }

    pub(crate) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    pub(crate) fn text(&self) -> Result<String, MappingError> {
        self.value.as_str().map(str::to_owned).ok_or_else(|| self.wrong("is a text"))
    }

    pub(crate) fn texts(&self) -> Result<Vec<String>, MappingError> {
        self.list().iter().map(Node::text).collect()
    }

    pub(crate) fn number(&self) -> Result<i64, MappingError> {
        let number = self
            .value
            .as_integer()
            .and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok());
        number.ok_or_else(|| self.wrong("is a whole number"))
    }

    /// Returns the values of a list. A value that is not a list counts as a list of one value.
    pub(crate) fn list(&self) -> Vec<Node<'t, 'i>> {
        let Some(values) = self.value.as_array() else { return vec![*self] };
        let node = |value: &'t Spanned<DeValue<'i>>| Node {
            at: value.span().start,
            value: value.get_ref(),
            ..*self
        };
        values.iter().map(node).collect()
    }

    pub(crate) fn table(&self) -> Result<Table<'t, 'i>, MappingError> {
        let Some(entries) = self.value.as_table() else { return Err(self.wrong("is a table")) };
        Ok(Table { text: self.text, name: self.name, at: self.at, entries })
    }

    /// Creates an error with the line and the key of this value. `problem` continues the sentence
    /// that begins with the key, such as `is a text`.
    pub(crate) fn wrong(&self, problem: &str) -> MappingError {
        wrong(self.text, self.at, format!("`{}` {problem}", self.name))
    }

    /// Creates an error with the line of this value. `problem` is the whole sentence.
    pub(crate) fn refused(&self, problem: String) -> MappingError {
        wrong(self.text, self.at, problem)
    }
}

/// Returns the names as a list within a sentence: `a, b and c`, each in backquotes.
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn wrong(text: &str, at: usize, problem: String) -> MappingError {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    MappingError::AtLine { line, problem }
}
