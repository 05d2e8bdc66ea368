//! The schemas of inputs and request bodies. All text inputs have the same `pattern`, because a
//! regular expression cannot decide, for example, whether a text is a valid domain. Each kind of
//! input has its own `format`, which the schema's description explains.

mod kinds;

use enrich_core::KEY_PREFIX;
use enrich_text::MAX_CHARACTERS;
use enrich_wire::{ApiVersion, Endpoint, Field, KeyPlace, Kind, MAX_FIELDS};
use serde_json::{Map, Value, json};

use kinds::{Described, described};

/// Unicode white space, for use inside a character class of a regular expression. The server
/// removes such characters from both ends of an input.
const SPACE: &str = r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";

pub(crate) fn schema_ref(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Returns the schemas of all input kinds in `fields`, by their names. Also returns the schemas of
/// the API key and of a missing input.
pub(crate) fn schemas(fields: impl Iterator<Item = &'static Field>) -> Map<String, Value> {
    let mut schemas = Map::new();
    schemas.insert("ApiKey".to_owned(), api_key());
    for field in fields {
        let name = described(field.kind).name.to_owned();
        schemas.entry(name).or_insert_with(|| schema(field.kind));
    }
    schemas.insert(BLANK.to_owned(), blank());
    schemas.insert(MISSING.to_owned(), missing());
    schemas.sort_keys();
    schemas
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// A JSON object.
    Json,
    /// A URL-encoded form, in which every value is a text.
    Form,
}

impl Encoding {
    /// Returns the name of the schema for the values that count as a missing input although they
    /// are sent, for example an empty text.
    fn missing(self) -> &'static str {
        match self {
            Self::Json => MISSING,
            Self::Form => BLANK,
        }
    }
}

pub(crate) fn request(api_version: &ApiVersion, endpoint: &Endpoint, encoding: Encoding) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if api_version.key_place == KeyPlace::Body {
        // The key is an optional field of the body, because the key may be in a header.
        let key = match encoding {
            Encoding::Json => schema_ref("ApiKey"),
            // Swagger UI sends every field of a form, even an empty one. So the key may be blank.
            Encoding::Form => json!({
                "anyOf": [schema_ref("ApiKey"), schema_ref(BLANK)],
                "description": "The API key; empty if the key is in a header.",
            }),
        };
        properties.insert("apiKey".to_owned(), key);
    }
    let inputs = endpoint.wire.inputs;
    let mut alternative = None;
    for field in inputs {
        let stand_in = inputs.iter().find(|other| other.instead_of == Some(field.name));
        if let Some(stand_in) = stand_in {
            alternative = Some((field, stand_in));
        }
        let is_needed = field.is_required && stand_in.is_none();
        required.extend(is_needed.then_some(field.name));
        properties.insert(field.name.to_owned(), property(field, is_needed, encoding));
    }
    let mut request = json!({
        "type": "object",
        "description": format!("The request of `{}`. Unknown fields are ignored; if a \
             required field is missing, the refusal names the unknown fields too.", endpoint.path),
        "properties": properties,
        "required": required,
        "maxProperties": MAX_FIELDS,
    });
    if encoding == Encoding::Form {
        request["additionalProperties"] = json!({ "type": "string" });
    }
    if let Some((field, stand_in)) = alternative {
        request["if"] = json!({ "properties": { field.name: schema_ref(encoding.missing()) } });
        request["then"] = json!({
            "required": [stand_in.name],
            "properties": { stand_in.name: schema_ref(described(stand_in.kind).name) },
        });
    }
    request
}

fn property(field: &Field, is_needed: bool, encoding: Encoding) -> Value {
    let kind = described(field.kind).name;
    let mut property = match is_needed {
        true => schema_ref(kind),
        false => json!({ "anyOf": [schema_ref(kind), schema_ref(encoding.missing())] }),
    };
    property["description"] = sentence(field.meaning).into();
    property
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

const BLANK: &str = "Blank";
const MISSING: &str = "Missing";

fn blank() -> Value {
    json!({
        "type": "string",
        "pattern": format!("^[{SPACE}]*$"),
        "description": "An empty text, or only white space: counts as a missing field.",
    })
}

/// Returns the schema of a JSON input that is sent but counts as missing: `null` or a blank text.
fn missing() -> Value {
    json!({
        "description": "`null`, an empty text, or only white space: counts as a missing field.",
        "anyOf": [{ "type": "null" }, schema_ref(BLANK)],
    })
}

fn api_key() -> Value {
    json!({
        "type": "string",
        "pattern": format!("^[{SPACE}]*{KEY_PREFIX}[0-9A-Za-z]{{38}}[{SPACE}]*$"),
        "description": format!(
            "The API key: `{KEY_PREFIX}`, 32 letters and digits, and a checksum of 6 letters and \
             digits. The field may be missing if the key is in a header (`x-api-key` or \
             `Authorization: Bearer`). If the key is in both, the field is used. The examples \
             have no key."
        ),
    })
}

fn schema(kind: Kind) -> Value {
    let Described { format, description, .. } = described(kind);
    if kind == Kind::Limit {
        return json!({
            "description": description,
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": format!("^[{SPACE}]*0*[1-9][0-9]*[{SPACE}]*$") },
            ],
        });
    }
    let edge = format!("[^{SPACE}{CONTROL}]");
    let between = MAX_CHARACTERS - 2;
    json!({
        "type": "string",
        "format": format,
        "minLength": 1,
        "pattern": format!(
            "^[{SPACE}]*{edge}(?:[^{CONTROL}]{{0,{between}}}{edge})?[{SPACE}]*$"
        ),
        "description": format!(
            "{description}\n\n1 to {MAX_CHARACTERS} characters without control characters; white \
             space at the ends is removed first."
        ),
    })
}
