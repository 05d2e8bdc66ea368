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
            "description": "The caller's name for this call, unique in the account: 1 to 255 \
                visible ASCII characters. A repeat of the call with the same name within 24 hours \
                gets the first answer again and costs nothing, even after a restart of the \
                service or with an empty balance. The same name with another path or other fields \
                is refused with 422. A repeat while the first call is still running is refused \
                with 409.",
            "schema": idempotency_key,
        },
        "RequestId": {
            "name": "X-Request-Id",
            "in": "header",
            "required": false,
            "description": "The caller's id for the request, which the answer repeats: 1 to 128 \
                visible ASCII characters without spaces. If the header is missing or invalid, the \
                service makes an id.",
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
    let left = "The balance of the account, in credits.";
    let policy_is = "The rate limit: at most `q` requests in a window of `w` seconds.";
    let limit_is = "The state of the rate limit: `r` requests are left in the window, which ends \
                    in `t` seconds.";
    let known = |text: &str| format!("{text} Only present if the key was identified.");
    let once = json!({ "type": "integer", "minimum": 1 });
    let rows = [
        (
            "CacheControl",
            header(
                true,
                "Caches must not store the answer.",
                json!({ "type": "string", "const": "no-store" }),
            ),
        ),
        (
            "RequestId",
            header(
                true,
                "The id of the request: the caller's, or one that the service made.",
                visible(128),
            ),
        ),
        ("CreditsUsed", header(true, "The cost of this call, in credits.", count())),
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
                "Only present if the answer is the stored answer of an earlier call.",
                json!({ "type": "string", "const": "true" }),
            ),
        ),
        (
            "RetryAfter",
            header(true, "The number of seconds after which the caller may repeat the call.", once),
        ),
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

/// Returns the headers of the response with an admin page, such as `/metrics`.
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

/// Returns the headers of a refusal. If `can_know_key` is `true`, the key may already be identified
/// when the call is refused. Then the refusal may also have the headers with the balance and the
/// rate limit. If `has_retry_after` is `true`, it has the header `Retry-After`.
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
