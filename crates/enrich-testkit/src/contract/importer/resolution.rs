//! Tests of entity resolution: which records belong to one company. The order in which the records
//! are imported must make no difference.

use enrich_core::{Company, CompanyRecord, CompanyRef, PersonRecord, Projection, Question};
use enrich_text::Network;

use super::super::Ports;
use super::{Harness, at_domain, quill};
use crate::loading::{company_of, load, source_name};
use crate::records::{
    company, company_name, countries, domain, emails, employed_by_name, external_id, hashed, ids,
    page_url, person, phones, sites,
};

async fn named(ports: &Ports, name: &str) -> Option<Company> {
    let name = CompanyRef::Name { name: company_name(name), country: None };
    company_of(ports, name).await
}

pub async fn organisations_at_one_host_stay_apart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let institutes = ["Inkwell", "Feather Press", "Paper Mill", "Bindery", "Nib Works"];
    let at_host =
        |name: &&str| hashed(CompanyRecord { sites: sites(&["campus.example"]), ..company(name) });
    load(&ports, "a", institutes.iter().map(at_host).collect()).await;
    // This record has the domain of all five institutes, but the name of only one institute:
    // `Bindery`. So the record belongs to this institute.
    let again = CompanyRecord {
        sites: sites(&["campus.example"]),
        emails: emails(&["post@bindery.example"]),
        ..company("Bindery")
    };
    load(&ports, "b", vec![hashed(again)]).await;
    for name in institutes {
        let found = named(&ports, name).await.expect("a company");
        assert_eq!((found.name.as_str(), found.aliases.len()), (name, 0));
        assert_eq!(found.emails.len(), usize::from(name == "Bindery"));
    }
}

pub async fn a_name_alone_joins_its_only_namesake(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let registered = CompanyRecord { ids: ids(&["cik:17"]), ..company("QUILL CORP") };
    load(&ports, "register", vec![hashed(registered)]).await;
    let registered = async || {
        company_of(&ports, CompanyRef::Id(external_id("cik:17"))).await.expect("a company")
    };
    assert_eq!(registered().await.domain(), None);
    load(&ports, "a", vec![hashed(quill())]).await;
    let found = registered().await;
    assert_eq!((found.name.as_str(), found.domain()), ("Quill", Some("quill.example")));
    // Source `b` adds a second company with the name `Quill`. The record with the id `cik:17` can
    // mean either company, so it belongs to neither.
    let other = CompanyRecord { sites: sites(&["feather.example"]), ..company("Quill") };
    load(&ports, "b", vec![hashed(other)]).await;
    assert_eq!(registered().await.domain(), None);
    assert_eq!(at_domain(&ports, "quill.example").await.expect("a company").ids, [""; 0]);
    ports.importer.remove_source(&source_name("b")).await.unwrap();
    assert_eq!(registered().await.domain(), Some("quill.example"));
}

pub async fn sites_in_several_countries_are_one_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let site = |text: &str| hashed(CompanyRecord { sites: sites(&[text]), ..company("Quill") });
    let records = vec![site("quill.ch"), site("quill.org"), site("feather.org")];
    load(&ports, "a", records).await;
    let found = at_domain(&ports, "quill.ch").await.expect("a company");
    assert_eq!(found.domain(), Some("quill.org"));
    assert_eq!(found.sites.len(), 2);
}

pub async fn an_id_without_anything_else_in_common_counts_for_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let with = |name: &str, site: &str| {
        let sites = sites(&[site]);
        hashed(CompanyRecord { ids: ids(&["wikidata:Q42"]), sites, ..company(name) })
    };
    load(&ports, "a", vec![with("Quill", "quill.example"), with("Ink", "ink.example")]).await;
    assert_eq!(at_domain(&ports, "quill.example").await.expect("a company").name, "Quill");
    assert_eq!(at_domain(&ports, "ink.example").await.expect("a company").name, "Ink");
}

pub async fn a_removed_source_takes_its_merges_back(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let linked =
        |record| CompanyRecord { pages: vec![page_url(Network::LinkedIn, "quill")], ..record };
    let films = CompanyRecord { sites: sites(&["films.example"]), ..company("Quill Films") };
    load(&ports, "a", vec![hashed(quill())]).await;
    load(&ports, "b", vec![hashed(films.clone())]).await;
    let both = async || {
        let one = at_domain(&ports, "quill.example").await.expect("a company");
        let other = at_domain(&ports, "films.example").await.expect("a company");
        (one.name, other.name)
    };
    let apart = ("Quill".to_owned(), "Quill Films".to_owned());
    assert_eq!(both().await, apart);
    // The record joins the two companies, because it has the names and the domains of both.
    let joining = CompanyRecord {
        name: company_name("Quill"),
        aliases: vec![company_name("Quill Films")],
        sites: sites(&["quill.example", "films.example"]),
        ..linked(quill())
    };
    load(&ports, "c", vec![hashed(joining.clone())]).await;
    let (one, other) = both().await;
    assert_eq!(one, other);
    ports.importer.remove_source(&source_name("c")).await.unwrap();
    assert_eq!(both().await, apart);
    load(&ports, "c", vec![hashed(joining)]).await;
    assert_eq!(both().await.0, both().await.1);
}

pub async fn employees_go_with_their_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let bare = PersonRecord { employer: employed_by_name("Quill Films"), ..person("Ada", "Byte") };
    let in_gb = || CompanyRecord { seats: countries(&["GB"]), ..company("Quill Films") };
    let reached = CompanyRecord { phones: phones(&["+442079460001"]), ..in_gb() };
    load(&ports, "a", vec![hashed(reached)]).await;
    load(&ports, "people", vec![hashed(bare)]).await;
    let with_site = CompanyRecord { sites: sites(&["films.example"]), ..in_gb() };
    load(&ports, "b", vec![hashed(with_site)]).await;
    let asked = Question::Company(CompanyRef::Domain(domain("films.example")));
    let projection = Projection::Employees { limit: None };
    let found = ports.directory.find(&asked, projection).await.unwrap().expect("a company");
    let found = found.company().unwrap();
    assert_eq!(found.phones, ["+442079460001"]);
    assert_eq!(found.employees.first().map(|it| it.name.as_str()), Some("Ada Byte"));
}
