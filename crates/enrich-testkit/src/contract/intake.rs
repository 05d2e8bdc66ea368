//! What a caller may rely on of [`enrich_core::port::intake::Intake`].

#![allow(missing_docs, reason = "each sentence is its name; more words would say it twice")]

use enrich_core::port::intake::{Atomic, Effect, Load, Removed, SourceInfo, Suppressed};
use enrich_core::{
    Company, CompanyRecord, CompanyRef, DomainRecord, EmployerRecord, Generation, Person,
    PersonRecord, PersonRef, Question, Record, Want,
};
use enrich_text::Network;

use super::{Harness, Ports, after_noon, noon};
use crate::loading::{ask, company_of, load, load_from, person_of, source_name, take};
use crate::records::{
    aliases, company, company_name, countries, country, domain, domain_record, email, emails,
    employed_at, employed_by_name, hashed, page, person, person_page, phone, phones, sites,
    trusted, with_id,
};

use Effect::{Added, Merged, Unchanged};

/// Makes a test of each sentence about the way into the directory.
#[macro_export]
macro_rules! intake_contract {
    ($harness:expr, $run:path) => {
        $crate::contract_tests!($harness, $run, intake: [
            importing_twice_is_importing_once,
            the_order_of_a_second_import_makes_no_difference,
            a_main_domain_that_is_held_is_that_company,
            a_company_without_a_domain_is_known_by_its_page,
            a_company_with_neither_is_known_by_name_and_country,
            a_name_without_a_country_is_another_company_than_one_with,
            a_domain_that_is_not_held_is_a_new_company,
            a_company_that_was_only_named_becomes_the_one_that_comes,
            a_differing_name_becomes_an_alias,
            a_single_value_stays_unless_the_newcomer_is_trusted_more,
            lists_are_united_in_first_seen_order,
            a_second_source_that_says_the_same_changes_nothing,
            a_person_is_known_by_page_then_address_then_name_and_employer,
            two_pages_are_two_people_of_one_name,
            a_person_without_anything_to_know_them_by_is_new,
            an_unknown_employer_is_made_from_what_is_given,
            an_employers_domain_wins_over_its_name,
            a_known_employer_is_left_as_it_is,
            a_record_that_changed_at_its_source_is_the_same_subject,
            ids_survive_a_second_import,
            an_id_is_never_given_twice,
            address_and_rank_of_a_company_are_its_main_domains,
            facts_of_a_domain_need_no_company,
            a_fact_of_a_domain_stays_unless_the_newcomer_is_trusted_more,
            a_load_that_is_dropped_keeps_the_batches_it_took,
            a_whole_load_that_is_dropped_changes_nothing,
            a_whole_load_is_there_when_it_is_finished,
            two_loads_take_turns,
            the_generation_grows_with_every_change_and_only_then,
            what_was_taken_is_there_after_a_restart,
            sources_are_listed_with_what_they_gave,
            removing_an_unknown_source_says_so,
            removing_a_source_brings_back_what_another_says,
            removing_a_source_takes_its_subjects_with_it,
            people_lose_an_employer_that_goes_and_get_it_back,
            a_removed_source_can_be_imported_anew,
            a_forgotten_address_goes_and_stays_out,
            a_forgotten_number_goes_and_stays_out,
            a_forgotten_person_goes_and_stays_out,
            a_forgotten_domain_goes_with_what_lies_below_it,
            a_company_goes_with_the_domain_that_is_all_its_name,
            forgetting_what_is_not_held_keeps_it_out,
            several_values_are_forgotten_as_one_change,
            two_pages_are_two_people_of_one_address,
        ]);
    };
}

async fn at_domain(ports: &Ports, text: &str) -> Option<Company> {
    company_of(ports, CompanyRef::Domain(domain(text))).await
}

async fn with_page(ports: &Ports, handle: &str) -> Option<Person> {
    person_of(ports, PersonRef::Page(person_page(handle))).await
}

async fn with_email(ports: &Ports, text: &str) -> Option<Person> {
    person_of(ports, PersonRef::Email(email(text))).await
}

async fn rank_of(ports: &Ports, text: &str) -> Option<String> {
    let found = ask(ports, Question::Host(domain(text))).await?;
    found.domain()?.page_rank.clone()
}

async fn generation(ports: &Ports) -> Generation {
    ports.directory.generation().await.unwrap()
}

async fn forget(ports: &Ports, what: Suppressed) -> Removed {
    ports.intake.forget(&[what], noon()).await.unwrap()
}

/// The one effect of one record.
async fn load_one(ports: &Ports, source: &str, record: Record) -> Effect {
    let effects = load(ports, source, vec![record]).await;
    assert_eq!(effects.len(), 1);
    effects[0]
}

fn quill() -> CompanyRecord {
    CompanyRecord { sites: sites(&["quill.example"]), ..company("Quill") }
}

