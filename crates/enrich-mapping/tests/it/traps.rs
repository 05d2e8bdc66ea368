//! Tests of special cases in the data of single sources, which a simple mapping would get wrong.

use enrich_mapping::{Mapping, Note, Outcome, Settings, name_only};
use serde_json::{Map, Value, json};

use crate::reader::fixture;

/// Maps a record of a built-in source. Returns the first record that the mapping makes, or the
/// reason why it makes none.
fn mapped(source: &str, record: &Value) -> Value {
    let record: &Map<String, Value> = record.as_object().unwrap();
    match Mapping::built_in(source).unwrap().map(record, &Settings::default()).outcome {
        Outcome::Records(mut records) => Value::Object(records.remove(0)),
        Outcome::Skipped(reason) => reason.into(),
    }
}

fn first(name: &str) -> Value {
    match fixture(name).mapped(&Settings::default()).remove(0).outcome {
        Outcome::Records(mut records) => Value::Object(records.remove(0)),
        Outcome::Skipped(reason) => reason.into(),
    }
}

fn entity(claims: &Value) -> Value {
    let labels = json!({"mul": {"language": "mul", "value": "Quill"}});
    json!({"type": "item", "id": "Q900000001", "labels": labels,
        "aliases": [], "claims": claims})
}

fn site(url: &str, rank: &str, qualifiers: &Value) -> Value {
    json!({"mainsnak": {"snaktype": "value", "datavalue": {"value": url, "type": "string"}},
        "rank": rank, "qualifiers": qualifiers})
}

#[test]
fn wikidata_prefers_preferred_and_drops_deprecated_statements() {
    let sites = json!({"P856": [
        site("https://old.quill.example/", "normal", &json!({})),
        site("https://quill.example/", "preferred", &json!({})),
        site("https://wrong.example/", "deprecated", &json!({})),
    ]});
    let record = mapped("wikidata", &entity(&sites));
    assert_eq!(record["domains"], json!(["quill.example", "old.quill.example"]));
}

#[test]
fn wikidata_drops_ended_statements_unless_nothing_else_remains() {
    let ended = json!({"P582": [{"snaktype": "somevalue", "property": "P582"}]});
    let both = json!({"P856": [
        site("https://ended.example/", "preferred", &ended),
        site("https://quill.example/", "normal", &json!({})),
    ]});
    assert_eq!(mapped("wikidata", &entity(&both))["domains"], json!(["quill.example"]));
    let alone = json!({"P856": [site("https://ended.example/", "normal", &ended)]});
    assert_eq!(mapped("wikidata", &entity(&alone))["domains"], json!(["ended.example"]));
}

#[test]
fn wikidata_country_qualifier_makes_a_country_site_and_language_no_domain() {
    let german = json!({"P407": [{"snaktype": "value", "datavalue": {"value": {"id": "Q188"}}}]});
    let swiss =
        json!({"P1001": [{"snaktype": "value", "datavalue": {"value": {"numeric-id": 39}}}]});
    let sites = json!({"P856": [
        site("https://quill-ch.example/", "normal", &swiss),
        site("https://quill.example/", "normal", &json!({})),
        site("https://quill.example/de/", "normal", &german),
    ]});
    let expected = json!(["quill.example", {"domain": "quill-ch.example", "country": "CH"}]);
    assert_eq!(mapped("wikidata", &entity(&sites))["domains"], expected);
}

#[test]
fn wikidata_without_a_country_takes_that_of_the_headquarters() {
    let seat = json!({"mainsnak": {"snaktype": "value", "datavalue": {"value": {"id": "Q64"}}},
        "rank": "normal",
        "qualifiers": {"P17": [{"snaktype": "value", "datavalue": {"value": {"id": "Q183"}}}]}});
    let claims =
        json!({"P856": [site("https://quill.example/", "normal", &json!({}))], "P159": [seat]});
    assert_eq!(mapped("wikidata", &entity(&claims))["country"], "DE");
}

#[test]
fn wikidata_empty_maps_may_be_lists_and_novalue_has_no_value() {
    let empty = json!({"type": "item", "id": "Q1", "labels": [], "aliases": [], "claims": []});
    assert_eq!(mapped("wikidata", &empty), "no website");
    let no_value = json!({"P856": [{"mainsnak": {"snaktype": "novalue"}, "rank": "normal"}]});
    assert_eq!(mapped("wikidata", &entity(&no_value)), "no website");
}

