//! Tests of `enrich bulk` with a data folder and with a server. Every row is written once and
//! charged once, however the process ends.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here fails a test, helpers of the tests included"
)]

#[path = "bulk/between.rs"]
mod between;
#[path = "bulk/fixture.rs"]
mod fixture;
#[path = "bulk/jobs.rs"]
mod jobs;
#[path = "support/server.rs"]
#[allow(dead_code, reason = "these servers end with their test")]
mod server;

use std::time::Duration;

use serde_json::json;

use between::Between;
use fixture::{Fixture, chance, row_of, rows_of};

/// The number of times that the command is killed before the list is complete.
const KILLS: usize = 10;

#[test]
fn rows_are_found_not_found_invalid_or_failed_and_paid_when_found() {
    let fixture = Fixture::new("10");
    let list = "\
id,Company,phone
1,Telefónica,+34 1
2,Nobody Hereabouts,=1+1
3,,
4,Fails Ltd,\"a,b\"
5,Telefónica
6,Telefónica,x
";
    let failing = Between::failing(fixture.server(), "Fails Ltd");
    let url = failing.url();
    let ran = fixture.bulk(&list_of(list), &["--url", &url, "--map", "companyName=Company"]);
    let said = ran.said();
    assert_eq!(ran.status, 0, "{ran:?}");
    let counts = ["rows", "found", "not_found", "invalid", "failed", "credits"];
    assert_eq!(counts.map(|name| said[name].as_u64().unwrap()), [6, 2, 1, 2, 1, 2], "{said}");
    let expected = "\
id,Company,phone,url,confidence_level,status,error,credits
1,Telefónica,+34 1,telefonica.com,99,found,,1
2,Nobody Hereabouts,'=1+1,,,not_found,,0
3,,,,,invalid,`companyName` is empty,0
4,Fails Ltd,\"a,b\",,,failed,this one fails,0
5,Telefónica,,,,invalid,the row has 2 fields where the header has 3,0
6,Telefónica,x,telefonica.com,99,found,,1
";
    assert_eq!(fixture.read("out.csv"), expected);
    assert_eq!(fixture.charged(), 2);
    assert!(ran.err.contains("6 rows, 2 of them invalid; cost: at most 4 credits"), "{ran:?}");
}

