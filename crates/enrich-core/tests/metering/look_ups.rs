//! Tests of look-ups by programs that embed the service as a library.

use enrich_core::port::usage::UseOutcome;
use enrich_core::{
    Candidate, Credits, Found, InvalidFields, LookUp, LookUpAnswer, Price, Refusal, Service,
    StoredResponse,
};

use crate::world::{World, template};

fn look_up(
    world: &World,
    service: &Service,
    look_up: LookUp,
    pick: impl for<'a> Fn(&'a Found) -> Option<&'a Vec<String>> + Send + Sync,
) -> Result<LookUpAnswer<Vec<String>>, Refusal> {
    pollster::block_on(service.look_up(&world.key, look_up, pick))
}

fn emails() -> LookUp {
    LookUp::company_by_domain("quill.example").price(Price::per_items::<5>())
}

fn eleven(found: &Found) -> Option<&Vec<String>> {
    Some(&found.company()?.emails)
}

fn eleven_addresses() -> World {
    World::with(10, 11)
}

#[test]
fn an_embedding_program_pays_for_every_item_it_takes() {
    let world = eleven_addresses();
    let service = world.service();
    let answer = look_up(&world, &service, emails(), eleven).unwrap();
    assert_eq!(answer.value.map(|emails| emails.len()), Some(11));
    assert_eq!(answer.credits_used, Credits(3));
    assert_eq!(world.charges()[0].items, 11);

    let answer = look_up(&world, &service, emails().limit(6), eleven).unwrap();
    assert_eq!(answer.value.map(|emails| emails.len()), Some(6));
    assert_eq!(answer.credits_used, Credits(2));
    assert_eq!(world.charges()[1].items, 6);

    let name = service.look_up(&world.key, emails(), |found| found.company()?.name());
    let answer = pollster::block_on(name).unwrap();
    assert_eq!((answer.value.as_deref(), answer.credits_used), (Some("Quill"), Credits(1)));
    assert_eq!(world.charges()[2].items, 1);
}

#[test]
fn an_embedding_program_pays_nothing_for_a_miss_or_an_empty_list() {
    let world = World::new();
    let service = world.service();
    let missed = look_up(&world, &service, emails(), |_| None);
    let empty = look_up(&world, &service, emails(), |found| Some(&found.company()?.phones));
    for answer in [missed.unwrap(), empty.unwrap()] {
        assert_eq!((answer.value, answer.confidence), (None, None));
        assert_eq!((answer.credits_used, answer.credits_left), (Credits::ZERO, Credits(10)));
    }
    assert!(world.charges().is_empty());
    assert_eq!(world.first_outcome(), UseOutcome::NotFound);
}

#[test]
fn a_text_that_cannot_be_read_is_refused_by_its_field() {
    let world = World::new();
    let refused = look_up(&world, &world.service(), LookUp::company_by_name(" "), eleven);
    let Err(Refusal::Fields(InvalidFields(fields))) = refused else {
        unreachable!("an empty name is no name: {refused:?}")
    };
    assert_eq!(fields[0].0, "name");
    assert_eq!(world.lookups(), 0);
}

#[test]
fn a_repeated_look_up_returns_the_first_value_and_costs_nothing() {
    let first = eleven_addresses();
    let named = || emails().idempotency_key("k1", "emails");
    let answer = look_up(&first, &first.service(), named(), eleven).unwrap();
    let record = first.charges()[0].idempotency.clone().unwrap();
    let stored = StoredResponse::Answer { body: record.body, balance: Credits(5), items: 11 };
    let again = World::new().reading([Some(stored.clone())]);
    let repeated = look_up(&again, &again.service(), named(), eleven).unwrap();
    assert_eq!((&repeated.value, repeated.confidence), (&answer.value, answer.confidence));
    assert_eq!((repeated.credits_used, repeated.is_replayed), (Credits::ZERO, true));
    assert_eq!(again.lookups(), 0);

    // The second look-up has the same idempotency key, but asks for a value of another type: a
    // name, and not a list of email addresses. So the stored response cannot be its answer.
    let again = World::new().reading([Some(stored)]);
    let service = again.service();
    let name = service.look_up(&again.key, named(), |found| found.company()?.name());
    let refused = pollster::block_on(name);
    assert!(matches!(refused, Err(Refusal::IdempotencyKeyReused)), "{refused:?}");
}

#[test]
fn a_repeated_look_up_does_not_return_what_was_forgotten_since() {
    let body = template("\n100\n1\n22\nanybody@inkwell.example\n", 0);
    let stored = StoredResponse::Answer { body, balance: Credits(5), items: 1 };
    let world = World::new().reading([Some(stored)]).without_inkwell();
    let named = emails().idempotency_key("k1", "emails");
    let answer = look_up(&world, &world.service(), named, eleven).unwrap();
    assert_eq!((answer.value, answer.credits_used), (None, Credits::ZERO));
    assert!(answer.is_replayed);
}

