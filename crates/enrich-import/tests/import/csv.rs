//! Checks which records are read from the rows of CSV.

use std::error::Error;

use enrich_core::{CompanyRecord, Record};
use enrich_import::{Rejection, SkipReason, preview};

use crate::memory::{Memory, dropped, import_into, imported, rejection, source, texts};

const FILE: &str = "test.csv";

fn companies(text: &str) -> Vec<CompanyRecord> {
    let (report, records) = imported(FILE, text);
    assert_eq!((report.rejected, report.dropped), (0, 0), "{report:?}");
    let companies = records.into_iter().map(|record| match record {
        Record::Company(company) => company,
        other => panic!("{other:?}"),
    });
    companies.collect()
}

fn names(text: &str) -> Vec<String> {
    companies(text).iter().map(|company| company.name.display().to_owned()).collect()
}

#[test]
fn a_row_is_read_with_every_column() {
    let companies = companies(
        "id,name,aliases,country,domains,twitter,emails,phones,ip,page_rank,confidence\r\n\
         17,\"Quill, Ink & Co\",QUILL|Quill Ink,DE|at,quill.example | quill.de@DE,@quill,\
         a@quill.example|b@quill.example,+44 20 7946 0123|+442079460124,192.0.2.7,5.20,90\r\n",
    );
    let company = &companies[0];
    assert_eq!(company.name.display(), "Quill, Ink & Co");
    assert_eq!(company.origin.id.as_deref(), Some("17"));
    assert_eq!(company.origin.confidence.percent(), 90);
    assert_eq!(texts(&company.aliases), ["QUILL", "Quill Ink"]);
    assert_eq!(texts(&company.seats), ["DE", "AT"]);
    let domains: Vec<_> = company.sites.iter().map(|(domain, _)| domain.as_str()).collect();
    assert_eq!(domains, ["quill.example", "quill.de"]);
    assert_eq!(company.sites[1].1.unwrap().alpha2(), "DE");
    assert_eq!(texts(&company.pages), ["twitter.com/quill"]);
    assert_eq!(texts(&company.emails), ["a@quill.example", "b@quill.example"]);
    assert_eq!(texts(&company.phones), ["+442079460123", "+442079460124"]);
    assert_eq!(company.page_rank.as_deref(), Some("5.20"));
}

