//! Contract tests of [`enrich_core::port::directory::Directory`], which every store must pass.

#![allow(missing_docs, reason = "each sentence is its name; more words would say it twice")]

mod candidates;
mod people;
mod prominence;

use enrich_core::{
    CompanyRecord, CompanyRef, Confidence, DomainRecord, EmployerRecord, PersonRecord, Projection,
    Question,
};
use enrich_text::Network;

pub use candidates::*;
pub use people::*;
pub use prominence::*;

use people::in_country;

use super::{Harness, Ports};
use crate::loading::{ask, company_of, load, person_of};
use crate::records::{
    aliases, company, company_name, countries, country, domain, domain_record, email, emails,
    employed_at, employed_by_name, hashed, ids, page_url, person, person_page, phones, sites,
    trusted,
};

/// Defines one `#[test]` for each function of this contract. The test calls the function with
/// `$harness`, and waits for its end with `$run`.
#[macro_export]
macro_rules! directory_contract {
    ($harness:expr, $run:path) => {
        $crate::contract_tests!($harness, $run, directory: [
            an_empty_directory_answers_nothing,
            a_company_is_found_by_any_of_its_domains,
            a_host_finds_the_company_of_its_registrable_domain,
            the_company_whose_main_domain_it_is_comes_first,
            a_domain_of_two_companies_is_not_sure,
            a_company_is_found_by_any_of_its_pages,
            a_page_is_found_however_it_is_written,
            an_answer_is_as_sure_as_its_source,
            a_company_is_found_by_its_own_address,
            an_address_leads_to_the_employer_of_who_has_it,
            an_address_leads_to_the_company_at_its_domain,
            a_public_mail_host_is_nobodys_company,
            a_company_is_found_by_name_in_any_spelling,
            a_company_is_found_by_alias,
            two_companies_of_one_name_cannot_be_told_apart,
            a_name_wins_over_an_alias_but_is_not_sure,
            a_country_tells_companies_of_one_name_apart,
            a_country_tells_hundreds_of_one_name_apart,
            companies_that_are_but_names_do_not_hide_one_that_is_more,
            companies_that_are_but_names_do_not_stand_in_the_way_of_a_misspelt_one,
            a_country_is_asked_for_before_the_nearest_are_chosen,
            a_company_of_thousands_of_names_is_found,
            a_main_domain_is_of_the_country_of_the_seat,
            a_text_is_read_as_a_domain_first_and_then_as_a_name,
            a_prominent_company_goes_before_its_namesakes,
            a_place_after_a_prominent_name_changes_nothing,
            a_misspelt_prominent_name_is_found,
            another_word_is_no_misspelt_prominent_name,
            a_word_of_many_names_is_no_misspelt_prominent_name,
            a_municipality_is_found_beside_many_hosts_of_cities,
            letters_of_one_country_choose_among_namesakes,
            country_sites_of_a_prominent_company_are_no_rivals,
            a_prominent_company_of_no_country_is_found_in_any,
            a_company_that_is_but_names_lends_them,
            a_person_is_found_by_address_page_and_phone,
            what_two_people_share_is_not_sure,
            a_person_is_found_by_name_in_a_country,
            two_people_of_one_name_in_a_country_cannot_be_told_apart,
            a_middle_name_may_be_missing_but_not_contradict,
            a_persons_name_is_found_in_any_spelling,
            a_persons_name_is_found_in_another_script,
            a_person_is_found_by_a_usual_short_form,
            a_short_form_of_several_names_finds_the_only_one,
            an_initial_finds_the_only_one_it_can_be,
            a_name_is_found_with_the_family_name_first,
            a_person_is_found_by_one_of_two_family_names,
            people_of_like_names_are_not_found,
            the_very_name_wins_over_one_like_it_but_is_not_sure,
            a_name_suffix_tells_two_of_one_name_apart,
            an_agreement_is_less_sure_in_a_country_than_at_a_company,
            a_rare_first_name_is_found_among_hundreds_of_one_family_name,
            a_person_is_found_by_name_at_a_company,
            an_employee_tells_companies_of_one_name_apart,
            an_employee_tells_dozens_of_companies_of_one_name_apart,
            a_person_is_found_by_a_part_of_a_long_name,
            a_person_is_not_found_at_another_company,
            a_persons_answer_follows_the_employers_name,
            facts_of_a_host_are_those_of_that_very_host,
            facts_of_a_domain_are_found_for_hosts_below_it,
            a_host_without_a_rank_has_that_of_its_registrable_domain,
            a_fact_of_a_domain_is_as_sure_as_its_own_source,
            employees_come_in_first_seen_order_up_to_the_limit,
            employees_are_read_only_when_asked_for,
            an_answer_names_the_revision_it_was_read_from,
            a_name_that_several_bear_has_each_of_them_as_a_candidate,
            candidates_are_the_same_at_every_call,
            a_name_without_an_answer_has_candidates,
            a_name_with_an_answer_has_it_as_the_first_candidate,
            companies_with_one_main_domain_are_one_candidate,
            a_candidate_that_is_but_a_name_comes_last,
            a_name_alone_is_no_candidate,
            candidates_are_of_the_country_that_is_asked_for,
            a_forgotten_value_is_in_no_candidate,
            a_question_for_candidates_finds_no_company,
        ]);
    };
}

