//! Checks which person a record belongs to, and which employer the person gets.

use enrich_core::{CompanyRecord, EmployerRecord, PersonRecord};

use super::{
    Added, Harness, Merged, Unchanged, ada, at_domain, load_one, quill, with_email, with_page,
};
use crate::loading::load;
use crate::records::{
    company, company_name, domain, emails, employed_at, employed_by_name, hashed, person,
    person_page, phones, sites, trusted,
};

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
    // The record `by_page` gives another first name, but not with a higher confidence. So the
    // person keeps the first name, and the effect of the record is `Unchanged`.
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
    // A person without a page gets the page that a later record gives.
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
    // The record of `ada` gave only the domain of her employer, so this company got its domain as
    // its name. The next record gives the company the name `Quill`.
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
