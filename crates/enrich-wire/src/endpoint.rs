//! The row of the endpoint table, and what a generation is beside its table.

use enrich_core::{Ask, Found, InvalidFields, Price, Refusal, ResponseTemplate};
use enrich_text::Country;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use crate::field::Field;
use crate::input::Fields;
use crate::kind::Kind;
use crate::unknown;

/// An endpoint: one row of a generation's table.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// Its path, unique over both generations.
    pub path: &'static str,
    /// What an answer costs.
    pub price: Price,
    /// What it does, in a line.
    pub title: &'static str,
    /// Its shape, and the functions that read and write it.
    pub wire: Wire,
}

/// What a wire file defines.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// The inputs, in the order they are documented.
    pub inputs: &'static [Field],
    /// The shape of what the endpoint answers, fields in order.
    pub answer: fn(&mut SchemaGenerator) -> Schema,
    /// Turns the fields of a request into a question.
    pub read: fn(&Fields) -> Result<Ask, InvalidFields>,
    /// Picks the attribute from what was found and writes the answer, or the shape that says
    /// nothing was found.
    pub write: fn(&Ask, Option<&Found>) -> ResponseTemplate,
}

impl Endpoint {
    /// Turns the fields of a request into a question. National phone numbers are those of `country`.
    ///
    /// # Errors
    ///
    /// Every input that is missing or cannot be used; unknown fields are named where a required
    /// input is missing.
    pub fn read(&self, fields: &Fields, country: Option<Country>) -> Result<Ask, InvalidFields> {
        let reads_phones = || self.wire.inputs.iter().any(|input| input.kind == Kind::PhoneNumber);
        let asked = match country {
            Some(_) if reads_phones() => (self.wire.read)(&fields.clone().in_country(country)),
            _ => (self.wire.read)(fields),
        };
        asked.map_err(|mut invalid| {
            unknown::name_unknown(self.wire.inputs, fields, &mut invalid);
            invalid
        })
    }
}

impl Wire {
    /// The names of the answer's fields, in order.
    pub fn answer_fields(&self) -> Vec<String> {
        let shape = (self.answer)(&mut SchemaGenerator::default());
        let fields = shape.get("properties").and_then(Value::as_object);
        fields.map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
    }
}

/// Where a key is looked for first; then in the other place, then in `Authorization: Bearer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// The field `apiKey`.
    Body,
    /// The header `x-api-key`.
    Header,
}

impl KeyPlace {
    /// Where a key goes, in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Body => {
                "in the field `apiKey` of the body, or in the header `Authorization: Bearer KEY`"
            }
            Self::Header => {
                "in the header `x-api-key`, or in the header `Authorization: Bearer KEY`"
            }
        }
    }
}

/// A generation of the interface.
#[derive(Clone, Copy, Debug)]
pub struct ApiVersion {
    /// Its number.
    pub number: u8,
    /// What the paths that answer in its form begin with.
    pub prefix: &'static str,
    /// Its endpoints.
    pub endpoints: &'static [Endpoint],
    /// Where its callers put the key.
    pub key_place: KeyPlace,
    /// The shape of a whole answer, made of the shape of what an endpoint answers.
    pub answer: fn(&mut SchemaGenerator, Schema) -> Schema,
    /// The status and body of a refusal.
    pub refuse: fn(&Refusal) -> (u16, Vec<u8>),
    /// The shape of that body.
    pub refusal: fn(&mut SchemaGenerator) -> Schema,
}

impl ApiVersion {
    /// The endpoint at `path`.
    pub fn endpoint(&self, path: &str) -> Option<&'static Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.path == path)
    }
}