#[test]
fn look_ups_that_differ_in_what_they_ask_for_are_kept_apart() {
    let world = eleven_addresses();
    let service = world.service();
    let other = LookUp::company_by_domain("inkwell.example").price(Price::per_items::<5>());
    let look_up =
        |what: LookUp| look_up(&world, &service, what.idempotency_key("k1", "emails"), eleven);
    look_up(emails()).unwrap();
    for differs in [emails().limit(5), emails().purpose("emails"), other] {
        let refused = look_up(differs);
        assert!(matches!(refused, Err(Refusal::IdempotencyKeyReused)), "{refused:?}");
    }
}

#[test]
fn a_stored_attribute_is_not_returned_as_another() {
    let world = World::new();
    let (service, key) = (world.service(), &world.key);
    let keyed =
        |attribute| LookUp::company_by_domain("quill.example").idempotency_key("k1", attribute);
    let domain = service.look_up(key, keyed("domain"), |found| found.company()?.domain());
    assert_eq!(pollster::block_on(domain).unwrap().value.as_deref(), Some("quill.example"));
    let name = service.look_up(key, keyed("name"), |found| found.company()?.name());
    let refused = pollster::block_on(name);
    assert!(matches!(refused, Err(Refusal::IdempotencyKeyReused)), "{refused:?}");
}

#[test]
fn a_value_that_the_program_makes_is_charged_like_one_that_it_picks() {
    let world = World::new();
    let service = world.service();
    let in_capitals = |found: &Found| Some(found.company()?.name()?.to_uppercase());
    let look_up = LookUp::company_by_domain("quill.example");
    let answer = service.look_up_owned(&world.key, look_up, in_capitals);
    let answer = pollster::block_on(answer).unwrap();
    assert_eq!((answer.value.as_deref(), answer.credits_used), (Some("QUILL"), Credits(1)));
}

fn candidates(world: &World, name: &str) -> Result<LookUpAnswer<Vec<Candidate>>, Refusal> {
    let look_up = LookUp::candidates(name).limit(5).idempotency_key("k1", "candidates");
    let service = world.service();
    pollster::block_on(service.look_up(&world.key, look_up, |found| found.candidates()))
}

#[test]
fn a_list_of_candidates_is_charged_once() {
    let world = World::new();
    let answer = candidates(&world, "Quil").unwrap();
    assert_eq!(answer.value.as_ref().unwrap()[0].domain.as_deref(), Some("quill.example"));
    assert_eq!((answer.credits_used, answer.credits_left), (Credits(1), Credits(9)));
    let charge = world.charges()[0].clone();
    assert_eq!((charge.endpoint, charge.price), (Candidate::PURPOSE, Candidate::PRICE));

    let again = candidates(&world, "Quil").unwrap();
    assert_eq!((again.credits_used, again.credits_left), (Credits::ZERO, Credits(9)));
    assert!(again.is_replayed);
    assert_eq!((again.value, world.charges().len()), (answer.value, 1));
}

#[test]
fn a_name_without_candidates_is_free() {
    let world = World::new();
    let answer = candidates(&world, "Inkwell").unwrap();
    assert_eq!((answer.value, answer.credits_used), (None, Credits::ZERO));
    assert_eq!(world.first_outcome(), UseOutcome::NotFound);
    assert_eq!(candidates(&world, "Inkwell").unwrap().credits_left, Credits(10));
}

#[test]
fn candidates_need_a_credit_and_a_name() {
    let world = World::with(0, 1);
    let refused = candidates(&world, "Quil");
    assert!(matches!(refused, Err(Refusal::NotEnoughCredits { .. })), "{refused:?}");
    let refused = candidates(&World::new(), " ");
    assert!(matches!(refused, Err(Refusal::Fields(_))), "{refused:?}");
}

#[test]
fn stored_candidates_are_not_returned_once_one_is_forgotten() {
    let first = World::new();
    let answer = candidates(&first, "Quil").unwrap();
    assert!(answer.value.is_some());
    let record = first.charges()[0].idempotency.clone().unwrap();
    let body = String::from_utf8(record.body.bytes().to_vec()).unwrap();
    let body =
        template(&body.replace("quill.example", "inkwell.example").replace("\n13\n", "\n15\n"), 0);
    let stored = StoredResponse::Answer { body, balance: Credits(9), items: 1 };
    let told = candidates(&World::new().reading([Some(stored.clone())]), "Quil").unwrap();
    assert_eq!(told.value.unwrap()[0].domain.as_deref(), Some("inkwell.example"));
    let world = World::new().reading([Some(stored)]).without_inkwell();
    assert_eq!(candidates(&world, "Quil").unwrap().value, None);
}