async fn by_domain(ports: &Ports, text: &str) -> Option<String> {
    company_of(ports, CompanyRef::Domain(domain(text))).await.map(|company| company.name)
}

async fn by_email(ports: &Ports, text: &str) -> Option<String> {
    company_of(ports, CompanyRef::Email(email(text))).await.map(|company| company.name)
}

/// Returns the main domain of the company that `name` finds, and the confidence in percent. `code`
/// is a country code; `None` searches in all countries.
async fn by_name(ports: &Ports, name: &str, code: Option<&str>) -> Option<(String, u8)> {
    let name = company_name(name);
    let company = CompanyRef::Name { name, country: code.map(country) };
    let found = ask(ports, Question::Company(company)).await?;
    let domain = found.company()?.domain()?.to_owned();
    Some((domain, found.confidence.percent()))
}

fn called(name: &str) -> CompanyRef {
    CompanyRef::Name { name: company_name(name), country: None }
}

fn quill() -> CompanyRecord {
    CompanyRecord {
        aliases: aliases(&["Quill & Ink"]),
        seats: countries(&["GB"]),
        sites: sites(&["quill.example", "quill-ink.example"]),
        pages: vec![
            page_url(Network::LinkedIn, "quill"),
            page_url(Network::LinkedIn, "quill-ink"),
            page_url(Network::Youtube, "@QuillFilms"),
        ],
        emails: emails(&["post@quill.example"]),
        phones: phones(&["+442079460001"]),
        ..company("Quill Ltd")
    }
}

fn ada() -> PersonRecord {
    PersonRecord {
        title: Some("Engineer".to_owned()),
        employer: employed_at("quill.example"),
        country: Some(country("GB")),
        page: Some(person_page("ada-byte")),
        emails: emails(&["ada@quill.example", "ada@home.example"]),
        phones: phones(&["+447700900001"]),
        ..person("Ada", "Byte")
    }
}

pub async fn an_empty_directory_answers_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    assert_eq!(by_domain(&ports, "quill.example").await, None);
    assert_eq!(by_name(&ports, "Quill", None).await, None);
    assert_eq!(person_of(&ports, in_country("Ada Byte", "GB")).await, None);
    assert_eq!(ask(&ports, Question::Domain(domain("quill.example"))).await, None);
}

