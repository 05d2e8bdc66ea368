//! Checks which values belong to each source, and how a source is removed.

use enrich_core::port::importer::{Atomic, ImportOptions, Removed, SourceInfo, SourceTerms};
use enrich_core::{CompanyRecord, DomainRecord};

use super::{
    Added, Harness, Merged, ada, after_noon, at_domain, load_one, noon, quill, rank_of, with_email,
    with_page,
};
use crate::loading::{load, load_from, source_name};
use crate::records::{company_name, domain_record, emails, hashed, sites, trusted};

pub async fn sources_are_listed_with_what_they_gave(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    assert_eq!(ports.importer.sources().await.unwrap(), []);
    load(&ports, "b", vec![hashed(quill())]).await;
    let ranked = DomainRecord { page_rank: Some("5".into()), ..domain_record("quill.example") };
    let load_a = |at| ImportOptions { at, ..load_from("a") };
    for at in [after_noon(60), after_noon(120)] {
        let mut session = ports.importer.begin(load_a(at)).await.unwrap();
        session.import_batch(vec![hashed(quill()), hashed(ranked.clone())]).await.unwrap();
        session.finish().await.unwrap();
    }
    let listed = ports.importer.sources().await.unwrap();
    let source = |name, values, records, first_at, last_at| SourceInfo {
        name: source_name(name),
        values,
        records,
        first_at,
        last_at,
        terms: SourceTerms::default(),
    };
    // Source `a` gave a name, a domain and a rank. Source `b` gave the same name and domain.
    assert_eq!(
        listed,
        [source("a", 3, 2, after_noon(60), after_noon(120)), source("b", 2, 1, noon(), noon()),]
    );
}

pub async fn the_file_of_a_source_is_noted_with_its_first_batch(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let load_of =
        |file: Option<&str>| ImportOptions { file: file.map(str::to_owned), ..load_from("a") };
    let file = async || ports.importer.source_file(&source_name("a")).await.unwrap();
    for (given, noted) in [(Some("/one"), "/one"), (None, "/one"), (Some("/two"), "/two")] {
        let mut session = ports.importer.begin(load_of(given)).await.unwrap();
        session.import_batch(vec![hashed(quill())]).await.unwrap();
        // The load (import) is dropped before its end. Its batch and the name of its file stay
        // stored.
        drop(session);
        load_one(&ports, "b", hashed(ada())).await;
        assert_eq!(file().await.as_deref(), Some(noted));
    }
    let whole = ImportOptions { atomic: Atomic::Whole, ..load_of(Some("/three")) };
    let mut session = ports.importer.begin(whole).await.unwrap();
    session.import_batch(vec![hashed(quill())]).await.unwrap();
    drop(session);
    load_one(&ports, "b", hashed(ada())).await;
    assert_eq!(file().await.as_deref(), Some("/two"));
    assert_eq!(ports.importer.source_file(&source_name("b")).await.unwrap(), None);
}

pub async fn the_terms_of_a_source_stay_until_others_are_given(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let terms = |licence: &str| SourceTerms {
        licence: licence.to_owned(),
        attribution: "Quill Data".to_owned(),
        homepage: String::new(),
    };
    let (first, second) = (terms("CC0-1.0"), terms("ODbL-1.0"));
    for (given, stored) in
        [(Some(&first), &first), (None, &first), (Some(&second), &second), (Some(&second), &second)]
    {
        let options = ImportOptions { terms: given.cloned(), ..load_from("a") };
        let mut session = ports.importer.begin(options).await.unwrap();
        session.import_batch(vec![hashed(quill())]).await.unwrap();
        session.finish().await.unwrap();
        assert_eq!(ports.importer.sources().await.unwrap()[0].terms, *stored);
    }
    load_one(&ports, "b", hashed(ada())).await;
    assert_eq!(ports.importer.sources().await.unwrap()[1].terms, SourceTerms::default());
}

pub async fn removing_an_unknown_source_says_so(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    assert_eq!(ports.importer.remove_source(&source_name("b")).await.unwrap(), None);
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
    let removed = ports.importer.remove_source(&source_name("b")).await.unwrap();
    assert_eq!(removed, Some(Removed { values: 5, subjects: 0 }));
    assert_eq!(at_domain(&ports, "quill.example").await, before);
    assert_eq!(at_domain(&ports, "group.example").await, None);
    let sources = ports.importer.sources().await.unwrap();
    assert_eq!(sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>(), ["a"]);
}

pub async fn removing_a_source_takes_its_subjects_with_it(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ranked = DomainRecord { page_rank: Some("5".into()), ..domain_record("x.example") };
    load(&ports, "a", vec![hashed(ada()), hashed(ranked)]).await;
    let removed = ports.importer.remove_source(&source_name("a")).await.unwrap().expect("a source");
    // Two subjects are removed: the person, and the employer that was created only for the person.
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
    ports.importer.remove_source(&source_name("companies")).await.unwrap();
    assert_eq!(with_page(&ports, "ada-byte").await.expect("a person").employer, None);
    assert_eq!(load_one(&ports, "people", hashed(ada())).await, Merged);
    let employer = with_page(&ports, "ada-byte").await.expect("a person").employer;
    assert_eq!(employer.expect("an employer").domains, ["quill.example"]);
}

pub async fn a_removed_source_can_be_imported_anew(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    ports.importer.remove_source(&source_name("a")).await.unwrap();
    let effects = load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    assert_eq!(effects, [Added, Added]);
}
