//! Writing JSON answers with a hole where the balance belongs.

use std::borrow::Cow;
use std::io;

use enrich_core::{BALANCE_HERE, Credits, InvalidFields, Refusal, ResponseTemplate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

/// Stands in an answer's type for the balance, which is known only once the charge is decided.
#[derive(Clone, Copy, Debug)]
pub struct BalanceHere;

impl Serialize for BalanceHere {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // No answer holds another 128-bit number, so the formatter below knows this one.
        serializer.serialize_u128(0)
    }
}

/// As callers see it: the number that is filled in.
impl JsonSchema for BalanceHere {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Balance".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The credits the account has left after this call.",
            "type": "integer",
            "format": "int64",
            "minimum": 0,
            "maximum": Credits::MAX.0,
        })
    }
}

/// Compact JSON, but for 128-bit numbers, which become the hole.
struct WithHole;

impl Formatter for WithHole {
    fn write_u128<W: ?Sized + io::Write>(&mut self, writer: &mut W, _: u128) -> io::Result<()> {
        writer.write_all(&[BALANCE_HERE])
    }
}

/// The draft of an answer of `items` items: 0 where nothing was found.
pub fn written(items: u64, answer: &impl Serialize) -> ResponseTemplate {
    let mut body = Vec::with_capacity(256);
    let mut serializer = serde_json::Serializer::with_formatter(&mut body, WithHole);
    // Writing to memory cannot fail, and answers are structs of texts, numbers and lists. Were
    // it to fail all the same, an answer that is no answer must not be charged.
    match answer.serialize(&mut serializer) {
        Ok(()) => ResponseTemplate { items, body },
        Err(_) => ResponseTemplate { items: 0, body: Vec::new() },
    }
}

/// The fields a refusal names, as an object from name to fault, in the endpoint's order.
#[derive(Clone, Copy, Debug)]
pub struct FieldFaults<'a>(&'a InvalidFields);

impl<'a> FieldFaults<'a> {
    /// The fields that `refusal` names; `None` where it is about something else.
    pub fn of(refusal: &'a Refusal) -> Option<Self> {
        match refusal {
            Refusal::Fields(invalid) => Some(Self(invalid)),
            _ => None,
        }
    }
}

impl Serialize for FieldFaults<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.0.iter().map(|(name, fault)| (name, fault)))
    }
}

/// An object of texts, whatever the fields are called.
impl JsonSchema for FieldFaults<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FieldFaults".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What is wrong, by the name of the field.",
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
    fn the_balance_is_the_only_nul_whatever_the_input_holds() {
        let answer = Answer { query: "\0 \u{0} {\"credit_count\":0}", credit_count: BalanceHere };
        let template = written(1, &answer);
        let holes = template.body.iter().filter(|&&byte| byte == BALANCE_HERE).count();
        assert_eq!(holes, 1);
        let filled = ResponseTemplate::fill(&template.body, enrich_core::Credits(939));
        assert!(filled.ends_with(b",\"credit_count\":939}"));
        assert!(serde_json::from_slice::<serde_json::Value>(&filled).is_ok());
    }
}
