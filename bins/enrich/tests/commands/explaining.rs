//! Tests of two options of `enrich lookup`. `--min-confidence` sets the minimum confidence of an
//! answer to a look-up by name. `--explain` prints the reasons for the confidence.

use serde_json::{Value, json};

use crate::fixture::{ADA, Fixture, QUILL, Ran};

/// Companies with names that are similar to each other.
const INKS: &str = r#"{"type":"company","name":"Quill Ink Works Ltd","country":"GB","domains":["quill-ink-works.example"]}
{"type":"company","name":"Quillfeather GmbH","aliases":["Quillfeather Ink"],"country":"DE","domains":["quillfeather.example"]}
{"type":"company","name":"Sorrel","country":"GB","domains":["sorrel-one.example"]}
{"type":"company","name":"Sorrel","country":"FR","domains":["sorrel-two.example"]}
"#;

/// A company from a source with a low confidence.
const DOUBTFUL: &str = r#"{"type":"company","name":"Marsh Marlow Tannery","domains":["marsh-marlow.example"],"confidence":60}"#;

/// A misspelt name that is similar enough to be found.
const NEAR: &str = "companyName=Quill Inkk Works";
/// A name that is similar to a company's name, but probably doesn't mean this company.
const FAR: &str = "companyName=Brass Ink Traders";

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.file("records.jsonl", format!("{QUILL}\n{ADA}\n{INKS}"));
    assert_eq!(fixture.run(&["import", "records.jsonl"]).status, 0);
    fixture
}

/// Returns the value of `url` in the answer of a look-up: the domain of the company that was found.
fn url(ran: &Ran) -> String {
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.json()["url"].as_str().unwrap().to_owned()
}

/// Returns the JSON of a look-up with its explanation.
fn explained(fixture: &Fixture, words: &[&str]) -> Value {
    let said = fixture.json(&[&["lookup", "--explain"], words].concat());
    assert!(said["body"].is_object(), "{said}");
    said["explained"].clone()
}

fn reason(explained: &Value) -> &str {
    explained["reason"].as_str().unwrap()
}

#[test]
fn the_least_confidence_decides_what_is_found() {
    let fixture = fixture();
    let at = |asked: &str, least: &str| {
        url(&fixture.run(&["lookup", "cuf", asked, "--min-confidence", least]))
    };
    assert_eq!(url(&fixture.run(&["lookup", "cuf", NEAR])), "quill-ink-works.example");
    assert_eq!(at(NEAR, "85"), "quill-ink-works.example");
    assert_eq!(at(NEAR, "100"), "");
    assert_eq!(url(&fixture.run(&["lookup", "cuf", FAR])), "");
    assert_eq!(at(FAR, "1"), "quill-ink-works.example");
    // If only one company has exactly this name, the confidence is from 90 to 99.
    assert_eq!(at("companyName=Quill Ltd", "90"), "quill.example");
    assert_eq!(at("companyName=Quill Ltd", "100"), "");
    // `--min-confidence` doesn't apply to look-ups by an identifier, because identifiers are not
    // compared by similarity.
    let by_domain = ["lookup", "dte", "companyDomain=quill.example", "--min-confidence", "100"];
    assert_eq!(fixture.run(&by_domain).json()["emails"][0], "info@quill.example");
}

#[test]
fn the_least_confidence_may_be_an_environment_variable() {
    let fixture = fixture();
    let with = |least: &str, words: &[&str]| -> Ran {
        fixture.command(words).env("ENRICH_MIN_CONFIDENCE", least).output().unwrap().into()
    };
    assert_eq!(url(&with("100", &["lookup", "cuf", NEAR])), "");
    let flag = ["lookup", "cuf", NEAR, "--min-confidence", "50"];
    assert_eq!(url(&with("100", &flag)), "quill-ink-works.example");
    with("none", &["lookup", "cuf", NEAR]).refused(2, "a whole number from 1 to 100");
}

#[test]
fn a_confidence_that_cannot_be_is_a_wrong_command_line() {
    let fixture = fixture();
    for least in ["0", "101", "-1", "85.5", "high", ""] {
        let flag = format!("--min-confidence={least}");
        let ran = fixture.run(&["lookup", "cuf", NEAR, &flag]);
        ran.refused(2, "it is a whole number from 1 to 100");
        assert!(ran.err.contains("--min-confidence"), "{ran:?}");
    }
}