#[test]
fn wikidata_rejects_humans_dissolved_items_and_properties() {
    let site = site("https://quill.example/", "normal", &json!({}));
    let of = |property: &str, value: Value| {
        let snak = json!({"snaktype": "value", "datavalue": {"value": value}});
        let statement = json!({"mainsnak": snak, "rank": "normal"});
        entity(&json!({"P856": [site.clone()], property: [statement]}))
    };
    assert_eq!(mapped("wikidata", &of("P31", json!({"id": "Q5"}))), "human");
    assert_eq!(mapped("wikidata", &of("P31", json!({"numeric-id": 5}))), "human");
    assert_eq!(mapped("wikidata", &of("P576", json!({"time": "+2014"}))), "dissolved");
    let ended = |rank: &str, kind: &str| {
        let statement = json!({"mainsnak": {"snaktype": kind}, "rank": rank});
        mapped("wikidata", &entity(&json!({"P856": [site.clone()], "P576": [statement]})))
    };
    assert_eq!(ended("normal", "somevalue"), "dissolved");
    for (rank, kind) in [("deprecated", "somevalue"), ("normal", "novalue")] {
        assert_eq!(ended(rank, kind)["domains"], json!(["quill.example"]), "{rank} {kind}");
    }
    let property = json!({"type": "property", "id": "P1", "labels": {}, "claims": {}});
    assert_eq!(mapped("wikidata", &property), "no item");
}

#[test]
fn pdl_csv_has_backslash_escaped_quotes() {
    let Outcome::Records(records) =
        fixture("pdl/free_company_dataset.csv").mapped(&Settings::default()).remove(1).outcome
    else {
        panic!("skipped")
    };
    assert_eq!(records[0]["name"], "The \"Mill\" Pond Co");
    assert_eq!(records[0]["domains"], json!(["millpond.example"]));
}

#[test]
fn pdl_names_get_capitals_and_a_low_confidence() {
    let record = first("pdl/free_company_dataset.csv");
    assert_eq!(record["name"], "Quillmark Analytics GmbH");
    assert!(record["confidence"].as_u64().unwrap() < 50);
}

#[test]
fn companies_house_columns_begin_with_blanks_and_numbers_with_zeros() {
    let record = first("companies-house/BasicCompanyDataAsOneFile-2026-01-01.csv");
    assert_eq!(record["ids"]["gb"], "08209948");
    assert_eq!(record["aliases"], json!(["OLD QUILL LIMITED", "FIRST QUILL LIMITED"]));
}

#[test]
fn gleif_skips_funds_sole_traders_and_inactive_entities_but_not_lapsed_ones() {
    let all = fixture("gleif/20260101-0000-gleif-goldencopy-lei2-golden-copy.csv");
    let outcomes = all.mapped(&Settings::default());
    let reasons: Vec<String> = outcomes
        .into_iter()
        .map(|mapped| match mapped.outcome {
            Outcome::Records(_) => "record".to_owned(),
            Outcome::Skipped(reason) => reason,
        })
        .collect();
    assert_eq!(reasons, ["record", "fund", "dissolved", "sole trader"]);
}

#[test]
fn sirene_without_denomination_is_a_sole_trader_and_nd_is_withheld() {
    let of = |name: &str| {
        json!({"siren": "005420021", "etatAdministratifUniteLegale": "A",
            "denominationUniteLegale": name})
    };
    assert_eq!(mapped("sirene", &of("")), "sole trader");
    assert_eq!(mapped("sirene", &of("[ND]")), "withheld");
    assert_eq!(mapped("sirene", &of("QUILL"))["ids"]["siren"], "005420021");
}

#[test]
fn brreg_website_has_no_scheme_and_numbers_are_norwegian() {
    let record = first("brreg/enheter_alle.json");
    assert_eq!(record["domains"], json!(["quillmark.example"]));
    assert_eq!(record["phones"], json!(["+4722123456", "+4741234567"]));
}

