//! The types in the tables of endpoints: an endpoint, its wire file (its inputs and its answer, and
//! the functions that read and write them), and an API version.

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

/// An endpoint: one element of [`ApiVersion::endpoints`].
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// The path of the endpoint. No other endpoint of any API version has the same path.
    pub path: &'static str,
    /// The rule for the price of an answer.
    pub price: Price,
    /// A description of the endpoint in one line.
    pub title: &'static str,
    /// The inputs of the endpoint, its answer, and the functions that read and write them. They are
    /// defined in a source file of their own, the endpoint's wire file.
    pub wire: Wire,
}

/// The content of a wire file: the inputs of an endpoint, its answer, and the functions that read
/// and write them.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// The inputs, in the order of the documentation.
    pub inputs: &'static [Field],
    /// Returns the schema of the answer. The schema lists the fields in the order in which the
    /// answer has them.
    pub answer: fn(&mut SchemaGenerator) -> Schema,
    /// Parses the fields of a request.
    pub read: fn(&Fields) -> Result<Ask, InvalidFields>,
    /// Writes the answer from the company or person that was found. For `None`, writes an answer
    /// that says that nothing was found.
    pub write: fn(&Ask, Option<&Found>) -> ResponseTemplate,
}

impl Endpoint {
    /// Parses the fields of a request. If `country` is given, a phone number may also be a national
    /// number of this country.
    ///
    /// # Errors
    ///
    /// All inputs that are missing or invalid. If a required input is missing, the messages also
    /// name up to three unknown fields, because one of them may be a misspelling of the required
    /// input.
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

    /// Answers a call of this endpoint: the service checks the call, charges its price and counts
    /// it. `idempotency_key` is the text of the header `Idempotency-Key`, as the caller sent it.
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
    /// Returns the names of the answer's fields, in the order of the answer.
    pub fn answer_fields(&self) -> Vec<String> {
        let shape = (self.answer)(&mut SchemaGenerator::default());
        let fields = shape.get("properties").and_then(Value::as_object);
        fields.map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
    }
}

/// Where the server first looks for the API key of a call: in the body, or in the header
/// `x-api-key`. If the key is not there, the server looks in the other one of these two places, and
/// then in the header `Authorization: Bearer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// In the field `apiKey` of the body.
    Body,
    /// In the header `x-api-key`.
    Header,
}

impl KeyPlace {
    /// Returns a text that tells callers where to send their key.
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

/// A version of the interface: its endpoints, and the format of its responses.
#[derive(Clone, Copy, Debug)]
pub struct ApiVersion {
    /// The version's number.
    pub number: u8,
    /// The beginning of all paths of this API version, such as `/v1/`. Every response for a path
    /// with this beginning has the format of this version.
    pub prefix: &'static str,
    /// The version's endpoints.
    pub endpoints: &'static [Endpoint],
    /// Where the server first looks for the API key of a call.
    pub key_place: KeyPlace,
    /// Returns the schema of the whole body of a response. The second argument is the schema of the
    /// endpoint's answer.
    pub answer: fn(&mut SchemaGenerator, Schema) -> Schema,
    /// Returns the status and the body with which a request is refused.
    pub refuse: fn(&RequestRefusal) -> (u16, Vec<u8>),
    /// Returns the schema of the body of a refusal.
    pub refusal: fn(&mut SchemaGenerator) -> Schema,
}

impl ApiVersion {
    /// Finds the endpoint at `path`; `None` if this version has no such path.
    pub fn endpoint(&self, path: &str) -> Option<&'static Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.path == path)
    }
}
