//! Writes the refusals of version 1 as `{"type","message"}`. If fields are invalid, the object also
//! has `fields`.

use enrich_core::Refusal;
use enrich_wire::{FieldFaults, RequestRefusal};
use schemars::JsonSchema;
use serde::Serialize;

/// The body of a refusal: the call was not answered.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Body<'a> {
    #[serde(rename = "type")]
    kind: Fault,
    /// A sentence that says what is wrong and what to do.
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FieldFaults<'a>")]
    fields: Option<FieldFaults<'a>>,
}

/// The side that caused the refusal: `invalid_request` for the caller, `api_error` for the service.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Fault {
    InvalidRequest,
    ApiError,
}

/// Returns the HTTP status and the body of a refusal.
pub(crate) fn write(refusal: &RequestRefusal) -> (u16, Vec<u8>) {
    let (status, kind) = match refusal {
        RequestRefusal::MissingKey { .. } => (401, Fault::InvalidRequest),
        RequestRefusal::NoSuchPath => (404, Fault::InvalidRequest),
        RequestRefusal::WrongMethod { .. } => (405, Fault::InvalidRequest),
        RequestRefusal::BodyTooSlow { .. } => (408, Fault::InvalidRequest),
        RequestRefusal::BodyTooLarge { .. } => (413, Fault::InvalidRequest),
        RequestRefusal::Undecodable(_) => (422, Fault::InvalidRequest),
        RequestRefusal::ShuttingDown => (503, Fault::ApiError),
        RequestRefusal::Service(refusal) => match refusal {
            Refusal::NotEnoughCredits { .. } => (400, Fault::InvalidRequest),
            Refusal::InvalidKey => (401, Fault::InvalidRequest),
            Refusal::StillRunning => (409, Fault::InvalidRequest),
            Refusal::Fields(_) | Refusal::BadIdempotencyKey(_) | Refusal::IdempotencyKeyReused => {
                (422, Fault::InvalidRequest)
            }
            Refusal::OverRate(_) => (429, Fault::InvalidRequest),
            Refusal::Failed(_) => (500, Fault::ApiError),
            Refusal::OutcomeUnknown(_)
            | Refusal::NotCharging
            | Refusal::Overloaded
            | Refusal::Unavailable(_)
            | Refusal::IdempotencyStoreFull => (503, Fault::ApiError),
        },
    };
    let body = Body { kind, message: refusal.to_string(), fields: FieldFaults::of(refusal) };
    (status, serde_json::to_vec(&body).unwrap_or_default())
}
