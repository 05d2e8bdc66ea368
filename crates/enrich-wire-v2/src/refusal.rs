//! Writes the refusals of version 2: the envelope with `status` 0, a code made from the HTTP
//! status, and the error in `errors`. `type` and `message` are also at the top level, where clients
//! look for them (docs/api-design.md, version 2).

use enrich_core::Refusal;
use enrich_wire::{FieldFaults, RequestRefusal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::envelope::Empty;

/// The body of a refusal: the call was not answered.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Body<'a> {
    /// Always 0: the call was not answered.
    #[schemars(extend("const" = 0))]
    status: u8,
    /// The sum of 1000 and the HTTP status.
    #[schemars(range(min = 1400, max = 1599))]
    code: u16,
    /// The error: its type, a message, and the faults of single fields.
    errors: Errors<'a>,
    data: Empty,
    /// The value of `errors.type` again.
    #[serde(rename = "type")]
    kind: Fault,
    /// The value of `errors.message` again.
    message: &'a str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Errors<'a> {
    #[serde(rename = "type")]
    kind: Fault,
    /// A sentence that says what is wrong and what to do.
    message: &'a str,
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

/// Returns the HTTP status and the body of a refusal. The body's `code` is 1000 plus the HTTP
/// status.
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
    let message = &refusal.to_string();
    let errors = Errors { kind, message, fields: FieldFaults::of(refusal) };
    let body = Body { status: 0, code: 1000 + status, errors, data: Empty {}, kind, message };
    (status, serde_json::to_vec(&body).unwrap_or_default())
}
