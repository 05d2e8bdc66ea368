//! Reads JSON Lines: one JSON object on each line.

use std::io;

use enrich_core::Record;
use serde_json::value::RawValue;

use crate::lines::{Line, Lines};
use crate::object;
use crate::parsed::Parsed;
use crate::raw::{Fields, Item, Raw};
use crate::record::{self, content_hash};
use crate::rejection::Rejection;
use crate::report::Notes;
use enrich_mapping::{Field, RecordType};

/// Returns the record of the next line, or why the line is rejected; `None` at the end. Skips blank
/// lines.
pub(crate) fn next(lines: &mut Lines, notes: &mut Notes) -> io::Result<Option<Parsed>> {
    Ok(lines.next_filled()?.map(|line| parsed(line, notes)))
}

/// Parses the record on a line. The result also contains the line's text.
pub(crate) fn parsed(line: Line, notes: &mut Notes) -> Parsed {
    let record = read(&line, notes);
    Parsed { line: line.number, text: line.bytes, record }
}

pub(crate) fn read(line: &Line, notes: &mut Notes) -> Result<Record, Rejection> {
    let mut fields = Fields::default();
    let (mut repeated, mut unknown) = (None, Vec::new());
    for (name, value) in object::members::<&RawValue>(line)? {
        match Field::from_name(&name) {
            // The object has this member twice. Its line is rejected, because one of the two values
            // would be lost.
            Some(named) if !fields.set(named, Raw::Json(value)) => repeated = Some(named.field),
            Some(_) => {}
            None => unknown.push((name, value)),
        }
    }
    if let Some(field) = repeated {
        return Err(Rejection::RepeatedField(field.name()));
    }
    for (name, value) in &unknown {
        notes.ignore_field(name);
        if let Some(text) = Item::of_json(value).and_then(Item::text) {
            notes.note_unused(name, &text);
        }
    }
    let kind = kind(&fields, notes)?;
    record::read(kind, &mut fields, content(line), line.number, notes)
}

/// Returns the hash of a line's text. By this hash, the directory recognises a record that it
/// already has.
pub(crate) fn content(line: &Line) -> [u8; 16] {
    content_hash([line.bytes.trim_ascii()])
}

fn kind(fields: &Fields<'_>, notes: &mut Notes) -> Result<RecordType, Rejection> {
    let by_fields = RecordType::from_fields(|field| fields.get(field).is_some());
    let Some(given) = fields.get(Field::Type) else { return by_fields.ok_or(Rejection::NoType) };
    if let Ok(Some(Item::Text(name))) = given.one()
        && let Some(kind) = RecordType::from_name(name.trim())
    {
        return Ok(kind);
    }
    // The text in `type` is not `company`, `person` or `domain`. In many lists, a field named
    // `type` has another meaning. So the field is ignored, and the other fields show the kind.
    let kind = by_fields.ok_or(Rejection::UnknownType)?;
    notes.ignore_field(Field::Type.name());
    Ok(kind)
}
