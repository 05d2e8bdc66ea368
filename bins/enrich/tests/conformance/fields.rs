//! Tests the interface's rules for fields: texts are trimmed and have at most 512 characters, and
//! each fault has its message.

use serde_json::{Map, Value, json};

use crate::endpoints::{ENDPOINTS, endpoint};
use crate::world::{Fields, World};
use enrich_testkit::http::Call;

#[test]
fn each_field_at_fault_is_named_on_every_endpoint() {
    let world = World::new(&[]);
    let account = world.account(100);
    let long = "x".repeat(513);
    for endpoint in ENDPOINTS {
        for (at, &(name, unreadable)) in endpoint.unreadable.iter().enumerate() {
            let mut faults = vec![
                json!(unreadable),
                json!(long),
                json!("Ac\u{0}me"),
                json!("Ac\u{1b}[1mme"),
                json!("Ac\nme"),
                json!("Ac\tme"),
                json!("Ac\u{7f}me"),
                json!("Ac\u{85}me"),
                json!(7),
                json!(1.5),
                json!(true),
                json!([]),
                json!(["Telefónica"]),
                json!({}),
            ];
            if name != "country_code" {
                faults.extend([json!(""), json!("  \t\r\n "), Value::Null]);
            }
            for fault in faults {
                let mut fields = object(endpoint.found);
                fields.insert(endpoint.found[at].0.to_owned(), fault.clone());
                let call = world.call_with(endpoint.path, &account.key, fields);
                let what = format!("{} with {name} = {fault}", endpoint.path);
                world.refuses_call(&what, &account, &call, &[name]);
            }
            if name != "country_code" {
                let mut fields = object(endpoint.found);
                fields.remove(name);
                let call = world.call_with(endpoint.path, &account.key, fields);
                let what = format!("{} without {name}", endpoint.path);
                world.refuses_call(&what, &account, &call, &[name]);
            }
        }
    }
    world.finish();
}

#[test]
fn all_fields_at_fault_are_named_at_once() {
    let world = World::new(&[]);
    let account = world.account(100);
    for endpoint in ENDPOINTS {
        let names: Vec<&str> = endpoint.unreadable.iter().map(|&(name, _)| name).collect();
        world.refuses(&account, endpoint.path, endpoint.unreadable, &names);
        let required: Vec<&str> =
            names.iter().copied().filter(|name| *name != "country_code").collect();
        world.refuses(&account, endpoint.path, &[], &required);
        let form = Call::post(endpoint.path)
            .header("x-api-key", account.key.as_str())
            .form(endpoint.unreadable);
        world.refuses_call(&format!("{} as a form", endpoint.path), &account, &form, &names);
    }
    world.refuses(
        &account,
        "/v1/dte",
        &[("companyDomain", "localhost"), ("limit", "0")],
        &["companyDomain", "limit"],
    );
    world.finish();
}

#[test]
fn inputs_are_trimmed_and_echoed_as_sent() {
    let world = World::new(&[]);
    let account = world.account(100);
    for endpoint in ENDPOINTS {
        let padded: Vec<(&str, String)> = endpoint
            .found
            .iter()
            .map(|&(name, value)| (name, format!(" \t\r\n{value}\u{a0} \n")))
            .collect();
        let fields: Vec<(&str, &str)> =
            padded.iter().map(|(name, value)| (*name, value.as_str())).collect();
        world.answers(&account, endpoint.path, &fields, endpoint.answer, endpoint.price);
    }
    world.finish();
}

#[test]
fn texts_have_up_to_512_characters() {
    let world = World::new(&[]);
    let account = world.account(10);
    // The maximum length counts characters and not bytes. Blanks at both ends do not count, because
    // the text is trimmed first.
    let name = "é".repeat(512);
    let template = format!(
        "{{\"query\":\"{name}\",\"url\":\"\",\"credit_count\":<balance>,\"confidence_level\":0}}"
    );
    let padded = format!("   {name}   ");
    world.answers(&account, "/v1/cuf", &[("companyName", &padded)], &template, 0);
    world.refuses(&account, "/v1/cuf", &[("companyName", &"é".repeat(513))], &["companyName"]);
    world.finish();
}

#[test]
fn a_limit_is_a_whole_number_from_1_as_a_text_or_an_integer() {
    let world = World::new(&[]);
    let account = world.account(100);
    for path in LISTS {
        let endpoint = endpoint(path);
        let with = |limit: Value| {
            let mut fields = object(endpoint.found);
            fields.insert("limit".to_owned(), limit);
            world.call_with(path, &account.key, fields)
        };
        for limit in [json!("100"), json!(100), json!(" 100 "), json!(""), json!("  ")] {
            let what = format!("{path} with limit {limit}");
            world.answers_to(&what, &account, &with(limit), endpoint.answer, endpoint.price);
        }
        for limit in [
            json!(0),
            json!("0"),
            json!(-1),
            json!("-1"),
            json!(1.5),
            json!("1.5"),
            json!("abc"),
            json!("0x10"),
            json!("1e3"),
            json!("1 0"),
            json!(true),
            json!([1]),
            json!({}),
        ] {
            let what = format!("{path} with limit {limit}");
            world.refuses_call(&what, &account, &with(limit), &["limit"]);
        }
        // Every whole number from 1 is a valid limit, even a number that is larger than the number
        // of items, or that does not fit into any integer type.
        let huge = with(json!("99999999999999999999999"));
        let what = format!("{path} with a huge limit");
        world.answers_to(&what, &account, &huge, endpoint.answer, endpoint.price);
    }
    world.finish();
}

/// The endpoints that return lists and accept a `limit`.
const LISTS: [&str; 5] = ["/v1/dte", "/v1/dtpp", "/v1/nte", "/v1/ntp", "/v1/lcuf_employee"];

fn object(fields: Fields<'_>) -> Map<String, Value> {
    fields.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect()
}
