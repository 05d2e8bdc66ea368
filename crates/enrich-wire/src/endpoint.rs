//! The rows of the endpoint tables, and the definition of an API version.

use enrich_core::{
    AdmittedCall, Ask, Call, Found, InvalidFields, Outcome, Price, RequestId, ResponseTemplate,
    Service,
};
use enrich_text::Country;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use crate::field::Field;
use crate::input::Fields;
use crate::kind::Kind;
use crate::refusal::RequestRefusal;
use crate::unknown;

/// An endpoint: one row of an API version's table.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// The endpoint's path, unique over both API versions.
    pub path: &'static str,
    /// The price rule of an answer.
    pub price: Price,
    /// The endpoint's description, in one line.
    pub title: &'static str,
    /// The shape of the endpoint, and the functions that parse requests and write answers.
    pub wire: Wire,
}

/// The content of a wire file: an endpoint's inputs, its answer, and the functions for both.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// The inputs, in the order in which they are documented.
    pub inputs: &'static [Field],
    /// Returns the schema of the answer, with the fields in order.
    pub answer: fn(&mut SchemaGenerator) -> Schema,
    /// Parses the fields of a request.
    pub read: fn(&Fields) -> Result<Ask, InvalidFields>,
    /// Reads the attribute from the result of the look-up and writes the answer. `None` means that
    /// nothing was found; it writes a miss.
    pub write: fn(&Ask, Option<&Found>) -> ResponseTemplate,
}

impl Endpoint {
    /// Parses the fields of a request. National phone numbers are read as numbers of `country`.
    ///
    /// # Errors
    ///
    /// Returns every missing or invalid input. If a required input is missing, the messages also
    /// name up to three unknown fields, because one may be a misspelling.
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

    /// Makes a metered call of this endpoint. `idempotency_key` is the text of the
    /// `Idempotency-Key` header as sent.
    pub async fn call(
        &self,
        service: &Service,
        key: &str,
        request_id: &RequestId,
        idempotency_key: Option<&str>,
        fields: &Fields<'_>,
    ) -> Outcome {
        let (endpoint, price) = (self.path, self.price);
        let call = Call { key, endpoint, price, request_id, idempotency_key };
        match service.admit(call).await {
            Ok(admitted) => self.answer(admitted, fields).await,
            Err(refused) => refused,
        }
    }

    fn answer(
        &self,
        admitted: AdmittedCall<'_>,
        fields: &Fields<'_>,
    ) -> impl Future<Output = Outcome> {
        let ask = self.read(fields, admitted.key().country);
        admitted.answer(ask, &self.wire.write)
    }
}

impl Wire {
    /// Returns the names of the answer's fields, in order.
    pub fn answer_fields(&self) -> Vec<String> {
        let shape = (self.answer)(&mut SchemaGenerator::default());
        let fields = shape.get("properties").and_then(Value::as_object);
        fields.map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
    }
}

/// Where the server looks for the API key first. It looks in the other of the two places next, then
/// in `Authorization: Bearer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// The field `apiKey` of the body.
    Body,
    /// The header `x-api-key`.
    Header,
}

impl KeyPlace {
    /// Returns, in words, where to send a key.
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

/// A version of the interface.
#[derive(Clone, Copy, Debug)]
pub struct ApiVersion {
    /// The version's number.
    pub number: u8,
    /// The path prefix of this version. Responses under it have this version's format.
    pub prefix: &'static str,
    /// The version's endpoints.
    pub endpoints: &'static [Endpoint],
    /// Where callers send the key.
    pub key_place: KeyPlace,
    /// Returns the schema of the whole response body, from the schema of an endpoint's answer.
    pub answer: fn(&mut SchemaGenerator, Schema) -> Schema,
    /// Returns the status and body of a refusal.
    pub refuse: fn(&RequestRefusal) -> (u16, Vec<u8>),
    /// Returns the schema of a refusal's body.
    pub refusal: fn(&mut SchemaGenerator) -> Schema,
}

impl ApiVersion {
    /// Finds the endpoint at `path`; `None` if this version has no such path.
    pub fn endpoint(&self, path: &str) -> Option<&'static Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.path == path)
    }
}
