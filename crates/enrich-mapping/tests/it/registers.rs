//! Tests of special cases in the data of registers: which records are skipped, and from which
//! fields names and ids come.

use enrich_mapping::{Detection, Mapping, Outcome, Sample, Settings, detect};
use serde_json::{Value, json};

/// Maps a record of a built-in source. Returns the first record that the mapping makes, or the
/// reason why it makes none.
fn mapped(source: &str, record: &Value) -> Value {
    let mapping = Mapping::built_in(source).unwrap();
    match mapping.map(record.as_object().unwrap(), &Settings::default()).outcome {
        Outcome::Records(mut records) => Value::Object(records.remove(0)),
        Outcome::Skipped(reason) => reason.into(),
    }
}

fn statement(value: &Value) -> Value {
    json!([{"mainsnak": {"snaktype": "value", "datavalue": {"value": value}}, "rank": "normal"}])
}

#[test]
fn wikidata_names_are_english_else_of_all_languages_else_any() {
    let site = statement(&json!("https://quill.example/"));
    let named = |labels: &Value| {
        let claims = json!({"P856": site});
        mapped("wikidata", &json!({"type": "item", "id": "Q1", "labels": labels, "claims": claims}))
    };
    let label = |text: &str| json!({"value": text});
    let all = json!({"fi": label("Sulka"), "mul": label("QUILL"), "en": label("Quill")});
    let record = named(&all);
    assert_eq!(record["name"], "Quill");
    assert_eq!(record["aliases"], json!(["Sulka", "QUILL"]));
    assert_eq!(named(&json!({"fi": label("Sulka"), "mul": label("QUILL")}))["name"], "QUILL");
    assert_eq!(named(&json!({"fi": label("Sulka")}))["name"], "Sulka");
    assert_eq!(named(&json!({})), "no name");
}

#[test]
fn wikidata_gives_official_names_contacts_and_ids() {
    let text = |text: &str| statement(&json!({"text": text, "language": "en"}));
    let claims = json!({
        "P856": statement(&json!("https://quill.example/")),
        "P1448": text("Quill Incorporated"), "P1813": text("QI"), "P1705": text("Quill Oy"),
        "P17": statement(&json!({"entity-type": "item", "numeric-id": 33})),
        "P968": statement(&json!("mailto:info@quill.example")),
        "P1329": statement(&json!("+358 9 5551234")),
        "P2397": statement(&json!("UCabcdefghijklmnopqrstuv")),
        "P11245": statement(&json!("quill")),
        "P1278": statement(&json!("529900T8BM49AURSDO55")),
        "P1616": statement(&json!("005420021")), "P2333": statement(&json!("974760673")),
        "P3376": statement(&json!("0403.170.701")), "P2622": statement(&json!("SC123456")),
        "P1320": statement(&json!("fi/1234567-8")), "P5531": statement(&json!("0000320193")),
    });
    let entity = json!({"type": "item", "id": "Q1", "labels": {"en": {"value": "Quill"}},
        "aliases": {"en": [{"value": "The Quill"}]}, "claims": claims});
    let record = mapped("wikidata", &entity);
    let aliases = json!(["The Quill", "Quill Incorporated", "QI", "Quill Oy"]);
    assert_eq!(record["aliases"], aliases);
    assert_eq!(record["country"], "FI");
    assert_eq!(record["emails"], json!(["info@quill.example"]));
    assert_eq!(record["phones"], json!(["+35895551234"]));
    let pages = json!(["youtube.com/channel/UCabcdefghijklmnopqrstuv", "youtube.com/@quill"]);
    assert_eq!(record["youtube"], pages);
    let ids = json!({"wikidata": "Q1", "lei": "529900T8BM49AURSDO55", "cik": "320193",
        "gb": "SC123456", "siren": "005420021", "no": "974760673", "be": "0403170701",
        "opencorporates": "fi/1234567-8"});
    assert_eq!(record["ids"], ids);
}