#[test]
fn kbo_is_joined_and_web_holds_two_sites() {
    let record = first("kbo/KboOpenData_0001_2025_06_Full");
    assert_eq!(record["name"], "Quillmark Vereniging");
    assert_eq!(record["domains"], json!(["quillmark.example", "shop.millpond.example"]));
    assert_eq!(record["phones"], json!(["+3223151351"]));
    assert_eq!(record["ids"], json!({"be": "0999065752"}));
}

#[test]
fn estonian_contacts_that_have_ended_are_left_out() {
    let record = first("ee/ettevotja_rekvisiidid__yldandmed.json");
    assert_eq!(record["domains"], json!(["quillmark.example"]));
    assert_eq!(record["phones"], json!(["+37251234567"]));
}

#[test]
fn offeneregister_reads_no_officers() {
    let record = first("offeneregister/de_companies_ocdata.jsonl");
    assert!(!record.to_string().contains("Mustermann"));
    assert_eq!(record["ids"]["de"], "HAMBURG_HRB150148");
}

#[test]
fn overture_facebook_ids_are_pages_and_brands_give_no_numbers() {
    let record = first("overture/places.geojson");
    assert_eq!(record["facebook"], "facebook.com/101332822166556");
    let branded = fixture("overture/places.geojson").mapped(&Settings::default()).remove(1);
    let Outcome::Records(records) = branded.outcome else { panic!("skipped") };
    assert!(!records[0].contains_key("phones") && !records[0].contains_key("domains"));
    let most = &Mapping::built_in("overture").unwrap().merge().most_of_a_domain;
    assert_eq!(most["phones"], 3);
}

#[test]
fn linkedin_connections_have_a_preamble_and_may_lack_the_last_name() {
    let outcomes = fixture("Connections.csv").mapped(&Settings::default());
    assert_eq!(outcomes[1].outcome, Outcome::Skipped("no last name".to_owned()));
}

#[test]
fn google_contacts_join_values_in_a_cell() {
    let record = first("google-contacts/contacts.csv");
    let emails = ["grace@quillmark.example", "grace@millpond.example", "g.m@millpond.example"];
    assert_eq!(record["emails"], json!(emails));
    assert_eq!(record["phones"], json!(["+12025550199"]));
}

#[test]
fn apollo_phones_begin_with_an_apostrophe() {
    assert_eq!(first("apollo/apollo-contacts.csv")["phones"], json!(["+491713920001"]));
}

#[test]
fn majestic_domains_are_in_punycode() {
    let outcomes = fixture("majestic/majestic_million.csv").mapped(&Settings::default());
    let Outcome::Records(records) = &outcomes[1].outcome else { panic!("skipped") };
    assert_eq!(records[0]["domain"], "xn--mhlteich-75a.example");
    assert_eq!(records[0]["page_rank"], "8.00");
}

#[test]
fn ranks_keep_domains_of_networks_and_platforms() {
    let record = json!({"rank": "1", "domain": "facebook.com"});
    assert_eq!(mapped("tranco", &record)["domain"], "facebook.com");
    let record = json!({"rank": "9", "domain": "quill.wixsite.com"});
    assert_eq!(mapped("tranco", &record)["domain"], "quill.wixsite.com");
}

#[test]
fn sec_lists_a_company_once_per_ticker_under_one_cik() {
    let outcomes = fixture("sec/company_tickers.json").mapped(&Settings::default());
    assert_eq!(outcomes[0].outcome, outcomes[1].outcome);
    let mapping = Mapping::built_in("sec").unwrap();
    let submissions = mapping.inputs().iter().find(|input| !input.member.is_empty()).unwrap();
    assert!(submissions.takes_member("CIK0000123456.json"));
    assert!(!submissions.takes_member("CIK0000123456-submissions-001.json"));
}

#[test]
fn ror_skips_inactive_and_withdrawn_organisations() {
    let outcomes = fixture("ror/v2.9-ror-data.json").mapped(&Settings::default());
    assert_eq!(outcomes[1].outcome, Outcome::Skipped("inactive".to_owned()));
}

