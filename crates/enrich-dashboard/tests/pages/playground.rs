//! Tests of calls from the playground.

use enrich_core::port::ledger::ChargeError;
use enrich_core::{Candidate, Clock, Credits, EntryKind};

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
fn a_call_whose_charge_is_unknown_is_not_said_to_be_free() {
    let (world, mut owner) = world();
    world.ports.decide_charges(|_| Err(ChargeError::Unknown("the reply was lost".into())));
    let seen = call(&world, &mut owner, "/v1/cuf", &[("field.companyName", "Quill")]);
    assert!(seen.body.contains("Status 503"), "{}", seen.body);
    assert!(seen.body.contains("it is not known yet whether this call was charged"));
    assert!(!seen.body.contains("nothing was charged"), "{}", seen.body);
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

/// The fields of a call that finds nothing, with the box for candidates ticked.
const WITH_CANDIDATES: [(&str, &str); 3] =
    [("attempt", "abc"), ("field.companyName", "Quil"), ("candidates", "yes")];

#[test]
fn a_miss_shows_candidates_for_one_credit() {
    let (world, mut owner) = world();
    let seen = call(&world, &mut owner, "/v1/cuf", &WITH_CANDIDATES);
    assert!(seen.body.contains("Nothing found; nothing was charged."), "{}", seen.body);
    assert!(seen.body.contains("1 credit was charged."), "{}", seen.body);
    let table = seen.between("aria-label=\"Table of candidates\"", "</table>");
    for cell in ["Quill", "quill.example", "80", "Its name begins in the same way."] {
        assert!(table.contains(&format!(">{cell}</t")), "{cell}: {table}");
    }
    assert!(seen.body.contains("name=\"candidates\" value=\"yes\" checked"));
    assert_eq!(balance(&world, &owner), "999");
    let is_own = |kind: &EntryKind| matches!(kind, EntryKind::Charge { endpoint, .. } if endpoint == Candidate::PURPOSE);
    assert_eq!(world.ports.entries.lock().iter().filter(|entry| is_own(&entry.kind)).count(), 1);
    let calls = owner.browser.get(&world, "/account/calls");
    assert!(calls.body.contains("Companies that a name may mean"), "{}", calls.body);

    let again = call(&world, &mut owner, "/v1/cuf", &WITH_CANDIDATES);
    assert!(again.body.contains("The same companies as before; nothing was charged again."));
    assert!(again.body.contains("Table of candidates"), "{}", again.body);
    assert_eq!(balance(&world, &owner), "999");
}

#[test]
fn candidates_are_asked_for_only_if_wanted_and_nothing_is_found() {
    let (world, mut owner) = world();
    let without = call(&world, &mut owner, "/v1/cuf", &[("field.companyName", "Quil")]);
    assert!(!without.body.contains("Candidates</h3>"), "{}", without.body);
    let found = [("attempt", "found"), ("field.companyName", "Quill"), ("candidates", "yes")];
    for _ in 0..2 {
        let seen = call(&world, &mut owner, "/v1/cuf", &found);
        assert!(!seen.body.contains("Candidates</h3>"), "{}", seen.body);
    }
    assert_eq!(balance(&world, &owner), "999");
    let none = [("field.companyName", "Nobody"), ("candidates", "yes")];
    let seen = call(&world, &mut owner, "/v1/cuf", &none);
    assert!(seen.body.contains("No company has a name like this one; nothing was charged."));
    assert_eq!(balance(&world, &owner), "999");
    let page = |path: &str| {
        owner.browser.get(&world, &format!("/account/playground?endpoint={path}")).body
    };
    assert!(page("/v1/cuf").contains("name=\"candidates\" value=\"yes\">"));
    assert!(!page("/v1/dtc").contains("name=\"candidates\""));
}

#[test]
fn candidates_without_credits_are_refused_in_words() {
    let (world, mut owner) = world();
    let now = world.clock.now();
    world.ports.add_entry(owner.account, EntryKind::Grant, -999, now);
    let paid = call(&world, &mut owner, "/v1/cuf", &[("field.companyName", "Quill")]);
    assert!(paid.body.contains("1 credit was charged"), "{}", paid.body);
    world.ports.cached_balance.lock().replace(Credits(1));
    let seen = call(&world, &mut owner, "/v1/cuf", &WITH_CANDIDATES);
    assert!(seen.body.contains("No candidates: "), "{}", seen.body);
    assert!(!seen.body.contains("Table of candidates"));
    world.ports.cached_balance.lock().take();
    assert_eq!(balance(&world, &owner), "0");
}

#[test]
fn a_candidate_is_escaped() {
    let (world, mut owner) = world();
    world.ports.companies.lock()[0].name = "Quil<b>&\"'".to_owned();
    let seen = call(&world, &mut owner, "/v1/cuf", &WITH_CANDIDATES);
    let table = seen.between("aria-label=\"Table of candidates\"", "</table>");
    assert!(table.contains("Quil&#60;b&#62;&#38;&#34;&#39;"), "{table}");
    assert!(!table.contains("<b>"), "{table}");
}