#[test]
fn the_columns_tell_what_the_rows_are() {
    let cases = [
        ("first_name,last_name,name\nAda,Lovelace,x\n", "person"),
        ("domain,name\nquill.example,Quill\n", "company"),
        ("page_rank,domain\n5,quill.example\n", "domain"),
        ("\u{feff}\" Name \"\nQuill\n", "company"),
    ];
    for (text, expected) in cases {
        let (_, records) = imported(FILE, text);
        let kind = match records.as_slice() {
            [Record::Company(_)] => "company",
            [Record::Person(_)] => "person",
            [Record::Domain(_)] => "domain",
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(kind, expected, "{text}");
    }
}

#[test]
fn a_header_that_can_not_be_used_stops_the_import() {
    let cases: [(&[u8], &str); 4] = [
        (b"title;country\nx;DE\n", "none of its columns is `first_name`, `name` or `domain`"),
        (b"name,country,name\nQuill,DE,x\n", "it has the column `name` twice"),
        (b"name,\"open\nQuill,DE\n", "it is longer than 1 MiB, or a quote in it is not closed"),
        (b"name,\xff\xc3\xa9\xc3\xa9\nQuill,DE\n", "it is not UTF-8"),
    ];
    for (bytes, reason) in cases {
        let memory = Memory::default();
        let error = import_into(&memory, FILE, bytes).unwrap_err();
        assert_eq!(error.report.read, 0);
        assert_eq!(memory.0.lock().finished, 0);
        let header = error.cause.source().and_then(Error::source).unwrap();
        assert_eq!(header.to_string(), reason);
    }
}

#[test]
fn a_row_is_rejected_for_a_reason() {
    let cases = [
        ("name,country\nQuill\n", "the row has 1 fields where the header has 2"),
        ("name,country\nQuill, Inc.,US\n", "the row has 3 fields where the header has 2"),
        ("name,country\n,US\n", "`name` is missing"),
        ("name,country\n\" \",US\n", "`name` is missing"),
        ("name,type\nQuill,person\n", "`type` does not match the columns of the header"),
        (
            "name,country\n\"Quill\nInk\",US\n",
            "`name` can't be read: a company name holds no control characters; send plain text",
        ),
        ("name,x\n\"Quill,US\n", "a quote is opened and not closed within 100 lines"),
    ];
    for (text, reason) in cases {
        assert_eq!(rejection(FILE, text), reason, "{text}");
    }
}

#[test]
fn bytes_that_are_no_text_reject_their_row_alone() {
    let (report, records) = imported(
        FILE,
        "name\nCafé Söhne\nQuill\n"
            .as_bytes()
            .iter()
            .chain(b"Qu\xffill\nInk\n")
            .copied()
            .collect::<Vec<u8>>(),
    );
    assert_eq!((report.read, report.rejected, records.len()), (4, 1, 3));
    assert_eq!(report.first_rejected[0].0, 4);
}

#[test]
fn quotes_may_hold_commas_quotes_and_line_ends() {
    let text = "name,about\n\"Quill \"\"Ink\"\"\",\"one\n\ntwo,\r\nthree\"\nInk,x\n5\" Discs,y\n";
    assert_eq!(names(text), ["Quill \"Ink\"", "Ink", "5\" Discs"]);
}

#[test]
fn lines_are_counted_through_rows_of_several() {
    let text = "name,about\nQuill,\"one\ntwo\nthree\"\n\n,x\n";
    let (report, _) = imported(FILE, text);
    assert_eq!((report.read, report.rejected), (2, 1));
    assert_eq!(report.first_rejected[0].0, 6);
}

#[test]
fn a_quote_that_nobody_closes_costs_one_row() {
    let rows = (0..500).map(|number| format!("Quill {number},x\n")).collect::<String>();
    let text = format!("name,about\n\"open,x\n{rows}");
    let (report, records) = imported(FILE, text);
    assert_eq!((report.read, report.rejected, records.len()), (501, 1, 500));
    assert_eq!(report.first_rejected[0].0, 2);
}

#[test]
fn a_line_too_long_inside_a_quote_costs_its_own_row_and_the_open_one() {
    let long = "x".repeat(2 * 1024 * 1024);
    let (report, records) = imported(FILE, format!("name,about\n\"open,x\n{long}\nInk,x\n"));
    assert_eq!((report.read, report.rejected, records.len()), (3, 2, 1));
    let lines: Vec<_> = report.first_rejected.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3]);
}

#[test]
fn a_carriage_return_alone_ends_no_row() {
    let reason = "`name` can't be read: a company name holds no control characters";
    assert!(rejection(FILE, "name\nQuill\rInk\n").starts_with(reason));
}

#[test]
fn a_row_may_span_a_hundred_lines_and_no_more() {
    let row = |lines: usize| format!("name,about\nQuill,\"{}\"\n", "\n".repeat(lines - 1));
    assert_eq!(names(&row(100)), ["Quill"]);
    let (report, _) = imported(FILE, row(101));
    assert_eq!(report.first_rejected[0].1, Rejection::OpenQuote);
}

#[test]
fn rows_that_reopen_a_quote_on_every_line_are_accounted_for() {
    let rows = "ab\"c,\"\n".repeat(2_000);
    let (report, _) = imported(FILE, format!("name,about\n{rows}"));
    assert_eq!((report.read, report.rejected), (2_000, 2_000));
}

#[test]
fn a_site_is_a_domain_with_a_country_or_a_url_with_a_user() {
    let (report, records) =
        imported(FILE, "name,domains\nQuill,quill.de@Germany|info@quill.example|quill.fr@Narnia\n");
    let [Record::Company(company)] = records.as_slice() else { panic!("{records:?}") };
    let sites: Vec<_> = company
        .sites
        .iter()
        .map(|(domain, country)| (domain.as_str(), country.map(|country| country.alpha2())))
        .collect();
    assert_eq!(sites, [("quill.de", Some("DE")), ("quill.example", None), ("quill.fr", None)]);
    assert_eq!(dropped(&report).len(), 1);
}

