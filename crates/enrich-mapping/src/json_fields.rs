//! Sets the fields of native records, which are JSON objects.

use serde_json::{Map, Value};

/// Sets a field to a text. Does nothing if there is no text, or if the text is blank.
pub(crate) fn set(record: &mut Map<String, Value>, name: &str, value: Option<String>) {
    if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
        record.insert(name.to_owned(), value.into());
    }
}

/// Sets a field to a list. Does nothing if the list is empty.
pub(crate) fn set_list(record: &mut Map<String, Value>, name: &str, values: Vec<String>) {
    if !values.is_empty() {
        record.insert(name.to_owned(), values.into());
    }
}

/// Returns a single text as a text, and several texts as a list.
pub(crate) fn one_or_list(mut values: Vec<String>) -> Value {
    match (values.pop(), values.is_empty()) {
        (Some(only), true) => only.into(),
        (Some(last), false) => {
            values.push(last);
            values.into()
        }
        (None, _) => Value::Null,
    }
}