fn ada() -> PersonRecord {
    PersonRecord {
        employer: employed_at("quill.example"),
        page: Some(person_page("ada-byte")),
        emails: emails(&["ada@quill.example"]),
        phones: phones(&["+447700900001"]),
        ..person("Ada", "Byte")
    }
}

/// Records that are hard to tell apart once they are in, in the order that makes it hardest.
fn tricky() -> Vec<Record> {
    let named = || company("Quill");
    let in_gb = || CompanyRecord { seats: countries(&["GB"]), ..named() };
    let linked = |record| CompanyRecord { pages: vec![page(Network::LinkedIn, "quill")], ..record };
    vec![
        hashed(named()),
        hashed(in_gb()),
        hashed(CompanyRecord { sites: sites(&["quill.example"]), ..in_gb() }),
        hashed(linked(company("Quill Films"))),
        hashed(CompanyRecord {
            sites: sites(&["films.example"]),
            ..linked(company("Quill Films"))
        }),
        hashed(CompanyRecord { origin: trusted(50), ..company("Quill Films") }),
        hashed(person("Ada", "Byte")),
        hashed(PersonRecord { employer: employed_by_name("Quill"), ..person("Ada", "Byte") }),
        hashed(ada()),
        hashed(PersonRecord { emails: emails(&["ada@quill.example"]), ..person("Ada M", "Byte") }),
        hashed(PersonRecord { page: Some(person_page("ada-2")), ..ada() }),
        hashed(DomainRecord { page_rank: Some("3".to_owned()), ..domain_record("quill.example") }),
    ]
}

pub async fn importing_twice_is_importing_once(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", tricky()).await;
    let before = generation(&ports).await;
    let effects = load(&ports, "a", tricky()).await;
    assert!(effects.iter().all(|effect| *effect == Unchanged), "{effects:?}");
    assert_eq!(generation(&ports).await, before);
}

pub async fn the_order_of_a_second_import_makes_no_difference(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", tricky()).await;
    let mut backwards = tricky();
    backwards.reverse();
    let effects = load(&ports, "a", backwards).await;
    assert!(effects.iter().all(|effect| *effect == Unchanged), "{effects:?}");
}

pub async fn a_main_domain_that_is_held_is_that_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let two = CompanyRecord { sites: sites(&["quill.example", "ink.example"]), ..quill() };
    let ink = CompanyRecord { sites: sites(&["ink.example", "third.example"]), ..company("Ink") };
    let effects = load(&ports, "a", vec![hashed(two), hashed(ink)]).await;
    assert_eq!(effects, [Added, Merged]);
    let held = at_domain(&ports, "third.example").await.expect("a company");
    assert_eq!((held.name.as_str(), held.domain()), ("Quill", Some("quill.example")));
}

pub async fn a_company_without_a_domain_is_known_by_its_page(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let pages = || vec![page(Network::LinkedIn, "quill")];
    let held = CompanyRecord { pages: pages(), ..quill() };
    let other = CompanyRecord {
        pages: pages(),
        emails: emails(&["post@quill.example"]),
        ..company("Quill & Co")
    };
    let effects = load(&ports, "a", vec![hashed(held), hashed(other)]).await;
    assert_eq!(effects, [Added, Merged]);
    let held = at_domain(&ports, "quill.example").await.expect("a company");
    assert_eq!(held.emails, ["post@quill.example"]);
}

pub async fn a_company_with_neither_is_known_by_name_and_country(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let held = CompanyRecord { seats: countries(&["GB", "FR"]), ..quill() };
    let named = |name: &str, codes: &[&str], phone: &str| {
        let phones = phones(&[phone]);
        hashed(CompanyRecord { seats: countries(codes), phones, ..company(name) })
    };
    let effects = load(
        &ports,
        "a",
        vec![
            hashed(held),
            named("QUILL!", &["FR"], "+442079460001"),
            named("Quill", &["DE"], "+442079460002"),
            named("Quill Ltd", &["GB"], "+442079460003"),
        ],
    )
    .await;
    assert_eq!(effects, [Added, Merged, Added, Added]);
    let held = at_domain(&ports, "quill.example").await.expect("a company");
    assert_eq!(held.phones, ["+442079460001"]);
}

pub async fn a_name_without_a_country_is_another_company_than_one_with(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let with = CompanyRecord { seats: countries(&["GB"]), ..quill() };
    let without = CompanyRecord { phones: phones(&["+442079460001"]), ..company("Quill") };
    let again = CompanyRecord { phones: phones(&["+442079460002"]), ..company("Quill") };
    let effects = load(&ports, "a", vec![hashed(with), hashed(without), hashed(again)]).await;
    assert_eq!(effects, [Added, Added, Merged]);
}

pub async fn a_domain_that_is_not_held_is_a_new_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let in_gb = || CompanyRecord { seats: countries(&["GB"]), ..company("Quill") };
    let with_domain = CompanyRecord { sites: sites(&["quill.example"]), ..in_gb() };
    assert_eq!(load_one(&ports, "a", hashed(in_gb())).await, Added);
    assert_eq!(load_one(&ports, "a", hashed(with_domain)).await, Added);
}