pub async fn a_company_is_found_by_any_of_its_domains(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    assert_eq!(
        by_domain(&ports, "https://www.Quill.example/x").await.as_deref(),
        Some("Quill Ltd")
    );
    assert_eq!(by_domain(&ports, "quill-ink.example").await.as_deref(), Some("Quill Ltd"));
    assert_eq!(by_domain(&ports, "inkwell.example").await, None);
}

pub async fn a_host_finds_the_company_of_its_registrable_domain(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let shop = CompanyRecord { sites: sites(&["shop.quill.example"]), ..company("Quill Shop") };
    load(&ports, "a", vec![hashed(quill()), hashed(shop)]).await;
    assert_eq!(by_domain(&ports, "mail.eu.quill.example").await.as_deref(), Some("Quill Ltd"));
    assert_eq!(by_domain(&ports, "shop.quill.example").await.as_deref(), Some("Quill Shop"));
}

pub async fn the_company_whose_main_domain_it_is_comes_first(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let group =
        CompanyRecord { sites: sites(&["group.example", "inkwell.example"]), ..company("Group") };
    let inkwell = CompanyRecord { sites: sites(&["well.example"]), ..company("Inkwell") };
    let as_main = CompanyRecord { sites: sites(&["inkwell.example"]), ..company("Inkwell") };
    // `as_main` is imported before `group`, so that they stay two companies. In the reverse order,
    // `group` would already have the main domain of `as_main`, and `as_main` would be merged with
    // it.
    load(&ports, "a", vec![hashed(as_main), hashed(group), hashed(inkwell)]).await;
    let found = ask(&ports, Question::Company(CompanyRef::Domain(domain("inkwell.example")))).await;
    let found = found.expect("a company");
    assert_eq!(found.company().unwrap().name, "Inkwell");
    assert_eq!(found.confidence, Confidence::FULL);
}

pub async fn a_domain_of_two_companies_is_not_sure(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let one = CompanyRecord { sites: sites(&["one.example", "both.example"]), ..company("One") };
    let two = CompanyRecord { sites: sites(&["two.example", "both.example"]), ..company("Two") };
    load(&ports, "a", vec![hashed(one), hashed(two)]).await;
    let found = ask(&ports, Question::Company(CompanyRef::Domain(domain("both.example")))).await;
    let found = found.expect("a company");
    assert_eq!(found.company().unwrap().name, "One");
    assert_eq!(found.confidence, Confidence::AMBIGUOUS);
}

pub async fn a_company_is_found_by_any_of_its_pages(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    for asked in [page_url(Network::LinkedIn, "quill"), page_url(Network::LinkedIn, "quill-ink")] {
        let found = company_of(&ports, CompanyRef::Page(asked)).await.expect("a company");
        assert_eq!(found.page_on(Network::LinkedIn), Some("linkedin.com/company/quill"));
    }
    let other_network = CompanyRef::Page(page_url(Network::Twitter, "quill"));
    assert_eq!(company_of(&ports, other_network).await, None);
}

pub async fn a_page_is_found_however_it_is_written(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    for text in ["https://m.youtube.com/c/quillfilms?x=1", "QUILLFILMS"] {
        let asked = CompanyRef::Page(page_url(Network::Youtube, text));
        assert!(company_of(&ports, asked).await.is_some(), "{text}");
    }
}

pub async fn an_answer_is_as_sure_as_its_source(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(CompanyRecord { origin: trusted(60), ..quill() })]).await;
    let sure = async |company: CompanyRef| {
        ask(&ports, Question::Company(company)).await.expect("a company").confidence.percent()
    };
    assert_eq!(sure(CompanyRef::Domain(domain("quill.example"))).await, 60);
    assert_eq!(sure(CompanyRef::Page(page_url(Network::LinkedIn, "quill"))).await, 60);
    assert_eq!(sure(CompanyRef::Email(email("post@quill.example"))).await, 60);
    assert_eq!(sure(called("Quill")).await, 60);
    // If two sources give the same value, its confidence is the higher of their confidences.
    load(&ports, "b", vec![hashed(CompanyRecord { origin: trusted(90), ..quill() })]).await;
    assert_eq!(sure(CompanyRef::Domain(domain("quill.example"))).await, 90);
}

