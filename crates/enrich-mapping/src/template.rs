//! Templates, such as `{all_attributes.registrar} {all_attributes.number}`. Each pair of braces
//! contains the place of a value in an input record: a column, a key, or nested keys (see
//! [`Path`]). The value replaces the braces.

use serde_json::{Map, Value};

use crate::path::{Path, texts};

/// A text with places in braces, such as `{registrar} {number}`. A place is the column, the key or
/// the nested keys at which an input record has a value.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Place(Path),
}

impl Template {
    /// Parses a template, such as `{registrar} {number}`. An opening brace without a closing brace
    /// is normal text.
    pub(crate) fn read(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, (inside, after))) =
            rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
        {
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Place(Path::column(inside)));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Self { parts }
    }

    /// Fills in the values of `record`. `{number}` is replaced by the first value that the record
    /// has in the column `number`. Returns `None` if the record has no value for one of the pairs
    /// of braces.
    pub(crate) fn fill(&self, record: &Map<String, Value>) -> Option<String> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Place(place) => {
                    filled
                        .push_str(place.find(record).into_iter().flat_map(texts).next()?.as_str());
                }
            }
        }
        Some(filled)
    }

    /// Adds to `found`, for each pair of braces, the column or the top-level key of `record` that
    /// it names. For `{address.city}`, this is `address`, or `address.city` if the record has a
    /// column with this name.
    pub(crate) fn columns_read<'a>(
        &'a self,
        record: &Map<String, Value>,
        found: &mut Vec<&'a str>,
    ) {
        for part in &self.parts {
            if let Part::Place(place) = part {
                found.push(place.first(record));
            }
        }
    }
}