pub async fn a_company_that_was_only_named_becomes_the_one_that_comes(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let employed = PersonRecord { employer: employed_by_name("QUILL"), ..person("Ada", "Byte") };
    assert_eq!(load_one(&ports, "people", hashed(employed)).await, Added);
    assert_eq!(load_one(&ports, "companies", hashed(quill())).await, Merged);
    let asked = Question::Company(CompanyRef::Domain(domain("quill.example")));
    let want = Want::Employees { limit: None };
    let found = ports.directory.find(&asked, want).await.unwrap().expect("a company");
    assert_eq!(found.company().unwrap().employees[0].name, "Ada Byte");
    // A company that is more than a name is no longer taken over.
    let other = CompanyRecord { sites: sites(&["other.example"]), ..company("Quill") };
    assert_eq!(load_one(&ports, "companies", hashed(other)).await, Added);
}

pub async fn a_differing_name_becomes_an_alias(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let renamed = CompanyRecord { aliases: aliases(&["QI"]), name: company_name("Ink"), ..quill() };
    load(&ports, "a", vec![hashed(quill()), hashed(renamed)]).await;
    let held = at_domain(&ports, "quill.example").await.expect("a company");
    assert_eq!((held.name.as_str(), held.aliases), ("Quill", vec!["Ink".into(), "QI".into()]));
    for name in ["Ink", "qi"] {
        let name = CompanyRef::Name { name: company_name(name), country: None };
        assert!(company_of(&ports, name).await.is_some());
    }
}

pub async fn a_single_value_stays_unless_the_newcomer_is_trusted_more(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let titled = |title: &str, percent| {
        let title = Some(title.to_owned());
        hashed(PersonRecord { title, origin: trusted(percent), ..ada() })
    };
    let title = async || with_page(&ports, "ada-byte").await.expect("a person").title;
    load(&ports, "a", vec![titled("Engineer", 70)]).await;
    assert_eq!(load_one(&ports, "b", titled("Clerk", 70)).await, Unchanged);
    assert_eq!(title().await.as_deref(), Some("Engineer"));
    assert_eq!(load_one(&ports, "c", titled("Director", 71)).await, Merged);
    assert_eq!(title().await.as_deref(), Some("Director"));
    assert_eq!(load_one(&ports, "d", titled("Intern", 71)).await, Unchanged);
    assert_eq!(title().await.as_deref(), Some("Director"));
}

pub async fn lists_are_united_in_first_seen_order(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let with = |texts: &[&str], percent| {
        hashed(CompanyRecord { emails: emails(texts), origin: trusted(percent), ..quill() })
    };
    load(&ports, "a", vec![with(&["b@quill.example", "a@quill.example"], 50)]).await;
    load(&ports, "b", vec![with(&["c@quill.example", "a@quill.example"], 100)]).await;
    let held = at_domain(&ports, "quill.example").await.expect("a company");
    assert_eq!(held.emails, ["b@quill.example", "a@quill.example", "c@quill.example"]);
}

pub async fn a_second_source_that_says_the_same_changes_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    let effects = load(&ports, "b", vec![hashed(quill()), hashed(ada())]).await;
    assert_eq!(effects, [Unchanged, Unchanged]);
}

pub async fn a_person_is_known_by_page_then_address_then_name_and_employer(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let by_page = PersonRecord { page: Some(person_page("Ada-Byte")), ..person("A.", "Byte") };
    let by_email = PersonRecord {
        emails: emails(&["new@quill.example", "ada@quill.example"]),
        ..person("Ada", "Bit")
    };
    let by_name = PersonRecord {
        employer: employed_by_name("quill"),
        phones: phones(&["+447700900002"]),
        ..person("ADA", "Byte")
    };
    let namesake = PersonRecord {
        employer: employed_by_name("Inkwell"),
        phones: phones(&["+447700900003"]),
        ..person("Ada", "Byte")
    };
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    let records = vec![hashed(by_page), hashed(by_email), hashed(by_name), hashed(namesake)];
    let effects = load(&ports, "b", records).await;
    // The first has nothing new for the answers: another first name, no more trusted.
    assert_eq!(effects, [Unchanged, Merged, Merged, Added]);
    let held = with_page(&ports, "ada-byte").await.expect("a person");
    assert_eq!((held.first_name.as_str(), held.last_name.as_str()), ("Ada", "Byte"));
    assert_eq!(held.emails, ["ada@quill.example", "new@quill.example"]);
    assert_eq!(held.phones, ["+447700900001", "+447700900002"]);
}

pub async fn two_pages_are_two_people_of_one_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let one = |handle: &str| {
        let page = Some(person_page(handle));
        hashed(PersonRecord { page, employer: employed_at("quill.example"), ..person("Al", "Bo") })
    };
    assert_eq!(load(&ports, "a", vec![one("al-1"), one("al-2")]).await, [Added, Added]);
}