pub async fn a_company_is_found_by_its_own_address(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let elsewhere = CompanyRecord { emails: emails(&["quill@gmail.com"]), ..quill() };
    load(&ports, "a", vec![hashed(elsewhere)]).await;
    assert_eq!(by_email(&ports, "quill@gmail.com").await.as_deref(), Some("Quill Ltd"));
    assert_eq!(by_email(&ports, "Quill+Shop@gmail.com").await.as_deref(), Some("Quill Ltd"));
}

pub async fn an_address_leads_to_the_employer_of_who_has_it(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let home = CompanyRecord { sites: sites(&["home.example"]), ..company("Home") };
    load(&ports, "a", vec![hashed(quill()), hashed(home), hashed(ada())]).await;
    assert_eq!(by_email(&ports, "ada@home.example").await.as_deref(), Some("Quill Ltd"));
    assert_eq!(by_email(&ports, "ada+x@home.example").await.as_deref(), Some("Quill Ltd"));
    assert_eq!(by_email(&ports, "bob@home.example").await.as_deref(), Some("Home"));
}

pub async fn an_address_leads_to_the_company_at_its_domain(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    assert_eq!(by_email(&ports, "who@mail.quill.example").await.as_deref(), Some("Quill Ltd"));
    assert_eq!(by_email(&ports, "who@inkwell.example").await, None);
}

pub async fn a_public_mail_host_is_nobodys_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let mail = CompanyRecord { sites: sites(&["gmail.com"]), ..company("Mail Host") };
    load(&ports, "a", vec![hashed(mail)]).await;
    assert_eq!(by_email(&ports, "who@gmail.com").await, None);
    assert_eq!(by_domain(&ports, "gmail.com").await.as_deref(), Some("Mail Host"));
}

pub async fn a_company_is_found_by_name_in_any_spelling(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    let found = async |name: &str| by_name(&ports, name, None).await.map(|(_, sure)| sure);
    assert_eq!(found("QUILL ltd.").await, Some(99));
    assert_eq!(found("Quíll").await, Some(98));
    assert_eq!(found("Quill GmbH").await, Some(98));
    assert!(found("Qu Ill").await.is_some());
    assert_eq!(found("Feather").await, None);
}

pub async fn a_company_is_found_by_alias(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    let domain = || "quill.example".to_owned();
    assert_eq!(by_name(&ports, "quill and ink", None).await, Some((domain(), 98)));
    assert_eq!(by_name(&ports, "Quill & Ink Inc.", None).await, Some((domain(), 96)));
}

pub async fn two_companies_of_one_name_cannot_be_told_apart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let other = CompanyRecord { sites: sites(&["other.example"]), ..company("QUILL LTD") };
    load(&ports, "a", vec![hashed(quill()), hashed(other)]).await;
    for name in ["Quill Ltd", "Quill"] {
        // The domain `quill.example` contains the requested name. This makes its company more
        // probable, but not certain: the confidence is at most 80 %.
        let found = by_name(&ports, name, None).await;
        assert!(found.as_ref().is_none_or(|(_, sure)| *sure <= 80), "{found:?}");
    }
}

pub async fn a_name_wins_over_an_alias_but_is_not_sure(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let other = CompanyRecord {
        aliases: aliases(&["Quill Ltd"]),
        sites: sites(&["feather.example"]),
        ..company("Feather")
    };
    load(&ports, "a", vec![hashed(other), hashed(quill())]).await;
    let (domain, sure) = by_name(&ports, "Quill Ltd", None).await.expect("a company");
    assert_eq!(domain, "quill.example");
    assert!(sure <= 80, "{sure}");
}

