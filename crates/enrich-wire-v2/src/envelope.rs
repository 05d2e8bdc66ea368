//! The envelope around every answer: `{"status":1,"code":1000,"errors":{},"data":{…}}`.

use enrich_core::ResponseTemplate;
use enrich_wire::written;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
struct Envelope<T> {
    /// Always 1: the call was answered, whether something was found or not.
    #[schemars(extend("const" = 1))]
    status: u8,
    /// Always 1000: the call was answered.
    #[schemars(extend("const" = 1000))]
    code: u16,
    errors: Empty,
    /// The answer.
    data: T,
}

/// An empty object.
#[derive(Serialize, JsonSchema)]
#[schemars(inline, extend("maxProperties" = 0))]
pub(crate) struct Empty {}

/// Puts an answer into the envelope. `status` and `code` always mean success, because a call that
/// finds nothing succeeds too.
pub(crate) fn enveloped(exists: bool, data: impl Serialize) -> ResponseTemplate {
    let envelope = Envelope { status: 1, code: 1000, errors: Empty {}, data };
    written(u64::from(exists), &envelope)
}

/// Returns the schema of the envelope around an answer with the schema `data`.
pub(crate) fn shape(generator: &mut SchemaGenerator, mut data: Schema) -> Schema {
    let mut envelope = Envelope::<()>::json_schema(generator);
    if let Some(schema) = envelope.pointer_mut("/properties/data") {
        data.insert("description".to_owned(), "The answer of the endpoint.".into());
        *schema = data.to_value();
    }
    envelope
}
