//! Inputs: what each kind of them holds, and the body of a request.
//!
//! A pattern cannot tell a domain from what looks like one, so each kind has a `format` of its own,
//! said in words, beside the pattern that every input keeps to.

use enrich_core::KEY_PREFIX;
use enrich_text::{MAX_CHARACTERS, Network};
use enrich_wire::{ApiVersion, Endpoint, Field, KeyPlace, Kind, MAX_FIELDS};
use serde_json::{Map, Value, json};

/// White space, as Unicode has it: what goes from the ends of an input.
const SPACE: &str = r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
/// Control characters.
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";

/// A kind of input in the document.
struct Described {
    name: &'static str,
    format: &'static str,
    description: &'static str,
}

/// The reference to a component.
pub(crate) fn schema_ref(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schemas of all kinds that `fields` have, by name; and that of a missing input.
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

/// How a request is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// A JSON object.
    Json,
    /// A form, which has texts alone.
    Form,
}

impl Encoding {
    /// The schema of an input that is there and says nothing.
    fn missing(self) -> &'static str {
        match self {
            Self::Json => MISSING,
            Self::Form => BLANK,
        }
    }
}

/// The body of a request to `endpoint`.
pub(crate) fn request(api_version: &ApiVersion, endpoint: &Endpoint, encoding: Encoding) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if api_version.key_place == KeyPlace::Body {
        // Not required: a caller may send it in a header.
        let key = match encoding {
            Encoding::Json => schema_ref("ApiKey"),
            // A form that is filled in by hand has the field, empty.
            Encoding::Form => json!({
                "anyOf": [schema_ref("ApiKey"), schema_ref(BLANK)],
                "description": "The API key; empty where it is sent in a header.",
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
        "description": format!("What `{}` is asked. Other fields are ignored; where a \
             required one is missing, they are named.", endpoint.path),
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

/// Words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

const BLANK: &str = "Blank";
const MISSING: &str = "Missing";

/// A text that says nothing.
fn blank() -> Value {
    json!({
        "type": "string",
        "pattern": format!("^[{SPACE}]*$"),
        "description": "Nothing but white space: counts as a missing field.",
    })
}

/// An input that is there and says nothing.
fn missing() -> Value {
    json!({
        "description": "`null`, or nothing but white space: counts as a missing field.",
        "anyOf": [{ "type": "null" }, schema_ref(BLANK)],
    })
}

fn api_key() -> Value {
    json!({
        "type": "string",
        "pattern": format!("^[{SPACE}]*{KEY_PREFIX}[0-9A-Za-z]{{38}}[{SPACE}]*$"),
        "description": format!(
            "The API key: `{KEY_PREFIX}`, 32 letters and digits, and 6 of a checksum. To be left out \
             where the key is sent in a header (`x-api-key` or `Authorization: Bearer`): where \
             both are there, the field counts. The examples leave it out."
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
             space around them is not counted."
        ),
    })
}

fn described(kind: Kind) -> Described {
    let (name, format, description) = match kind {
        Kind::CompanyName => (
            "CompanyName",
            "company-name",
            "A company's name in any script, case and punctuation, with or without its legal form. \
             At least one character of it has to be visible.",
        ),
        Kind::Domain => (
            "Domain",
            "domain",
            "A domain like `acme.example`: bare, or in a URL with scheme, user, port and path; any \
             case, `www.` and a trailing dot go; internationalised names in either form. No IP \
             address, no single label.",
        ),
        Kind::CompanyNameOrDomain => (
            "CompanyNameOrDomain",
            "company-name-or-domain",
            "A domain like `acme.example`, or a company's name. What can be a domain is looked up \
             as one first, then as a name.",
        ),
        Kind::EmailAddress => (
            "EmailAddress",
            "email-address",
            "An email address in any case, bare (`ada@acme.example`) or with a name before it (`Ada \
             <ada@acme.example>`).",
        ),
        Kind::PhoneNumber => (
            "PhoneNumber",
            "phone-number",
            "A phone number in international form: with `+` or `00`, or the digits alone; spaces, \
             dots, dashes and brackets are read over. It has to be a possible number. A national \
             number is read too where the operator has set a country for the account.",
        ),
        Kind::CompanyPage(network) => return company_page(network),
        Kind::PersonPage => (
            "LinkedInProfile",
            "linkedin-profile",
            "A person's LinkedIn profile: its URL (`linkedin.com/in/ada`; with or without scheme and \
             `www.`) or the handle alone, with or without `@`. Not a company's page.",
        ),
        Kind::PersonName => (
            "PersonName",
            "person-name",
            "A person's first and last name: `Ada Lovelace` or `Lovelace, Ada`; middle names and \
             initials may be there, case and diacritics don't matter.",
        ),
        Kind::NamePart => (
            "NamePart",
            "name-part",
            "A person's first name, or the last: with at least one letter; case and diacritics \
             don't matter.",
        ),
        Kind::Country => (
            "Country",
            "country",
            "A country by its English name or a usual other one (`Germany`, `USA`, `Holland`), or by \
             its ISO 3166-1 alpha-2 or alpha-3 code, in any case.",
        ),
        Kind::CountryCode => (
            "CountryCode",
            "country-code",
            "A country by its ISO 3166-1 alpha-2 code in any case; also `UK`, `EL` and `XK`.",
        ),
        Kind::Limit => (
            "Limit",
            "",
            "A whole number, at least 1, as a number or as decimal digits in a string. One larger \
             than the list limits nothing.",
        ),
    };
    Described { name, format, description }
}

fn company_page(network: Network) -> Described {
    let (name, format, description) = match network {
        Network::LinkedIn => (
            "LinkedInPage",
            "linkedin-page",
            "A company's LinkedIn page: its URL (`/company/`, `/school/` or `/showcase/`; with or \
             without scheme and `www.`) or the handle alone, with or without `@`. Not a person's \
             profile.",
        ),
        Network::Facebook => (
            "FacebookPage",
            "facebook-page",
            "A company's Facebook page: its URL on `facebook.com` or `fb.com` (also \
             `profile.php?id=…` and `/pages/…/ID`; with or without scheme and `www.`) or the handle \
             alone, with or without `@`.",
        ),
        Network::Twitter => (
            "TwitterPage",
            "twitter-page",
            "A company's Twitter page: its URL on `twitter.com` or `x.com` (with or without scheme \
             and `www.`) or the handle alone, with or without `@`.",
        ),
        Network::Youtube => (
            "YouTubePage",
            "youtube-page",
            "A company's YouTube page: its URL (`/@…`, `/c/`, `/user/`, `/channel/`; with or \
             without scheme and `www.`), the handle alone, with or without `@`, or the channel's \
             id.",
        ),
        Network::Instagram => (
            "InstagramPage",
            "instagram-page",
            "A company's Instagram page: its URL (with or without scheme and `www.`) or the handle \
             alone, with or without `@`.",
        ),
    };
    Described { name, format, description }
}