pub async fn two_pages_are_two_people_of_one_address(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let one = |handle: Option<&str>, first: &str| {
        let page = handle.map(person_page);
        hashed(PersonRecord { page, emails: emails(&["team@x.example"]), ..person(first, "Bo") })
    };
    let records = vec![one(Some("al-1"), "Al"), one(Some("cy-2"), "Cy"), one(None, "Al B.")];
    assert_eq!(load(&ports, "a", records).await, [Added, Added, Unchanged]);
    assert_eq!(with_page(&ports, "cy-2").await.expect("a person").first_name, "Cy");
    // Who was held without a page gets it.
    let without = PersonRecord { emails: emails(&["di@x.example"]), ..person("Di", "Bo") };
    let with = PersonRecord { page: Some(person_page("di-4")), ..without.clone() };
    assert_eq!(load(&ports, "a", vec![hashed(without), hashed(with)]).await, [Added, Merged]);
}

pub async fn a_person_without_anything_to_know_them_by_is_new(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let only =
        |number: &str| hashed(PersonRecord { phones: phones(&[number]), ..person("Al", "Bo") });
    let records = vec![only("+447700900001"), only("+447700900002"), only("+447700900001")];
    assert_eq!(load(&ports, "a", records).await, [Added, Added, Unchanged]);
}

pub async fn an_unknown_employer_is_made_from_what_is_given(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let both = EmployerRecord {
        name: Some(company_name("Inkwell Ltd")),
        domain: Some(domain("inkwell.example")),
    };
    let bob = PersonRecord { employer: Some(both), ..person("Bob", "Bit") };
    load(&ports, "a", vec![hashed(ada()), hashed(bob)]).await;
    let held = at_domain(&ports, "inkwell.example").await.expect("a company");
    assert_eq!(held.name, "Inkwell Ltd");
    let held = at_domain(&ports, "quill.example").await.expect("a company");
    assert_eq!(held.name, "quill.example");
    // A domain in place of a name gives way to any name.
    let named = CompanyRecord { origin: trusted(10), ..quill() };
    assert_eq!(load_one(&ports, "b", hashed(named)).await, Merged);
    assert_eq!(at_domain(&ports, "quill.example").await.expect("a company").name, "Quill");
}

pub async fn an_employers_domain_wins_over_its_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let inkwell = CompanyRecord { sites: sites(&["inkwell.example"]), ..company("Inkwell") };
    let both = |host| {
        let name = Some(company_name("Inkwell"));
        Some(EmployerRecord { name, domain: Some(domain(host)) })
    };
    let ada = PersonRecord { employer: both("hr.quill.example"), ..ada() };
    let bob = PersonRecord {
        employer: both("unknown.example"),
        emails: emails(&["bob@x.example"]),
        ..person("Bob", "Bit")
    };
    load(&ports, "a", vec![hashed(quill()), hashed(inkwell), hashed(ada), hashed(bob)]).await;
    let employer = async |text| {
        let held = with_email(&ports, text).await.expect("a person");
        held.employer.expect("an employer").domains
    };
    assert_eq!(employer("ada@quill.example").await, ["quill.example"]);
    assert_eq!(employer("bob@x.example").await, ["unknown.example"]);
}

pub async fn a_known_employer_is_left_as_it_is(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let employer = Some(EmployerRecord {
        name: Some(company_name("Quill Holding")),
        domain: Some(domain("quill.example")),
    });
    let before = load(&ports, "a", vec![hashed(quill())]).await;
    assert_eq!(before, [Added]);
    let held = at_domain(&ports, "quill.example").await;
    load(&ports, "b", vec![hashed(PersonRecord { employer, ..ada() })]).await;
    assert_eq!(at_domain(&ports, "quill.example").await, held);
}

pub async fn a_record_that_changed_at_its_source_is_the_same_subject(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let moved = CompanyRecord {
        origin: with_id("17"),
        sites: sites(&["quill-group.example"]),
        ..company("Quill Group")
    };
    load(&ports, "a", vec![hashed(CompanyRecord { origin: with_id("17"), ..quill() })]).await;
    assert_eq!(load_one(&ports, "a", hashed(moved.clone())).await, Merged);
    let held = at_domain(&ports, "quill-group.example").await.expect("a company");
    assert_eq!(held.domain(), Some("quill.example"));
    // The id is that source's own, and a person's id is no company's.
    let other = CompanyRecord {
        origin: with_id("17"),
        sites: sites(&["elsewhere.example"]),
        ..company("Elsewhere")
    };
    let namesake = PersonRecord { origin: with_id("17"), ..person("Ada", "Byte") };
    assert_eq!(load_one(&ports, "b", hashed(other)).await, Added);
    assert_eq!(load_one(&ports, "a", hashed(namesake)).await, Added);
}

