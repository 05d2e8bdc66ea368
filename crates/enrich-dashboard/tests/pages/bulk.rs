//! Tests of uploaded lists: upload, choice of endpoint and columns, start, run, download, deletion.

use std::time::{Duration, Instant};

use bytes::Bytes;
use enrich_core::AccountChange;
use enrich_core::port::accounts::Accounts;
use enrich_core::port::jobs::{JobRecords, LocalJob};
use enrich_dashboard::{BodyFault, Method};
use enrich_text::Country;
use futures_util::{StreamExt, stream};

use crate::texts::{escaped, texts};
use crate::world::{Owner, Seen, World};

pub(crate) const BOUNDARY: &str = "boundary";

fn world() -> (World, Owner) {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    (world, owner)
}

pub(crate) fn form(name: &str, content: &str) -> String {
    format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"list\"; filename=\"{name}\"\r\n\
         Content-Type: text/csv\r\n\r\n{content}\r\n--{BOUNDARY}--\r\n"
    )
}

pub(crate) fn send(world: &World, owner: &Owner, pieces: Vec<Result<Bytes, BodyFault>>) -> Seen {
    let mut request = owner.browser.request(Method::Post, "/account/bulk");
    request.content_type = Some(format!("multipart/form-data; boundary={BOUNDARY}"));
    request.body = stream::iter(pieces).boxed_local();
    world.send(request)
}

/// Uploads a list in pieces of a few bytes. Returns the path of the list's page.
pub(crate) fn upload(world: &World, owner: &Owner, name: &str, content: &str) -> String {
    let form = form(name, content);
    let pieces = form.as_bytes().chunks(7).map(|piece| Ok(Bytes::copy_from_slice(piece)));
    let seen = send(world, owner, pieces.collect());
    assert_eq!(seen.status, 303, "{seen:?}");
    seen.header("location").unwrap().to_owned()
}

pub(crate) fn start(world: &World, owner: &mut Owner, path: &str, ceiling: &str) -> Seen {
    let key = owner.key.to_string();
    let fields = [
        ("endpoint", "/v1/cuf"),
        ("map.companyName", "Company"),
        ("fixed.companyName", ""),
        ("ceiling", ceiling),
        ("key", &key),
    ];
    owner.browser.post(world, &format!("{path}/start"), &fields)
}