#[test]
fn a_column_no_record_has_is_named() {
    let (report, _) = imported(FILE, "name,domain,revenue\nQuill,quill.example,7\n");
    let names: Vec<_> = report.ignored_fields.iter().map(String::as_str).collect();
    assert_eq!(names, ["revenue"]);
}

#[test]
fn a_row_is_the_same_with_and_without_columns_that_say_nothing() {
    let one = companies("name,country,x\nQuill,,1\n").remove(0).origin.content;
    let other = companies("name\n Quill\n").remove(0).origin.content;
    assert_eq!(one, other);
    let third = companies("name,country\nQuill,DE\n").remove(0).origin.content;
    assert_ne!(one, third);
}

#[test]
fn a_file_without_rows_brings_nothing() {
    for text in ["", "\n\n", "name\n", "name"] {
        let (report, _) = imported(FILE, text);
        assert_eq!(report.read, 0, "{text:?}");
        assert!(!report.took_anything());
    }
}

#[test]
fn a_type_column_that_says_something_else_rejects_no_row() {
    let text = "Name,Type\nQuill,GmbH\nInk,Company\nPen,\n";
    let (report, records) = imported(FILE, text);
    assert_eq!((report.rejected, records.len()), (0, 3));
    assert!(report.ignored_fields.contains("type"), "{:?}", report.ignored_fields);
}

#[test]
fn texts_for_no_value_count_as_absent() {
    let text = "name,aliases,domains,phones,page_rank\nQuill,\\N,--,n/a|k. A.,0\n\
        \\N,,,,\n(none),,,,\n0,,,,\nUnknown Worlds,,,,\nX,,,,\n";
    let (report, records) = imported(FILE, text);
    assert_eq!((report.rejected, report.dropped), (3, 1), "{report:?}");
    assert_eq!(dropped(&report)[0].0, "page_rank", "it has no domain");
    let names = records.iter().map(|record| match record {
        Record::Company(company) => company.name.display(),
        _ => "no company",
    });
    assert_eq!(names.collect::<Vec<_>>(), ["Quill", "Unknown Worlds", "X"]);
}

#[test]
fn quotes_between_tabs_may_be_text() {
    let (report, records) = imported("a.tsv", "name\tip\n\"The Barn\" Mill\t\n\"Ink\t\n");
    assert_eq!((report.rejected, records.len()), (0, 2), "{report:?}");
}

#[test]
fn rows_of_totals_are_skipped() {
    let text = "name,domains\nQuill,quill.example\nTotal:,\nTotal,total.example\nGesamt: 2,\n";
    let (report, records) = imported(FILE, text);
    assert_eq!((report.read, report.added, records.len()), (2, 2, 2));
    assert_eq!(report.skipped[&SkipReason::TotalRow].count, 2);
}

