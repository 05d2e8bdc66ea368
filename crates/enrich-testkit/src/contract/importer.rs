//! Contract tests of [`enrich_core::port::importer::Importer`], which every store must pass.

#![allow(missing_docs, reason = "each sentence is its name; more words would say it twice")]

mod companies;
mod domains;
mod external_ids;
mod forgetting;
mod ids;
mod loads;
mod people;
mod resolution;
mod sources;

pub use companies::*;
pub use domains::*;
pub use external_ids::*;
pub use forgetting::*;
pub use ids::*;
pub use loads::*;
pub use people::*;
pub use resolution::*;
pub use sources::*;

use enrich_core::port::importer::{Effect, Removed, Suppressed};
use enrich_core::{
    Company, CompanyRecord, CompanyRef, DirectoryRevision, DomainRecord, Person, PersonRecord,
    PersonRef, Question, Record,
};
use enrich_text::Network;

use super::{Harness, Ports, after_noon, noon};
use crate::loading::{ask, company_of, load, person_of};
use crate::records::{
    company, countries, domain, domain_record, email, emails, employed_at, employed_by_name,
    hashed, page_url, person, person_page, phones, sites, trusted,
};

use Effect::{Added, Merged, Unchanged};

/// Defines one `#[test]` for each function of this contract. The functions are async. The test
/// calls the function with `$harness`, and `$run` (such as `pollster::block_on`) runs it to its
/// end.
#[macro_export]
macro_rules! importer_contract {
    ($harness:expr, $run:path) => {
        $crate::contract_tests!($harness, $run, importer: [
            importing_twice_is_importing_once,
            the_order_of_a_second_import_makes_no_difference,
            a_main_domain_that_is_held_is_that_company,
            a_company_without_a_domain_is_known_by_its_page,
            a_company_with_neither_is_known_by_name_and_country,
            a_name_without_a_country_is_another_company_than_one_with,
            a_domain_that_is_not_held_is_a_new_company,
            a_company_that_was_only_named_becomes_the_one_that_comes,
            a_differing_name_becomes_an_alias,
            a_single_value_stays_unless_the_newcomer_is_trusted_more,
            lists_are_united_the_surest_values_first,
            a_second_source_that_says_the_same_changes_nothing,
            a_person_is_known_by_page_then_address_then_name_and_employer,
            two_pages_are_two_people_of_one_name,
            a_person_without_anything_to_know_them_by_is_new,
            an_unknown_employer_is_made_from_what_is_given,
            an_employers_domain_wins_over_its_name,
            a_known_employer_is_left_as_it_is,
            a_record_that_changed_at_its_source_is_the_same_subject,
            ids_survive_a_second_import,
            an_id_is_never_given_twice,
            address_and_rank_of_a_company_are_its_main_domains,
            facts_of_a_domain_need_no_company,
            a_fact_of_a_domain_stays_unless_the_newcomer_is_trusted_more,
            a_load_that_is_dropped_keeps_the_batches_it_took,
            a_whole_load_that_is_dropped_changes_nothing,
            a_whole_load_is_there_when_it_is_finished,
            two_loads_take_turns,
            a_load_of_held_subjects_adds_none,
            the_revision_grows_with_every_change_and_only_then,
            what_was_taken_is_there_after_a_restart,
            sources_are_listed_with_what_they_gave,
            the_file_of_a_source_is_noted_with_its_first_batch,
            the_terms_of_a_source_stay_until_others_are_given,
            removing_an_unknown_source_says_so,
            removing_a_source_brings_back_what_another_says,
            removing_a_source_takes_its_subjects_with_it,
            people_lose_an_employer_that_goes_and_get_it_back,
            a_removed_source_can_be_imported_anew,
            a_forgotten_address_goes_and_stays_out,
            a_forgotten_number_goes_and_stays_out,
            a_forgotten_person_goes_and_stays_out,
            a_forgotten_domain_goes_with_what_lies_below_it,
            a_company_goes_with_the_domain_that_is_all_its_name,
            forgetting_what_is_not_held_keeps_it_out,
            several_values_are_forgotten_as_one_change,
            two_pages_are_two_people_of_one_address,
            one_id_is_one_company_whatever_else_differs,
            two_ids_of_one_scheme_are_two_companies,
            two_companies_that_a_record_joins_stay_two,
            an_id_goes_with_its_source,
            a_parent_is_a_relation_and_no_merge,
            organisations_at_one_host_stay_apart,
            a_name_alone_joins_its_only_namesake,
            sites_in_several_countries_are_one_company,
            an_id_without_anything_else_in_common_counts_for_nothing,
            a_removed_source_takes_its_merges_back,
            employees_go_with_their_company,
        ]);
    };
}

async fn at_domain(ports: &Ports, text: &str) -> Option<Company> {
    company_of(ports, CompanyRef::Domain(domain(text))).await
}

async fn with_page(ports: &Ports, handle: &str) -> Option<Person> {
    person_of(ports, PersonRef::Page(person_page(handle))).await
}

async fn with_email(ports: &Ports, text: &str) -> Option<Person> {
    person_of(ports, PersonRef::Email(email(text))).await
}

async fn rank_of(ports: &Ports, text: &str) -> Option<String> {
    let found = ask(ports, Question::Host(domain(text))).await?;
    found.domain()?.page_rank.clone()
}

async fn revision(ports: &Ports) -> DirectoryRevision {
    ports.directory.revision().await.unwrap()
}

async fn forget(ports: &Ports, what: Suppressed) -> Removed {
    ports.importer.forget(&[what], noon()).await.unwrap()
}

async fn load_one(ports: &Ports, source: &str, record: Record) -> Effect {
    let effects = load(ports, source, vec![record]).await;
    assert_eq!(effects.len(), 1);
    effects[0]
}

fn quill() -> CompanyRecord {
    CompanyRecord { sites: sites(&["quill.example"]), ..company("Quill") }
}

fn ada() -> PersonRecord {
    PersonRecord {
        employer: employed_at("quill.example"),
        page: Some(person_page("ada-byte")),
        emails: emails(&["ada@quill.example"]),
        phones: phones(&["+447700900001"]),
        ..person("Ada", "Byte")
    }
}

/// Returns records that an importer can easily merge wrongly. Some belong to the same company or
/// person; others only have similar values.
fn tricky() -> Vec<Record> {
    let named = || company("Quill");
    let in_gb = || CompanyRecord { seats: countries(&["GB"]), ..named() };
    let linked =
        |record| CompanyRecord { pages: vec![page_url(Network::LinkedIn, "quill")], ..record };
    vec![
        hashed(named()),
        hashed(in_gb()),
        hashed(CompanyRecord { sites: sites(&["quill.example"]), ..in_gb() }),
        hashed(linked(company("Quill Films"))),
        hashed(CompanyRecord {
            sites: sites(&["films.example"]),
            ..linked(company("Quill Films"))
        }),
        hashed(CompanyRecord { origin: trusted(50), ..company("Quill Films") }),
        hashed(person("Ada", "Byte")),
        hashed(PersonRecord { employer: employed_by_name("Quill"), ..person("Ada", "Byte") }),
        hashed(ada()),
        hashed(PersonRecord { emails: emails(&["ada@quill.example"]), ..person("Ada M", "Byte") }),
        hashed(PersonRecord { page: Some(person_page("ada-2")), ..ada() }),
        hashed(DomainRecord { page_rank: Some("3".to_owned()), ..domain_record("quill.example") }),
    ]
}