#[test]
fn handles_of_linkedin_may_have_dots_in_sources_but_not_in_lists() {
    let page = json!("linkedin.com/company/quill-s.a.");
    let handle = json!({"P4264": [{"rank": "normal", "mainsnak": {"snaktype": "value",
        "property": "P4264", "datavalue": {"value": "quill-s.a.", "type": "string"}}}],
        "P856": [site("https://quill.example/", "normal", &json!({}))]});
    assert_eq!(mapped("wikidata", &entity(&handle))["linkedin"], page);
    let brand = json!({"@key": "Q900000101", "label": "Quill",
        "identities": {"linkedin": "quill-s.a.", "website": "https://quill.example/"}});
    assert_eq!(mapped("nsi", &brand)["linkedin"], page);
    let pairs =
        [("name", "a"), ("linkedin", "b")].map(|(field, column)| (field.into(), column.into()));
    let list = Mapping::from_columns(&pairs, None).unwrap();
    let row = json!({"a": "Quill", "b": "quill.example"});
    let Outcome::Records(found) = list.map(row.as_object().unwrap(), &Settings::default()).outcome
    else {
        panic!("skipped")
    };
    assert_eq!((&found[0]["domains"], found[0].get("linkedin")), (&json!(["quill.example"]), None));
}

#[test]
fn nsi_brands_are_only_attached() {
    let mapping = Mapping::built_in("nsi").unwrap();
    assert_eq!(mapping.inputs()[1].only_known, Some(true));
    assert!(!mapping.merge().only_known);
}

#[test]
fn registers_without_domains_are_only_attached() {
    for name in ["gleif", "companies-house", "sec", "sirene", "offeneregister", "sp500"] {
        assert!(Mapping::built_in(name).unwrap().merge().only_known, "{name}");
    }
}

#[test]
fn a_company_without_any_key_but_its_name_is_name_only() {
    let is_name_only = |record: Value| name_only(record.as_object().unwrap());
    assert!(is_name_only(json!({"type": "company", "name": "Quill", "country": "DE"})));
    assert!(!is_name_only(json!({"type": "company", "name": "Quill", "ids": {"lei": "x"}})));
    assert!(!is_name_only(
        json!({"type": "company", "name": "Quill", "domains": ["quill.example"]})
    ));
    assert!(!is_name_only(json!({"type": "domain", "domain": "quill.example"})));
}

#[test]
fn the_country_of_the_import_is_the_seat_and_the_region_of_numbers() {
    let mapping = Mapping::from_toml("[fields]\nname=\"a\"\nphones=\"b\"\n").unwrap();
    let settings = Settings { country: Some("DE".to_owned()), ..Settings::default() };
    let record = json!({"a": "Quill", "b": "030 23125001"});
    let Outcome::Records(records) = mapping.map(record.as_object().unwrap(), &settings).outcome
    else {
        panic!("skipped")
    };
    assert_eq!(records[0]["country"], "DE");
    assert_eq!(records[0]["phones"], json!(["+493023125001"]));
}

#[test]
fn salesforce_accounts_have_ids_and_several_sites() {
    let record = json!({"Account ID": "1", "Account Name": "Quill", "LEI": "QUILL000000000000107",
        "Website": "quill.example / inkwell.example", "Main Phone": "+1 202 555 0147"});
    let record = mapped("salesforce", &record);
    assert_eq!(record["ids"], json!({"lei": "QUILL000000000000107"}));
    assert_eq!(record["domains"], json!(["quill.example", "inkwell.example"]));
    assert_eq!(record["phones"], json!(["+12025550147"]));
}

/// Maps a record with a name, a country and phone numbers. Returns the numbers and the notes.
fn phones_of(country: &str, phones: &str, default: Option<&str>) -> (Value, Vec<Note>) {
    let text = "[fields]\nname=\"a\"\ncountry=\"c\"\nphones=\"b\"\n";
    let mapping = Mapping::from_toml(text).unwrap();
    let settings = Settings { country: default.map(str::to_owned), ..Settings::default() };
    let record = json!({"a": "Quill", "b": phones, "c": country});
    let mapped = mapping.map(record.as_object().unwrap(), &settings);
    let phones = match &mapped.outcome {
        Outcome::Records(records) => records[0].get("phones").cloned().unwrap_or_default(),
        Outcome::Skipped(reason) => reason.as_str().into(),
    };
    (phones, mapped.notes)
}

