//! Tests the exact text of answers. Each endpoint is called with inputs that are found, and with
//! inputs that are not found. Both calls are sent in both encodings (JSON and form), and with the
//! API key in both places (header and body).

use serde_json::{Map, Value, json};

use crate::endpoints::{ENDPOINTS, Endpoint};
use crate::world::{Account, Fields, World};
use enrich_testkit::http::{Call, form};

#[test]
fn every_endpoint_answers_and_misses_in_its_shape_however_it_is_asked() {
    let world = World::new(&[]);
    let account = world.account(1000);
    assert_eq!(ENDPOINTS.len(), 29);
    for endpoint in ENDPOINTS {
        for (way, call) in ways(endpoint, &account, endpoint.found) {
            let what = format!("{} found, {way}", endpoint.path);
            world.answers_to(&what, &account, &call, endpoint.answer, endpoint.price);
        }
        for (way, call) in ways(endpoint, &account, endpoint.missing) {
            let what = format!("{} not found, {way}", endpoint.path);
            world.answers_to(&what, &account, &call, endpoint.miss, 0);
        }
    }
    world.finish();
}

#[test]
fn the_list_of_endpoints_is_the_interface() {
    let world = World::new(&[]);
    let listed = world.json_of(&["endpoints"]).to_string();
    for endpoint in ENDPOINTS {
        let times = listed.matches(&format!("{:?}", endpoint.path)).count();
        world.same(&format!("`enrich endpoints` lists {}", endpoint.path), &times, &1);
    }
    world.finish();
}

#[test]
fn numbers_are_integers_and_texts_are_never_null() {
    let world = World::new(&[]);
    let account = world.account(100);
    for endpoint in ENDPOINTS {
        for fields in [endpoint.found, endpoint.missing] {
            let reply = world.ask(&account, endpoint.path, fields);
            let body = reply.json();
            let rule = format!("{} {fields:?}: no null, no fraction", endpoint.path);
            world.holds(&rule, body.is_object() && plain(&body), &reply);
        }
    }
    world.finish();
}

#[test]
fn pages_are_returned_as_stored_and_absent_ones_as_not_found() {
    let world = World::new(&[]);
    let account = world.account(100);
    let enrichment = |query: &str, middle: &str| {
        let template = format!(
            "{{\"query\":{},{middle},\"credit_count\":<balance>,\"confidence_level\":<confidence>}}",
            json!(query)
        );
        world.answers(&account, "/v1/company_enrichment", &[("companyName", query)], &template, 3);
    };
    enrichment(
        "Northmoor Lanterns Ltd",
        r#""domain":"northmoor-lanterns.example","emails":["hello@northmoor-lanterns.example"],"phones":["+442079460321"],"facebook":"facebook.com/northmoorlanternsexample","linkedin":"linkedin.com/company/northmoor-lanterns-example","twitter":"twitter.com/northmoor_exmpl","youtube":"youtube.com/user/northmoorlanternsexample","instagram":"instagram.com/northmoor_lanterns_example""#,
    );
    enrichment(
        "Billabrook",
        r#""domain":"billabrook.example","emails":["office@billabrook.example","orders@billabrook.example","service@billabrook.example","calibration@billabrook.example","careers@billabrook.example","media@billabrook.example"],"phones":["+61255501201","+61255501202","+61255501203","+61270104401","+61270104402","+61270104403"],"facebook":"facebook.com/profile.php?id=900000000000042","linkedin":"linkedin.com/company/billabrook-tide-example","twitter":"twitter.com/billabrook_exmp","youtube":"youtube.com/c/BillabrookTideExample","instagram":"instagram.com/billabrook_tide_example""#,
    );
    enrichment(
        "Sosnovy Mayak LLP",
        r#""domain":"sosnovy-mayak.example","emails":["zakaz@sosnovy-mayak.example"],"phones":[],"facebook":"facebook.com/pages/Sosnovy-Mayak-Example/900000000000077","linkedin":"linkedin.com/company/sosnovy-mayak-example","twitter":"Not Found","youtube":"Not Found","instagram":"Not Found""#,
    );
    enrichment(
        "Pebblecroft Holdings Ltd",
        r#""domain":"pebblecroft.example","emails":[],"phones":[],"facebook":"Not Found","linkedin":"Not Found","twitter":"Not Found","youtube":"Not Found","instagram":"Not Found""#,
    );
    enrichment(
        "Fjellvind Keramikk AS",
        r#""domain":"","emails":[],"phones":[],"facebook":"Not Found","linkedin":"linkedin.com/company/fjellvind-keramikk-example","twitter":"Not Found","youtube":"Not Found","instagram":"Not Found""#,
    );
    enrichment(
        "海灯電子株式会社",
        r#""domain":"kaito-denshi.example","emails":["info@kaito-denshi.example","ir@kaito-denshi.example"],"phones":[],"facebook":"Not Found","linkedin":"linkedin.com/company/kaito-denshi-example","twitter":"twitter.com/kaito_dnsh_exmp","youtube":"youtube.com/channel/UCExampleKaitoDenshi0000","instagram":"Not Found""#,
    );
    world.answers(
        &account,
        "/v1/lcuf",
        &[("companyName", "L'Oréal")],
        r#"{"query":"L'Oréal","url":"linkedin.com/company/loréal","credit_count":<balance>,"confidence_level":<confidence>}"#,
        1,
    );
    world.finish();
}

