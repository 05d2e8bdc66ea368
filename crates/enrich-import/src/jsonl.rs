//! JSON Lines: one object a line.

use std::fmt;
use std::io;

use enrich_core::Record;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::field::{Field, Kind, Named};
use crate::lines::{Line, Lines};
use crate::parsed::Parsed;
use crate::raw::{Fields, Item, Raw};
use crate::record::{self, content_hash};
use crate::rejection::Rejection;
use crate::report::Notes;

/// Returns the next record, or why its line has none; `None` at the end. Skips blank lines.
pub(crate) fn next(lines: &mut Lines, notes: &mut Notes) -> io::Result<Option<Parsed>> {
    let Some(line) = lines.next_filled()? else { return Ok(None) };
    let record = read(&line, notes);
    Ok(Some(Parsed { line: line.number, text: line.bytes, record }))
}

fn read(line: &Line, notes: &mut Notes) -> Result<Record, Rejection> {
    if line.is_too_long {
        return Err(Rejection::TooLong);
    }
    let text = std::str::from_utf8(&line.bytes).map_err(|_| Rejection::NotUtf8)?;
    let mut object: Object<'_> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            Rejection::NotAnObject
        } else {
            Rejection::NotJson { column: error.column() }
        }
    })?;
    if let Some(field) = object.repeated {
        return Err(Rejection::RepeatedField(field.name()));
    }
    for (name, value) in &object.unknown {
        notes.ignore_field(name);
        if let Some(text) = Item::of_json(value).and_then(Item::text) {
            notes.note_unused(name, &text);
        }
    }
    let kind = kind(&object.fields, notes)?;
    let content = content_hash([line.bytes.trim_ascii()]);
    record::read(kind, &mut object.fields, content, line.number, notes)
}

fn kind(fields: &Fields<'_>, notes: &mut Notes) -> Result<Kind, Rejection> {
    let by_fields = Kind::from_fields(|field| fields.get(field).is_some());
    let Some(given) = fields.get(Field::Type) else { return by_fields.ok_or(Rejection::NoType) };
    if let Ok(Some(Item::Text(name))) = given.one()
        && let Some(kind) = Kind::from_name(name.trim())
    {
        return Ok(kind);
    }
    // In many lists the field `type` means something else.
    let kind = by_fields.ok_or(Rejection::UnknownType)?;
    notes.ignore_field(Field::Type.name());
    Ok(kind)
}

#[derive(Default)]
struct Object<'a> {
    fields: Fields<'a>,
    /// A field that occurs twice; the line is rejected, because one value would be lost.
    repeated: Option<Field>,
    unknown: Vec<(String, &'a RawValue)>,
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut object = Object::default();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Known(named) => {
                    let value: &RawValue = map.next_value()?;
                    if !object.fields.set(named, Raw::Json(value)) {
                        object.repeated = Some(named.field);
                    }
                }
                Key::Unknown(name) => object.unknown.push((name, map.next_value()?)),
            }
        }
        Ok(object)
    }
}

enum Key {
    Known(Named),
    Unknown(String),
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Key, E> {
        Ok(Field::from_name(name).map_or_else(|| Key::Unknown(name.to_owned()), Key::Known))
    }
}