#[test]
fn a_column_of_email_addresses_may_also_have_websites() {
    let columns = ["Company", "E-mail"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], None).unwrap();
    let row = json!({"Company": "Quill", "E-mail": "a@quill.example, www.quill.example"});
    let mapped = found.mapping.map(row.as_object().unwrap(), &Settings::default());
    let Outcome::Records(records) = mapped.outcome else { unreachable!("{mapped:?}") };
    let read = (&records[0]["domains"], &records[0]["emails"]);
    assert_eq!(read, (&json!(["quill.example"]), &json!(["a@quill.example"])));
}

#[test]
fn a_column_of_websites_may_also_have_email_addresses() {
    let columns = ["Company", "Website", "Contact"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], None).unwrap();
    let row = json!({"Company": "Quill", "Website": "ada@quill.example", "Contact": "Ada Byte"});
    let mapped = found.mapping.map(row.as_object().unwrap(), &Settings::default());
    let Outcome::Records(records) = mapped.outcome else { unreachable!("{mapped:?}") };
    assert_eq!(records[0]["emails"], json!(["ada@quill.example"]));
    assert_eq!(records[1]["emails"], json!(["ada@quill.example"]));
    assert_eq!(records[1].get("domains"), None);
}

#[test]
fn names_beside_email_addresses_are_left_out() {
    let columns = ["Company", "E-mail"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], None).unwrap();
    let row = json!({"Company": "Quill", "E-mail": "Ada Byte <ada@quill.example>، b@ink.example"});
    let mapped = found.mapping.map(row.as_object().unwrap(), &Settings::default());
    let Outcome::Records(records) = mapped.outcome else { unreachable!("{mapped:?}") };
    assert_eq!(records[0]["emails"], json!(["ada@quill.example", "b@ink.example"]));
}

#[test]
fn a_second_ending_of_a_phone_number_is_left_out() {
    let number = (json!(["+442079460123"]), vec![]);
    for text in ["020 7946 0123 / 24", "020 7946 0123~4", "020 7946 0123 by day"] {
        assert_eq!(phones_of("GB", text, None), number, "{text}");
    }
    // Here, the digits after the last slash are a part of the number.
    for text in ["020 / 7946 / 0123", "020 / 7946 0 / 123"] {
        assert_eq!(phones_of("GB", text, None), number, "{text}");
    }
}

#[test]
fn a_national_number_of_an_unknown_country_is_left_out() {
    let national = (Value::Null, vec![Note::NationalPhone]);
    assert_eq!(phones_of("", "(202) 555-0152", None), national);
    let washington = json!(["+12025550152"]);
    assert_eq!(phones_of("US", "(202) 555-0152", None), (washington.clone(), vec![]));
    assert_eq!(phones_of("", "(202) 555-0152", Some("US")), (washington.clone(), vec![]));
    assert_eq!(phones_of("", "+1 202 555 0152", None), (washington, vec![]));
    // `Quillmark` is not a country. The default country `US` does not replace it.
    let (phones, notes) = phones_of("Quillmark", "(202) 555-0152", Some("US"));
    assert_eq!(phones, Value::Null);
    assert_eq!(notes, [Note::UnknownCountry, Note::NationalPhone]);
}

#[test]
fn a_national_number_that_its_country_does_not_have_is_left_out() {
    let foreign = (Value::Null, vec![Note::ForeignPhone]);
    for (country, text) in [
        ("GB", "(202) 555-0161"),
        ("FR", "(202) 555-0161"),
        ("US", "08-465 004 51"),
        ("US", "030 23125 011"),
        ("GB", "415 555 0154"),
    ] {
        assert_eq!(phones_of(country, text, None), foreign, "{text} in {country}");
        assert_eq!(phones_of("", text, Some(country)), foreign, "{text} in {country}");
    }
    assert_eq!(phones_of("GB", "+1 202 555 0161", None), (json!(["+12025550161"]), vec![]));
}