#[test]
fn registers_skip_what_is_no_company_any_more() {
    let brreg = |fields: Value| {
        let mut record = json!({"organisasjonsnummer": "974760673", "navn": "QUILL AS",
            "organisasjonsform": {"kode": "AS"}});
        record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        mapped("brreg", &record)
    };
    assert_eq!(brreg(json!({"konkurs": false}))["ids"]["no"], "974760673");
    assert_eq!(brreg(json!({"konkurs": true})), "bankrupt");
    assert_eq!(brreg(json!({"slettedato": "2024-01-01"})), "dissolved");
    assert_eq!(brreg(json!({"organisasjonsform": {"kode": "ENK"}})), "sole trader");
    let sirene = json!({"siren": "005420021", "etatAdministratifUniteLegale": "C",
        "denominationUniteLegale": "QUILL"});
    assert_eq!(mapped("sirene", &sirene), "dissolved");
    let removed = json!({"company_number": "K1101R_HRB150148", "current_status": "removed",
        "jurisdiction_code": "de", "name": "Quill GmbH", "all_attributes": {}});
    assert_eq!(mapped("offeneregister", &removed), "dissolved");
    for status in ["inactive", "withdrawn"] {
        let ror = json!({"id": "https://ror.org/00nss6615", "status": status,
            "names": [{"types": ["ror_display"], "value": "Quill"}]});
        assert_eq!(mapped("ror", &ror), "inactive");
    }
    let lapsed = json!({"LEI": "529900T8BM49AURSDO55", "Entity.LegalName": "Quill",
        "Entity.EntityStatus": "ACTIVE", "Registration.RegistrationStatus": "LAPSED"});
    assert_eq!(mapped("gleif", &lapsed)["name"], "Quill");
}

#[test]
fn pdl_websites_may_be_absent_or_have_a_path() {
    let of = |website: Value| {
        mapped("pdl", &json!({"id": "quill", "name": "quill oy", "website": website}))
    };
    assert_eq!(of(Value::Null).get("domains"), None);
    assert_eq!(of(json!("quill.example/en/home"))["domains"], json!(["quill.example"]));
}

#[test]
fn kbo_names_are_the_legal_one_else_that_of_trade_and_abbreviations_are_aliases() {
    let of = |names: &[(&str, &str)]| {
        let name =
            |(kind, name): &(&str, &str)| json!({"TypeOfDenomination": kind, "Denomination": name});
        mapped(
            "kbo",
            &json!({"@key": "0403.170.701",
            "enterprise": [{"Status": "AC", "TypeOfEnterprise": "2"}],
            "denomination": names.iter().map(name).collect::<Vec<_>>()}),
        )
    };
    let record = of(&[("002", "QM"), ("003", "Quill Shop"), ("001", "Quillmark")]);
    assert_eq!(record["name"], "Quillmark");
    assert_eq!(record["aliases"], json!(["QM", "Quill Shop"]));
    assert_eq!(of(&[("002", "QM"), ("003", "Quill Shop")])["name"], "Quill Shop");
    assert_eq!(of(&[("002", "QM")])["name"], "QM");
    assert_eq!(of(&[]), "no name");
}

fn detected(file_name: &str, members: &[&str]) -> String {
    let members: Vec<String> = members.iter().map(|name| (*name).to_owned()).collect();
    let sample = Sample { file_name, members: &members, ..Sample::default() };
    match detect(&sample) {
        Detection::BuiltIn(mapping, input) => {
            format!("{} {}", mapping.source().name, input.member.join(" "))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn archives_with_several_files_are_known_by_their_name_or_their_files() {
    for (file_name, members, expected) in [
        (
            "submissions.zip",
            &["CIK0000123456.json", "CIK0000123456-submissions-001.json"][..],
            "sec CIK*.json",
        ),
        (
            "v2.9-2026-09-01-ror-data.zip",
            &["v2.9-ror-data.csv", "v2.9-ror-data.json"],
            "ror *ror-data*.json",
        ),
        ("download.zip", &["v2.9-ror-data.csv", "v2.9-ror-data.json"], "ror *ror-data*.json"),
        (
            "BasicCompanyData-2026-01-01-part1_7.zip",
            &["BasicCompanyData-2026-01-01-part1_7.csv", "readme.txt"],
            "companies-house BasicCompanyData*.csv",
        ),
        ("any.zip", &["code.csv", "contact.csv", "denomination.csv", "enterprise.csv"], "kbo "),
        ("any.zip", &["contact.csv", "enterprise.csv"], "Unknown"),
    ] {
        assert_eq!(detected(file_name, members), expected, "{file_name}");
    }
}
