//! Checks that the OpenAPI document agrees with the service: in its endpoints, in the recorded
//! calls and in the inputs that are accepted.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use enrich_core::CompanyRef;
use enrich_openapi::{Calls, DOCUMENT};
use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, Network, PageUrl, PersonName, PersonPage, Phone,
};
use enrich_wire::{ApiVersion, Endpoint, KeyPlace, decode};
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

static API_VERSIONS: [&ApiVersion; 2] =
    [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];

fn rows() -> impl Iterator<Item = (&'static ApiVersion, &'static Endpoint)> {
    let rows = |api_version: &&'static ApiVersion| {
        let api_version = *api_version;
        api_version.endpoints.iter().map(move |endpoint| (api_version, endpoint))
    };
    API_VERSIONS.iter().flat_map(rows)
}

fn calls() -> Calls {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/calls");
    Calls::read(&folder, rows().map(|(_, endpoint)| endpoint)).unwrap()
}

fn the_document() -> Value {
    serde_json::from_str(DOCUMENT).unwrap()
}

/// Returns a validator for a schema of the document. The validator resolves references. It checks
/// the formats of Enrich's input kinds with the parsers of the service.
fn validator(document: &Value, schema: &Value) -> Validator {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    let page = |network| move |text: &str| PageUrl::parse(network, text).is_ok();
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .with_format("company-name", |text: &str| CompanyName::parse(text).is_ok())
        .with_format("domain", |text: &str| Domain::parse(text).is_ok())
        .with_format("company-name-or-domain", |text: &str| {
            CompanyRef::domain_or_name(text).is_ok()
        })
        .with_format("email-address", |text: &str| EmailAddress::parse(text).is_ok())
        .with_format("phone-number", |text: &str| Phone::parse(text).is_ok())
        .with_format("linkedin-page", page(Network::LinkedIn))
        .with_format("facebook-page", page(Network::Facebook))
        .with_format("twitter-page", page(Network::Twitter))
        .with_format("youtube-page", page(Network::Youtube))
        .with_format("instagram-page", page(Network::Instagram))
        .with_format("linkedin-profile", |text: &str| PersonPage::parse(text).is_ok())
        .with_format("person-name", |text: &str| PersonName::parse(text).is_ok())
        .with_format("name-part", |text: &str| PersonName::from_parts(text, text).is_ok())
        .with_format("country", |text: &str| Country::parse(text).is_ok())
        .with_format("country-code", |text: &str| Country::from_code(text).is_ok())
        .with_format("int64", |_: &str| true)
        .build(&schema)
        .unwrap()
}

fn operation(document: &Value, endpoint: &Endpoint) -> Value {
    let operation = &document["paths"][endpoint.path]["post"];
    assert!(operation.is_object(), "{} is not in the document", endpoint.path);
    operation.clone()
}

fn resolved(document: &Value, value: &Value) -> Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap().clone(),
        None => value.clone(),
    }
}

/// Returns the schemas of an endpoint's request: as JSON, and as a form.
fn requests(operation: &Value) -> [Value; 2] {
    ["application/json", "application/x-www-form-urlencoded"]
        .map(|encoding| operation["requestBody"]["content"][encoding]["schema"].clone())
}

#[test]
fn every_endpoint_is_there_with_its_price_inputs_and_answer() {
    let document = the_document();
    for (api_version, endpoint) in rows() {
        let path = endpoint.path;
        let operation = operation(&document, endpoint);
        assert_eq!(operation["x-credits"]["rule"], endpoint.price.to_string(), "{path}");
        for schema in requests(&operation) {
            let request = resolved(&document, &schema);
            let names: Vec<&String> = request["properties"].as_object().unwrap().keys().collect();
            let inputs = endpoint.wire.inputs.iter().map(|field| field.name);
            let key = (api_version.key_place == KeyPlace::Body).then_some("apiKey");
            let wanted: Vec<&str> = key.into_iter().chain(inputs).collect();
            assert_eq!(names, wanted, "{path}");
        }
        let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let mut answer = resolved(&document, answer);
        if api_version.number == 2 {
            answer = answer["properties"]["data"].take();
        }
        let names: Vec<&String> = answer["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, endpoint.wire.answer_fields().iter().collect::<Vec<_>>(), "{path}");
        let statuses = ["400", "401", "408", "409", "413", "422", "429", "500", "503"];
        for status in statuses {
            assert!(operation["responses"][status].is_object(), "{path}: {status}");
        }
    }
}

#[test]
fn a_form_filled_in_with_the_examples_of_its_fields_is_a_recorded_call_that_finds() {
    let (document, calls) = (the_document(), calls());
    for (_, endpoint) in rows() {
        let path = endpoint.path;
        let [_, form] = requests(&operation(&document, endpoint));
        let form = resolved(&document, &form);
        let mut filled = Map::new();
        for (name, property) in form["properties"].as_object().unwrap() {
            let example = property["examples"][0].as_str().unwrap();
            assert!(validator(&document, property).is_valid(&example.into()), "{path}: {name}");
            if !example.is_empty() {
                filled.insert(name.clone(), example.into());
            }
        }
        let call = &calls.of(endpoint)[0];
        assert_eq!(call.status, 200, "{path}");
        let sent = call.sent.as_object().unwrap().iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), Value::from(text))
        });
        assert_eq!(filled, sent.collect::<Map<_, _>>(), "{path}");
    }
}