#[test]
fn the_website_of_a_mail_provider_is_left_out() {
    let text = "[fields]\nname=\"a\"\ndomains=\"b\"\n[[also]]\ntype=\"person\"\n[also.fields]\n\
        full_name=\"p\"\ncompany=\"a\"\ncompany_domain=\"b\"\n";
    let mapping = Mapping::from_toml(text).unwrap();
    let record = json!({"a": "Quill", "b": "https://gmail.com/", "p": "Ada Byte"});
    let mapped = mapping.map(record.as_object().unwrap(), &Settings::default());
    let Outcome::Records(records) = mapped.outcome else { panic!("skipped") };
    assert_eq!((records[0].get("domains"), records[1].get("company_domain")), (None, None));
    // The mapping makes a company and a person from the input record. Both take the website from
    // the same column, so there is only one note.
    assert_eq!(mapped.notes, [Note::MailProvider]);
    let record = json!({"a": "Gmail", "b": "https://gmail.com/"});
    let mapped = mapping.map(record.as_object().unwrap(), &Settings::default());
    let Outcome::Records(records) = mapped.outcome else { panic!("skipped") };
    assert_eq!(records[0]["domains"], json!(["gmail.com"]));
}

#[test]
fn a_role_address_is_not_a_persons() {
    let text = "[record]\ntype=\"person\"\n[fields]\nfull_name=\"a\"\nemails=[\"b\", \"c\"]\n";
    let mapping = Mapping::from_toml(text).unwrap();
    let record = json!({"a": "Ada Byte", "b": "rechnung@quill.example", "c": "ada@quill.example"});
    let mapped = mapping.map(record.as_object().unwrap(), &Settings::default());
    let Outcome::Records(records) = mapped.outcome else { panic!("skipped") };
    assert_eq!(records[0]["emails"], json!(["ada@quill.example"]));
    assert_eq!(mapped.notes, [Note::RoleAddress]);
}

#[test]
fn a_cell_may_have_several_numbers_between_slashes() {
    let two = json!(["+442079460101", "+442079460102"]);
    let (phones, _) = phones_of("Royaume-Uni", "020 7946 0101 / 020 7946 0102", None);
    assert_eq!(phones, two);
    let (phones, _) = phones_of("GB", "Tel. 020 7946 0101 (mobil), Fax 020 7946 0103", None);
    assert_eq!(phones, json!(["+442079460101"]));
    let (phones, _) = phones_of("GB", "020 7946 0101 - 020 7946 0102", None);
    assert_eq!(phones, two);
    let (phones, _) = phones_of("D", "030 / 23125-001", None);
    assert_eq!(phones, json!(["+493023125001"]));
    let (phones, _) = phones_of("D", "030 - 23125001", None);
    assert_eq!(phones, json!(["+493023125001"]));
}

#[test]
fn a_number_gets_the_area_code_of_its_row() {
    let columns = ["Firma", "Land", "Vorwahl", "Telefon", "Handy"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], None).unwrap();
    assert!(found.unused.is_empty(), "{:?}", found.unused);
    let phones = |area_code: &str, phone: &str, mobile: &str| {
        let record = json!({"Firma": "Quill", "Land": "DE", "Vorwahl": area_code, "Telefon": phone,
            "Handy": mobile});
        match found.mapping.map(record.as_object().unwrap(), &Settings::default()).outcome {
            Outcome::Records(records) => records[0]["phones"].clone(),
            Outcome::Skipped(reason) => reason.into(),
        }
    };
    assert_eq!(phones("030", "23125-001", ""), json!(["+493023125001"]));
    assert_eq!(phones("030", "23125001; 23125002", ""), json!(["+493023125001", "+493023125002"]));
    assert_eq!(phones("030", "030/23125001", ""), json!(["+493023125001"]));
    assert_eq!(phones("030", "+49 30 23125001", ""), json!(["+493023125001"]));
    let two = json!(["+493023125001", "+491713920001"]);
    assert_eq!(phones("030", "23125001", "0171 3920001"), two);
}

#[test]
fn gleif_xml_elements_that_occur_once_are_no_lists() {
    let name = json!({"@xml:lang": "fr", "@type": "PREVIOUS_LEGAL_NAME", "$": "Ancienne Quill SA"});
    let record = json!({"LEI": {"$": "QUILL000000000000107"}, "Entity": {
        "LegalName": {"@xml:lang": "en", "$": "Quill SA"},
        "OtherEntityNames": {"OtherEntityName": name},
        "LegalAddress": {"Country": {"$": "BE"}},
        "EntityStatus": {"$": "ACTIVE"}}});
    let record = mapped("gleif", &record);
    assert_eq!(record["aliases"], json!(["Ancienne Quill SA"]));
    assert_eq!(record["country"], "BE");
}

