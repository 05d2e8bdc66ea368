//! Checks that the ids of companies and people stay the same when records change or are imported
//! again.

use enrich_core::{CompanyRecord, PersonRecord};

use super::{Added, Harness, Merged, ada, at_domain, load_one, quill, with_page};
use crate::loading::{load, source_name};
use crate::records::{company, hashed, person, phones, sites, with_id};

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
    // An id is valid only within its source. So the same id of source `b` means another company.
    // People and companies have separate ids. So in source `a`, the same id can also mean a person.
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
    ports.importer.remove_source(&source_name("a")).await.unwrap();
    load(&ports, "a", vec![hashed(quill())]).await;
    assert!(at_domain(&ports, "quill.example").await.expect("a company").id > before);
}