pub async fn a_country_tells_companies_of_one_name_apart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let nestle = |domains: &[&str]| CompanyRecord { sites: sites(domains), ..company("Nestlé") };
    let german = CompanyRecord {
        sites: vec![(domain("nestle-marktplatz.example"), Some(country("DE")))],
        ..company("Nestlé")
    };
    // The American and the Swiss company have different external ids. So they are not merged,
    // although their domains begin with the same label.
    let (one, other) = (ids(&["x:1"]), ids(&["x:2"]));
    let american = CompanyRecord { seats: countries(&["US"]), ..nestle(&["nestle.example"]) };
    let records = vec![
        hashed(CompanyRecord { ids: one, ..american }),
        hashed(CompanyRecord { ids: other, ..nestle(&["nestle.ch"]) }),
        hashed(german),
    ];
    load(&ports, "a", records).await;
    let found =
        async |code: &str| by_name(&ports, "nestle", Some(code)).await.map(|(domain, _)| domain);
    assert_eq!(found("CH").await.as_deref(), Some("nestle.ch"));
    assert_eq!(found("DE").await.as_deref(), Some("nestle-marktplatz.example"));
    assert_eq!(found("US").await.as_deref(), Some("nestle.example"));
    assert_eq!(found("FR").await, None);
    // Without a country, several companies fit, so an answer has a confidence of at most 80 %.
    let found = by_name(&ports, "nestle", None).await;
    assert!(found.as_ref().is_none_or(|(_, confidence)| *confidence <= 80), "{found:?}");
}

pub async fn a_country_tells_hundreds_of_one_name_apart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let in_country = |number: u32, code: &str| {
        let sites = sites(&[&format!("quill{number}.example")]);
        hashed(CompanyRecord { sites, seats: countries(&[code]), ..company("Quill") })
    };
    let mut records: Vec<_> = (0..300).map(|number| in_country(number, "GB")).collect();
    records.push(in_country(300, "CH"));
    load(&ports, "a", records).await;
    let found = by_name(&ports, "Quill", Some("CH")).await;
    assert_eq!(found, Some(("quill300.example".to_owned(), 99)));
    assert_eq!(by_name(&ports, "Quill", Some("GB")).await, None);
    assert_eq!(by_name(&ports, "Quill", None).await, None);
}

pub async fn companies_that_are_but_names_do_not_hide_one_that_is_more(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    // Returns `quillinkworks` with spaces between some of its letters. Each `number` gives another
    // spelling: if bit `n` of `number` is set, there is a space before the letter with index
    // `n + 1`.
    let spelling = |number: usize| {
        let letters = "quillinkworks".char_indices();
        let parted = letters.map(|(at, letter)| {
            let gap = at > 0 && number >> (at - 1) & 1 == 1;
            if gap { format!(" {letter}") } else { letter.to_string() }
        });
        parted.collect::<String>()
    };
    let mentioned = |number| {
        let employer =
            Some(EmployerRecord { name: Some(company_name(&spelling(number))), domain: None });
        hashed(PersonRecord { employer, ..person("Ada", "Byte") })
    };
    load(&ports, "people", (0..200).map(mentioned).collect()).await;
    let known =
        CompanyRecord { sites: sites(&["works.example"]), ..company("Quill Ink-Works Ltd") };
    load(&ports, "companies", vec![hashed(known)]).await;
    let found = by_name(&ports, "Quill Ink Works Ltd", None).await;
    assert_eq!(found, Some(("works.example".to_owned(), 99)));
}

