//! Writes JSON answers with a gap for the balance, which is filled in after the charge.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io;

use enrich_core::{BodyTemplate, Credits, InvalidFields, Refusal, ResponseTemplate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use crate::refusal::RequestRefusal;

/// Stands for the balance in an answer. The answer is written before the charge, when the balance
/// is not yet known. So it has a gap in place of this value. After the charge,
/// [`BodyTemplate::fill`] inserts the balance into the gap.
#[derive(Clone, Copy, Debug)]
pub struct BalanceHere;

impl Serialize for BalanceHere {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // `Gapped` does not write this number, but leaves the gap for the balance here. It
        // recognises the number by its type: nothing else in an answer is a 128-bit number.
        serializer.serialize_u128(0)
    }
}

/// The schema describes the balance that callers get, and not the 128-bit number that is serialized
/// in its place.
impl JsonSchema for BalanceHere {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Balance".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The balance of the account after this call, in credits.",
            "type": "integer",
            "format": "int64",
            "minimum": 0,
            "maximum": Credits::MAX.0,
        })
    }
}

/// Writes compact JSON without the balance. Stores in `gap_at` the position at which the balance
/// must be inserted: where [`BalanceHere`] serializes a 128-bit number.
#[derive(Default)]
struct Gapped {
    bytes: RefCell<Vec<u8>>,
    gap_at: Cell<Option<usize>>,
}

impl io::Write for &Gapped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Formatter for &Gapped {
    fn write_u128<W: ?Sized + io::Write>(&mut self, _: &mut W, _: u128) -> io::Result<()> {
        self.gap_at.set(Some(self.bytes.borrow().len()));
        Ok(())
    }
}

/// Writes an answer as JSON. `items` is the number of items in the answer: 0 if nothing was found,
/// and 1 for an answer that is not a list.
pub fn written(items: u64, answer: &impl Serialize) -> ResponseTemplate {
    let gapped = Gapped { bytes: Vec::with_capacity(256).into(), ..Gapped::default() };
    let mut serializer = serde_json::Serializer::with_formatter(&gapped, &gapped);
    // Writing cannot fail: the JSON goes to memory, and answers consist of texts, numbers and
    // lists. If it failed, the empty template would count as an answer that says that nothing was
    // found. Such an answer costs nothing.
    match answer.serialize(&mut serializer) {
        Ok(()) => {
            let body = BodyTemplate::new(gapped.bytes.into_inner(), gapped.gap_at.get());
            ResponseTemplate { items, body }
        }
        Err(_) => ResponseTemplate::default(),
    }
}

/// The invalid fields of a refusal. They are written as a JSON object: the name of each field, with
/// a text that says what is wrong with it. The fields are in the order in which the endpoint parses
/// them.
#[derive(Clone, Copy, Debug)]
pub struct FieldFaults<'a>(&'a InvalidFields);

impl<'a> FieldFaults<'a> {
    /// Returns the invalid fields of a refusal; `None` if the request is refused for another
    /// reason.
    pub fn of(refusal: &'a RequestRefusal) -> Option<Self> {
        match refusal {
            RequestRefusal::Service(Refusal::Fields(invalid)) => Some(Self(invalid)),
            _ => None,
        }
    }
}

impl Serialize for FieldFaults<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.0.iter().map(|(name, fault)| (name, fault)))
    }
}

impl JsonSchema for FieldFaults<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FieldFaults".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "For each faulty field, by its name: what is wrong.",
            "type": "object",
            "additionalProperties": { "type": "string" },
            "minProperties": 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Answer<'a> {
        query: &'a str,
        credit_count: BalanceHere,
    }

    #[test]
    fn the_balance_goes_where_it_was_written_whatever_the_input_holds() {
        let answer = Answer { query: "\0 \u{0} {\"credit_count\":0}", credit_count: BalanceHere };
        let filled = written(1, &answer).body.fill(Credits(939));
        assert!(filled.ends_with(b",\"credit_count\":939}"));
        assert!(serde_json::from_slice::<serde_json::Value>(&filled).is_ok());
    }
}
