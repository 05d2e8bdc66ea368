//! Tests of loads (imports of records). A load is one transaction with [`Atomic::Whole`];
//! otherwise, the store chooses when it commits. Two loads that run at the same time take turns,
//! batch by batch.

use enrich_core::CompanyRecord;
use enrich_core::port::importer::{Atomic, Effect, ImportOptions, NewSubjects, Suppressed};

use super::{
    Added, Harness, Merged, Unchanged, ada, at_domain, forget, load_one, quill, revision, with_page,
};
use crate::loading::{load, load_from, source_name, take};
use crate::records::{aliases, company, email, hashed, phone, sites};

pub async fn a_load_that_is_dropped_keeps_the_batches_it_took(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let mut session = ports.importer.begin(load_from("a")).await.unwrap();
    assert_eq!(session.import_batch(vec![hashed(quill())]).await.unwrap()[0].effect, Added);
    drop(session);
    // The first load (import) was dropped before its end. It does not block the next load.
    assert_eq!(load_one(&ports, "a", hashed(quill())).await, Unchanged);
    assert!(at_domain(&ports, "quill.example").await.is_some());
}

pub async fn a_whole_load_that_is_dropped_changes_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    let before = (revision(&ports).await, ports.importer.sources().await.unwrap());
    let whole = ImportOptions { atomic: Atomic::Whole, ..load_from("b") };
    let mut session = ports.importer.begin(whole).await.unwrap();
    assert_eq!(session.import_batch(vec![hashed(ada())]).await.unwrap()[0].effect, Added);
    let renamed = CompanyRecord { aliases: aliases(&["Ink"]), ..quill() };
    assert_eq!(session.import_batch(vec![hashed(renamed)]).await.unwrap()[0].effect, Merged);
    drop(session);
    assert_eq!(with_page(&ports, "ada-byte").await, None);
    let after = (revision(&ports).await, ports.importer.sources().await.unwrap());
    assert_eq!(after, before);
    // The first load (import) was dropped before its end. It does not block the next load.
    assert_eq!(load_one(&ports, "b", hashed(ada())).await, Added);
}

pub async fn a_whole_load_is_there_when_it_is_finished(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let before = revision(&ports).await;
    let whole = ImportOptions { atomic: Atomic::Whole, ..load_from("a") };
    let mut session = ports.importer.begin(whole).await.unwrap();
    session.import_batch(vec![hashed(quill())]).await.unwrap();
    session.import_batch(vec![hashed(ada())]).await.unwrap();
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    assert_eq!(revision(&ports).await, before);
    session.finish().await.unwrap();
    assert!(at_domain(&ports, "quill.example").await.is_some());
    assert!(with_page(&ports, "ada-byte").await.is_some());
    assert!(revision(&ports).await > before);
}

pub async fn a_load_of_held_subjects_adds_none(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let held = || ImportOptions { new_subjects: NewSubjects::Skip, ..load_from("b") };
    let mut session = ports.importer.begin(held()).await.unwrap();
    let taken = session.import_batch(vec![hashed(quill()), hashed(ada())]).await.unwrap();
    assert!(taken.iter().all(|taken| taken.effect == Effect::NotHeld), "{taken:?}");
    session.finish().await.unwrap();
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    load_one(&ports, "a", hashed(quill())).await;
    let mut session = ports.importer.begin(held()).await.unwrap();
    let renamed = CompanyRecord { aliases: aliases(&["Ink"]), ..quill() };
    let taken = session.import_batch(vec![hashed(renamed), hashed(ada())]).await.unwrap();
    let effects: Vec<_> = taken.iter().map(|taken| taken.effect).collect();
    assert_eq!(effects, [Merged, Effect::NotHeld]);
    session.finish().await.unwrap();
    assert_eq!(load_one(&ports, "c", hashed(ada())).await, Added);
}

pub async fn two_loads_take_turns(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let mut one = ports.importer.begin(load_from("a")).await.unwrap();
    let mut other = ports.importer.begin(load_from("b")).await.unwrap();
    one.import_batch(vec![hashed(quill())]).await.unwrap();
    let inkwell = CompanyRecord { sites: sites(&["inkwell.example"]), ..company("Inkwell") };
    let taken = other.import_batch(vec![hashed(ada()), hashed(inkwell.clone())]).await.unwrap();
    assert_eq!([taken[0].effect, taken[1].effect], [Added; 2]);
    // The second load has added `Inkwell` meanwhile. So the first load finds this company, and
    // merges the record with it.
    let again = CompanyRecord { aliases: aliases(&["Ink"]), ..inkwell };
    assert_eq!(one.import_batch(vec![hashed(again)]).await.unwrap()[0].effect, Merged);
    one.finish().await.unwrap();
    other.finish().await.unwrap();
    let company = at_domain(&ports, "quill.example").await.expect("a company");
    let person = with_page(&ports, "ada-byte").await.expect("a person");
    let inkwell = at_domain(&ports, "inkwell.example").await.expect("a company");
    assert_eq!(person.employer.expect("an employer").id, company.id);
    assert!(company.id < person.id && person.id < inkwell.id);
}

pub async fn the_revision_grows_with_every_change_and_only_then(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let mut seen = vec![revision(&ports).await];
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    seen.push(revision(&ports).await);
    forget(&ports, Suppressed::Email(email("ada@quill.example"))).await;
    seen.push(revision(&ports).await);
    ports.importer.remove_source(&source_name("a")).await.unwrap();
    seen.push(revision(&ports).await);
    assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");
    ports.importer.remove_source(&source_name("a")).await.unwrap();
    load(&ports, "a", Vec::new()).await;
    assert_eq!(seen.last(), Some(&revision(&ports).await));
}

pub async fn what_was_taken_is_there_after_a_restart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    forget(&ports, Suppressed::Phone(phone("+447700900001"))).await;
    let before = (revision(&ports).await, at_domain(&ports, "quill.example").await);
    let ports = harness.reopen(ports).await;
    let after = (revision(&ports).await, at_domain(&ports, "quill.example").await);
    assert_eq!(after, before);
    assert_eq!(take(&ports, "b", vec![hashed(ada())]).await[0].suppressed_values, 1);
}