#[test]
fn cells_that_a_workbook_cuts_are_told_and_kept_whole() {
    let fixture = Fixture::without_server();
    let (list, out) = (fixture.path("list.csv"), fixture.path("out.xlsx"));
    let long = "x".repeat(40_000);
    std::fs::write(&list, format!("companyName,note\nNobody Hereabouts,{long}\n")).unwrap();
    let files = ["--in", list.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let ran = fixture.ran(&[&["cuf", "--json"][..], &files].concat(), b"");
    assert_eq!(ran.said()["cut_cells"], json!(1), "{ran:?}");
    assert!(ran.err.contains("1 cells are longer") && ran.err.contains("out.xlsx.csv"), "{ran:?}");
    assert!(fixture.read("out.xlsx.csv").contains(&long));
}

#[test]
fn a_list_of_national_numbers_is_previewed_with_the_country_that_reads_it() {
    let fixture = Fixture::without_server();
    std::fs::write(fixture.path("list.csv"), "phoneNumber\n020 7946 0123\nno number\n").unwrap();
    let list = fixture.path("list.csv");
    let list = list.to_str().unwrap();
    let preview = ["mti", "--preview", "--json", "--in", list];
    let invalid = |with: &[&str]| {
        let ran = fixture.ran(&[&preview[..], with].concat(), b"");
        ran.said()["invalid"].as_u64().unwrap()
    };
    assert_eq!(invalid(&[]), 2);
    assert_eq!(invalid(&["--country", "GB"]), 1);
    // With `--url`, the command doesn't know the country of the account. So it counts every phone
    // number without a country code as valid, and only the row `no number` as invalid.
    assert_eq!(invalid(&["--url", "http://127.0.0.1:1"]), 1);
}

fn list_of(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

#[test]
fn a_ceiling_is_kept_and_the_same_command_goes_on_with_a_higher_one() {
    let fixture = Fixture::new("1000");
    let list = fixture::numbered(60);
    let url = fixture.url();
    let arguments = ["--url", &url, "--map", "companyName=Company", "--concurrency", "8"];
    for (ceiling, status) in [("7", 1), ("7", 1), ("19", 1), ("60", 0)] {
        let ran = fixture.bulk(&list, &[&arguments[..], &["--max-credits", ceiling]].concat());
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(fixture.charged() <= ceiling.parse().unwrap(), "{ran:?}");
        let said = ran.said();
        assert_eq!(said["credits"], json!(fixture.charged()), "{said}");
        assert_eq!(said["end"] == json!("whole"), status == 0, "{said}");
    }
    fixture.check_rows("out.csv", 60);
    let again = fixture.bulk(&list, &arguments);
    assert_eq!(again.status, 2, "{again:?}");
    assert!(again.err.contains("already exists"), "{again:?}");
}

#[test]
fn without_credits_it_ends_and_goes_on_once_there_are_some() {
    let fixture = Fixture::new("5");
    let (list, url) = (fixture::numbered(30), fixture.url());
    let arguments = ["--url", &url, "--map", "companyName=Company"];
    let ran = fixture.bulk(&list, &arguments);
    assert_eq!((ran.status, ran.said()["end"].as_str()), (1, Some("out_of_credits")), "{ran:?}");
    assert_eq!(fixture.charged(), 5);
    fixture.grant("100");
    let ran = fixture.bulk(&list, &arguments);
    assert_eq!(ran.status, 0, "{ran:?}");
    fixture.check_rows("out.csv", 30);
}

#[test]
fn a_process_killed_at_ten_points_goes_on_and_pays_no_row_twice() {
    let fixture = Fixture::new("1000000");
    // Each of the two connections gets at most one answer per 5 ms. So the whole list needs more
    // than 15 seconds. The ten killed commands together run for about 10 seconds at most, so the
    // list is not complete at the last kill.
    let slow = Between::slow(fixture.server(), Duration::from_millis(5));
    let (rows, url) = (8_000, slow.url());
    let list = fixture::numbered(rows);
    let arguments = ["--url", &url, "--map", "companyName=Company"];
    let slowly = [&arguments[..], &["--concurrency", "2"]].concat();
    let mut seen = Vec::new();
    for kill in 0..KILLS {
        let mut running = fixture.begin(&list, &slowly);
        fixture::wait_for_a_word(&mut running);
        std::thread::sleep(Duration::from_millis(50 + chance() % 1_000));
        assert!(running.try_wait().unwrap().is_none(), "it ended before kill {kill}");
        running.kill().unwrap();
        running.wait().unwrap();
        seen.push(fixture.rows_until_now());
    }
    println!("rows on disk at each kill: {seen:?}; charged: {}", fixture.charged());
    assert!(seen.is_sorted(), "rows were lost: {seen:?}");
    assert!(seen[KILLS - 1] > 0, "no row was on disk at any kill: {seen:?}");
    let ran = fixture.bulk(&list, &[&arguments[..], &["--concurrency", "64"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    fixture.check_rows("out.csv", rows);
    assert_eq!(ran.said()["credits"], json!(fixture.charged()));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_sent() {
    let fixture = Fixture::new("1000000");
    let slow = Between::slow(fixture.server(), Duration::from_millis(5));
    let (rows, url) = (2_000, slow.url());
    let list = fixture::numbered(rows);
    let arguments = ["--url", &url, "--map", "companyName=Company", "--concurrency", "4"];
    let mut running = fixture.begin(&list, &arguments);
    while fixture.rows_until_now() == 0 {
        assert!(running.try_wait().unwrap().is_none(), "it ended before the signal");
        std::thread::sleep(Duration::from_millis(10));
    }
    let process = running.id().to_string();
    let told = std::process::Command::new("kill").args(["-INT", &process]).status();
    assert!(told.unwrap().success());
    let ran = fixture::Ran::of(running.wait_with_output().unwrap());
    assert_eq!((ran.status, ran.said()["end"].as_str()), (1, Some("stopped")), "{ran:?}");
    // After Ctrl-C, the command has written all charged rows to the disk. So the next run does
    // not send them again.
    let written = fixture.rows_until_now();
    assert_eq!(ran.said()["rows"], json!(written));
    assert_eq!(ran.said()["credits"], json!(fixture.charged()));
    let ran = fixture.bulk(&list, &arguments);
    assert_eq!(ran.status, 0, "{ran:?}");
    fixture.check_rows("out.csv", rows);
}

#[test]
fn a_data_folder_is_asked_for_nothing_and_streams_go_through() {
    let fixture = Fixture::without_server();
    let list =
        b"{\"company_name\":\"Nestl\xc3\xa9\",\"n\":1}\n{\"company_name\":\"Nobody Hereabouts\"}\n";
    let arguments = ["name_to_domain", "--in", "-", "--out", "-", "--map", "country_code:=CH"];
    let ran = fixture.ran(&arguments, list);
    assert_eq!(ran.status, 0, "{ran:?}");
    let rows = rows_of(&ran.out);
    assert_eq!(
        rows[0],
        row_of(
            r#"{"company_name":"Nestlé","n":1,"domain":"nestle.ch","status":"found","error":null,"credits":0}"#
        )
    );
    assert_eq!(rows[1]["status"], json!("not_found"));
    assert!(ran.err.contains("not found  1"), "{ran:?}");
    let arguments = ["cuf", "--in", "-", "--out", "-", "--map", "companyName=shop"];
    let ran = fixture.ran(&arguments, b"Firm\nQuill\n");
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains("no column `shop`; its columns are `Firm`"), "{ran:?}");
    let ran = fixture
        .ran(&["cuf", "--in", "-", "--out", "-", "--url", "http://127.0.0.1:1"], b"Firm\nQuill\n");
    assert!(ran.status == 2 && ran.err.contains("ENRICH_KEY"), "{ran:?}");
}

#[test]
fn a_preview_asks_nothing() {
    let fixture = Fixture::without_server();
    let list = fixture::numbered(20);
    let arguments = ["--map", "companyName=Company", "--url", "http://127.0.0.1:1", "--preview"];
    let ran = fixture.bulk(&list, &arguments);
    let said = ran.said();
    let costs = [&said["rows"], &said["invalid"], &said["highest_credits"]];
    assert_eq!(costs, [&json!(20), &json!(2), &json!(18)], "{ran:?}");
    assert_eq!(said["read_as"], "CSV, `,` between columns, UTF-8", "{ran:?}");
    assert_eq!(said["columns"], json!(["id", "Company"]), "{ran:?}");
    assert_eq!(said["mapping"], json!({ "companyName": "Company" }), "{ran:?}");
    assert_eq!(said["first_rows"][0], json!(["0", "Telefónica"]), "{ran:?}");
}

/// Runs `enrich bulk cuf` with these arguments. The command reads `list`, looks its rows up in the
/// data folder, and writes the output to `out`.
fn asked(fixture: &Fixture, list: &str, out: &str, arguments: &[&str]) -> fixture::Ran {
    let out = fixture.path(out);
    let whole = ["cuf", "--in", "-", "--out", out.to_str().unwrap()];
    fixture.ran(&[&whole[..], arguments].concat(), list.as_bytes())
}

#[test]
fn a_workbook_is_made_in_the_folder_of_the_output() {
    let fixture = Fixture::without_server();
    let ran = asked(&fixture, "Company\nTelefónica\n", "out.xlsx", &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(std::fs::read(fixture.path("out.xlsx")).unwrap().starts_with(b"PK"));
}

#[test]
fn an_output_named_as_another_workbook_is_refused() {
    let fixture = Fixture::without_server();
    for name in ["out.xls", "out.ODS", "out.xlsm.gz"] {
        let ran = asked(&fixture, "Company\nTelefónica\n", name, &[]);
        assert!(ran.status == 2 && ran.err.contains("name the output .xlsx"), "{ran:?}");
        assert!(!fixture.path(name).exists());
    }
}

#[test]
fn a_column_is_taken_by_its_name_and_every_one_that_is_taken_is_said() {
    let fixture = Fixture::without_server();
    let ran =
        asked(&fixture, "First name,Last name,E-mail\nAda,Quill,a@quill.example\n", "1.csv", &[]);
    assert!(ran.status == 2 && ran.err.contains("map a column to it"), "{ran:?}");
    let ran = asked(&fixture, "companyName\nTelefónica\n", "2.csv", &[]);
    let said = "companyName is taken from the column `companyName`";
    assert!(ran.status == 0 && ran.err.contains(said), "{ran:?}");
    let list = b"company_name,country_code\nNestl\xc3\xa9,CH\n";
    let ran = fixture.ran(&["name_to_domain", "--in", "-", "--out", "-"], list);
    let said = "country_code is taken from the column `country_code`";
    assert!(ran.status == 0 && ran.err.contains(said), "{ran:?}");
}

#[test]
fn a_country_for_a_server_is_refused() {
    let fixture = Fixture::without_server();
    let url = "http://127.0.0.1:1";
    let ran = asked(&fixture, "Company\nQuill\n", "out.csv", &["--country", "CH", "--url", url]);
    let said = "'--country <CC>' cannot be used with '--url <URL>'";
    assert!(ran.status == 2 && ran.err.contains(said), "{ran:?}");
}
