//! The descriptions of pages that are not endpoints, such as `/healthz`. They are written by hand.
//! Tests check that the server's answers match them.

use serde_json::{Map, Value, json};

use crate::headers;

pub(crate) const TAG: &str = "Pages";

pub(crate) fn paths() -> Map<String, Value> {
    let truth = |description: &str| json!({ "type": "boolean", "description": description });
    let up = json!({
        "type": "object",
        "description": "That the process is up.",
        "properties": { "up": { "const": true, "description": "That it is." } },
        "required": ["up"],
        "additionalProperties": false,
    });
    let readiness = json!({
        "type": "object",
        "description": "What has to hold for the service to be ready, each by itself.",
        "properties": {
            "ready": truth("All of it."),
            "directory": truth("The directory can be read."),
            "charging": truth("Charges are being decided."),
            "shutting_down": truth("The process is ending."),
            "store": truth("The store that several servers share can be used; absent without one."),
            "reason": {
                "type": "string",
                "description": "Why that store cannot be used; absent while it can.",
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
            page(
                "healthz",
                "Whether the process is up",
                json!({ "200": response("It is.", "application/json", &up) }),
            ),
        ),
        (
            "/readyz",
            page(
                "readyz",
                "Whether the service can answer and charge",
                json!({ "200": ready("It can."), "503": ready("It cannot; which part is told.") }),
            ),
        ),
        (
            "/metrics",
            page("metrics", "Metrics in Prometheus' text format", json!({ "200": metrics })),
        ),
    ];
    rows.into_iter().map(|(path, page)| (path.to_owned(), json!({ "get": page }))).collect()
}

fn page(id: &str, summary: &str, responses: Value) -> Value {
    json!({
        "operationId": id,
        "tags": [TAG],
        "summary": summary,
        "description": "Needs no key. An operator may serve it at an address of its own.",
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