/// Waits until the run of the list has ended. Its page then no longer updates itself, so it does
/// not contain `hx-trigger`. Returns the page.
pub(crate) fn ended(world: &World, owner: &Owner, path: &str) -> Seen {
    let begun = Instant::now();
    loop {
        let seen = owner.browser.get(world, path);
        if !seen.body.contains("hx-trigger") {
            return seen;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", seen.body);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn figure(seen: &Seen, name: &str) -> String {
    seen.between(&format!("<dt>{name}</dt><dd>"), "<").to_owned()
}

#[test]
fn a_list_is_looked_up_and_paid_to_the_credit() {
    let (world, mut owner) = world();
    let list = "id,Company\n1,Quill\n2,Nobody\n3,\n4,Quill\n";
    let path = upload(&world, &owner, "leads.csv", list);
    let seen = owner.browser.get(&world, &format!("{path}?endpoint=/v1/cuf"));
    assert!(seen.body.contains("<option value=\"Company\" selected>"), "{}", seen.body);
    assert_eq!(figure(&seen, "Rows"), "4");
    assert_eq!(figure(&seen, "Invalid rows (free)"), "1");
    assert_eq!(figure(&seen, "Highest cost in credits"), "3");
    assert!(seen.body.contains("inputmode=\"numeric\" autocomplete=\"off\" value=\"3\""));
    assert_eq!(start(&world, &mut owner, &path, "3").status, 303);
    let seen = ended(&world, &owner, &path);
    assert!(seen.body.contains(">Done</h2>"), "{}", seen.body);
    for (name, number) in [("Found", "2"), ("Not found", "1"), ("Invalid", "1"), ("Failed", "0")] {
        assert_eq!(figure(&seen, name), number, "{name}");
    }
    assert_eq!(figure(&seen, "Credits of at most 3"), "2");
    let overview = owner.browser.get(&world, "/account/");
    assert_eq!(figure(&overview, "Credits left"), "998");
    let file = owner.browser.get(&world, &format!("{path}/output"));
    let name = "attachment; filename*=UTF-8''leads%2Denriched%2Ecsv";
    assert_eq!(file.header("content-disposition"), Some(name));
    assert_eq!(file.body.lines().count(), 5);
    assert!(file.body.contains("quill.example"));
}

#[test]
fn rows_that_are_not_found_get_candidates_if_the_order_says_so() {
    let (world, mut owner) = world();
    let list = "id,Company\n1,Quill\n2,Quil\n3,Nobody\n";
    let path = upload(&world, &owner, "leads.csv", list);
    let page = |query: &str| owner.browser.get(&world, &format!("{path}?{query}"));
    assert!(page("endpoint=/v1/cuf").body.contains("<option value=\"0\" selected>none</option>"));
    assert!(!page("endpoint=/v1/dtc").body.contains("name=\"candidates\""));
    let seen = page("endpoint=/v1/cuf&candidates=3&map.companyName=Company");
    assert!(seen.body.contains("<option value=\"3\" selected>up to 3</option>"), "{}", seen.body);
    assert_eq!(figure(&seen, "Highest cost in credits"), "3");
    let key = owner.key.to_string();
    let fields = [
        ("endpoint", "/v1/cuf"),
        ("map.companyName", "Company"),
        ("candidates", "3"),
        ("ceiling", ""),
        ("key", &key),
    ];
    assert_eq!(owner.browser.post(&world, &format!("{path}/start"), &fields).status, 303);
    let seen = ended(&world, &owner, &path);
    assert!(seen.body.contains("costs 1 credit if it has candidates"), "{}", seen.body);
    assert_eq!((figure(&seen, "Not found"), figure(&seen, "Credits")), ("2".into(), "2".into()));
    let file = owner.browser.get(&world, &format!("{path}/output")).body;
    let rows: Vec<&str> = file.lines().collect();
    assert!(rows[0].contains("candidate_1_name,candidate_1_country"), "{file}");
    assert!(rows[2].starts_with("2,Quil,,,Quill,,quill.example,80,"), "{file}");
    assert!(rows[2].ends_with(",not_found,,1") && rows[3].ends_with(",not_found,,0"), "{file}");
    let overview = owner.browser.get(&world, "/account/");
    assert_eq!(figure(&overview, "Credits left"), "998");
}

#[test]
fn national_numbers_are_estimated_with_the_country_of_the_account() {
    let (world, owner) = world();
    let path = upload(&world, &owner, "leads.csv", "phoneNumber\n020 7946 0123\n02079460124\n");
    let page = format!("{path}?endpoint=/v1/mti");
    let seen = owner.browser.get(&world, &page);
    assert_eq!(figure(&seen, "Invalid rows (free)"), "2");
    let country = Country::from_code("GB").ok();
    let change = world.ports.change(owner.account, AccountChange::SetCountry(country));
    pollster::block_on(change).unwrap();
    let seen = owner.browser.get(&world, &page);
    assert_eq!(figure(&seen, "Invalid rows (free)"), "0");
    assert_ne!(figure(&seen, "Highest cost in credits"), "0");
}

#[test]
fn a_list_says_that_rows_were_erased_from_it() {
    let (world, mut owner) = world();
    let list = "Company,site\nQuill,\nNobody,inkwell.example\nQuill,\n";
    let done = upload(&world, &owner, "done.csv", list);
    start(&world, &mut owner, &done, "");
    ended(&world, &owner, &done);
    let new = upload(&world, &owner, "new.csv", list);
    assert!(!owner.browser.get(&world, &new).body.contains("erased"));
    world.ports.suppressed.lock().push("inkwell.example".to_owned());
    let file = owner.browser.get(&world, &format!("{done}/output"));
    assert_eq!(file.body.lines().count(), 3, "{}", file.body);
    for path in [done, new] {
        let seen = owner.browser.get(&world, &path);
        let said = "One row held data that has been erased from this service";
        assert!(seen.body.contains(said) && !seen.body.contains("inkwell"), "{}", seen.body);
    }
}

#[test]
fn a_list_says_how_many_cells_its_workbook_cuts_and_gives_them_whole() {
    let (world, mut owner) = world();
    let long = "x".repeat(40_000);
    let list = format!("Company,note\nQuill,{long}\nQuill,=1+1\nQuill,short\n");
    let path = upload(&world, &owner, "leads.xlsx", &list);
    start(&world, &mut owner, &path, "");
    let seen = ended(&world, &owner, &path);
    let said = seen.between("id=\"cut\">", "</p>");
    assert!(said.starts_with("1 cell is longer than the 32,767 characters"), "{said}");
    let file = owner.browser.get(&world, &format!("{path}/output?as=csv"));
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    let name = "attachment; filename*=UTF-8''leads%2Denriched%2Ecsv";
    assert_eq!(file.header("content-disposition"), Some(name));
    assert!(file.body.contains(&long) && file.body.contains("\nQuill,'=1+1,"), "{}", file.body);
}

#[test]
fn a_ceiling_stops_it_and_it_goes_on_without() {
    let (world, mut owner) = world();
    let path = upload(&world, &owner, "leads.csv", "Company\nQuill\nQuill\nQuill\n");
    start(&world, &mut owner, &path, "2");
    let seen = ended(&world, &owner, &path);
    assert!(seen.body.contains("Stopped at the ceiling"), "{}", seen.body);
    let key = owner.key.to_string();
    let more = [("ceiling", ""), ("key", key.as_str())];
    assert_eq!(owner.browser.post(&world, &format!("{path}/go-on"), &more).status, 303);
    let seen = ended(&world, &owner, &path);
    assert_eq!((figure(&seen, "Found").as_str(), figure(&seen, "Credits").as_str()), ("3", "3"));
}

#[test]
fn what_cannot_be_ordered_is_said() {
    let (world, mut owner) = world();
    let path = upload(&world, &owner, "leads.csv", "Ort\nBern\n");
    let seen = owner.browser.get(&world, &format!("{path}?endpoint=/v1/cuf"));
    assert!(
        seen.body.contains("Choose a column for companyName, or enter one value for every row.")
    );
    assert!(start(&world, &mut owner, &path, "").body.contains("no column `Company`"));
    assert!(
        start(&world, &mut owner, &path, "-1").body.contains("Enter a whole number of credits")
    );
    let none = [("endpoint", "/v1/cuf"), ("map.companyName", "Ort"), ("key", "")];
    let seen = owner.browser.post(&world, &format!("{path}/start"), &none);
    assert!(seen.body.contains("Choose an active API key"), "{}", seen.body);
    assert_eq!(owner.browser.post(&world, &format!("{path}/stop"), &[]).status, 422);
}

#[test]
fn a_list_of_answers_without_a_limit_does_not_start_below_a_ceiling() {
    let (world, mut owner) = world();
    let list = "Domain,most\nquill.example,7\nledger.example,\n";
    let [path, without] = [0, 1].map(|_| upload(&world, &owner, "leads.csv", list));
    let seen = owner.browser.get(&world, &format!("{path}?endpoint=/v1/dte"));
    assert_eq!(figure(&seen, "Highest cost in credits"), "unlimited");
    assert!(seen.body.contains("no ceiling can be set"), "{}", seen.body);
    let key = owner.key.to_string();
    let fields = |ceiling, column, fixed| {
        [
            ("endpoint", "/v1/dte"),
            ("map.companyDomain", "Domain"),
            ("map.limit", column),
            ("fixed.limit", fixed),
            ("ceiling", ceiling),
            ("key", key.as_str()),
        ]
        .map(|(name, value): (&str, &str)| (name.to_owned(), value.to_owned()))
    };
    let mut start = |path: &str, ceiling, column, fixed| {
        let fields = fields(ceiling, column, fixed);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        owner.browser.post(&world, &format!("{path}/start"), &fields)
    };
    // The field `limit` can be missing in two ways: no column is selected (the default), or the
    // column is empty in one row.
    for column in ["", "most"] {
        let refused = start(&path, "1000", column, "");
        assert_eq!(refused.status, 422, "{column}");
        assert!(
            refused.body.contains("A ceiling needs a `limit` in every row"),
            "{}",
            refused.body
        );
        assert!(refused.body.contains(
            "name=\"ceiling\" inputmode=\"numeric\" autocomplete=\"off\" value=\"1000\""
        ));
    }
    assert_eq!(start(&path, "1000", "", "5").status, 303);
    assert_eq!(start(&without, "", "", "").status, 303);
    for path in [path, without] {
        let seen = ended(&world, &owner, &path);
        assert!(seen.body.contains(">Done</h2>"), "{}", seen.body);
        assert_eq!(
            (figure(&seen, "Invalid"), figure(&seen, "Not found")),
            ("0".into(), "2".into())
        );
    }
}

fn send_bytes(world: &World, owner: &Owner, name: &str, content: &[u8]) -> Seen {
    let form = form(name, "");
    let at = form.find("\r\n\r\n").unwrap() + 4;
    let bytes = [&form.as_bytes()[..at], content, &form.as_bytes()[at..]].concat();
    send(world, owner, vec![Ok(Bytes::from(bytes))])
}

#[test]
fn why_a_list_cannot_be_read_is_said() {
    let (world, owner) = world();
    let many_columns = vec!["x"; 2_000].join(",");
    let cases: [(&str, &[u8], &str); 4] = [
        ("a.csv", b"%PDF-1.7\n1 0 obj\n", "a PDF document, not a list"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "old or password-protected Excel file"),
        ("a.json", b"[{\"name\":\"Quill\"}]\n", "is a single JSON value"),
        ("a.csv", many_columns.as_bytes(), "it has 2000 columns"),
    ];
    for (name, content, said) in cases {
        let seen = send_bytes(&world, &owner, name, content);
        assert_eq!(seen.status, 422, "{name}: {seen:?}");
        assert!(seen.body.contains(said), "{name}: {}", seen.body);
    }
    let seen = owner.browser.get(&world, "/account/bulk");
    assert!(seen.body.contains("No lists yet."), "{}", seen.body);
}

#[test]
fn a_list_in_an_older_encoding_is_read_and_its_encoding_is_said() {
    let (world, owner) = world();
    let seen = send_bytes(&world, &owner, "a.csv", b"Soci\xe9t\xe9,Ort\nQuill,Bern\n");
    assert_eq!(seen.status, 303, "{seen:?}");
    let seen = owner.browser.get(&world, seen.header("location").unwrap());
    assert!(seen.body.contains("Société"), "{}", seen.body);
    assert!(seen.body.to_lowercase().contains("windows-1252"), "{}", seen.body);
}

#[test]
fn what_is_no_list_is_not_taken_and_nothing_of_it_stays() {
    let (world, owner) = world();
    let whole = |text: String| vec![Ok(Bytes::from(text))];
    let empty = send(&world, &owner, whole(form("", "")));
    assert!(empty.body.contains("Choose a file first."), "{}", empty.body);
    let large = send(&world, &owner, whole(form("a.csv", &"x,y\n".repeat(1024 * 1024 + 1))));
    assert!(large.body.contains("The file is larger than 4 MiB"), "{}", large.body);
    // This file is so large that the limit for the whole form refuses it, before the limit for the
    // file is reached.
    let pieces = form("a.csv", &"x,y\n".repeat(2 * 1024 * 1024));
    let pieces = pieces.as_bytes().chunks(512 * 1024).map(|it| Ok(Bytes::copy_from_slice(it)));
    let larger = send(&world, &owner, pieces.collect());
    assert_eq!((large.status, larger.status), (413, 413));
    assert!(larger.body.contains("The file is larger than 4 MiB"), "{}", larger.body);
    let cut = form("a.csv", "Company\nQuill\n");
    let broken = send(&world, &owner, whole(cut[..cut.len() - 20].to_owned()));
    assert_eq!(broken.status, 400);
    let broken = vec![Ok(Bytes::from(cut[..120].to_owned())), Err(BodyFault::TooSlow)];
    assert_eq!(send(&world, &owner, broken).status, 400);
    let seen = owner.browser.get(&world, "/account/bulk");
    assert!(seen.body.contains("No lists yet."), "{}", seen.body);
}

#[test]
fn a_list_is_deleted_when_one_is_sure() {
    let (world, mut owner) = world();
    let path = upload(&world, &owner, "leads.csv", "Company\nQuill\n");
    assert_eq!(owner.browser.post(&world, &format!("{path}/delete"), &[]).status, 422);
    let sure = [("sure", "yes")];
    assert_eq!(owner.browser.post(&world, &format!("{path}/delete"), &sure).status, 303);
    assert_eq!(owner.browser.get(&world, &path).status, 404);
}

#[test]
fn what_a_list_holds_shows_as_text() {
    let (world, owner) = world();
    for text in texts() {
        let mut list = csv::Writer::from_writer(Vec::new());
        list.write_record([text, "Company"]).unwrap();
        list.write_record([text, text]).unwrap();
        let list = String::from_utf8(list.into_inner().unwrap()).unwrap();
        let path = upload(&world, &owner, "leads.csv", &list);
        for target in [path.as_str(), &format!("{path}?endpoint=/v1/cuf")] {
            let seen = owner.browser.get(&world, target);
            let is_harmless = escaped(text) == text;
            assert!(is_harmless || !seen.body.contains(text), "{text}: {}", seen.body);
            assert!(seen.body.contains(&escaped(text)), "{text}: {}", seen.body);
        }
    }
    let path = upload(&world, &owner, "<img src=x onerror=alert(1)>.csv", "Company\nQuill\n");
    for target in [path.as_str(), "/account/bulk"] {
        let seen = owner.browser.get(&world, target);
        assert!(!seen.body.contains("<img"), "{}", seen.body);
        assert!(seen.body.contains("&#60;img src=x onerror=alert(1)&#62;.csv"), "{}", seen.body);
    }
}

/// Returns the HTML of the form that starts the list.
fn start_form(seen: &Seen) -> &str {
    seen.between("/start\"", "</form>")
}

#[test]
fn the_form_that_starts_a_list_is_the_one_that_shows_its_fields() {
    let (world, owner) = world();
    let path = upload(&world, &owner, "leads.csv", "Company,Land\nQuill,GB\n");
    let seen = owner.browser.get(&world, &format!("{path}?endpoint=/v2/services/name_to_domain"));
    for name in ["map.company_name", "fixed.company_name", "map.country_code", "fixed.country_code"]
    {
        let field = format!("name=\"{name}\"");
        assert_eq!(seen.body.matches(&field).count(), 1, "{name}: {}", seen.body);
        assert!(start_form(&seen).contains(&field), "{name}: {}", start_form(&seen));
    }
    assert!(!start_form(&seen).contains("type=\"hidden\" name=\"fixed."));
}

#[test]
fn one_value_for_every_row_is_looked_up_as_it_was_posted_at_the_start() {
    let (world, mut owner) = world();
    let path = upload(&world, &owner, "leads.csv", "id\n1\n2\n");
    let key = owner.key.to_string();
    // The address of the page has another value in the field `fixed.companyName`. This value must
    // not be used: the form that starts the list has the value `Quill`.
    owner.browser.get(&world, &format!("{path}?endpoint=/v1/cuf&fixed.companyName=Nobody"));
    let fields = [
        ("endpoint", "/v1/cuf"),
        ("map.companyName", ""),
        ("fixed.companyName", "Quill"),
        ("ceiling", ""),
        ("key", &key),
    ];
    assert_eq!(owner.browser.post(&world, &format!("{path}/start"), &fields).status, 303);
    assert_eq!(figure(&ended(&world, &owner, &path), "Found"), "2");
}

#[test]
fn a_column_and_a_value_for_one_field_are_not_started() {
    let (world, mut owner) = world();
    let path = upload(&world, &owner, "leads.csv", "Company\nQuill\n");
    let key = owner.key.to_string();
    let fields = [
        ("endpoint", "/v1/cuf"),
        ("map.companyName", "Company"),
        ("fixed.companyName", "Nobody"),
        ("ceiling", ""),
        ("key", &key),
    ];
    let seen = owner.browser.post(&world, &format!("{path}/start"), &fields);
    assert_eq!(seen.status, 422);
    assert!(seen.body.contains("has both a column and one value"), "{}", seen.body);
    assert!(start_form(&seen).contains("value=\"Nobody\""), "{}", seen.body);
}

#[test]
fn a_ceiling_that_is_no_whole_number_is_refused_beside_its_field() {
    let (world, mut owner) = world();
    let path = upload(&world, &owner, "leads.csv", "Company\nQuill\n");
    for ceiling in ["1,5", "1.5", "1,50", "-1", "1500,000"] {
        let seen = start(&world, &mut owner, &path, ceiling);
        assert_eq!(seen.status, 422, "{ceiling}");
        let said = seen.between("id=\"ceiling-fault\"", "</p>");
        assert!(said.contains("Enter a whole number of credits"), "{said}");
        assert!(seen.body.contains(&format!("value=\"{ceiling}\" aria-describedby")));
    }
    assert_eq!(start(&world, &mut owner, &path, "1,500").status, 303);
    assert!(owner.browser.get(&world, &path).body.contains("of at most 1,500"));
}

#[test]
fn a_ceiling_is_kept_when_the_mapping_changes_and_an_offered_one_follows() {
    let (world, owner) = world();
    let path = upload(&world, &owner, "leads.csv", "Company,Other\nQuill,\nLedger,x\n");
    let ceiling = |rest: &str| {
        let target = format!("{path}?endpoint=/v1/cuf&map.companyName={rest}");
        let seen = owner.browser.get(&world, &target);
        seen.between("name=\"ceiling\" inputmode=\"numeric\" autocomplete=\"off\" value=\"", "\"")
            .to_owned()
    };
    assert_eq!(ceiling("Company"), "2");
    assert_eq!(ceiling("Other&ceiling=2&offered=2"), "1");
    assert_eq!(ceiling("Other&ceiling=50&offered=2"), "50");
    assert_eq!(ceiling("Other&ceiling=1,5&offered=2"), "1,5");
    assert_eq!(ceiling("Other&ceiling=&offered=2"), "");
}

#[test]
fn the_ceiling_that_is_offered_can_be_started_with_and_paid() {
    let (world, mut owner) = world();
    let key = owner.key.to_string();
    let started = |owner: &mut Owner, list: &str, endpoint: &str, column: (&str, &str)| {
        let path = upload(&world, owner, "leads.csv", list);
        let seen = owner.browser.get(&world, &format!("{path}?endpoint={endpoint}"));
        let offered = seen.between("name=\"offered\" value=\"", "\"").to_owned();
        let fields = [("endpoint", endpoint), column, ("ceiling", offered.as_str()), ("key", &key)];
        (owner.browser.post(&world, &format!("{path}/start"), &fields).status, offered)
    };
    let column = ("map.companyDomain", "Domain");
    let open = started(&mut owner, "Domain\nquill.example\n", "/v1/dte", column);
    assert_eq!(open, (303, String::new()));
    let long = format!("Company\n{}", "Nobody\n".repeat(1_200));
    let beyond = started(&mut owner, &long, "/v1/cuf", ("map.companyName", "Company"));
    assert_eq!(beyond, (303, "1000".to_owned()));
}

#[test]
fn lists_of_another_server_are_named_with_the_server() {
    let (world, owner) = world();
    let seen = owner.browser.get(&world, "/account/bulk");
    assert!(!seen.body.contains("Lists on other servers"), "{}", seen.body);
    let list = |number, account, name: &str| LocalJob {
        id: number,
        account,
        summary: format!(r#"{{"file_name":"{name}","created_at":1772625600}}"#),
    };
    let other = world.owner("Vellum Ltd", "bo@vellum.example");
    let lists = [list(1, owner.account, "leads.csv"), list(2, other.account, "secret.csv")];
    pollster::block_on(world.announced.announce(7, &lists)).unwrap();
    let seen = owner.browser.get(&world, "/account/bulk");
    let (_, section) = seen.body.split_once("Lists on other servers").unwrap();
    assert!(section.contains("leads.csv") && section.contains("2026-03-04"), "{section}");
    assert!(!seen.body.contains("secret.csv"), "{}", seen.body);
}
