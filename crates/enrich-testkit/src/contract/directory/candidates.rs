//! Tests of questions for candidates: the companies that a name may mean.

use std::collections::BTreeSet;

use enrich_core::port::importer::Suppressed;
use enrich_core::{
    Candidate, CompanyRecord, EmployerRecord, PersonRecord, Projection, Question, Record,
};

use super::{Harness, Ports, by_name, called, quill};
use crate::contract::noon;
use crate::loading::{ask, load};
use crate::records::{
    aliases, company, company_name, countries, country, domain, emails, hashed, person, sites,
    trusted,
};

/// Returns the companies that a name may mean. `code` is a country code; `None` asks in all
/// countries.
async fn candidates(ports: &Ports, name: &str, code: Option<&str>) -> Vec<Candidate> {
    let question = Question::Candidates { name: company_name(name), country: code.map(country) };
    let found = ask(ports, question).await;
    let list = found.as_ref().map(|found| found.candidates().expect("candidates").to_vec());
    list.unwrap_or_default()
}

fn domains(list: &[Candidate]) -> Vec<&str> {
    list.iter().filter_map(|one| one.domain.as_deref()).collect()
}

fn at(name: &str, site: &str) -> Record {
    hashed(CompanyRecord { sites: sites(&[site]), ..company(name) })
}

/// Returns a person who works at the company `name`. The record contains nothing else about the
/// company. So without another record about the company, the directory knows only its name.
fn works_at(first_name: &str, name: &str) -> Record {
    let employer = Some(EmployerRecord { name: Some(company_name(name)), domain: None });
    hashed(PersonRecord { employer, ..person(first_name, "Byte") })
}

pub async fn a_name_that_several_bear_has_each_of_them_as_a_candidate(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let other = CompanyRecord { seats: countries(&["CH"]), ..company("QUILL LTD") };
    let other = CompanyRecord { sites: sites(&["feather.example"]), ..other };
    load(&ports, "a", vec![hashed(quill()), hashed(other)]).await;
    assert!(by_name(&ports, "Quill Ltd", None).await.is_none_or(|(_, sure)| sure <= 80));
    let list = candidates(&ports, "Quill Ltd", None).await;
    assert_eq!(domains(&list), ["quill.example", "feather.example"]);
    assert_eq!(list[0].name, "Quill Ltd");
    assert_eq!([list[0].country, list[1].country], [Some(country("GB")), Some(country("CH"))]);
    assert!(list[0].confidence.percent() <= 80 && list[0].confidence >= list[1].confidence);
    assert!(list[0].why.starts_with("Its name is exactly this name"), "{}", list[0].why);
}

pub async fn candidates_are_the_same_at_every_call(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let numbered = |number: u32| at("Quill Pens", &format!("quill{number}.example"));
    load(&ports, "a", (0..30).map(numbered).collect()).await;
    let list = candidates(&ports, "Quill Pens", None).await;
    assert_eq!(list.len(), Candidate::MAX_LISTED);
    let ids: BTreeSet<_> = list.iter().map(|one| one.id).collect();
    assert_eq!(ids.len(), Candidate::MAX_LISTED, "a company is in the list twice");
    assert_eq!(candidates(&ports, "Quill Pens", None).await, list);
}

pub async fn a_name_without_an_answer_has_candidates(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let records = vec![
        at("Feathermark Analytics", "feathermark.example"),
        at("Feathermark Paper", "feathermark-paper.example"),
    ];
    load(&ports, "a", records).await;
    let list = candidates(&ports, "Fethermark Analytics", None).await;
    assert_eq!(list[0].domain.as_deref(), Some("feathermark.example"));
    assert!(list[0].why.contains("\"feathermark\", which resembles \"fethermark\""), "{list:?}");
    assert_eq!(candidates(&ports, "Inkwell", None).await, []);
}

