//! `enrich endpoints`.

use serde_json::json;

use crate::desk::Desk;

#[test]
fn the_table_is_the_published_one() {
    let ran = Desk::new().run(&["endpoints"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!("endpoints", ran.out);
}

#[test]
fn the_json_has_a_row_for_each_endpoint() {
    let list = Desk::new().json(&["endpoints"]);
    let rows = list.as_array().unwrap();
    assert_eq!(rows.len(), 29);
    let generations = rows.iter().filter(|row| row["generation"] == 2).count();
    assert_eq!(generations, 3);
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
