//! The refusals in the OpenAPI document: for each API version and HTTP status, the response with
//! its possible bodies.

use std::collections::BTreeMap;

use enrich_core::{
    Credits, InvalidFields, InvalidIdempotencyKey, Needed, Price, RateLimit, RateLimitStatus,
    RateScope, Refusal,
};
use enrich_wire::{ApiVersion, MAX_BODY_BYTES, RequestRefusal};
use serde_json::{Map, Value, json};

use crate::headers;
use crate::inputs::schema_ref;

struct RefusalDescription {
    /// The name of the example that shows this refusal in the OpenAPI document.
    name: &'static str,
    /// A sentence that says in which case a call gets this refusal.
    when: &'static str,
    /// Whether a call of an endpoint can get this refusal. If `false`, the server refuses the
    /// request because no endpoint has its path and method.
    is_of_endpoint: bool,
    /// Whether the server may already have identified the API key when it refuses the call. Then
    /// the refusal may have the headers with the account's balance and the rate limit.
    can_know_key: bool,
}

/// Returns one refusal of each kind. They are in the order in which the server makes the checks.
fn samples(api_version: &ApiVersion) -> Vec<RequestRefusal> {
    let limit = RateLimit::default();
    let rate_limit_status = RateLimitStatus {
        limit,
        remaining: 0,
        reset_seconds: 23,
        is_over: true,
        is_first_over: false,
        scope: RateScope::Key,
    };
    let fault = || Box::<dyn std::error::Error + Send + Sync>::from("not told");
    let fields = vec![("companyName", "is required".to_owned())];
    let of_service = [
        Refusal::InvalidKey,
        Refusal::OverRate(rate_limit_status),
        Refusal::Fields(InvalidFields(fields)),
        Refusal::BadIdempotencyKey(InvalidIdempotencyKey),
        Refusal::IdempotencyKeyReused,
        Refusal::StillRunning,
        Refusal::NotEnoughCredits {
            price: Price::PerAnswer(1),
            needed: Needed::Least(Credits(1)),
            balance: Credits::ZERO,
        },
        Refusal::Failed(fault()),
        Refusal::OutcomeUnknown(fault()),
        Refusal::NotCharging,
        Refusal::Overloaded,
        Refusal::Unavailable(fault()),
        Refusal::IdempotencyStoreFull,
    ];
    let mut samples = vec![
        RequestRefusal::NoSuchPath,
        RequestRefusal::WrongMethod { allow: "POST" },
        RequestRefusal::BodyTooLarge { limit_bytes: MAX_BODY_BYTES },
        RequestRefusal::BodyTooSlow { limit_seconds: 10 },
        RequestRefusal::Undecodable("it is not a JSON object".to_owned()),
        RequestRefusal::MissingKey { place: api_version.key_place.in_words() },
    ];
    samples.extend(of_service.map(RequestRefusal::Service));
    samples.push(RequestRefusal::ShuttingDown);
    samples
}

fn described(refusal: &RequestRefusal) -> RefusalDescription {
    let of_path =
        |name, when| RefusalDescription { name, when, is_of_endpoint: false, can_know_key: false };
    match refusal {
        RequestRefusal::NoSuchPath => {
            of_path("no_such_path", "There is no endpoint with this path.")
        }
        RequestRefusal::WrongMethod { .. } => of_path(
            "wrong_method",
            "The path needs another method, which the header `Allow` names.",
        ),
        RequestRefusal::BodyTooLarge { .. } => {
            early("too_large", "The body is larger than 64 KiB.")
        }
        RequestRefusal::BodyTooSlow { .. } => early("too_slow", "The body did not arrive in time."),
        RequestRefusal::Undecodable(_) => early(
            "undecodable",
            "The body is neither a JSON object nor a form, or it has a field twice, more than 32 \
             levels of nesting or more than 64 fields.",
        ),
        RequestRefusal::MissingKey { .. } => {
            early("missing_key", "The call has no API key; the message says where to put it.")
        }
        RequestRefusal::ShuttingDown => {
            early("shutting_down", "The service is shutting down; nothing was charged.")
        }
        RequestRefusal::Service(refusal) => described_of_service(refusal),
    }
}

