//! Refusals of generation 2: the envelope with `status` 0 and a code of its own, `errors` holding
//! what is wrong; `type` and `message` once more at the top, where clients read them
//! (docs/api-design.md, generation 2).

use enrich_core::Refusal;
use enrich_wire::FieldFaults;
use serde::Serialize;

use crate::envelope::Empty;

#[derive(Serialize)]
struct Body<'a> {
    status: u8,
    code: u16,
    errors: Errors<'a>,
    data: Empty,
    #[serde(rename = "type")]
    kind: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct Errors<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<FieldFaults<'a>>,
}

/// The status and body of a refusal. The code is 1000 and the status.
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
    let message = &refusal.to_string();
    let errors = Errors { kind, message, fields: FieldFaults::of(refusal) };
    let body = Body { status: 0, code: 1000 + status, errors, data: Empty {}, kind, message };
    (status, serde_json::to_vec(&body).unwrap_or_default())
}
