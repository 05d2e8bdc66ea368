//! Checks which records are read from JSON Lines.

use enrich_core::{CompanyRecord, Record};

use crate::memory::{dropped, imported, rejection, texts};

const FILE: &str = "test.jsonl";

/// Returns the only company of a line. Asserts that no value was dropped.
fn company(line: &str) -> CompanyRecord {
    let (report, mut records) = imported(FILE, line);
    assert_eq!(report.dropped_values, [], "{line}");
    match records.pop() {
        Some(Record::Company(company)) => company,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_company_is_read_with_every_field() {
    let company = company(
        r#"{"type":"company","id":17,"confidence":90,"name":"Quill GmbH","aliases":["QUILL"],
        "country":["DE","aut","Switzerland"],
        "domains":["https://www.Quill.example/imprint",{"domain":"quill.at","country":"AT"}],
        "linkedin":"https://www.linkedin.com/company/quill/","twitter":["@quill","quillhelp"],
        "emails":"Hello@Quill.example","phones":["+44 20 7946 0123",442079460124],
        "ip":"192.0.2.7","page_rank":5.20}"#
            .replace('\n', " ")
            .as_str(),
    );
    assert_eq!(company.name.display(), "Quill GmbH");
    assert_eq!(company.origin.id.as_deref(), Some("17"));
    assert_eq!(company.origin.confidence.percent(), 90);
    assert_eq!(texts(&company.aliases), ["QUILL"]);
    assert_eq!(texts(&company.seats), ["DE", "AT", "CH"]);
    let sites: Vec<_> =
        company.sites.iter().map(|(domain, country)| (domain.as_str(), *country)).collect();
    assert_eq!(sites[0], ("quill.example", None));
    assert_eq!(sites[1].0, "quill.at");
    assert_eq!(sites[1].1.unwrap().alpha2(), "AT");
    let pages = ["linkedin.com/company/quill", "twitter.com/quill", "twitter.com/quillhelp"];
    assert_eq!(texts(&company.pages), pages);
    assert_eq!(texts(&company.emails), ["hello@quill.example"]);
    assert_eq!(texts(&company.phones), ["+442079460123", "+442079460124"]);
    assert_eq!(company.ip.unwrap().to_string(), "192.0.2.7");
    assert_eq!(company.page_rank.as_deref(), Some("5.20"));
}

#[test]
fn a_person_is_read_with_every_field() {
    let line = r#"{"type":"person","first_name":" Ada ","last_name":"Lovelace","title":"Engineer",
        "company":"Quill","company_domain":"quill.example","country":"UK",
        "linkedin":"linkedin.com/in/ada","emails":["ada@quill.example"],"phones":"+447700900123"}"#;
    let (report, records) = imported(FILE, line.replace('\n', " "));
    assert_eq!(report.dropped, 0);
    let [Record::Person(person)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((person.first_name.as_str(), person.last_name.as_str()), ("Ada", "Lovelace"));
    assert_eq!(person.title.as_deref(), Some("Engineer"));
    let employer = person.employer.as_ref().unwrap();
    assert_eq!(employer.name.as_ref().unwrap().display(), "Quill");
    assert_eq!(employer.domain.as_ref().unwrap().as_str(), "quill.example");
    assert_eq!(person.country.unwrap().alpha2(), "GB");
    assert_eq!(person.page.as_ref().unwrap().as_str(), "linkedin.com/in/ada");
    assert_eq!(texts(&person.emails), ["ada@quill.example"]);
    assert_eq!(texts(&person.phones), ["+447700900123"]);
}

#[test]
fn a_person_without_an_employer_has_none() {
    let (_, records) =
        imported(FILE, r#"{"first_name":"Ada","last_name":"Lovelace","company":""}"#);
    let [Record::Person(person)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(person.employer, None);
}

#[test]
fn facts_of_a_domain_need_no_company() {
    let line = r#"{"type":"domain","domain":"quill.example","ip":"2001:db8::7","page_rank":"5.2"}"#;
    let (_, records) = imported(FILE, line);
    let [Record::Domain(facts)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(facts.domain.as_str(), "quill.example");
    assert_eq!(facts.ip.unwrap().to_string(), "2001:db8::7");
    assert_eq!(facts.page_rank.as_deref(), Some("5.2"));
}

#[test]
fn of_a_long_list_the_first_thousand_values_are_read() {
    let list = |value: &dyn Fn(usize) -> String| {
        (0..1_003).map(value).map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",")
    };
    let aliases = list(&|number| format!("Quill {number}"));
    let domains = list(&|number| format!("quill{number}.example"));
    let line = format!(r#"{{"name":"Quill","aliases":[{aliases}],"domains":[{domains}]}}"#);
    let (report, records) = imported(FILE, line);
    let [Record::Company(company)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((company.aliases.len(), company.sites.len()), (1_000, 1_000));
    assert_eq!(company.aliases[999].display(), "Quill 999");
    let dropped: Vec<_> =
        report.dropped_values.iter().map(|values| (values.field, values.count)).collect();
    assert_eq!((report.dropped, dropped), (6, vec![("domains", 3), ("aliases", 3)]));
    assert_eq!(
        report.dropped_values[0].reason.to_string(),
        "a list has at most 1000 values; the rest is left out"
    );
}

#[test]
fn a_number_keeps_the_digits_it_was_given_in() {
    for digits in ["5.20", "10", "1e3", "0.10000000000000000555", "123456789012345678901234567890"]
    {
        let line = format!(r#"{{"domain":"quill.example","page_rank":{digits}}}"#);
        let (_, records) = imported(FILE, line);
        let [Record::Domain(facts)] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!(facts.page_rank.as_deref(), Some(digits));
    }
}

#[test]
fn a_missing_type_is_told_by_the_fields() {
    let cases = [
        (r#"{"first_name":"Ada","last_name":"Lovelace","name":"Ada Lovelace"}"#, "person"),
        (r#"{"name":"Quill","domain":"quill.example"}"#, "company"),
        (r#"{"domain":"quill.example"}"#, "domain"),
        (r#"{"type":null,"domain":"quill.example"}"#, "domain"),
        (r#"{"type":" Company ","name":"Quill"}"#, "company"),
    ];
    for (line, expected) in cases {
        let (_, records) = imported(FILE, line);
        let kind = match records.as_slice() {
            [Record::Company(_)] => "company",
            [Record::Person(_)] => "person",
            [Record::Domain(_)] => "domain",
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(kind, expected, "{line}");
    }
}

#[test]
fn a_type_that_says_something_else_rejects_no_line() {
    let text = r#"{"type":"GmbH","name":"Quill"}
{"type":"Customer","first_name":"Ada","last_name":"Lovelace"}
{"type":7,"domain":"quill.example"}
{"type":["a","b"],"name":"Ink"}
"#;
    let (report, records) = imported(FILE, text);
    assert_eq!(report.rejected, 0, "{report:?}");
    assert!(
        matches!(
            records.as_slice(),
            [Record::Company(_), Record::Person(_), Record::Domain(_), Record::Company(_)]
        ),
        "{records:?}"
    );
    assert!(report.ignored_fields.contains("type"), "{:?}", report.ignored_fields);
}

#[test]
fn a_line_is_rejected_for_a_reason() {
    let cases = [
        ("{", "the line is not valid JSON, from column 1"),
        (r#"{"name":"Quill"} x"#, "the line is not valid JSON, from column 18"),
        ("Quill", "the line is not valid JSON, from column 1"),
        (r#"["Quill"]"#, "the line is not a JSON object"),
        ("17", "the line is not a JSON object"),
        (r#"{"name":"Quill","name":"Quill"}"#, "`name` is given twice"),
        (r#"{"name":"Quill","\u006eame":null}"#, "`name` is given twice"),
        (r#"{"type":"robot"}"#, "`type` is not `company`, `person` or `domain`"),
        (r#"{"type":1}"#, "`type` is not `company`, `person` or `domain`"),
        ("{}", "there is no `type`, and no `first_name`, `name` or `domain` that would imply it"),
        (r#"{"type":"company"}"#, "`name` is missing"),
        (r#"{"type":"company","name":null}"#, "`name` is missing"),
        (r#"{"type":"company","name":" "}"#, "`name` is missing"),
        (r#"{"type":"company","name":[]}"#, "`name` is missing"),
        (r#"{"name":7}"#, "`name` can't be read: this is not text"),
        (r#"{"name":{}}"#, "`name` can't be read: this is not text"),
        (r#"{"name":"\ud800"}"#, "`name` can't be read: this is not text"),
        (
            r#"{"name":["Quill","QUILL"]}"#,
            "`name` can't be read: only one value is allowed here, and several are given",
        ),
        (r#"{"first_name":"Ada"}"#, "`last_name` is missing"),
        (r#"{"type":"person","last_name":"Lovelace"}"#, "`first_name` is missing"),
        (
            r#"{"first_name":"A\u0007da","last_name":"Lovelace"}"#,
            "`first_name` can't be read: a text holds no control characters",
        ),
        (r#"{"type":"domain","ip":"192.0.2.7"}"#, "`domain` is missing"),
        (
            r#"{"domain":"localhost","ip":7}"#,
            "`domain` can't be read: a domain looks like `acme.example`; this has no dot",
        ),
    ];
    for (line, reason) in cases {
        assert_eq!(rejection(FILE, line), reason, "{line}");
    }
}

#[test]
fn bytes_that_are_no_text_reject_their_line_alone() {
    let bytes = b"{\"name\":\"Quill\"}\n{\"name\":\"Qu\xffill\"}\n{\"name\":\"Ink\"}\n";
    let (report, records) = imported(FILE, bytes);
    assert_eq!((report.read, report.rejected, records.len()), (3, 1, 2));
    assert_eq!(report.first_rejected[0].0, 2);
    assert_eq!(report.first_rejected[0].1.to_string(), "the line is not UTF-8");
}

#[test]
fn a_line_too_long_is_rejected_alone() {
    let long = format!(r#"{{"name":"Quill","x":"{}"}}"#, "x".repeat(2 * 1024 * 1024));
    let (report, records) = imported(FILE, format!("{long}\n{{\"name\":\"Ink\"}}\n"));
    assert_eq!((report.read, report.rejected, records.len()), (2, 1, 1));
    let (line, reason) = &report.first_rejected[0];
    assert_eq!((*line, reason.to_string().as_str()), (1, "the line is longer than 1048576 bytes"));
}

#[test]
fn a_bad_optional_value_is_dropped_and_the_rest_is_kept() {
    let cases = [
        (r#""ip":"192.0.2.300""#, "ip", "this is neither an IPv4 nor an IPv6 address"),
        (
            r#""ip":["192.0.2.1","192.0.2.2"]"#,
            "ip",
            "only one value is allowed here, and several are given",
        ),
        (r#""confidence":0"#, "confidence", "a confidence is a whole number from 1 to 100"),
        (r#""confidence":101"#, "confidence", "a confidence is a whole number from 1 to 100"),
        (r#""confidence":9.5"#, "confidence", "a confidence is a whole number from 1 to 100"),
        (r#""id":true"#, "id", "this is not text"),
        (r#""aliases":["QUILL",7]"#, "aliases", "this is not text"),
        (r#""page_rank":"\u0000""#, "page_rank", "a text holds no control characters"),
        (r#""domains":[{"country":"DE"}]"#, "domains", "this is not text"),
        (
            r#""domains":[{"domain":"a.example","domain":"b.example"}]"#,
            "domains",
            "this is not text",
        ),
        (r#""domains":[["quill.example"]]"#, "domains", "this is not text"),
    ];
    for (field, name, reason) in cases {
        let line = format!(r#"{{"name":"Quill","domains":"quill.example",{field}}}"#);
        let line = line.replace(r#""domains":"quill.example","domains""#, r#""domains""#);
        let (report, records) = imported(FILE, line.as_str());
        assert_eq!((report.added, report.dropped, records.len()), (1, 1, 1), "{line}");
        assert_eq!(dropped(&report), [(name, reason.to_owned(), 1)], "{line}");
    }
}

#[test]
fn what_a_value_can_not_be_read_as_is_told_by_its_reader() {
    let fields = [
        ("country", r#""Narnia""#),
        ("linkedin", r#""https://acme.example/quill""#),
        ("emails", r#""quill""#),
        ("phones", r#""call us""#),
        ("aliases", r#""\u200b""#),
    ];
    for (field, value) in fields {
        let (report, _) = imported(FILE, format!(r#"{{"name":"Quill","{field}":{value}}}"#));
        let dropped = dropped(&report);
        assert_eq!(dropped.len(), 1, "{field}");
        assert_eq!(dropped[0].0, field);
    }
}

#[test]
fn texts_for_no_value_count_as_absent() {
    let line = r#"{"name":"Quill","aliases":["\\N","(No value)"],"emails":"unknown"}"#;
    let (report, records) = imported(FILE, line);
    let [Record::Company(company)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((company.aliases.len(), report.dropped), (0, 0));
    let (report, _) = imported(FILE, r#"{"type":"company","name":"\\N"}"#);
    assert_eq!(report.first_rejected, [(1, enrich_import::Rejection::Missing("name"))]);
}

#[test]
fn a_domain_stays_when_its_country_is_unknown() {
    let line = r#"{"name":"Quill","domains":[{"domain":"quill.de","country":"Narnia"}]}"#;
    let (report, records) = imported(FILE, line);
    let [Record::Company(company)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(company.sites.len(), 1);
    assert_eq!(company.sites[0].1, None);
    assert_eq!(report.dropped, 1);
}

#[test]
fn facts_of_the_main_domain_go_with_it() {
    for domains in [r"[]", r#"["localhost","quill.example"]"#] {
        let line =
            format!(r#"{{"name":"Quill","domains":{domains},"ip":"192.0.2.7","page_rank":"5"}}"#);
        let (report, records) = imported(FILE, line);
        let [Record::Company(company)] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!((company.ip, company.page_rank.as_deref()), (None, None));
        let reason = "the record has no main domain that this value could belong to";
        let count = dropped(&report).iter().filter(|(_, text, _)| text == reason).count();
        assert_eq!(count, 2, "{domains}");
    }
}

#[test]
fn null_and_empty_are_absent() {
    let company = company(
        r#"{"name":"Quill","country":"","domains":[null,""],"emails":null,"ip":" ","id":null,
        "phones":[],"page_rank":"","confidence":null,"linkedin":[""]}"#
            .replace('\n', " ")
            .as_str(),
    );
    assert!(company.seats.is_empty() && company.sites.is_empty() && company.emails.is_empty());
    assert_eq!((company.origin.confidence.percent(), company.origin.id.as_deref()), (100, None));
}

#[test]
fn unknown_fields_are_ignored_and_named() {
    let (report, _) = imported(
        FILE,
        r#"{"type":"company","name":"Quill","domian":"quill.example","domain":"quill.example",
        "nested":{"name":"x","deep":[[[{"name":1}]]]}}"#
            .replace('\n', " "),
    );
    assert_eq!((report.added, report.dropped), (1, 0));
    let names: Vec<_> = report.ignored_fields.iter().map(String::as_str).collect();
    assert_eq!(names, ["domian", "nested"]);
}

#[test]
fn blank_lines_are_no_records_and_line_ends_may_be_either() {
    let (report, records) =
        imported(FILE, "\u{feff}\r\n{\"name\":\"Quill\"}\r\n\n  \t\n{\"name\":\"Ink\"}");
    assert_eq!((report.read, report.added, records.len()), (2, 2, 2));
}

#[test]
fn equal_lines_have_equal_hashes_whatever_is_around_them() {
    let (report, records) = imported(
        FILE,
        "{\"name\":\"Quill\"}\n  {\"name\":\"Quill\"}\r\n{\"name\":\"Quill\",\"x\":1}\n",
    );
    let hashes: Vec<_> = records.iter().map(|record| record.origin().content).collect();
    assert_eq!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
    assert_eq!((report.added, report.unchanged), (2, 1));
}

#[test]
fn singular_and_plural_of_a_field_mean_the_same() {
    let company = company(
        r#"{"name":"Quill","domain":"quill.example","email":"a@quill.example","website":"x.example"}"#,
    );
    assert_eq!(company.sites[0].0.as_str(), "quill.example");
    assert_eq!(texts(&company.emails), ["a@quill.example"]);
    let line =
        r#"{"name":"Quill","domain":{"domain":"quill.de","country":"DE"},"domains":["q.example"]}"#;
    let (report, records) = imported(FILE, line);
    let [Record::Company(company)] = records.as_slice() else { panic!("{records:?}") };
    let domains: Vec<_> = company.sites.iter().map(|(domain, _)| domain.as_str()).collect();
    assert_eq!((domains, report.dropped), (vec!["quill.de", "q.example"], 0));
    let (report, _) = imported(FILE, r#"{"name":"Quill","website":"quill.example"}"#);
    assert_eq!((report.name_only, report.unused_keys()), (1, vec!["website"]));
}

#[test]
fn ids_are_an_object_by_scheme_or_a_list_of_texts() {
    let ids = |json: &str| {
        let company = company(&format!(r#"{{"name":"Quill","ids":{json}}}"#));
        company.ids.iter().map(|id| id.as_str().to_owned()).collect::<Vec<_>>()
    };
    let both = ["wikidata:Q42", "cik:320193", "cik:17"];
    assert_eq!(ids(r#"{"wikidata":"q42","cik":[320193,"0017"],"lei":null}"#), both);
    assert_eq!(ids(r#"["wikidata:q42","cik:320193","CIK:17"]"#), both);
    assert_eq!(ids("null"), [""; 0]);
    let company = company(r#"{"name":"Quill Films","parent":"https://www.Quill.example"}"#);
    assert_eq!(company.parent.unwrap().as_str(), "quill.example");
}

#[test]
fn a_bad_id_is_dropped_and_the_others_are_kept() {
    let line =
        r#"{"name":"Quill","parent":"lei:1","ids":{"lei":"1","ror":true,"x":"7","a b":"1"}}"#;
    let (report, records) = imported(FILE, line);
    let [Record::Company(company)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(company.ids.iter().map(ToString::to_string).collect::<Vec<_>>(), ["x:7"]);
    assert_eq!((report.dropped, company.parent.as_ref()), (4, None));
}
