//! The schemas of the headers of requests and answers.

use serde_json::{Map, Value, json};

/// Returns the schema of a text of 1 to `most` visible ASCII characters.
fn visible(most: usize) -> Value {
    json!({ "type": "string", "pattern": format!("^[!-~]{{1,{most}}}$") })
}

pub(crate) fn parameters() -> Map<String, Value> {
    let mut idempotency_key = visible(255);
    idempotency_key["minLength"] = 1.into();
    idempotency_key["maxLength"] = 255.into();
    let parameters = json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "A name for this call, unique in the account: 1 to 255 visible ASCII \
                characters. A repeat within 24 hours gets the first answer again and costs \
                nothing, also after a restart and at an empty balance. The same name for another \
                path or other fields is refused with 422, and with 409 while the first call is \
                still running.",
            "schema": idempotency_key,
        },
        "RequestId": {
            "name": "X-Request-Id",
            "in": "header",
            "required": false,
            "description": "An id for the request, which the answer repeats: 1 to 128 visible \
                ASCII characters without spaces. Anything else is replaced by an id made here.",
            "schema": { "type": "string" },
        },
    });
    object(parameters)
}

pub(crate) fn parameter_refs(names: &[&str]) -> Value {
    names.iter().map(|name| json!({ "$ref": format!("#/components/parameters/{name}") })).collect()
}

pub(crate) fn headers() -> Map<String, Value> {
    let count = || json!({ "type": "integer", "minimum": 0 });
    let header = |is_required: bool, description: &str, schema: Value| json!({ "description": description, "required": is_required, "schema": schema });
    let policy = json!({ "type": "string", "pattern": r#"^"default";q=[0-9]+;w=[0-9]+$"# });
    let limit = json!({ "type": "string", "pattern": r#"^"default";r=[0-9]+;t=[0-9]+$"# });
    let left = "The credits the account has left.";
    let policy_is = "The rate limit: `q` requests in `w` seconds.";
    let limit_is = "How the key stands in it: `r` requests left in the window, which ends in `t` \
                    seconds.";
    let known = |text: &str| format!("{text} There once the key is known.");
    let once = json!({ "type": "integer", "minimum": 1 });
    let rows = [
        (
            "CacheControl",
            header(true, "Never kept.", json!({ "type": "string", "const": "no-store" })),
        ),
        ("RequestId", header(true, "The caller's id for the request, else ours.", visible(128))),
        ("CreditsUsed", header(true, "The credits this call cost.", count())),
        ("CreditsRemaining", header(true, left, count())),
        ("CreditsRemainingIfKnown", header(false, &known(left), count())),
        ("RateLimitPolicy", header(true, policy_is, policy.clone())),
        ("RateLimitPolicyIfKnown", header(false, &known(policy_is), policy)),
        ("RateLimit", header(true, limit_is, limit.clone())),
        ("RateLimitIfKnown", header(false, &known(limit_is), limit)),
        (
            "IdempotencyReplayed",
            header(
                false,
                "There where the answer is a repeated one.",
                json!({ "type": "string", "const": "true" }),
            ),
        ),
        ("RetryAfter", header(true, "After how many seconds a repeat makes sense.", once)),
    ];
    rows.into_iter().map(|(name, header)| (name.to_owned(), header)).collect()
}

fn header_refs(rows: &[(&str, &str)]) -> Map<String, Value> {
    rows.iter()
        .map(|(name, component)| {
            let reference = json!({ "$ref": format!("#/components/headers/{component}") });
            ((*name).to_owned(), reference)
        })
        .collect()
}

/// Returns the headers of an admin page's answer.
pub(crate) fn of_page() -> Value {
    Value::Object(header_refs(&[("X-Request-Id", "RequestId"), ("Cache-Control", "CacheControl")]))
}

pub(crate) fn of_answer() -> Value {
    Value::Object(header_refs(&[
        ("X-Credits-Used", "CreditsUsed"),
        ("X-Credits-Remaining", "CreditsRemaining"),
        ("RateLimit-Policy", "RateLimitPolicy"),
        ("RateLimit", "RateLimit"),
        ("Idempotency-Replayed", "IdempotencyReplayed"),
        ("X-Request-Id", "RequestId"),
        ("Cache-Control", "CacheControl"),
    ]))
}

/// Returns the headers of a refusal. `can_know_key` tells whether the key may already be identified
/// when the call is refused; the refusal then has further headers.
pub(crate) fn of_refusal(can_know_key: bool, has_retry_after: bool) -> Value {
    let mut headers = header_refs(&[("X-Credits-Used", "CreditsUsed")]);
    if can_know_key {
        headers.extend(header_refs(&[
            ("X-Credits-Remaining", "CreditsRemainingIfKnown"),
            ("RateLimit-Policy", "RateLimitPolicyIfKnown"),
            ("RateLimit", "RateLimitIfKnown"),
        ]));
    }
    if has_retry_after {
        headers.extend(header_refs(&[("Retry-After", "RetryAfter")]));
    }
    headers
        .extend(header_refs(&[("X-Request-Id", "RequestId"), ("Cache-Control", "CacheControl")]));
    Value::Object(headers)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