pub async fn companies_that_are_but_names_do_not_stand_in_the_way_of_a_misspelt_one(
    harness: &dyn Harness,
) {
    let ports = harness.fresh().await;
    let known = CompanyRecord {
        sites: sites(&["feathermark.example"]),
        ..company("Feathermark Analytics")
    };
    let at = |employer: &str| {
        let employer = Some(EmployerRecord { name: Some(company_name(employer)), domain: None });
        hashed(PersonRecord { employer, ..person("Ada", "Byte") })
    };
    let people = ["Feathermark Analytic", "Feather Mark Analytics", "Feathermark Analitycs"];
    load(&ports, "companies", vec![hashed(known)]).await;
    let before = by_name(&ports, "Feathermark Analitics", None).await.expect("a company");
    assert_eq!(before.0, "feathermark.example");
    load(&ports, "people", people.map(at).into()).await;
    let after = by_name(&ports, "Feathermark Analitics", None).await.expect("a company");
    assert_eq!(after.0, before.0);
    // The names of the imported employers contain the words of the company's name too. So these
    // words are less rare now, and the confidence may be 1 % lower.
    assert!(after.1 + 1 >= before.1, "{before:?} {after:?}");
}

pub async fn a_country_is_asked_for_before_the_nearest_are_chosen(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let under = |domain: String| {
        hashed(CompanyRecord { sites: sites(&[&domain]), ..company("Quillfeather Inkwell") })
    };
    let mut records: Vec<_> = (0..100).map(|at| under(format!("quill{at}.example"))).collect();
    records.push(under("quillfeather.jp".to_owned()));
    load(&ports, "a", records).await;
    let found = by_name(&ports, "Quilfeather Inkwell", Some("JP")).await;
    assert_eq!(found.map(|(domain, _)| domain).as_deref(), Some("quillfeather.jp"));
}

pub async fn a_company_of_thousands_of_names_is_found(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let others = (0..5_000).map(|number| company_name(&format!("Inkwell {number} Ltd"))).collect();
    let many =
        CompanyRecord { sites: sites(&["quill.example"]), aliases: others, ..company("Quill") };
    load(&ports, "a", vec![hashed(many)]).await;
    for name in ["Quill", "Inkwell 7 Ltd", "Inkwell 4999"] {
        let found = by_name(&ports, name, None).await.expect(name);
        assert_eq!(found.0, "quill.example", "{name}");
    }
}

pub async fn a_main_domain_is_of_the_country_of_the_seat(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill())]).await;
    let found = by_name(&ports, "Quill Ltd", Some("GB")).await;
    assert_eq!(found, Some(("quill.example".to_owned(), 99)));
    assert_eq!(by_name(&ports, "Quill Ltd", Some("FR")).await, None);
}

pub async fn a_text_is_read_as_a_domain_first_and_then_as_a_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let booking = CompanyRecord { sites: sites(&["stays.example"]), ..company("Booking.example") };
    load(&ports, "a", vec![hashed(quill()), hashed(booking)]).await;
    let either = |text: &str| CompanyRef::DomainOrName(domain(text), company_name(text));
    let name = async |text| company_of(&ports, either(text)).await.map(|company| company.name);
    assert_eq!(name("quill.example").await.as_deref(), Some("Quill Ltd"));
    assert_eq!(name("booking.example").await.as_deref(), Some("Booking.example"));
    assert_eq!(name("nobody.example").await, None);
}

pub async fn facts_of_a_host_are_those_of_that_very_host(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let record = DomainRecord {
        ip: Some("192.0.2.7".parse().unwrap()),
        page_rank: Some("4.20".to_owned()),
        ..domain_record("quill.example")
    };
    load(&ports, "a", vec![hashed(record)]).await;
    let host = async |text| {
        let found = ask(&ports, Question::Host(domain(text))).await?;
        found.domain().cloned()
    };
    let found = host("quill.example").await.expect("facts");
    assert_eq!(found.domain, "quill.example");
    assert_eq!(found.ip.as_deref(), Some("192.0.2.7"));
    assert_eq!(found.page_rank.as_deref(), Some("4.20"));
    assert_eq!(host("shop.quill.example").await, None);
}

