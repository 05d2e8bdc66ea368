//! Property tests that parse arbitrary request bodies. No body causes a panic, and no accepted body
//! has too many fields. The same fields give the same result, whether they are sent as JSON or as a
//! form. The environment variable `PROPTEST_CASES` sets the number of bodies per test.

use enrich_wire::{Fields, Input, MAX_FIELDS, Value, decode};
use proptest::prelude::*;

fn content_type() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![
        Just(None),
        Just(Some("application/json")),
        Just(Some("application/x-www-form-urlencoded; charset=utf-8")),
        Just(Some("text/plain")),
    ]
}

/// Generates texts that are almost JSON, so that the parser does not stop at the first byte.
fn near_json() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        3 => prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"\\u0061\"", "\"\\ud800\"", "null",
            "true", "1", "-1", "1e999", "18446744073709551616", " ", "\"apiKey\"", "\"limit\"",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn properties_of_any_bytes(kind in content_type(), body in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(fields) = decode(kind, &body) {
            prop_assert!(fields.len() <= MAX_FIELDS);
        }
    }

    #[test]
    fn properties_of_nearly_json(kind in content_type(), body in near_json()) {
        if let Ok(fields) = decode(kind, format!("{{{body}").as_bytes()) {
            prop_assert!(fields.len() <= MAX_FIELDS);
        }
    }

    #[test]
    fn properties_of_nearly_a_form(body in "[a-c=&%+0-9A-F]{0,80}") {
        if let Ok(fields) = decode(None, body.as_bytes()) {
            prop_assert!(fields.len() <= MAX_FIELDS);
        }
    }

    #[test]
    fn properties_of_both_encodings(fields in prop::collection::btree_map(any::<String>(), any::<String>(), 0..8)) {
        let json = serde_json::to_vec(&fields).unwrap();
        let form: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        let from_json = decode(Some("application/json"), &json).unwrap();
        let form = form.join("&");
        let from_form = decode(None, form.as_bytes()).unwrap();
        // `decode` parses a body that begins with `{` as JSON. The form never begins with `{`,
        // because `encoded` escapes every byte of a name.
        prop_assert_eq!(from_json.len(), fields.len());
        prop_assert_eq!(from_json, from_form);
    }

    #[test]
    fn properties_of_a_limit(text in any::<String>()) {
        let mut fields = Fields::default();
        fields.insert("limit".into(), Value::Text(text.into()));
        let read = Input::of(&fields).limit();
        prop_assert_ne!(read, Some(Some(0)));
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
