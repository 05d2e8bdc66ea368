//! Refusals of generation 1: `{"type","message"}`, with `fields` where fields are at fault.

use enrich_core::Refusal;
use enrich_wire::FieldFaults;
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<FieldFaults<'a>>,
}

/// The status and body of a refusal.
pub(crate) fn write(refusal: &Refusal) -> (u16, Vec<u8>) {
    const CALLER: &str = "invalid_request";
    const OURS: &str = "api_error";
    let (status, kind) = match refusal {
        Refusal::NotEnoughCredits { .. } => (400, CALLER),
        Refusal::InvalidKey => (401, CALLER),
        Refusal::NoSuchPath => (404, CALLER),
        Refusal::WrongMethod { .. } => (405, CALLER),
        Refusal::BodyTooSlow { .. } => (408, CALLER),
        Refusal::StillRunning => (409, CALLER),
        Refusal::BodyTooLarge { .. } => (413, CALLER),
        Refusal::Undecodable(_)
        | Refusal::Fields(_)
        | Refusal::BadIdempotencyKey(_)
        | Refusal::IdempotencyKeyReused => (422, CALLER),
        Refusal::OverRate(_) => (429, CALLER),
        Refusal::Failed(_) => (500, OURS),
        Refusal::OutcomeUnknown(_)
        | Refusal::NotCharging
        | Refusal::Overloaded
        | Refusal::KeepsFull
        | Refusal::ShuttingDown => (503, OURS),
    };
    let body = Body { kind, message: refusal.to_string(), fields: FieldFaults::of(refusal) };
    (status, serde_json::to_vec(&body).unwrap_or_default())
}