pub async fn ids_survive_a_second_import(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    let ids = async || {
        let company = at_domain(&ports, "quill.example").await.expect("a company");
        let person = with_page(&ports, "ada-byte").await.expect("a person");
        assert_eq!(person.employer.expect("an employer").id, company.id);
        (company.id, person.id)
    };
    let before = ids().await;
    let phones = phones(&["+442079460001"]);
    load(&ports, "a", vec![hashed(ada()), hashed(CompanyRecord { phones, ..quill() })]).await;
    assert_eq!(ids().await, before);
}

pub async fn an_id_is_never_given_twice(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    let before = at_domain(&ports, "quill.example").await.expect("a company").id;
    ports.intake.remove_source(&source_name("a")).await.unwrap();
    load(&ports, "a", vec![hashed(quill())]).await;
    assert!(at_domain(&ports, "quill.example").await.expect("a company").id > before);
}

pub async fn address_and_rank_of_a_company_are_its_main_domains(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ranked = |rank: &str, record| {
        let page_rank = Some(rank.to_owned());
        hashed(CompanyRecord { page_rank, ip: Some("2001:db8::1".parse().unwrap()), ..record })
    };
    let record = CompanyRecord { sites: sites(&["quill.example", "ink.example"]), ..quill() };
    assert_eq!(load_one(&ports, "a", ranked("7", record)).await, Added);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("7"));
    assert_eq!(rank_of(&ports, "ink.example").await, None);
    let found = ask(&ports, Question::Host(domain("quill.example"))).await.expect("facts");
    assert_eq!(found.domain().unwrap().ip.as_deref(), Some("2001:db8::1"));
    // Only the rank is another: that changes what is answered.
    let surer = CompanyRecord { origin: trusted(100), ..quill() };
    load(&ports, "b", vec![hashed(CompanyRecord { origin: trusted(50), ..quill() })]).await;
    assert_eq!(load_one(&ports, "b", ranked("9", surer)).await, Unchanged);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("7"));
}

pub async fn facts_of_a_domain_need_no_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ranked = || {
        let page_rank = Some("5".to_owned());
        hashed(DomainRecord { page_rank, ..domain_record("quill.example") })
    };
    assert_eq!(load_one(&ports, "ranks", ranked()).await, Added);
    assert_eq!(load_one(&ports, "ranks", ranked()).await, Unchanged);
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    let ip = Some("192.0.2.1".parse().unwrap());
    let located = DomainRecord { ip, ..domain_record("quill.example") };
    assert_eq!(load_one(&ports, "ranks", hashed(located)).await, Merged);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("5"));
}

pub async fn a_fact_of_a_domain_stays_unless_the_newcomer_is_trusted_more(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ranked = |rank: &str, percent| {
        let page_rank = Some(rank.to_owned());
        hashed(DomainRecord {
            page_rank,
            origin: trusted(percent),
            ..domain_record("quill.example")
        })
    };
    load(&ports, "a", vec![ranked("5", 70)]).await;
    assert_eq!(load_one(&ports, "a", ranked("6", 70)).await, Unchanged);
    assert_eq!(load_one(&ports, "b", ranked("7", 70)).await, Unchanged);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("5"));
    assert_eq!(load_one(&ports, "b", ranked("8", 80)).await, Merged);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("8"));
    ports.intake.remove_source(&source_name("b")).await.unwrap();
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("5"));
}

pub async fn a_load_that_is_dropped_keeps_the_batches_it_took(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let mut loading = ports.intake.begin(load_from("a")).await.unwrap();
    assert_eq!(loading.take(vec![hashed(quill())]).await.unwrap()[0].effect, Added);
    drop(loading);
    // The next load comes after it.
    assert_eq!(load_one(&ports, "a", hashed(quill())).await, Unchanged);
    assert!(at_domain(&ports, "quill.example").await.is_some());
}

pub async fn a_whole_load_that_is_dropped_changes_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    let before = (generation(&ports).await, ports.intake.sources().await.unwrap());
    let whole = Load { atomic: Atomic::Whole, ..load_from("b") };
    let mut loading = ports.intake.begin(whole).await.unwrap();
    assert_eq!(loading.take(vec![hashed(ada())]).await.unwrap()[0].effect, Added);
    let renamed = CompanyRecord { aliases: aliases(&["Ink"]), ..quill() };
    assert_eq!(loading.take(vec![hashed(renamed)]).await.unwrap()[0].effect, Merged);
    drop(loading);
    assert_eq!(with_page(&ports, "ada-byte").await, None);
    let after = (generation(&ports).await, ports.intake.sources().await.unwrap());
    assert_eq!(after, before);
    // And the next load finds the way free.
    assert_eq!(load_one(&ports, "b", hashed(ada())).await, Added);
}

