//! Creates the description of an endpoint in the OpenAPI document. The path, the title, the price
//! and the inputs come from the endpoint's row in the table of endpoints. The recorded calls of the
//! endpoint are the examples.

use enrich_core::Price;
use enrich_wire::{ApiVersion, Endpoint, KeyPlace};
use serde_json::{Map, Value, json};

use crate::calls::Call;
use crate::inputs::{Encoding, schema_ref};
use crate::refusals::{self, response_name};
use crate::{headers, inputs};

/// The name of the security scheme for a key in the header `x-api-key`.
pub(crate) const KEY_SCHEME: &str = "apiKey";

/// The name of the security scheme for a key in the header `Authorization`, as a bearer token.
pub(crate) const BEARER_SCHEME: &str = "bearer";

pub(crate) fn tag(api_version: &ApiVersion) -> String {
    format!("Version {}", api_version.number)
}

/// Returns the text with which the names of an endpoint's schemas begin: `V1LcufEmployee` for
/// `/v1/lcuf_employee`.
pub(crate) fn type_name(api_version: &ApiVersion, endpoint: &Endpoint) -> String {
    let words = last_segment(endpoint).split('_').map(|word| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        first.to_uppercase() + rest
    });
    format!("V{}{}", api_version.number, words.collect::<String>())
}

fn request_name(api_version: &ApiVersion, endpoint: &Endpoint, encoding: Encoding) -> String {
    let name = type_name(api_version, endpoint);
    match encoding {
        Encoding::Json => format!("{name}Request"),
        Encoding::Form => format!("{name}Form"),
    }
}

fn last_segment(endpoint: &Endpoint) -> &'static str {
    endpoint.path.rsplit('/').next().unwrap_or(endpoint.path)
}

pub(crate) fn operation(api_version: &ApiVersion, endpoint: &Endpoint, calls: &[Call]) -> Value {
    let body = |encoding| {
        json!({
            "schema": schema_ref(&request_name(api_version, endpoint, encoding)),
            "examples": examples(calls, 200, |call| &call.sent),
        })
    };
    let (json, form) = (body(Encoding::Json), body(Encoding::Form));
    json!({
        "operationId": format!("v{}_{}", api_version.number, last_segment(endpoint)),
        "tags": [tag(api_version)],
        "summary": endpoint.title,
        "description": format!(
            "Credits: {}. If nothing is found, the call costs nothing.",
            price_in_words(endpoint.price)
        ),
        "x-credits": credits(endpoint.price),
        "security": security(api_version.key_place),
        "parameters": headers::parameter_refs(&["IdempotencyKey", "RequestId"]),
        "requestBody": {
            "required": true,
            "description": "At most 64 KiB. A body that begins with `{` is read as JSON, with any \
                `Content-Type`. Another body is read as a form, unless its `Content-Type` is \
                `application/json`.",
            "content": encodings(api_version.key_place, json, form),
        },
        "responses": responses(api_version, endpoint, calls),
    })
}

/// Returns the schemas of the request body, as JSON and as a form. The usual encoding of the API
/// version comes first.
fn encodings(key_place: KeyPlace, json: Value, form: Value) -> Value {
    const JSON: &str = "application/json";
    const FORM: &str = "application/x-www-form-urlencoded";
    match key_place {
        KeyPlace::Body => json!({ JSON: json, FORM: form }),
        KeyPlace::Header => json!({ FORM: form, JSON: json }),
    }
}

/// Returns the security schemes that an endpoint accepts. The schemes for a key in a header come
/// first, because tools can fill in headers. The empty scheme `{}` means that the key is in the
/// body.
fn security(key_place: KeyPlace) -> Value {
    match key_place {
        KeyPlace::Body => json!([{ KEY_SCHEME: [] }, { BEARER_SCHEME: [] }, {}]),
        KeyPlace::Header => json!([{ KEY_SCHEME: [] }, { BEARER_SCHEME: [] }]),
    }
}

fn price_in_words(price: Price) -> String {
    match price {
        Price::PerAnswer(credits) => format!("{credits} if something is found"),
        Price::PerItems(items) => {
            format!("1 for every {items} items of the answer, rounded up")
        }
    }
}

fn credits(price: Price) -> Value {
    let mut rule = json!({ "rule": price.to_string(), "credits": price.least().0 });
    if let Price::PerItems(items) = price {
        rule["per_items"] = items.get().into();
    }
    rule
}

/// Gives each form field an example: the field's text in a recorded call. Without a recorded call,
/// the example is an empty text, because Swagger UI would otherwise fill in an invented text.
fn add_examples(form: &mut Value, call: Option<&Call>) {
    let fields = form["properties"].as_object_mut().into_iter().flatten();
    for (name, property) in fields {
        let text = match call.map(|call| &call.sent[name.as_str()]) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        property["examples"] = json!([text]);
    }
}

/// Returns the descriptions of an endpoint's answer and of all its refusals. If there are recorded
/// calls, their answers are the examples.
fn responses(api_version: &ApiVersion, endpoint: &Endpoint, calls: &[Call]) -> Value {
    let name = type_name(api_version, endpoint);
    let mut responses = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "The call was answered. If nothing was found, the answer has the same \
                shape, with empty texts and lists.",
            "headers": headers::of_answer(),
            "content": { "application/json": {
                "schema": schema_ref(&format!("{name}Answer")),
                "examples": examples(calls, 200, |call| &call.answer),
            } },
        }),
    );
    let refused = refusals::responses(api_version);
    for (status, (mut response, _)) in
        refused.into_iter().filter(|(_, (_, is_of_endpoint))| *is_of_endpoint)
    {
        let recorded = examples(calls, status, |call| &call.answer);
        let value = if recorded.is_empty() {
            let name = response_name(api_version, status);
            json!({ "$ref": format!("#/components/responses/{name}") })
        } else {
            let place = &mut response["content"]["application/json"]["examples"];
            for (case, example) in recorded {
                place[case] = example;
            }
            response
        };
        responses.insert(status.to_string(), value);
    }
    Value::Object(responses)
}

fn examples(calls: &[Call], status: u16, part: impl Fn(&Call) -> &Value) -> Map<String, Value> {
    let calls = calls.iter().filter(|call| call.status == status);
    calls.map(|call| (call.case.clone(), json!({ "value": part(call) }))).collect()
}

/// Returns three schemas of an endpoint, each with its name: the request as JSON, the request as a
/// form, and the answer.
pub(crate) fn shapes(
    generator: &mut schemars::SchemaGenerator,
    api_version: &ApiVersion,
    endpoint: &Endpoint,
    calls: &[Call],
) -> [(String, Value); 3] {
    let request = |encoding| {
        let name = request_name(api_version, endpoint, encoding);
        let mut request = inputs::request(api_version, endpoint, encoding);
        if encoding == Encoding::Form {
            add_examples(&mut request, calls.first());
        }
        (name, request)
    };
    let fields = (endpoint.wire.answer)(generator);
    let mut answer = (api_version.answer)(generator, fields).to_value();
    answer["description"] = format!("The answer of `{}`.", endpoint.path).into();
    [
        request(Encoding::Json),
        request(Encoding::Form),
        (format!("{}Answer", type_name(api_version, endpoint)), answer),
    ]
}