#[test]
fn what_a_person_lacks_is_empty_beside_what_is_known_and_nothing_known_is_a_miss() {
    let world = World::new(&[]);
    let account = world.account(100);
    let sule = [("linkedin", "linkedin.com/in/sule-yildirim-kaya-example")];
    let aroha = [("linkedin", "linkedin.com/in/aroha-te-rangi-example")];
    world.answers(
        &account,
        "/v1/lti",
        &sule,
        r#"{"query":"linkedin.com/in/sule-yildirim-kaya-example","first_name":"Şule","last_name":"Yıldırım-Kaya","job_company_name":"Quillmark Analytics GmbH","job_title":"","credit_count":<balance>,"confidence_level":<confidence>}"#,
        1,
    );
    world.answers(
        &account,
        "/v1/cone",
        &sule,
        r#"{"query":"linkedin.com/in/sule-yildirim-kaya-example","job_title":"","emails":["sule.yildirim@quillmark.example"],"phones":["+4917604069021"],"credit_count":<balance>,"confidence_level":<confidence>}"#,
        3,
    );
    world.answers(
        &account,
        "/v1/lti",
        &aroha,
        r#"{"query":"linkedin.com/in/aroha-te-rangi-example","first_name":"Aroha","last_name":"Te Rangi","job_company_name":"Billabrook Tide Instruments Pty Ltd","job_title":"","credit_count":<balance>,"confidence_level":<confidence>}"#,
        1,
    );
    world.answers(
        &account,
        "/v1/cone",
        &aroha,
        r#"{"query":"linkedin.com/in/aroha-te-rangi-example","job_title":"","emails":[],"phones":[],"credit_count":<balance>,"confidence_level":0}"#,
        0,
    );
    world.finish();
}

#[test]
fn page_ranks_are_the_texts_that_were_given() {
    let world = World::new(&[]);
    let account = world.account(100);
    for (domain, rank) in [
        ("millpond.example", "0.31"),
        ("bücherwald.example", "4.40"),
        ("orchard-lane.example", "4.87"),
        ("saltmarsh.example", "3"),
        ("billabrook.example", "4.1"),
        ("wickerly-baskets.example", "2.70"),
        ("copperlane-works.example", "3.33"),
    ] {
        let template = format!(
            "{{\"query\":\"{domain}\",\"pagerank\":\"{rank}\",\"credit_count\":<balance>,\
             \"confidence_level\":<confidence>}}"
        );
        world.answers(&account, "/v1/dtpr", &[("domain", domain)], &template, 1);
    }
    world.finish();
}

/// Returns the ways to send the same fields: as JSON and as a form, each with the key in the header
/// and in the body. Also returns a form without a content type.
fn ways(endpoint: &Endpoint, account: &Account, fields: Fields<'_>) -> Vec<(&'static str, Call)> {
    let post = || Call::post(endpoint.path);
    let mut object: Map<String, Value> =
        fields.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect();
    let key_in_header = post().header("x-api-key", account.key.as_str());
    let mut ways = vec![
        ("JSON, key in the header", key_in_header.clone().json(&Value::Object(object.clone()))),
        ("form, key in the header", key_in_header.form(fields)),
    ];
    object.insert("apiKey".to_owned(), json!(account.key));
    ways.push(("JSON, key in the body", post().json(&Value::Object(object))));
    let with_key = [&[("apiKey", account.key.as_str())], fields].concat();
    ways.push(("form, key in the body", post().form(&with_key)));
    // A body without a content type is decoded as a form.
    ways.push(("untyped form", post().body(form(&with_key))));
    ways
}

fn plain(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Number(number) => number.is_u64(),
        Value::Array(items) => items.iter().all(plain),
        Value::Object(fields) => fields.values().all(plain),
        Value::Bool(_) | Value::String(_) => true,
    }
}