pub async fn a_whole_load_is_there_when_it_is_finished(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let before = generation(&ports).await;
    let whole = Load { atomic: Atomic::Whole, ..load_from("a") };
    let mut loading = ports.intake.begin(whole).await.unwrap();
    loading.take(vec![hashed(quill())]).await.unwrap();
    loading.take(vec![hashed(ada())]).await.unwrap();
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    assert_eq!(generation(&ports).await, before);
    loading.finish().await.unwrap();
    assert!(at_domain(&ports, "quill.example").await.is_some());
    assert!(with_page(&ports, "ada-byte").await.is_some());
    assert!(generation(&ports).await > before);
}

pub async fn two_loads_take_turns(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let mut one = ports.intake.begin(load_from("a")).await.unwrap();
    let mut other = ports.intake.begin(load_from("b")).await.unwrap();
    one.take(vec![hashed(quill())]).await.unwrap();
    let taken = other.take(vec![hashed(ada())]).await.unwrap();
    assert_eq!(taken[0].effect, Added);
    let inkwell = CompanyRecord { sites: sites(&["inkwell.example"]), ..company("Inkwell") };
    one.take(vec![hashed(inkwell)]).await.unwrap();
    one.finish().await.unwrap();
    other.finish().await.unwrap();
    let company = at_domain(&ports, "quill.example").await.expect("a company");
    let person = with_page(&ports, "ada-byte").await.expect("a person");
    let inkwell = at_domain(&ports, "inkwell.example").await.expect("a company");
    assert_eq!(person.employer.expect("an employer").id, company.id);
    assert!(company.id < person.id && person.id < inkwell.id);
}

pub async fn the_generation_grows_with_every_change_and_only_then(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let mut seen = vec![generation(&ports).await];
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    seen.push(generation(&ports).await);
    forget(&ports, Suppressed::Email(email("ada@quill.example"))).await;
    seen.push(generation(&ports).await);
    ports.intake.remove_source(&source_name("a")).await.unwrap();
    seen.push(generation(&ports).await);
    assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");
    ports.intake.remove_source(&source_name("a")).await.unwrap();
    load(&ports, "a", Vec::new()).await;
    assert_eq!(seen.last(), Some(&generation(&ports).await));
}

pub async fn what_was_taken_is_there_after_a_restart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    forget(&ports, Suppressed::Phone(phone("+447700900001"))).await;
    let before = (generation(&ports).await, at_domain(&ports, "quill.example").await);
    let ports = harness.reopen(ports).await;
    let after = (generation(&ports).await, at_domain(&ports, "quill.example").await);
    assert_eq!(after, before);
    assert_eq!(take(&ports, "b", vec![hashed(ada())]).await[0].suppressed_values, 1);
}

pub async fn sources_are_listed_with_what_they_gave(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    assert_eq!(ports.intake.sources().await.unwrap(), []);
    load(&ports, "b", vec![hashed(quill())]).await;
    let ranked = DomainRecord { page_rank: Some("5".into()), ..domain_record("quill.example") };
    let load_a = |at| Load { at, ..load_from("a") };
    for at in [after_noon(60), after_noon(120)] {
        let mut loading = ports.intake.begin(load_a(at)).await.unwrap();
        loading.take(vec![hashed(quill()), hashed(ranked.clone())]).await.unwrap();
        loading.finish().await.unwrap();
    }
    let listed = ports.intake.sources().await.unwrap();
    let source = |name, values, records, first_at, last_at| SourceInfo {
        name: source_name(name),
        values,
        records,
        first_at,
        last_at,
    };
    // A name and a domain; the same and a rank.
    assert_eq!(
        listed,
        [source("a", 3, 2, after_noon(60), after_noon(120)), source("b", 2, 1, noon(), noon()),]
    );
}

pub async fn removing_an_unknown_source_says_so(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    assert_eq!(ports.intake.remove_source(&source_name("b")).await.unwrap(), None);
    assert!(at_domain(&ports, "quill.example").await.is_some());
}

pub async fn removing_a_source_brings_back_what_another_says(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let modest =
        CompanyRecord { origin: trusted(50), emails: emails(&["post@quill.example"]), ..quill() };
    let better = CompanyRecord {
        name: company_name("Quill Group"),
        sites: sites(&["quill.example", "group.example"]),
        emails: emails(&["post@quill.example", "new@quill.example"]),
        ..quill()
    };
    load(&ports, "a", vec![hashed(modest)]).await;
    let before = at_domain(&ports, "quill.example").await;
    load(&ports, "b", vec![hashed(better)]).await;
    assert_eq!(at_domain(&ports, "group.example").await.expect("a company").name, "Quill Group");
    let removed = ports.intake.remove_source(&source_name("b")).await.unwrap();
    assert_eq!(removed, Some(Removed { values: 5, subjects: 0 }));
    assert_eq!(at_domain(&ports, "quill.example").await, before);
    assert_eq!(at_domain(&ports, "group.example").await, None);
    let sources = ports.intake.sources().await.unwrap();
    assert_eq!(sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>(), ["a"]);
}