/// Calls `check` with the name and the schema of each property in `schema`, and of each property of
/// a nested object.
fn properties(name: &str, schema: &Value, check: &dyn Fn(&str, &Value)) {
    for (property, inner) in schema["properties"].as_object().into_iter().flatten() {
        let name = format!("{name}.{property}");
        check(&name, inner);
        properties(&name, inner, check);
    }
}

#[test]
fn every_field_has_a_type_and_a_meaning() {
    let document = the_document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(jsonschema::meta::is_valid(schema), "{name}");
        properties(name, schema, &|name, field| {
            let whole = resolved(&document, field);
            let told = [&whole, field].iter().any(|field| field["description"].is_string());
            assert!(told, "{name} has no meaning");
            let typed = ["type", "anyOf", "const"].iter().any(|key| !whole[key].is_null());
            assert!(typed, "{name} has no type");
        });
    }
}

#[test]
fn every_recorded_call_is_as_the_document_says() {
    let (document, calls) = (the_document(), calls());
    for (_, endpoint) in rows() {
        let operation = operation(&document, endpoint);
        let requests = requests(&operation).map(|schema| validator(&document, &schema));
        assert!(calls.of(endpoint).len() >= 5, "{}", endpoint.path);
        for call in calls.of(endpoint) {
            let what = format!("{} {}", endpoint.path, call.case);
            for request in &requests {
                let is_valid = request.is_valid(&call.sent);
                assert_eq!(is_valid, call.status != 422, "{what}: {}", call.sent);
            }
            let response = &operation["responses"][call.status.to_string()];
            let response = resolved(&document, response);
            let schema = &response["content"]["application/json"]["schema"];
            let checked = validator(&document, schema)
                .validate(&call.answer)
                .map_err(|error| format!("{what}: {error}"));
            assert_eq!(checked, Ok(()));
        }
    }
}

/// On the documentation page, a reader enters a key after "Authorize" and sends an example
/// unchanged. The request then has this key in a header. The body must contain no other key,
/// because the server would use the key in the body.
#[test]
fn an_example_sent_with_a_key_in_a_header_is_asked_with_that_key() {
    let document = the_document();
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    assert_eq!(schemes["apiKey"]["name"], "x-api-key");
    assert_eq!(schemes["bearer"]["scheme"], "bearer");
    for (_, endpoint) in rows() {
        let operation = operation(&document, endpoint);
        let security = operation["security"].as_array().unwrap();
        for scheme in schemes.keys() {
            let offered = security.iter().any(|way| way.get(scheme).is_some());
            assert!(offered, "{}: {scheme} is not offered", endpoint.path);
        }
        for body in operation["requestBody"]["content"].as_object().unwrap().values() {
            let schema = resolved(&document, &body["schema"]);
            let required = schema["required"].as_array().unwrap();
            assert!(!required.contains(&json!("apiKey")), "{}", endpoint.path);
            let examples = body["examples"].as_object().unwrap();
            assert!(!examples.is_empty(), "{}", endpoint.path);
            for (name, example) in examples {
                let sent = example["value"].as_object().unwrap();
                assert!(!sent.contains_key("apiKey"), "{}: {name} {sent:?}", endpoint.path);
            }
        }
    }
}

