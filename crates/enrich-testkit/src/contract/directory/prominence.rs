//! Tests of look-ups of a name, when a company with this or a similar name is well known: for
//! example, because its domain has a high page rank.

use enrich_core::{CompanyRecord, DomainRecord, Record};

use super::by_name;
use crate::contract::{Harness, Ports};
use crate::loading::load;
use crate::records::{aliases, company, countries, domain_record, hashed, ids, sites};

fn unknown(name: &str, domain: &str) -> Record {
    hashed(CompanyRecord { sites: sites(&[domain]), ..company(name) })
}

fn ranked(domain: &str, rank: &str) -> Record {
    hashed(DomainRecord { page_rank: Some(rank.to_owned()), ..domain_record(domain) })
}

/// Asserts that a look-up of each name finds the company with the domain `expected`, with a
/// confidence of at least `least` percent.
async fn all_mean(ports: &Ports, names: &[&str], expected: &str, least: u8) {
    for name in names {
        let (domain, sure) = by_name(ports, name, None).await.expect(name);
        assert_eq!(domain, expected, "{name}");
        assert!(sure >= least, "{name} {sure}");
    }
}

pub async fn a_prominent_company_goes_before_its_namesakes(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let tallow = hashed(CompanyRecord {
        sites: sites(&["tallow.example"]),
        ids: ids(&["wikidata:Q987654"]),
        ..company("Tallow")
    });
    let records = vec![tallow, unknown("Tallow", "tallow-candles.example")];
    load(&ports, "a", records).await;
    let found = by_name(&ports, "Tallow", None).await;
    assert!(found.as_ref().is_none_or(|(_, sure)| *sure <= 80), "{found:?}");
    // The page rank is used, although it is imported after the company.
    load(&ports, "ranks", vec![ranked("tallow.example", "6.5")]).await;
    let (domain, sure) = by_name(&ports, "Tallow", None).await.expect("a company");
    assert_eq!(domain, "tallow.example");
    assert!(sure >= 90, "{sure}");
}

pub async fn a_place_after_a_prominent_name_changes_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let records =
        vec![unknown("Tallowmere", "tallowmere.example"), ranked("tallowmere.example", "6.5")];
    load(&ports, "a", records).await;
    let names = ["Tallowmere Sheffield", "Tallowmere HQ", "Tallowmere (NYSE: TLW)"];
    all_mean(&ports, &names, "tallowmere.example", 90).await;
    for name in ["Tallowmere Insurance", "Tallowmere Coffee"] {
        let found = by_name(&ports, name, None).await;
        assert!(found.as_ref().is_none_or(|(_, sure)| *sure < 60), "{name} {found:?}");
    }
}

pub async fn a_misspelt_prominent_name_is_found(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let records =
        vec![unknown("Tallowphone", "tallowphone.example"), ranked("tallowphone.example", "6.5")];
    load(&ports, "a", records).await;
    let names = ["Talowphone", "Tallow Phonne", "Tallowfone"];
    all_mean(&ports, &names, "tallowphone.example", 90).await;
}

pub async fn another_word_is_no_misspelt_prominent_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let records = vec![
        unknown("Tallow University", "tallow.example"),
        ranked("tallow.example", "6.5"),
        unknown("Vosk", "vosk.example"),
        ranked("vosk.example", "6.5"),
    ];
    load(&ports, "a", records).await;
    for name in ["Tallowmere University", "Tallowson University", "Voska", "Voskas"] {
        let found = by_name(&ports, name, None).await;
        assert!(found.as_ref().is_none_or(|(_, sure)| *sure < 90), "{name} {found:?}");
    }
}

pub async fn a_word_of_many_names_is_no_misspelt_prominent_name(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let tallow = vec![unknown("Tallow", "tallow.example"), ranked("tallow.example", "6.5")];
    load(&ports, "a", tallow).await;
    let found = by_name(&ports, "Talloww", None).await;
    assert!(found.is_some_and(|(_, sure)| sure >= 90));
    let works = |at: u32| unknown(&format!("Talloww Works {at}"), &format!("works{at}.example"));
    load(&ports, "b", (0..60).map(works).collect()).await;
    let found = by_name(&ports, "Talloww", None).await;
    assert!(found.as_ref().is_none_or(|(_, sure)| *sure < 90), "{found:?}");
}

pub async fn a_municipality_is_found_beside_many_hosts_of_cities(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let clinic = |at: u32| {
        unknown(&format!("City Clinic of Inkwell {at}"), &format!("city.inkwell{at}.example"))
    };
    let mut records: Vec<Record> = (0..60).map(clinic).collect();
    records.push(unknown("Quillburg", "quillburg.example"));
    load(&ports, "a", records).await;
    let names = ["City of Quillburg", "Stadt Quillburg", "Ville de Quillburg"];
    all_mean(&ports, &names, "quillburg.example", 70).await;
}

pub async fn letters_of_one_country_choose_among_namesakes(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let records = vec![unknown("Kalami", "stifte.de"), unknown("Kalami", "papers.ge")];
    load(&ports, "a", records).await;
    let found = by_name(&ports, "კალამი", None).await;
    assert_eq!(found.map(|(domain, _)| domain).as_deref(), Some("papers.ge"));
}

pub async fn country_sites_of_a_prominent_company_are_no_rivals(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let seated = |name: &str, domain: &str, code: &str| {
        let (sites, seats) = (sites(&[domain]), countries(&[code]));
        hashed(CompanyRecord { sites, seats, ..company(name) })
    };
    let records = vec![
        seated("Tallow", "tallow.com", "US"),
        seated("Tallow", "tallow.de", "DE"),
        ranked("tallow.com", "5.0"),
    ];
    load(&ports, "a", records).await;
    let (domain, sure) = by_name(&ports, "Tallow", None).await.expect("a company");
    assert_eq!(domain, "tallow.com");
    assert!(sure >= 90, "{sure}");
}

pub async fn a_prominent_company_of_no_country_is_found_in_any(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let records = vec![
        unknown("Tallow", "tallow.example"),
        ranked("tallow.example", "6.5"),
        unknown("Inkwell", "inkwell.example"),
    ];
    load(&ports, "a", records).await;
    let found = by_name(&ports, "Tallow", Some("CH")).await;
    assert_eq!(found.map(|(domain, _)| domain).as_deref(), Some("tallow.example"));
    // Inkwell is not well known, and its country is unknown. So a search in one country does not
    // find it. A search in all countries may find it.
    assert_eq!(by_name(&ports, "Inkwell", Some("CH")).await, None);
    // In a search in Switzerland, a company with a `.ch` domain is preferred to a well-known
    // company without a country.
    load(&ports, "b", vec![unknown("Tallow", "tallow-kerzen.ch")]).await;
    let found = by_name(&ports, "Tallow", Some("CH")).await;
    assert_eq!(found.map(|(domain, _)| domain).as_deref(), Some("tallow-kerzen.ch"));
}

pub async fn a_company_that_is_but_names_lends_them(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let bare = CompanyRecord { aliases: aliases(&["Inkwell"]), ..company("Zephyr Octane Inc.") };
    let records = vec![hashed(bare), unknown("Inkwell", "inkwell.example")];
    load(&ports, "a", records).await;
    let found = by_name(&ports, "Zephyr Octane", None).await;
    assert_eq!(found.map(|(domain, _)| domain).as_deref(), Some("inkwell.example"));
}