#[test]
fn a_number_in_national_form_is_dropped() {
    let text = "name,phones\nQuill,(202) 555-0161|2025550161|020 7946 0123|+44 20 7946 0123\n";
    let (report, records) = imported(FILE, text);
    let [Record::Company(company)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(texts(&company.phones), ["+442079460123"]);
    let [(field, reason, count)] = &dropped(&report)[..] else { panic!("{report:?}") };
    assert_eq!((*field, *count), ("phones", 3));
    assert!(reason.starts_with("a phone number starts with `+`"), "{reason}");
}

#[test]
fn singular_and_plural_of_a_column_mean_the_same() {
    let companies = companies(
        "Name,Domain,E-Mail,phone,alias,countries\n\
         Quill,quill.example|quill.de@DE,a@quill.example,+44 20 7946 0123,QUILL,DE\n",
    );
    let domains: Vec<_> = companies[0].sites.iter().map(|(domain, _)| domain.as_str()).collect();
    assert_eq!(domains, ["quill.example", "quill.de"]);
    assert_eq!(texts(&companies[0].emails), ["a@quill.example"]);
    assert_eq!(texts(&companies[0].phones), ["+442079460123"]);
    assert_eq!(texts(&companies[0].aliases), ["QUILL"]);
    assert_eq!(texts(&companies[0].seats), ["DE"]);
    let (_, records) = imported(FILE, "domains,ips\nquill.example,192.0.2.7\n");
    assert!(matches!(&records[..], [Record::Domain(facts)] if facts.ip.is_some()), "{records:?}");
}

#[test]
fn both_numbers_of_a_column_add_up_and_the_exact_name_counts() {
    let text = "name,domain,domains,Domain!\nQuill,a.example,b.example,c.example\n";
    let companies = companies(text);
    let domains: Vec<_> = companies[0].sites.iter().map(|(domain, _)| domain.as_str()).collect();
    assert_eq!(domains, ["a.example", "b.example"]);
}

#[test]
fn records_with_a_name_alone_are_counted() {
    let text = "name,country,domain\nQuill,DE,\nInk,DE,ink.example\nPen,,\n,DE,\n";
    let (report, _) = imported(FILE, text);
    assert_eq!((report.read, report.rejected, report.name_only), (4, 1, 2));
    let (report, _) = imported(FILE, "first_name,last_name,company\nAda,Quill,\nBo,Ink,Ink Ltd\n");
    assert_eq!((report.read, report.name_only), (2, 1));
}

#[test]
fn a_column_of_domains_that_is_not_used_is_named() {
    let text = "name,Web page,Note\nQuill,www.quill.example,good\nInk,https://ink.example,x\n";
    let (report, _) = imported(FILE, text);
    assert_eq!(report.unused_keys(), ["Web page"]);
}

#[test]
fn a_known_scheme_has_a_column_of_its_own() {
    let text = "name,LEI,wikidata,no,No.,ids\nQuill,,Q42|q43,923609016,7,x:1|cik:017\n";
    let [company] = companies(text).try_into().unwrap();
    let ids: Vec<&str> = company.ids.iter().map(|id| id.as_str()).collect();
    assert_eq!(ids, ["x:1", "cik:17", "wikidata:Q42", "wikidata:Q43", "no:923609016"]);
}

#[test]
fn a_preview_shows_rows_as_native_records() {
    let shown = |name: &str, text: &str| {
        let seen = preview(source(name, text), 10, &mut ()).unwrap();
        let again = seen.records.join("\n");
        let again = preview(source("again.jsonl", again), 10, &mut ()).unwrap();
        assert_eq!(again.report.added, seen.report.added, "{:?}", again.report);
        assert_eq!(again.report.dropped, seen.report.dropped);
        seen.records
    };
    let companies = "Name,Country,Domains,Domain,E-Mail,LEI,no,ids,confidence,colour,linkedin\n\
        Quill,BE|NL,shop.example@NL,quill.example,a@quill.example|b@quill.example,,974760673,\
        wikidata:Q42,80,red,linkedin.com/company/quill\n\
        Inkwell,DE,,,,,,,,,\n";
    let quill = concat!(
        r#"{"type":"company","confidence":80,"name":"Quill","country":["BE","NL"],"#,
        r#""domains":["quill.example",{"domain":"shop.example","country":"NL"}],"#,
        r#""linkedin":"linkedin.com/company/quill","emails":["a@quill.example","b@quill.example"],"#,
        r#""ids":{"wikidata":["Q42"],"no":["974760673"]}}"#,
    );
    let inkwell = r#"{"type":"company","name":"Inkwell","country":"DE"}"#;
    assert_eq!(shown("companies.csv", companies), [quill, inkwell]);
    let people = "first_name;last_name;company;phone\nAda;Fernwright|West;Quill;+44 20 7946 0101\n";
    let ada = concat!(
        r#"{"type":"person","phones":["+44 20 7946 0101"],"first_name":"Ada","#,
        r#""last_name":"Fernwright|West","company":"Quill"}"#,
    );
    assert_eq!(shown("people.csv", people), [ada]);
    let ranks = "domain,page_rank\nquill.example,5.20\n";
    let rank = r#"{"type":"domain","page_rank":"5.20","domain":"quill.example"}"#;
    assert_eq!(shown("ranks.csv", ranks), [rank]);
}
