//! Tests the interface's rules for the cost of a look-up and for the balance.

use serde_json::json;

use crate::server::command;
use crate::world::World;
use enrich_testkit::http::Call;

const ORBEVAL: usize = 11;

#[test]
fn a_list_costs_one_credit_for_each_five_items_begun() {
    let world = World::new(&[]);
    let account = world.account(1000);
    let companies = [
        ("Pebblecroft Holdings Ltd", "pebblecroft.example", [0, 0, 0]),
        ("Northmoor Lanterns Ltd", "northmoor-lanterns.example", [1, 1, 1]),
        ("Quillmark Analytics GmbH", "quillmark.example", [5, 5, 6]),
        ("Billabrook Tide Instruments Pty Ltd", "billabrook.example", [6, 6, 5]),
        ("Maison Orbeval SARL", "orbeval.example", [ORBEVAL, ORBEVAL, ORBEVAL]),
    ];
    for (name, domain, [emails, phones, employees]) in companies {
        for (path, field, value, list, items) in [
            ("/v1/dte", "companyDomain", domain, "emails", emails),
            ("/v1/nte", "companyName", name, "emails", emails),
            ("/v1/dtpp", "companyDomain", domain, "phones", phones),
            ("/v1/ntp", "companyName", name, "phones", phones),
            ("/v1/lcuf_employee", "companyName", name, "employees", employees),
        ] {
            for limit in [None, Some(1), Some(4), Some(5), Some(6), Some(10), Some(11), Some(12)] {
                let mut fields = serde_json::Map::new();
                fields.insert(field.to_owned(), json!(value));
                if let Some(limit) = limit {
                    fields.insert("limit".to_owned(), json!(limit));
                }
                let returned = items.min(limit.unwrap_or(usize::MAX));
                let price = i64::try_from(returned.div_ceil(5)).unwrap();
                let call = world.call_with(path, &account.key, fields);
                let reply = world.send(&call);
                let what = format!("{path} {value} with limit {limit:?}");
                let got = reply.json()[list].as_array().map(Vec::len);
                world.same(&format!("{what}: items"), &got, &Some(returned));
                let used = reply.number("X-Credits-Used");
                world.same(&format!("{what}: price"), &used, &Some(price));
                account.balance.set(account.balance.get() - price);
                let left = reply.number("X-Credits-Remaining");
                world.same(&format!("{what}: balance"), &left, &Some(account.balance.get()));
            }
        }
    }
    let charged = 1000 - account.balance.get();
    let said = world.json_of(&["ledger", "verify"]);
    world.same("the ledger holds", &said["ok"], &json!(true));
    world.same("the ledger knows the grants", &said["granted"], &json!(1000));
    world.same("the ledger knows the charges", &said["charged"], &json!(charged));
    world.finish();
}

#[test]
fn a_limit_takes_the_first_items() {
    let world = World::new(&[]);
    let account = world.account(10);
    let form = Call::post("/v1/dte").form(&[
        ("apiKey", account.key.as_str()),
        ("companyDomain", "orbeval.example"),
        ("limit", "2"),
    ]);
    world.answers_to(
        "/v1/dte as a form with limit 2",
        &account,
        &form,
        r#"{"query":"orbeval.example","emails":["contact@orbeval.example","atelier@orbeval.example"],"credit_count":<balance>,"confidence_level":<confidence>}"#,
        1,
    );
    world.finish();
}

#[test]
fn the_last_credit_can_be_spent_and_no_more() {
    let world = World::new(&[]);
    for endpoint in crate::endpoints::ENDPOINTS {
        let account = world.account(endpoint.price);
        world.answers(&account, endpoint.path, endpoint.found, endpoint.answer, endpoint.price);
        world.same(&format!("{} empties it", endpoint.path), &account.balance.get(), &0);
        let call = world.call(endpoint.path, &account.key, endpoint.found);
        let reply = world.has_status(&format!("{} on empty", endpoint.path), &call, 400);
        world.same("still empty", &reply.number("X-Credits-Remaining"), &Some(0));
    }
    world.finish();
}

#[test]
fn a_grant_counts_from_the_next_request_on() {
    let world = World::new(&[]);
    let account = world.account(0);
    let telefonica = [("companyName", "Telefónica")];
    let call = world.call("/v1/cuf", &account.key, &telefonica);
    world.has_status("before the grant", &call, 400);
    let answer = crate::endpoints::endpoint("/v1/cuf").answer;
    for credits in [2, 5] {
        world.grant(&account, credits);
        world.answers(&account, "/v1/cuf", &telefonica, answer, 1);
    }
    world.grant(&account, -5);
    world.same("the balance after taking five back", &account.balance.get(), &0);
    world.has_status("after taking back", &call, 400);
    world.finish();
}

#[test]
fn a_negative_grant_goes_only_as_far_as_the_balance() {
    let world = World::new(&[]);
    let account = world.account(7);
    let output = command(&world.data(), &["credits", "grant", &account.id, "-8", "--json"]);
    if output.status.success() {
        world.note("taking 8 credits from 7 must fail".to_owned());
    }
    let reply = world.ask(&account, "/v1/dtc", &[("companyWebsite", "nobody-here.example")]);
    world.same("nothing was taken", &reply.number("X-Credits-Remaining"), &Some(7));
    world.grant(&account, -7);
    let output = command(&world.data(), &["credits", "grant", &account.id, "-1", "--json"]);
    if output.status.success() {
        world.note("taking a credit from none must fail".to_owned());
    }
    world.finish();
}