/// Checks only the order of the parts of the explanation. Its numbers depend on the weights of the
/// features, and another test compares complete texts.
#[test]
fn a_comparison_is_explained_for_people() {
    let fixture = fixture();
    let ran = fixture.run(&["lookup", "cuf", NEAR, "--explain"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let looked_up = fixture.run(&["lookup", "cuf", NEAR]);
    let explained = explained(&fixture, &["cuf", NEAR]);
    let first = &explained["company_name"]["candidates"][0];
    let heaviest = first["features"][0]["feature"].as_str().unwrap();
    let sure = explained["found"]["confidence"].as_u64().unwrap();
    let mut rest = ran.out.strip_prefix(looked_up.out.as_str()).unwrap();
    for part in [
        "\nRead as: the company named \"Quill Inkk Works\" (compared as \"quill inkk works\")\n",
        " companies were compared:\n\nCONFIDENCE  COMPANY ",
        &format!("\n{sure:>10}  Quill Ink Works Ltd "),
        &format!("\n\nQuill Ink Works Ltd, {sure}:\n  FEATURE "),
        &format!("\n  {heaviest} "),
        &format!("\nFound: Quill Ink Works Ltd (quill-ink-works.example), {sure}: the likeliest\n"),
    ] {
        let at = rest.find(part);
        assert!(at.is_some(), "{part:?} is not in its place: {}", ran.out);
        rest = &rest[at.unwrap() + part.len() - 1..];
    }
    assert_eq!(rest, "\n");
}

#[test]
fn a_look_up_without_a_comparison_is_explained_for_people() {
    let fixture = fixture();
    let text = |words: &[&str]| fixture.run(&[&["lookup", "--explain"], words].concat()).out;
    let all = [
        text(&["cuf", "companyName=QUILL"]),
        text(&["cuf", "companyName=Nobody & Sons"]),
        text(&["lcuf", "companyName=Quill Ink Works"]),
        text(&["etl", "email=ada@quill.example"]),
        text(&["lpuf", "personName=Ada Penn", "companyName=Quill Ltd"]),
        text(&["dte", "companyDomain=localhost"]),
    ];
    insta::assert_snapshot!("without_comparison", all.join("----\n"));
}

#[test]
fn the_json_holds_every_company_and_every_feature() {
    let fixture = fixture();
    let explained = explained(&fixture, &["cuf", NEAR]);
    assert_eq!(explained["min_confidence"], 90);
    assert_eq!(explained["is_answered"], true);
    assert_eq!(explained["found"]["domain"], "quill-ink-works.example");
    assert_eq!(reason(&explained), "the likeliest");
    let by_name = &explained["company_name"];
    assert_eq!(
        (&by_name["name"], &by_name["country"], &by_name["only_bearer"]),
        (&json!("Quill Inkk Works"), &Value::Null, &Value::Null)
    );
    let candidates = by_name["candidates"].as_array().unwrap();
    assert!(candidates.len() >= 2, "{candidates:?}");
    let confidences: Vec<_> = candidates.iter().map(|one| one["confidence"].as_u64()).collect();
    assert!(confidences.is_sorted_by(|one, next| one >= next), "{confidences:?}");
    assert_eq!(candidates[0]["company"], "Quill Ink Works Ltd");
    assert_eq!(candidates[0]["confidence"], explained["found"]["confidence"]);
    for candidate in candidates {
        let features = candidate["features"].as_array().unwrap();
        assert!(features.len() > 6, "{candidate}");
        let effects = features.iter().map(|one| {
            let of = |name: &str| one[name].as_f64().unwrap();
            assert!((of("value") * of("weight") - of("effect")).abs() < 1e-9, "{one}");
            of("effect")
        });
        let sum: f64 = effects.sum();
        assert!((sum - candidate["score"].as_f64().unwrap()).abs() < 1e-9, "{candidate}");
    }
}

#[test]
fn the_reason_says_what_stood_in_the_way() {
    let fixture = fixture();
    let of = |words: &[&str]| explained(&fixture, words);
    let far = of(&["cuf", FAR]);
    assert_eq!((reason(&far), &far["found"]), ("below the least confidence (90)", &Value::Null));

    let only = of(&["cuf", "companyName=Quill", "--min-confidence", "100"]);
    assert_eq!(reason(&only), "below the least confidence (100)");
    assert_eq!(only["company_name"]["only_bearer"]["domain"], "quill.example");

    let shared = of(&["cuf", "companyName=Sorrel"]);
    assert_eq!(shared["company_name"]["only_bearer"], Value::Null);
    assert_eq!(reason(&shared), "another company is exactly as likely, Sorrel");
    let shared = of(&["cuf", "companyName=Sorrel", "--min-confidence", "1"]);
    assert_eq!(shared["found"], Value::Null, "{shared}");

    let abroad = ["name_to_domain", "company_name=Quill Inkk Works", "country_code=CH"];
    let abroad = of(&abroad);
    let expected = "no company with such a name has a domain of Switzerland (CH)";
    assert_eq!(reason(&abroad), expected);
    assert_eq!(abroad["company_name"]["country"], "CH");

    fixture.file("doubtful.jsonl", DOUBTFUL);
    assert_eq!(fixture.run(&["import", "doubtful.jsonl"]).status, 0);
    let doubtful = of(&["cuf", "companyName=Marsh Maralow Tannery"]);
    let expected = "the likeliest; the source that says its name is trusted no more";
    assert_eq!((reason(&doubtful), &doubtful["found"]["confidence"]), (expected, &json!(60)));

    let nobody = of(&["cuf", "companyName=Zzyxq"]);
    assert_eq!(reason(&nobody), "no company has a name like it");
}

#[test]
fn the_employer_of_a_person_is_explained() {
    let fixture = fixture();
    let at = |company: &str| {
        let company = format!("companyName={company}");
        explained(&fixture, &["pite", "personName=Ada Penn", &company])
    };
    let by_name = at("Quill");
    assert_eq!(by_name["company_name"]["is_employer"], true);
    assert_eq!(by_name["company_name"]["only_bearer"]["name"], "Quill Ltd");
    assert_eq!(by_name["found"]["name"], "Ada Penn");
    // A known domain is looked up as a domain. An unknown domain may be a name, so it is compared
    // with names.
    assert_eq!(at("quill.example")["company_name"], Value::Null);
    assert_eq!(at("quil.example")["company_name"]["name"], "quil.example");
}

#[test]
fn fields_that_cannot_be_used_are_explained_by_their_body() {
    let fixture = fixture();
    let ran = fixture.run(&["lookup", "cuf", "companyName=", "--explain", "--json"]);
    assert_eq!(ran.status, 1);
    let said = ran.json();
    assert!(said["body"]["fields"].is_object(), "{said}");
    assert_eq!(said["explained"], Value::Null);
}
