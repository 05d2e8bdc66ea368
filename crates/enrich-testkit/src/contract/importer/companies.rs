//! Checks which company a record belongs to, and how its values are merged.

use enrich_core::{CompanyRecord, CompanyRef, PersonRecord, Projection, Question};
use enrich_text::Network;

use super::{
    Added, Harness, Merged, Unchanged, ada, at_domain, load_one, quill, rank_of, revision, tricky,
    with_page,
};
use crate::loading::{ask, company_of, load};
use crate::records::{
    aliases, company, company_name, countries, domain, emails, employed_by_name, hashed, page_url,
    person, phones, sites, trusted,
};

pub async fn importing_twice_is_importing_once(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", tricky()).await;
    let before = revision(&ports).await;
    let effects = load(&ports, "a", tricky()).await;
    assert!(effects.iter().all(|effect| *effect == Unchanged), "{effects:?}");
    assert_eq!(revision(&ports).await, before);
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
    let sites = sites(&["ink.example", "third.example"]);
    let ink = CompanyRecord { sites, ..company("Quill Group") };
    let effects = load(&ports, "a", vec![hashed(two), hashed(ink)]).await;
    assert_eq!(effects, [Added, Merged]);
    let held = at_domain(&ports, "third.example").await.expect("a company");
    assert_eq!((held.name.as_str(), held.domain()), ("Quill", Some("quill.example")));
}

pub async fn a_company_without_a_domain_is_known_by_its_page(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let pages = || vec![page_url(Network::LinkedIn, "quill")];
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
    // The record of `Quill Ltd` was added as a new company, and then merged with `Quill`: without
    // the legal form, the names are equal, and no other company in GB has this name.
    let held = at_domain(&ports, "quill.example").await.expect("a company");
    assert_eq!(held.phones, ["+442079460001", "+442079460003"]);
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
    let projection = Projection::Employees { limit: None };
    let found = ports.directory.find(&asked, projection).await.unwrap().expect("a company");
    assert_eq!(found.company().unwrap().employees[0].name, "Ada Byte");
    // The company now has a domain too, not only a name. So a record with the same name and another
    // domain is a new company.
    let other = CompanyRecord { sites: sites(&["other.example"]), ..company("Quill") };
    assert_eq!(load_one(&ports, "companies", hashed(other)).await, Added);
}

pub async fn a_differing_name_becomes_an_alias(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let aliases = aliases(&["QI", "Quill"]);
    let renamed = CompanyRecord { aliases, name: company_name("Ink"), ..quill() };
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

pub async fn lists_are_united_the_surest_values_first(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let with = |texts: &[&str], percent| {
        hashed(CompanyRecord { emails: emails(texts), origin: trusted(percent), ..quill() })
    };
    load(&ports, "a", vec![with(&["b@quill.example", "a@quill.example"], 50)]).await;
    load(&ports, "b", vec![with(&["c@quill.example", "a@quill.example"], 100)]).await;
    let held = at_domain(&ports, "quill.example").await.expect("a company");
    // Both sources give the address `a@quill.example`, so it comes first.
    assert_eq!(held.emails, ["a@quill.example", "c@quill.example", "b@quill.example"]);
}

pub async fn a_second_source_that_says_the_same_changes_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    let effects = load(&ports, "b", vec![hashed(quill()), hashed(ada())]).await;
    assert_eq!(effects, [Unchanged, Unchanged]);
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
    // Source `b` gives another page rank, with the same confidence as source `a`. If two ranks have
    // the same confidence, the first one stays.
    let surer = CompanyRecord { origin: trusted(100), ..quill() };
    load(&ports, "b", vec![hashed(CompanyRecord { origin: trusted(50), ..quill() })]).await;
    assert_eq!(load_one(&ports, "b", ranked("9", surer)).await, Unchanged);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("7"));
}
