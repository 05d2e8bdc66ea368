//! Tests of calls from the playground.

use crate::world::{Owner, Seen, World};

fn world() -> (World, Owner) {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    (world, owner)
}

fn call(world: &World, owner: &mut Owner, endpoint: &str, fields: &[(&str, &str)]) -> Seen {
    let key = owner.key.to_string();
    let mut all = vec![("endpoint", endpoint), ("key", key.as_str())];
    all.extend_from_slice(fields);
    owner.browser.post(world, "/account/playground", &all)
}

fn balance(world: &World, owner: &Owner) -> String {
    let seen = owner.browser.get(world, "/account/");
    seen.between("<dt>Credits left</dt><dd>", "<").to_owned()
}

#[test]
fn every_endpoint_shows_its_price_and_its_fields_first() {
    let (world, owner) = world();
    for endpoint in enrich_wire_v1::ENDPOINTS.iter().chain(&enrich_wire_v2::ENDPOINTS) {
        let target = format!("/account/playground?endpoint={}", endpoint.path);
        let seen = owner.browser.get(&world, &target);
        assert!(seen.body.contains(&format!("Price: <strong>{}</strong>", endpoint.price)));
        for field in endpoint.wire.inputs {
            assert!(seen.body.contains(&format!("name=\"field.{}\"", field.name)), "{target}");
        }
    }
    assert_eq!(owner.browser.get(&world, "/account/playground?endpoint=/v1/none").status, 404);
}

#[test]
fn a_call_is_charged_and_shown_as_curl_without_the_key() {
    let (world, mut owner) = world();
    let seen = call(&world, &mut owner, "/v1/cuf", &[("field.companyName", "Quill")]);
    assert!(seen.body.contains("Found; 1 credit was charged."), "{}", seen.body);
    assert!(seen.body.contains("quill.example"));
    assert_eq!(balance(&world, &owner), "999");
    let hint = world.ports.keys.lock()[0].0.hint.clone();
    let curl = seen.between("<code>curl -s &#39;http://enrich.example/v1/cuf&#39;", "</code>");
    assert!(curl.contains(&format!("apiKey&#34;:&#34;{hint}…&#34;")), "{curl}");
    let secret = world.ports.keys.lock()[0].1.expose().to_owned();
    assert!(!seen.body.contains(&secret));
    assert!(owner.browser.get(&world, "/account/calls").body.contains("/v1/cuf"));
}

#[test]
fn version_2_has_its_key_in_a_header() {
    let (world, mut owner) = world();
    let path = "/v2/services/name_to_domain";
    let seen = call(&world, &mut owner, path, &[("field.company_name", "Quill")]);
    assert!(seen.body.contains("-H &#39;x-api-key: enr_live_"), "{}", seen.body);
    assert!(seen.body.contains("Found; 1 credit was charged."));
}

#[test]
fn a_miss_and_a_refusal_are_free_and_said() {
    let (world, mut owner) = world();
    let miss = call(&world, &mut owner, "/v1/cuf", &[("field.companyName", "Nobody")]);
    assert!(miss.body.contains("Nothing found; nothing was charged."), "{}", miss.body);
    let refused = call(&world, &mut owner, "/v1/cuf", &[]);
    assert!(refused.body.contains("Refused; nothing was charged."), "{}", refused.body);
    assert!(refused.body.contains("Status 422"));
    assert_eq!(balance(&world, &owner), "1,000");
}

#[test]
fn a_form_that_is_sent_twice_is_paid_once() {
    let (world, mut owner) = world();
    let fields = [("attempt", "abc"), ("field.companyName", "Quill")];
    call(&world, &mut owner, "/v1/cuf", &fields);
    let again = call(&world, &mut owner, "/v1/cuf", &fields);
    assert!(
        again.body.contains("The same answer as before; nothing was charged again"),
        "{}",
        again.body
    );
    assert_eq!(balance(&world, &owner), "999");
}

#[test]
fn without_a_key_in_use_there_is_nothing_to_call_with() {
    let (world, mut owner) = world();
    let path = format!("/account/keys/{}/revoke", owner.key);
    owner.browser.post(&world, &path, &[("sure", "yes")]);
    let seen = owner.browser.get(&world, "/account/playground");
    assert!(seen.body.contains("no active API key"));
    let seen = call(&world, &mut owner, "/v1/cuf", &[("field.companyName", "Quill")]);
    assert!(!seen.body.contains("charged."));
    assert_eq!(seen.status, 422);
    let (_, outcome) = seen.body.split_once("<section id=\"outcome\"").unwrap();
    assert!(outcome.contains("No call was made: choose an active API key"), "{outcome}");
    assert_eq!(balance(&world, &owner), "1,000");
}
