//! Checks that forgotten values are removed, and stay out of later imports.

use enrich_core::port::importer::{Effect, Removed, Suppressed};
use enrich_core::{
    CompanyRecord, CompanyRef, DirectoryRevision, DomainRecord, PersonRecord, PersonRef,
    Projection, Question,
};

use super::{
    Added, Harness, Unchanged, ada, at_domain, forget, load_one, noon, quill, rank_of, revision,
    with_email, with_page,
};
use crate::loading::{load, person_of, take};
use crate::records::{
    company, country, domain, domain_record, email, emails, hashed, person, person_page, phone,
    phones, sites,
};

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
        let projection = Projection::Employees { limit: None };
        let found = ports.directory.find(&asked, projection).await.unwrap().expect("a company");
        assert_eq!(found.company().unwrap().employees, []);
        // `without_page` is about the forgotten person too, so this record is also left out.
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
    // The removed values are two domains, two email addresses and two page ranks.
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
        // Four values of the company are left out, because they are forgotten: two domains, an
        // email address and the page rank. Two values of the person are left out: an email address
        // and the employer.
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
    let before = revision(&ports).await;
    let what = [
        Suppressed::Email(email("ada@quill.example")),
        Suppressed::Domain(domain("inkwell.example")),
        Suppressed::Phone(phone("+447700900001")),
        Suppressed::Domain(domain("quill.example")),
    ];
    let removed = ports.importer.forget(&what, noon()).await.unwrap();
    assert_eq!(removed, Removed { values: 5, subjects: 0 });
    assert_eq!(revision(&ports).await, DirectoryRevision(before.0 + 1));
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    assert_eq!(at_domain(&ports, "ink.inkwell.example").await, None);
    assert_eq!(ports.importer.forget(&[], noon()).await.unwrap(), Removed::default());
    assert_eq!(revision(&ports).await, DirectoryRevision(before.0 + 1));
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
