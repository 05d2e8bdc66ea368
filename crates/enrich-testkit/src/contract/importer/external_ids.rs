//! Tests of external ids: ids of companies in registers or data sets, such as `cik:17`. The
//! external ids of a record decide first which company the record belongs to. A company and its
//! parent are never merged.

use enrich_core::{Company, CompanyRecord, CompanyRef, Parent};
use enrich_text::Network;

use super::super::Ports;
use super::{
    Added, Harness, Merged, Unchanged, at_domain, forget, load_one, quill, revision, with_email,
};
use crate::loading::{company_of, load, source_name};
use crate::records::{
    company, company_name, countries, domain, external_id, hashed, ids, page_url, sites, with_id,
};
use enrich_core::port::importer::Suppressed;

async fn with_external_id(ports: &Ports, text: &str) -> Option<Company> {
    company_of(ports, CompanyRef::Id(external_id(text))).await
}

fn identified(texts: &[&str], record: CompanyRecord) -> CompanyRecord {
    CompanyRecord { ids: ids(texts), ..record }
}

pub async fn one_id_is_one_company_whatever_else_differs(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ink = CompanyRecord { sites: sites(&["ink.example"]), ..company("Ink") };
    let moved = CompanyRecord { sites: sites(&["ink.example"]), ..company("Quill Group") };
    let effects = load(
        &ports,
        "a",
        vec![
            hashed(identified(&["wikidata:Q42"], quill())),
            hashed(ink),
            // Belongs to the company with the id `wikidata:Q42`, although another company has the
            // domain `ink.example`.
            hashed(identified(&["wikidata:Q42", "cik:17"], moved)),
            hashed(identified(&["cik:0017"], company("Anything"))),
        ],
    )
    .await;
    assert_eq!(effects, [Added, Added, Merged, Merged]);
    let found = with_external_id(&ports, "cik:17").await.expect("a company");
    assert_eq!((found.name.as_str(), found.aliases.len()), ("Quill", 2));
    assert_eq!(found.ids, ["cik:17", "wikidata:Q42"]);
    assert_eq!(at_domain(&ports, "ink.example").await.expect("a company").name, "Ink");
    assert_eq!(with_external_id(&ports, "cik:18").await, None);
}

pub async fn two_ids_of_one_scheme_are_two_companies(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let linked = || CompanyRecord {
        pages: vec![page_url(Network::LinkedIn, "quill")],
        ..company("Quill Films")
    };
    let in_gb = || CompanyRecord { seats: countries(&["GB"]), ..company("Quill Press") };
    let numbered = || CompanyRecord { origin: with_id("17"), ..company("Numbered") };
    for record in [quill as fn() -> CompanyRecord, linked, in_gb, numbered] {
        let with = |id: &str| hashed(identified(&[id], record()));
        assert_eq!(load_one(&ports, "a", with("x:1")).await, Added);
        assert_eq!(load_one(&ports, "a", with("x:2")).await, Added);
        // There are now two companies, with the ids `x:1` and `x:2`. The record with `y:1` has no
        // id of the scheme `x`, so it may be about either company, and is merged with one of them.
        // A record with `x:2` still belongs to the second company.
        assert_eq!(load_one(&ports, "a", with("y:1")).await, Merged);
        assert_eq!(load_one(&ports, "b", with("x:2")).await, Unchanged);
        ports.importer.remove_source(&source_name("a")).await.unwrap();
        ports.importer.remove_source(&source_name("b")).await.unwrap();
    }
}

pub async fn two_companies_that_a_record_joins_stay_two(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ink = CompanyRecord { sites: sites(&["ink.example"]), ..company("Ink") };
    let other = CompanyRecord { sites: sites(&["other.example"]), ..company("Ink Films") };
    load(
        &ports,
        "a",
        vec![
            hashed(identified(&["x:1", "z:1"], quill())),
            hashed(identified(&["y:1"], ink)),
            // The first company has another id of the scheme `z`, so the record cannot belong to
            // it. By its id `y:1`, the record belongs to the second company.
            hashed(identified(&["x:1", "y:1", "z:2"], other)),
        ],
    )
    .await;
    let joined = at_domain(&ports, "other.example").await.expect("a company");
    assert_eq!(joined.name, "Ink");
    let first = at_domain(&ports, "quill.example").await.expect("a company");
    assert_eq!(first.ids, ["x:1", "z:1"]);
}

pub async fn an_id_goes_with_its_source(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    load(&ports, "b", vec![hashed(identified(&["x:1"], quill()))]).await;
    let before = revision(&ports).await;
    assert_eq!(
        load_one(&ports, "b", hashed(identified(&["x:1"], quill()))).await,
        Unchanged,
        "importing twice is importing once"
    );
    assert_eq!(revision(&ports).await, before);
    assert!(with_external_id(&ports, "x:1").await.is_some());
    ports.importer.remove_source(&source_name("b")).await.unwrap();
    assert_eq!(with_external_id(&ports, "x:1").await, None);
    assert_eq!(at_domain(&ports, "quill.example").await.expect("a company").ids, [""; 0]);
    assert_eq!(with_email(&ports, "ada@quill.example").await, None);
}

pub async fn a_parent_is_a_relation_and_no_merge(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let part = |name: &str, parent: &str| {
        let parent = Some(Box::new(Parent::parse(parent).unwrap()));
        hashed(CompanyRecord { parent, ..company(name) })
    };
    let parts = vec![
        part("Quill Films", "quill.example"),
        part("Quill Press", "x:1"),
        part("Quill Books", "Quill"),
    ];
    let effects = load(&ports, "a", parts).await;
    assert_eq!(effects, [Added, Added, Added]);
    let whole = hashed(identified(&["x:1"], quill()));
    assert_eq!(load_one(&ports, "a", whole).await, Added);
    for (name, given) in
        [("Quill Films", "quill.example"), ("Quill Press", "x:1"), ("Quill Books", "Quill")]
    {
        let asked = CompanyRef::Name { name: company_name(name), country: None };
        let found = company_of(&ports, asked).await.expect("a company");
        assert_eq!(found.parent.as_deref(), Some(given));
        let parent = Parent::parse(given).unwrap().company_ref();
        let parent = company_of(&ports, parent).await.expect("a company");
        assert_eq!(parent.name, "Quill");
    }
    // When a domain is forgotten, it is also removed as the parent of other companies.
    forget(&ports, Suppressed::Domain(domain("quill.example"))).await;
    let asked = CompanyRef::Name { name: company_name("Quill Films"), country: None };
    assert_eq!(company_of(&ports, asked).await.expect("a company").parent, None);
}