pub async fn a_name_with_an_answer_has_it_as_the_first_candidate(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), at("Quill & Sons", "sons.example")]).await;
    for name in ["Quill", "Quill & Ink", "Quill and Sons"] {
        let (domain, sure) = by_name(&ports, name, None).await.expect("a company");
        let list = candidates(&ports, name, None).await;
        let first = list.first().expect("a candidate");
        assert_eq!((first.domain.clone(), first.confidence.percent()), (Some(domain), sure));
    }
    let trusted = CompanyRecord { origin: trusted(60), ..company("Inkwell Works") };
    let trusted = CompanyRecord { sites: sites(&["inkwell.example"]), ..trusted };
    load(&ports, "b", vec![hashed(trusted)]).await;
    assert_eq!(candidates(&ports, "Inkwell Works", None).await[0].confidence.percent(), 60);
}

pub async fn companies_with_one_main_domain_are_one_candidate(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let other = CompanyRecord { sites: sites(&["quill.example"]), ..company("Quill Lettings") };
    let first = CompanyRecord { sites: sites(&["quill.example"]), ..company("Quill Lettering") };
    let third = at("Quill Letters", "letters.example");
    load(&ports, "a", vec![hashed(first), hashed(other), third]).await;
    let list = candidates(&ports, "Quill Letter", None).await;
    let domains = domains(&list);
    let distinct: BTreeSet<_> = domains.iter().collect();
    assert_eq!(domains.len(), distinct.len(), "{list:?}");
    assert!(domains.contains(&"quill.example") && domains.contains(&"letters.example"));
}

pub async fn a_candidate_that_is_but_a_name_comes_last(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let records = vec![works_at("Ada", "Quill Pens"), at("Quill Pens & Ink", "pens.example")];
    load(&ports, "a", records).await;
    let list = candidates(&ports, "Quill Pens", None).await;
    assert_eq!(list.len(), 2, "{list:?}");
    assert_eq!(list[0].domain.as_deref(), Some("pens.example"));
    assert_eq!((list[1].name.as_str(), &list[1].domain), ("Quill Pens", &None));
    assert_eq!(list[1].why, "Its name is exactly this name; nothing else is known of it.");
}

pub async fn a_name_alone_is_no_candidate(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![works_at("Ada", "Quill Pens")]).await;
    assert_eq!(candidates(&ports, "Quill Pens", None).await, []);
}

pub async fn candidates_are_of_the_country_that_is_asked_for(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let nestle = |domains: &[&str]| CompanyRecord { sites: sites(domains), ..company("Nestlé") };
    let both = nestle(&["nestle.example", "nestle.ch"]);
    load(&ports, "a", vec![hashed(both), hashed(nestle(&["nestle.fr"]))]).await;
    let list = candidates(&ports, "Nestle", Some("CH")).await;
    assert_eq!(list[0].domain.as_deref(), Some("nestle.ch"));
    assert_eq!(list[0].country, Some(country("CH")));
}

pub async fn a_forgotten_value_is_in_no_candidate(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let with_alias = CompanyRecord {
        aliases: aliases(&["inkwell.example"]),
        emails: emails(&["post@inkwell.example"]),
        ..company("Quill Inkwell")
    };
    let with_alias = CompanyRecord { sites: sites(&["inkwell.example"]), ..with_alias };
    load(&ports, "a", vec![hashed(with_alias), at("Quill Inkwells", "inkwells.example")]).await;
    let asked = ["Quill Inkwel", "inkwell.example"];
    assert!(candidates(&ports, asked[0], None).await.len() > 1);
    let values = [Suppressed::Domain(domain("inkwell.example"))];
    ports.importer.forget(&values, noon()).await.expect("it is forgotten");
    for name in asked {
        for one in candidates(&ports, name, None).await {
            let text = format!("{one:?}");
            assert!(!text.contains("inkwell.example"), "{text}");
        }
    }
}

pub async fn a_question_for_candidates_finds_no_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    let question = Question::Candidates { name: company_name("Quill"), country: None };
    let projection = Projection::Employees { limit: None };
    let found = ports.directory.find(&question, projection).await.expect("an answer");
    let found = found.expect("candidates");
    assert_eq!((found.company(), found.candidates().map(<[_]>::len)), (None, Some(1)));
    let found = ask(&ports, Question::Company(called("Quill"))).await.expect("a company");
    assert_eq!(found.candidates(), None);
}
