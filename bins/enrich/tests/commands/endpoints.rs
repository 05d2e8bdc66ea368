//! Tests of `enrich endpoints` and `enrich openapi`.

use serde_json::{Value, json};

use crate::fixture::Fixture;

#[test]
fn the_table_is_the_published_one() {
    let ran = Fixture::new().run(&["endpoints"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!("endpoints", ran.out);
}

#[test]
fn the_json_has_a_row_for_each_endpoint() {
    let list = Fixture::new().json(&["endpoints"]);
    let rows = list.as_array().unwrap();
    let of = |number: u8| rows.iter().filter(|row| row["generation"] == number).count();
    assert_eq!(of(1), enrich_wire_v1::ENDPOINTS.len());
    assert_eq!(of(2), enrich_wire_v2::ENDPOINTS.len());
    let dte = rows.iter().find(|row| row["path"] == "/v1/dte").unwrap();
    let expected = json!({
        "generation": 1,
        "path": "/v1/dte",
        "title": "Company domain to emails",
        "inputs": [
            {"name": "companyDomain", "required": true, "meaning": "company domain"},
            {
                "name": "limit",
                "required": false,
                "meaning": "the most items to return and be charged for"
            }
        ],
        "answer": ["query", "emails", "credit_count", "confidence_level"],
        "price": {"rule": "1 per 5 items", "credits": 1, "per_items": 5}
    });
    assert_eq!(dte, &expected);
}

#[test]
fn the_document_is_printed_as_it_is_committed() {
    let ran = Fixture::new().run(&["openapi"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert!(ran.out == include_str!("../../../../docs/openapi.json"), "it is another document");
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
}
