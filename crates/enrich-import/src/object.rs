//! Parses the JSON object that is on a line.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use crate::lines::Line;
use crate::rejection::Rejection;

/// Returns the members of the JSON object on a line, in their order. If two members have the same
/// name, both are returned.
///
/// # Errors
///
/// When the line is too long, or is not a JSON object.
pub(crate) fn members<'a, V: Deserialize<'a>>(
    line: &'a Line,
) -> Result<Vec<(String, V)>, Rejection> {
    if line.is_too_long {
        return Err(Rejection::TooLong);
    }
    let text = std::str::from_utf8(&line.bytes).map_err(|_| Rejection::NotUtf8)?;
    match serde_json::from_str(text) {
        Ok(Object(members)) => Ok(members),
        Err(error) if error.is_data() => Err(Rejection::NotAnObject),
        Err(error) => Err(Rejection::NotJson { column: error.column() }),
    }
}

/// The members of a JSON object, in their order. Members with the same name are all kept.
pub(crate) struct Object<V>(pub(crate) Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Object<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
            type Value = Object<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<V>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}
