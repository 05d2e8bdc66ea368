//! Creates the whole OpenAPI document.

use enrich_wire::{ApiVersion, Endpoint};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::calls::Calls;
use crate::operation::{BEARER_SCHEME, KEY_SCHEME, operation, shapes, tag};
use crate::{headers, inputs, pages, refusals};

const DESCRIPTION: &str = "\
Send one identifier of a company or a person, and get related data back. Each answer costs \
credits; a look-up that finds nothing is free.

Both versions accept JSON and forms, and the key in the field `apiKey`, the header `x-api-key` or \
the header `Authorization: Bearer KEY`. Inputs may be in any form that people usually write. An \
input that cannot be read is refused with 422; it is never answered as not found.

A path that does not exist is refused with 404, and a wrong method with 405. The refusal has the \
format of the version whose prefix the path has, or else the format of version 1.";

/// Returns the OpenAPI document. It contains the endpoints of these API versions, in the order of
/// their tables, and examples from `calls`.
pub fn document(api_versions: &[&'static ApiVersion], calls: &Calls) -> Value {
    let mut paths = Map::new();
    for (api_version, endpoint) in rows(api_versions) {
        let operation = operation(api_version, endpoint, calls.of(endpoint));
        paths.insert(endpoint.path.to_owned(), json!({ "post": operation }));
    }
    paths.extend(pages::paths());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Enrich",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Business-data look-ups on your own machines, metered in credits",
            "description": DESCRIPTION,
            "license": { "name": env!("CARGO_PKG_LICENSE") },
        },
        "servers": [{ "url": "/", "description": "The service that serves this document" }],
        "tags": tags(api_versions),
        "paths": paths,
        "components": components(api_versions, calls),
    })
}

fn rows(
    api_versions: &[&'static ApiVersion],
) -> impl Iterator<Item = (&'static ApiVersion, &'static Endpoint)> {
    api_versions
        .iter()
        .flat_map(|&api_version| api_version.endpoints.iter().map(move |row| (api_version, row)))
}

fn tags(api_versions: &[&'static ApiVersion]) -> Value {
    let tag_of = |api_version: &&ApiVersion| {
        let description = format!("The endpoints under `{}`.", api_version.prefix);
        json!({ "name": tag(api_version), "description": description })
    };
    let pages = json!({ "name": pages::TAG, "description": "Health and metrics." });
    api_versions.iter().map(tag_of).chain([pages]).collect()
}

fn components(api_versions: &[&'static ApiVersion], calls: &Calls) -> Value {
    let mut responses = Map::new();
    for api_version in api_versions {
        for (status, (response, _)) in refusals::responses(api_version) {
            responses.insert(refusals::response_name(api_version, status), response);
        }
    }
    json!({
        "schemas": schemas(api_versions, calls),
        "responses": responses,
        "parameters": headers::parameters(),
        "headers": headers::headers(),
        "securitySchemes": {
            KEY_SCHEME: {
                "type": "apiKey",
                "in": "header",
                "name": "x-api-key",
                "description": "The API key. Version 1 also accepts the key in the field \
                    `apiKey` of the body.",
            },
            BEARER_SCHEME: {
                "type": "http",
                "scheme": "bearer",
                "description": "The API key as a bearer token. It is used if the key is in neither \
                    of the other places.",
            },
        },
    })
}

/// Returns the schemas of the document: first the schemas of requests, answers and refusals, then
/// the schemas of the kinds of input, such as a domain or an email address.
fn schemas(api_versions: &[&'static ApiVersion], calls: &Calls) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = SchemaGenerator::new(settings);
    let mut schemas = Map::new();
    for (api_version, endpoint) in rows(api_versions) {
        schemas.extend(shapes(&mut generator, api_version, endpoint, calls.of(endpoint)));
    }
    for api_version in api_versions {
        let refusal = (api_version.refusal)(&mut generator);
        schemas.insert(refusals::shape_name(api_version), refusal.to_value());
    }
    schemas.extend(generator.take_definitions(false));
    for (name, shape) in &mut schemas {
        let is_written = !name.ends_with("Request") && !name.ends_with("Form");
        if is_written && let Ok(shape) = <&mut Schema>::try_from(shape) {
            RecursiveTransform(exact).transform(shape);
        }
    }
    let fields = rows(api_versions).flat_map(|(_, endpoint)| endpoint.wire.inputs);
    schemas.extend(inputs::schemas(fields));
    schemas
}

/// Makes the schema of an object exact: the object may only have the listed fields. Also removes
/// the formats of Rust's integers, such as `uint64`.
fn exact(shape: &mut Schema) {
    if shape.get("properties").is_some() && shape.get("additionalProperties").is_none() {
        shape.insert("additionalProperties".to_owned(), false.into());
    }
    let is_of_rust = |format: &Value| format.as_str().is_some_and(|text| text.starts_with("uint"));
    if shape.get("format").is_some_and(is_of_rust) {
        shape.remove("format");
        if shape.get("const").is_some() {
            shape.remove("minimum");
            shape.remove("maximum");
        }
    }
    // Descriptions come from doc comments, in which line breaks have no meaning.
    if let Some(Value::String(text)) = shape.get_mut("description") {
        *text = text.replace('\n', " ");
    }
}