pub async fn removing_a_source_takes_its_subjects_with_it(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ranked = DomainRecord { page_rank: Some("5".into()), ..domain_record("x.example") };
    load(&ports, "a", vec![hashed(ada()), hashed(ranked)]).await;
    let removed = ports.intake.remove_source(&source_name("a")).await.unwrap().expect("a source");
    // The person and the employer that was made for them.
    assert_eq!(removed.subjects, 2);
    assert_eq!(with_page(&ports, "ada-byte").await, None);
    assert_eq!(with_email(&ports, "ada@quill.example").await, None);
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    assert_eq!(rank_of(&ports, "x.example").await, None);
}

pub async fn people_lose_an_employer_that_goes_and_get_it_back(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "companies", vec![hashed(quill())]).await;
    load(&ports, "people", vec![hashed(ada())]).await;
    ports.intake.remove_source(&source_name("companies")).await.unwrap();
    assert_eq!(with_page(&ports, "ada-byte").await.expect("a person").employer, None);
    assert_eq!(load_one(&ports, "people", hashed(ada())).await, Merged);
    let employer = with_page(&ports, "ada-byte").await.expect("a person").employer;
    assert_eq!(employer.expect("an employer").domains, ["quill.example"]);
}

pub async fn a_removed_source_can_be_imported_anew(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    ports.intake.remove_source(&source_name("a")).await.unwrap();
    let effects = load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    assert_eq!(effects, [Added, Added]);
}

pub async fn a_forgotten_address_goes_and_stays_out(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let emails = emails(&["ada@quill.example", "ada+shop@quill.example", "ada@home.example"]);
    let ada = PersonRecord { emails: emails.clone(), ..ada() };
    let quill = CompanyRecord { emails, ..quill() };
    load(&ports, "a", vec![hashed(quill.clone()), hashed(ada.clone())]).await;
    let removed = forget(&ports, Suppressed::Email(email("ada@quill.example"))).await;
    assert_eq!(removed, Removed { values: 4, subjects: 0 });
    let held = async || {
        let person = with_page(&ports, "ada-byte").await.expect("a person");
        let company = at_domain(&ports, "quill.example").await.expect("a company");
        [person.emails, company.emails].concat()
    };
    assert_eq!(held().await, ["ada@home.example", "ada@home.example"]);
    assert_eq!(with_email(&ports, "ada@quill.example").await, None);
    for source in ["a", "b"] {
        let taken = take(&ports, source, vec![hashed(quill.clone()), hashed(ada.clone())]).await;
        assert!(taken.iter().all(|taken| taken.suppressed_values == 2), "{taken:?}");
        assert!(taken.iter().all(|taken| taken.effect == Unchanged), "{taken:?}");
    }
    assert_eq!(held().await, ["ada@home.example", "ada@home.example"]);
}

pub async fn a_forgotten_number_goes_and_stays_out(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let quill = CompanyRecord { phones: phones(&["+447700900001", "+447700900002"]), ..quill() };
    load(&ports, "a", vec![hashed(quill.clone()), hashed(ada())]).await;
    let number = phone("+447700900001");
    let removed = forget(&ports, Suppressed::Phone(number.clone())).await;
    assert_eq!(removed, Removed { values: 2, subjects: 0 });
    assert_eq!(person_of(&ports, PersonRef::Phone(number)).await, None);
    let held = at_domain(&ports, "quill.example").await.expect("a company");
    assert_eq!(held.phones, ["+447700900002"]);
    let taken = take(&ports, "b", vec![hashed(quill), hashed(ada())]).await;
    assert!(taken.iter().all(|taken| taken.suppressed_values == 1), "{taken:?}");
    assert_eq!(with_page(&ports, "ada-byte").await.expect("a person").phones, [""; 0]);
}

pub async fn a_forgotten_person_goes_and_stays_out(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let without_page = PersonRecord { page: None, ..ada() };
    let records = || vec![hashed(quill()), hashed(ada()), hashed(without_page.clone())];
    load(&ports, "a", records()).await;
    let removed = forget(&ports, Suppressed::PersonPage(person_page("Ada-Byte"))).await;
    assert_eq!(removed.subjects, 1);
    assert!(removed.values >= 6, "{removed:?}");
    for _ in 0..2 {
        assert_eq!(with_page(&ports, "ada-byte").await, None);
        assert_eq!(with_email(&ports, "ada@quill.example").await, None);
        assert_eq!(person_of(&ports, PersonRef::Phone(phone("+447700900001"))).await, None);
        let asked = Question::Company(CompanyRef::Domain(domain("quill.example")));
        let want = Want::Employees { limit: None };
        let found = ports.directory.find(&asked, want).await.unwrap().expect("a company");
        assert_eq!(found.company().unwrap().employees, []);
        // Also the record without the page is one of a person who asked to be forgotten.
        let effects = load(&ports, "a", records()).await;
        assert_eq!(effects, [Unchanged, Effect::Suppressed, Effect::Suppressed]);
    }
    assert_eq!(load_one(&ports, "b", hashed(ada())).await, Effect::Suppressed);
}

