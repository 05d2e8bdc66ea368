//! Tests of `enrich stats`.

use serde_json::{Value, json};

use crate::fixture::{Fixture, call, server, text};

/// A company in another country than `QUILL`, with fewer attributes.
const INK: &str = r#"{"type":"company","name":"Ink AG","country":"CH","domains":["ink.example"],"ip":"192.0.2.10"}"#;

/// Creates a folder with two companies and a person, and sends five calls of one account.
fn used() -> (Fixture, String) {
    let fixture = Fixture::with_records();
    fixture.file("ink.jsonl", INK);
    assert_eq!(fixture.run(&["import", "ink.jsonl"]).status, 0);
    let (account, key) = fixture.account(10);
    fixture.account(10);
    let store = fixture.store();
    let service = server(&store);
    for name in ["Quill Ltd", "Quill Ltd", "Ink AG", "Nobody At All GmbH"] {
        let asked = json!({"companyName": name});
        assert_eq!(call(&service, &key, "cuf", "r", asked).status, 200);
    }
    assert_eq!(call(&service, &key, "lcuf", "r", json!({})).status, 422);
    drop((service, store));
    (fixture, account)
}

#[test]
fn what_is_held_is_counted_by_attribute_country_and_source() {
    let (fixture, _) = used();
    let told = fixture.json(&["stats"]);
    assert_eq!(told["subjects"], json!({"companies": 2, "people": 1, "domains": 1}));
    let companies = &told["coverage"]["companies"];
    for (attribute, count) in
        [("domains", 2), ("linkedin", 1), ("facebook", 0), ("emails", 1), ("employees", 1)]
    {
        assert_eq!(companies[attribute], count, "{attribute}: {companies}");
    }
    assert_eq!(told["coverage"]["people"]["employer"], 1);
    assert_eq!(told["coverage"]["domains"], json!({"ip": 1, "page_rank": 0}));
    let countries = json!([
        {"country": "GB", "companies": 1, "people": 0},
        {"country": "CH", "companies": 1, "people": 0},
    ]);
    let mut told_countries = told["countries"].as_array().unwrap().clone();
    told_countries.sort_by_key(|it| std::cmp::Reverse(it["country"].as_str().unwrap().to_owned()));
    assert_eq!(Value::from(told_countries), countries);
    let sources: Vec<String> =
        told["sources"].as_array().unwrap().iter().map(|it| text(&it["source"])).collect();
    assert_eq!(sources, ["ink.jsonl", "records.jsonl"]);
    for database in ["directory", "ledger"] {
        assert!(told["databases"][database]["bytes"].as_u64().unwrap() > 4096);
        assert!(told["databases"][database]["free_bytes"].is_u64());
    }
}

#[test]
fn companies_of_several_sources_and_names_of_several_companies_are_counted() {
    let (fixture, _) = used();
    let told = fixture.json(&["stats"]);
    assert_eq!(told["company_sources"], json!([{"sources": 1, "companies": 2}]));
    assert_eq!(told["shared_names"], json!({"names": 0, "companies": 0}));
    assert!(!fixture.run(&["stats"]).out.contains("SOURCES"));
    let namesakes = ["other", "third"].map(|at| {
        let domain = format!("{at}-ink.example");
        json!({"type": "company", "name": "INK GmbH", "domains": [domain]}).to_string()
    });
    fixture.file("more.jsonl", format!("{INK}\n{}\n", namesakes.join("\n")));
    assert_eq!(fixture.run(&["import", "more.jsonl"]).status, 0);
    let told = fixture.json(&["stats"]);
    let sources = json!([{"sources": 1, "companies": 3}, {"sources": 2, "companies": 1}]);
    assert_eq!(told["company_sources"], sources);
    assert_eq!(told["shared_names"], json!({"names": 1, "companies": 3}));
    let text = fixture.run(&["stats"]).out;
    assert!(text.contains("FROM SOURCES  COMPANIES\n"), "{text}");
    assert!(text.contains("Names of several companies: 1, of 3 companies\n"), "{text}");
}

#[test]
fn what_was_asked_is_counted_by_endpoint_account_and_day() {
    let (fixture, account) = used();
    let used = fixture.json(&["stats", "--days", "2"])["usage"].clone();
    let counts = json!({
        "calls": 5, "found": 3, "not_found": 1, "replayed": 0, "refused": 1, "credits": 3,
        "hit_rate": 0.75
    });
    let has_counts =
        |of: &Value| counts.as_object().unwrap().iter().all(|(name, count)| of[name] == *count);
    assert!(has_counts(&used), "{used}");
    assert_eq!(used["accounts"].as_array().unwrap().len(), 1, "one account called");
    assert!(has_counts(&used["accounts"][0]), "{used}");
    assert_eq!(used["accounts"][0]["account"], account);
    assert_eq!(used["accounts"][0]["name"], "Ledger & Sons");
    let days: u64 =
        used["days"].as_array().unwrap().iter().map(|it| it["calls"].as_u64().unwrap()).sum();
    assert_eq!(days, 5);
    let endpoints: Vec<(String, Value)> = used["endpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["endpoint"]), it["hit_rate"].clone()))
        .collect();
    assert_eq!(endpoints, [("/v1/cuf".into(), json!(0.75)), ("/v1/lcuf".into(), Value::Null)]);
}

#[test]
fn the_text_says_the_same_and_an_empty_folder_has_statistics_too() {
    let (fixture, _) = used();
    let told = fixture.run(&["stats"]);
    assert_eq!(told.status, 0, "{told:?}");
    for line in ["companies", "  linkedin", "GB ", "ink.jsonl", "/v1/cuf", "75.0 %", "together"] {
        assert!(told.out.contains(line), "{line}: {told:?}");
    }
    let empty = Fixture::new();
    empty.account(0);
    assert!(empty.run(&["stats"]).out.contains("no calls"));
    assert_eq!(empty.json(&["stats"])["usage"]["hit_rate"], Value::Null);
    assert_eq!(empty.run(&["stats", "--days", "0"]).status, 2);
}