/// Returns the values that a test sends as inputs. Some values are valid for certain inputs only,
/// and some are valid for no input.
fn values() -> Vec<Value> {
    let long = "x".repeat(512);
    let texts = [
        "",
        " ",
        "\u{3000}",
        "x",
        "Quill",
        " Quill \n",
        "Quill & Söhne GmbH",
        "!!!",
        "\u{200b}",
        "a\u{0}b",
        "a\tb",
        "a\u{85}b",
        "\u{85}Quill\u{85}",
        "\u{feff}",
        "quill.example",
        "https://www.Quill.example:8080/a?b#c",
        "bücher.example",
        "127.0.0.1",
        "localhost",
        "a b.example",
        "ada@quill.example",
        "Ada <ada@quill.example>",
        "ada@",
        "@ada",
        "+12025550123",
        "0049 30 23125 001",
        "12025550123",
        "123",
        "linkedin.com/company/quill",
        "linkedin.com/in/ada",
        "https://www.facebook.com/quill/",
        "facebook.com/groups/1",
        "x.com/quill",
        "instagram.com/quill",
        "youtube.com/@quill",
        "youtube.com/watch?v=1",
        "UC7LZo_P6m0W7SDDA8h3CLvg",
        "Ada Lovelace",
        "Lovelace, Ada",
        "Ada",
        "Jr",
        "王小明",
        "Germany",
        "germany",
        "DE",
        "de",
        "DEU",
        "UK",
        "EL",
        "XK",
        "ZZ",
        "the Netherlands",
        "5",
        " 5 ",
        "05",
        "0",
        "00",
        "-1",
        "+5",
        "1.5",
        "five",
        "99999999999999999999999",
        &long,
        &format!(" {long} "),
        &format!("{long}x"),
    ];
    let others = [
        json!(null),
        json!(0),
        json!(1),
        json!(7),
        json!(u64::MAX),
        json!(-1),
        json!(1.5),
        json!(5.0),
        json!(6054.0),
        json!(0.0),
        json!(1e300),
        json!(-5.0),
        json!(true),
        json!([]),
        json!(["Quill"]),
        json!({}),
        json!({"a": 1}),
    ];
    texts.iter().map(|text| json!(text)).chain(others).collect()
}

#[test]
fn what_the_document_allows_is_read_and_nothing_else() {
    let (document, calls) = (the_document(), calls());
    let (mut allowed, mut refused) = (0, 0);
    for (_, endpoint) in rows() {
        let operation = operation(&document, endpoint);
        let [json, form] = requests(&operation).map(|schema| validator(&document, &schema));
        let found = &calls.of(endpoint)[0];
        let inputs = endpoint.wire.inputs.iter().map(|field| field.name);
        let mut tries: Vec<Map<String, Value>> = Vec::new();
        for name in inputs {
            for value in values() {
                let mut sent = found.sent.as_object().unwrap().clone();
                sent.insert(name.to_owned(), value);
                tries.push(sent);
            }
            let mut sent = found.sent.as_object().unwrap().clone();
            sent.shift_remove(name);
            tries.push(sent);
        }
        for sent in tries {
            let sent = Value::Object(sent);
            let body = sent.to_string();
            let fields = decode(Some("application/json"), body.as_bytes()).unwrap();
            let is_read = (endpoint.wire.read)(&fields).is_ok();
            assert_eq!(json.is_valid(&sent), is_read, "{} {sent}", endpoint.path);
            // The fields of a form can only be texts.
            if sent.as_object().unwrap().values().all(Value::is_string) {
                assert_eq!(form.is_valid(&sent), is_read, "{} {sent}", endpoint.path);
            }
            *(if is_read { &mut allowed } else { &mut refused }) += 1;
        }
    }
    assert!(allowed > 500 && refused > 500, "{allowed} allowed, {refused} refused");
}

#[test]
fn either_of_the_two_company_inputs_will_do() {
    let document = the_document();
    let pite = enrich_wire_v1::API_VERSION.endpoint("/v1/pite").unwrap();
    let request = validator(&document, &requests(&operation(&document, pite))[0]);
    let companies = [json!(null), json!(" "), json!("quill.example"), json!("Quill"), json!(5)];
    for domain in &companies {
        for name in &companies {
            let key = format!("enr_live_{}", "0".repeat(38));
            let sent = json!({
                "apiKey": key,
                "personName": "Ada Lovelace",
                "companyDomain": domain,
                "companyName": name,
            });
            let body = sent.to_string();
            let fields = decode(Some("application/json"), body.as_bytes()).unwrap();
            let is_read = (pite.wire.read)(&fields).is_ok();
            assert_eq!(request.is_valid(&sent), is_read, "{sent}");
        }
    }
}