pub async fn a_forgotten_domain_goes_with_what_lies_below_it(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let quill = CompanyRecord {
        sites: sites(&["shop.quill.example", "ink.example", "quill.example", "tranquill.example"]),
        emails: emails(&["a@eu.quill.example", "b@ink.example", "c@tranquill.example"]),
        page_rank: Some("3".to_owned()),
        ..quill()
    };
    let ranked =
        |text| hashed(DomainRecord { page_rank: Some("5".to_owned()), ..domain_record(text) });
    let records = || {
        let ranks = vec![ranked("mail.quill.example"), ranked("tranquill.example")];
        [vec![hashed(quill.clone()), hashed(ada())], ranks].concat()
    };
    load(&ports, "a", records()).await;
    let removed = forget(&ports, Suppressed::Domain(domain("quill.example"))).await;
    // Two domains, two addresses, two ranks.
    assert_eq!(removed, Removed { values: 6, subjects: 0 });
    for source in ["a", "b"] {
        assert_eq!(at_domain(&ports, "quill.example").await, None);
        let held = at_domain(&ports, "ink.example").await.expect("a company");
        assert_eq!((held.name.as_str(), held.domain()), ("Quill", Some("ink.example")));
        assert_eq!(held.emails, ["b@ink.example", "c@tranquill.example"]);
        assert_eq!(with_page(&ports, "ada-byte").await.expect("a person").emails, [""; 0]);
        assert_eq!(rank_of(&ports, "mail.quill.example").await, None);
        assert_eq!(rank_of(&ports, "shop.quill.example").await, None);
        assert_eq!(rank_of(&ports, "ink.example").await, None);
        assert_eq!(rank_of(&ports, "tranquill.example").await.as_deref(), Some("5"));
        let taken = take(&ports, source, records()).await;
        // Of the company two domains, an address and the rank; of the person address and employer.
        assert_eq!((taken[0].effect, taken[0].suppressed_values), (Unchanged, 4));
        assert_eq!((taken[1].effect, taken[1].suppressed_values), (Unchanged, 2));
        assert_eq!(taken[2].effect, Effect::Suppressed);
        assert_eq!(taken[3].effect, Unchanged);
    }
}

pub async fn a_company_goes_with_the_domain_that_is_all_its_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(PersonRecord { country: Some(country("GB")), ..ada() })]).await;
    let removed = forget(&ports, Suppressed::Domain(domain("quill.example"))).await;
    assert_eq!(removed.subjects, 1);
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    assert_eq!(with_page(&ports, "ada-byte").await.expect("a person").employer, None);
}

pub async fn several_values_are_forgotten_as_one_change(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let inkwell = CompanyRecord {
        sites: sites(&["ink.inkwell.example"]),
        emails: emails(&["post@inkwell.example"]),
        ..company("Inkwell")
    };
    load(&ports, "a", vec![hashed(quill()), hashed(ada()), hashed(inkwell)]).await;
    let before = generation(&ports).await;
    let what = [
        Suppressed::Email(email("ada@quill.example")),
        Suppressed::Domain(domain("inkwell.example")),
        Suppressed::Phone(phone("+447700900001")),
        Suppressed::Domain(domain("quill.example")),
    ];
    let removed = ports.intake.forget(&what, noon()).await.unwrap();
    assert_eq!(removed, Removed { values: 5, subjects: 0 });
    assert_eq!(generation(&ports).await, Generation(before.0 + 1));
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    assert_eq!(at_domain(&ports, "ink.inkwell.example").await, None);
    assert_eq!(ports.intake.forget(&[], noon()).await.unwrap(), Removed::default());
    assert_eq!(generation(&ports).await, Generation(before.0 + 1));
}

pub async fn forgetting_what_is_not_held_keeps_it_out(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let nothing = Removed { values: 0, subjects: 0 };
    for what in [
        Suppressed::PersonPage(person_page("ada-byte")),
        Suppressed::Email(email("bob@inkwell.example")),
        Suppressed::Email(email("bob@inkwell.example")),
        Suppressed::Domain(domain("quill.example")),
    ] {
        assert_eq!(forget(&ports, what).await, nothing);
    }
    let bob = PersonRecord { emails: emails(&["Bob@inkwell.example"]), ..person("Bob", "Bit") };
    let taken = take(&ports, "a", vec![hashed(ada()), hashed(bob), hashed(quill())]).await;
    let effects: Vec<Effect> = taken.iter().map(|taken| taken.effect).collect();
    assert_eq!(effects, [Effect::Suppressed, Added, Added]);
    assert_eq!(taken[1].suppressed_values, 1);
    assert_eq!(at_domain(&ports, "quill.example").await, None);
}
