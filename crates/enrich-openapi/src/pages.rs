//! The descriptions of pages that are not endpoints, such as `/healthz`. They are written by hand.
//! Tests check that the server's answers match them.

use serde_json::{Map, Value, json};

use crate::headers;

pub(crate) const TAG: &str = "Pages";

pub(crate) fn paths() -> Map<String, Value> {
    let truth = |description: &str| json!({ "type": "boolean", "description": description });
    let up = json!({
        "type": "object",
        "description": "The health of the process.",
        "properties": { "up": { "const": true, "description": "Always true: the process is up." } },
        "required": ["up"],
        "additionalProperties": false,
    });
    let readiness = json!({
        "type": "object",
        "description": "The readiness of the service, and each condition for it.",
        "properties": {
            "ready": truth("All conditions hold."),
            "directory": truth("The directory can be read."),
            "charging": truth("Charges are possible."),
            "shutting_down": truth("A shutdown has begun."),
            "store": truth("The shared store can be used. Absent if there is no shared store."),
            "reason": {
                "type": "string",
                "description": "Why the shared store cannot be used. Absent if it can be used.",
            },
        },
        "required": ["ready", "directory", "charging", "shutting_down"],
        "additionalProperties": false,
    });
    let ready = |description: &str| response(description, "application/json", &readiness);
    let text = json!({ "type": "string" });
    let metrics = response("The metrics.", "text/plain", &text);
    let rows = [
        (
            "/healthz",
            operation(
                "healthz",
                "Whether the process is up",
                json!({ "200": response("The process is up.", "application/json", &up) }),
            ),
        ),
        (
            "/readyz",
            operation(
                "readyz",
                "Whether the service can answer and charge calls",
                json!({
                    "200": ready("The service is ready."),
                    "503": ready("The service is not ready; the body says which condition fails."),
                }),
            ),
        ),
        (
            "/metrics",
            operation("metrics", "Metrics in Prometheus' text format", json!({ "200": metrics })),
        ),
    ];
    rows.into_iter().map(|(path, page)| (path.to_owned(), json!({ "get": page }))).collect()
}

fn operation(id: &str, summary: &str, responses: Value) -> Value {
    json!({
        "operationId": id,
        "tags": [TAG],
        "summary": summary,
        "description": "Needs no API key. The operator may serve this page at a separate address.",
        "security": [],
        "parameters": headers::parameter_refs(&["RequestId"]),
        "responses": responses,
    })
}

fn response(description: &str, content_type: &str, schema: &Value) -> Value {
    json!({
        "description": description,
        "headers": headers::of_page(),
        "content": { content_type: { "schema": schema } },
    })
}