pub async fn facts_of_a_domain_are_found_for_hosts_below_it(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ranked = |text, rank: &str| {
        hashed(DomainRecord { page_rank: Some(rank.to_owned()), ..domain_record(text) })
    };
    let records = vec![ranked("quill.example", "7"), ranked("shop.quill.example", "3")];
    load(&ports, "a", records).await;
    let rank = async |text| {
        let found = ask(&ports, Question::Domain(domain(text))).await?;
        found.domain()?.page_rank.clone()
    };
    assert_eq!(rank("mail.quill.example").await.as_deref(), Some("7"));
    assert_eq!(rank("shop.quill.example").await.as_deref(), Some("3"));
    assert_eq!(rank("inkwell.example").await, None);
}

pub async fn a_host_without_a_rank_has_that_of_its_registrable_domain(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ip = Some("192.0.2.7".parse().unwrap());
    let shop = DomainRecord { ip, ..domain_record("shop.quill.example") };
    let ranked =
        DomainRecord { page_rank: Some("5.2".to_owned()), ..domain_record("quill.example") };
    load(&ports, "a", vec![hashed(shop), hashed(ranked)]).await;
    let found = ask(&ports, Question::Domain(domain("shop.quill.example"))).await.expect("facts");
    assert_eq!(found.domain().unwrap().page_rank.as_deref(), Some("5.2"));
    let found = ask(&ports, Question::Host(domain("shop.quill.example"))).await.expect("facts");
    assert_eq!(found.domain().unwrap().ip.as_deref(), Some("192.0.2.7"));
    assert_eq!(found.domain().unwrap().page_rank, None);
}

pub async fn a_fact_of_a_domain_is_as_sure_as_its_own_source(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let address = DomainRecord {
        origin: trusted(40),
        ip: Some("192.0.2.7".parse().unwrap()),
        ..domain_record("quill.example")
    };
    let rank = DomainRecord {
        origin: trusted(90),
        page_rank: Some("5.2".to_owned()),
        ..domain_record("quill.example")
    };
    load(&ports, "a", vec![hashed(address)]).await;
    load(&ports, "b", vec![hashed(rank)]).await;
    let host = ask(&ports, Question::Host(domain("quill.example"))).await.expect("facts");
    assert_eq!(host.confidence.percent(), 40);
    let ranked = ask(&ports, Question::Domain(domain("quill.example"))).await.expect("facts");
    assert_eq!(ranked.confidence.percent(), 90);
}

pub async fn employees_come_in_first_seen_order_up_to_the_limit(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let someone = |first: &str| {
        let title = Some("Engineer".to_owned());
        hashed(PersonRecord { employer: employed_by_name("Quill"), title, ..person(first, "Byte") })
    };
    let records = vec![hashed(quill()), someone("Zoë"), someone("Ada"), someone("Mia")];
    load(&ports, "a", records).await;
    let names = async |limit| {
        let projection = Projection::Employees { limit };
        let asked = Question::Company(called("Quill Ltd"));
        let found = ports.directory.find(&asked, projection).await.unwrap().expect("a company");
        let employees = &found.company().unwrap().employees;
        assert!(employees.iter().all(|one| one.title.as_deref() == Some("Engineer")));
        employees.iter().map(|one| one.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(None).await, ["Zoë Byte", "Ada Byte", "Mia Byte"]);
    assert_eq!(names(Some(2)).await, ["Zoë Byte", "Ada Byte"]);
    assert_eq!(names(Some(u64::MAX)).await.len(), 3);
}

pub async fn employees_are_read_only_when_asked_for(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    load(&ports, "a", vec![hashed(quill()), hashed(ada())]).await;
    let found = company_of(&ports, called("Quill")).await.expect("a company");
    assert_eq!(found.employees, []);
}

pub async fn an_answer_names_the_revision_it_was_read_from(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let before = ports.directory.revision().await.unwrap();
    load(&ports, "a", vec![hashed(quill())]).await;
    let after = ports.directory.revision().await.unwrap();
    assert!(after > before);
    let found = ask(&ports, Question::Company(called("Quill"))).await.expect("a company");
    assert_eq!(found.revision, after);
}