fn described_of_service(refusal: &Refusal) -> RefusalDescription {
    let keyed =
        |name, when| RefusalDescription { name, when, is_of_endpoint: true, can_know_key: true };
    match refusal {
        Refusal::InvalidKey => early("unknown_key", "The API key is invalid."),
        Refusal::OverRate(_) => keyed(
            "over_rate",
            "The rate limit is exceeded, and the operator enforces it. Otherwise such calls are \
             answered, and the headers show that the limit is exceeded.",
        ),
        Refusal::Fields(_) => keyed(
            "invalid",
            "Fields are missing or cannot be read; the refusal names all of them. If a required \
             field is missing, it also names the fields that the endpoint does not have.",
        ),
        Refusal::BadIdempotencyKey(_) => {
            keyed("bad_idempotency_key", "The `Idempotency-Key` cannot be used.")
        }
        Refusal::IdempotencyKeyReused => keyed(
            "idempotency_key_reused",
            "The `Idempotency-Key` was used for another path or other fields.",
        ),
        Refusal::StillRunning => {
            keyed("still_running", "The first call with this `Idempotency-Key` is still running.")
        }
        Refusal::NotEnoughCredits { .. } => {
            keyed("no_credits", "The account has not enough credits; nothing was charged.")
        }
        Refusal::Failed(_) => keyed("failed", "The service has a fault; nothing was charged."),
        Refusal::OutcomeUnknown(_) => keyed(
            "outcome_unknown",
            "It is unknown whether the call was charged; repeat it with the same \
             `Idempotency-Key`.",
        ),
        Refusal::NotCharging => keyed("not_charging", "The service cannot charge at present."),
        Refusal::Overloaded => {
            keyed("overloaded", "Too many calls are waiting; nothing was charged.")
        }
        Refusal::Unavailable(_) => {
            keyed("unavailable", "The service cannot reach its data; nothing was charged.")
        }
        Refusal::IdempotencyStoreFull => keyed(
            "keeps_full",
            "No more answers can be stored for calls with an `Idempotency-Key`.",
        ),
    }
}

fn early(name: &'static str, when: &'static str) -> RefusalDescription {
    RefusalDescription { name, when, is_of_endpoint: true, can_know_key: false }
}

/// Returns the name of the schema for the body of a refusal. An API version has one schema for all
/// its refusals.
pub(crate) fn shape_name(api_version: &ApiVersion) -> String {
    format!("V{}Refusal", api_version.number)
}

pub(crate) fn response_name(api_version: &ApiVersion, status: u16) -> String {
    format!("V{}Refusal{status}", api_version.number)
}

/// Returns the responses of the OpenAPI document that describe the refusals, one for each HTTP
/// status. The `bool` says whether a call of an endpoint can get this response. If `false`, only
/// requests to which no endpoint fits can get it (no endpoint has their path and method).
pub(crate) fn responses(api_version: &ApiVersion) -> BTreeMap<u16, (Value, bool)> {
    let mut by_status: BTreeMap<u16, Vec<(RequestRefusal, Vec<u8>)>> = BTreeMap::new();
    for refusal in samples(api_version) {
        let (status, body) = (api_version.refuse)(&refusal);
        by_status.entry(status).or_default().push((refusal, body));
    }
    let responses = by_status.into_iter().map(|(status, refusals)| {
        let is_of_endpoint = refusals.iter().any(|(refusal, _)| described(refusal).is_of_endpoint);
        (status, (response(api_version, &refusals), is_of_endpoint))
    });
    responses.collect()
}

fn response(api_version: &ApiVersion, refusals: &[(RequestRefusal, Vec<u8>)]) -> Value {
    let descriptions = || refusals.iter().map(|(refusal, _)| described(refusal));
    let when: Vec<&str> = descriptions().map(|description| description.when).collect();
    let can_know_key = descriptions().any(|description| description.can_know_key);
    let has_retry_after =
        refusals.iter().all(|(refusal, _)| refusal.retry_after_seconds().is_some());
    let mut headers = headers::of_refusal(can_know_key, has_retry_after);
    if refusals.iter().any(|(refusal, _)| matches!(refusal, RequestRefusal::WrongMethod { .. })) {
        headers["Allow"] = json!({
            "description": "The method that the path needs.",
            "schema": { "type": "string" },
        });
    }
    let examples: Map<String, Value> = refusals
        .iter()
        .map(|(refusal, body)| {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            (described(refusal).name.to_owned(), json!({ "value": body }))
        })
        .collect();
    json!({
        "description": when.join(" Or: "),
        "headers": headers,
        "content": {
            "application/json": {
                "schema": schema_ref(&shape_name(api_version)),
                "examples": examples,
            }
        },
    })
}