#[test]
fn nsi_brands_are_known_by_their_item_and_not_by_their_path() {
    let record = json!({"@key": "brands/shop/books", "id": "quill-1", "displayName": "Quill",
        "tags": {"brand": "Quill", "brand:wikidata": "Q900000101"}});
    assert_eq!(mapped("nsi", &record)["ids"], json!({"wikidata": "Q900000101"}));
}

#[test]
fn an_unknown_country_is_not_replaced_by_that_of_the_source() {
    let record = json!({"CompanyName": "QUILL", "CompanyNumber": "FC012345",
        "CountryOfOrigin": "CHANNEL ISLANDS"});
    assert_eq!(mapped("companies-house", &record).get("country"), None);
}

#[test]
fn columns_of_a_customer_database_are_known_by_synonyms() {
    let record = json!({"Record ID": "1", "Vorname": "", "First Name": "Ada",
        "Last Name": "Fernwright", "E-Mail": "ada@quillmark.example", "Handy": "+49 171 3920001",
        "Berufsbezeichnung": "Head of Data", "Firma": "Quillmark"});
    let expected = json!({"type": "person", "id": "contact-1", "first_name": "Ada",
        "last_name": "Fernwright", "title": "Head of Data", "company": "Quillmark",
        "emails": ["ada@quillmark.example"], "phones": ["+491713920001"], "confidence": 80});
    assert_eq!(mapped("hubspot", &record), expected);
}

#[test]
fn hubspot_contacts_without_a_whole_name_give_their_company() {
    let contact = |first: &str, last: &str| {
        json!({"Record ID": "7", "First Name": first, "Last Name": last, "Company Name": "Quillmark",
            "Email": "info@quillmark.example", "Website URL": "quillmark.example",
            "Phone Number": "+49 30 23125001"})
    };
    let company = json!({"type": "company", "id": "company-of-contact-7", "name": "Quillmark",
        "domains": ["quillmark.example"], "confidence": 80});
    assert_eq!(mapped("hubspot", &contact("Ada", "")), company);
    assert_eq!(mapped("hubspot", &contact("", "Byte")), company);
    let whole = mapped("hubspot", &contact("", "--"));
    assert_eq!(whole["emails"], json!(["info@quillmark.example"]));
    assert_eq!(whole["phones"], json!(["+493023125001"]));
    assert_eq!(mapped("hubspot", &contact("Ada", "Byte"))["type"], "person");
    let nothing =
        json!({"Record ID": "8", "First Name": "", "Last Name": "", "Company Name": "--"});
    assert_eq!(mapped("hubspot", &nothing), "no name");
}

#[test]
fn brreg_branches_are_not_companies() {
    let record = json!({"organisasjonsnummer": "999999042", "navn": "QUILLMARK ASA AVD OSLO",
        "organisasjonsform": {"kode": "BEDR"}, "overordnetEnhet": "999999018"});
    assert_eq!(mapped("brreg", &record), "branch");
}

#[test]
fn ror_csv_has_several_values_and_languages_in_a_cell() {
    let record = json!({"id": "https://ror.org/0qvmr1241", "names.types.ror_display": "Quill U",
        "names.types.label": "en: Quill University; fr: Université Quill",
        "names.types.acronym": "no_lang_code: QU", "status": "active",
        "locations.geonames_details.country_code": "KR; JP"});
    let record = mapped("ror", &record);
    assert_eq!(record["aliases"], json!(["Quill University", "Université Quill", "QU"]));
    assert_eq!(record["country"], json!(["KR", "JP"]));
}

#[test]
fn wikidata_query_results_have_items_as_countries_and_ids_as_missing_labels() {
    let of = |label: &str| {
        json!({"item": "http://www.wikidata.org/entity/Q900000101", "itemLabel": label,
            "country": "http://www.wikidata.org/entity/Q183", "website": "https://quill.example/"})
    };
    assert_eq!(mapped("wikidata", &of("Quill"))["country"], "DE");
    assert_eq!(mapped("wikidata", &of("Q900000101")), "no name");
}
