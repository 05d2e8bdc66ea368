//! Tests of `enrich account` and `enrich credits`.

use enrich_core::port::ledger::Ledger;
use enrich_core::{AccountId, ApiKey, Credits};

use crate::fixture::{Fixture, recorded_call, server, text};

const NOBODY: &str = "019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70";

#[test]
fn a_new_account_comes_with_a_key_and_its_credits() {
    let fixture = Fixture::new();
    let ran = fixture.run(&["account", "create", "Quill Ltd", "--credits", "5", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.err.starts_with("created the data folder ./enrich-data"), "{ran:?}");
    let made = ran.json();
    let names: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(made["account"].as_str().unwrap().parse::<AccountId>().is_ok());
    assert!(ApiKey::parse(made["key"].as_str().unwrap()).is_ok());
    assert_eq!(made["balance"], 5);

    let shown = fixture.json(&["account", "show", made["account"].as_str().unwrap()]);
    assert_eq!((&shown["name"], &shown["balance"]), (&"Quill Ltd".into(), &5.into()));
    assert_eq!(shown["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn accounts_are_listed_oldest_first_in_aligned_columns() {
    let fixture = Fixture::new();
    let (first, _) = fixture.account(1000);
    let (second, _) = fixture.account(0);
    let list = fixture.json(&["account", "list"]);
    assert_eq!([text(&list[0]["account"]), text(&list[1]["account"])], [first, second]);
    assert_eq!((&list[0]["balance"], &list[1]["balance"]), (&1000.into(), &0.into()));

    let table = fixture.run(&["account", "list"]).out;
    let lines: Vec<&str> = table.lines().collect();
    let columns: Vec<_> =
        lines.iter().map(|line| line.find("NAME").or(line.find("Ledger"))).collect();
    assert_eq!(columns.len(), 3);
    assert!(columns.iter().all(|column| column.is_some() && *column == columns[0]), "{table}");
}

#[test]
fn what_only_reads_makes_no_folder() {
    let fixture = Fixture::new();
    for words in [
        &["account", "list"][..],
        &["account", "show", NOBODY],
        &["account", "invite", NOBODY],
        &["account", "sign-out", NOBODY],
        &["account", "rename", NOBODY, "Quill"],
        &["account", "set", NOBODY, "--country", "GB"],
        &["account", "suspend", NOBODY],
        &["account", "resume", NOBODY],
        &["account", "close", NOBODY, "--yes"],
        &["credits", "history", NOBODY],
        &["credits", "show", NOBODY],
        &["credits", "grant", NOBODY, "5"],
        &["credits", "adjust", NOBODY, NOBODY, "5"],
        &["key", "issue", NOBODY],
        &["key", "list", NOBODY],
        &["key", "show", NOBODY],
        &["key", "set", NOBODY, "--rate-limit", "5"],
        &["key", "revoke", NOBODY],
        &["key", "rotate", NOBODY],
        &["ledger", "verify"],
        &["ledger", "export", NOBODY],
        &["lookup", "cuf", "companyName=Quill"],
        &["forget", "ada@quill.example"],
        &["source", "list"],
        &["source", "remove", "crm"],
        &["check"],
    ] {
        fixture.run(words).refused(2, "there is no data folder at ./enrich-data; run `enrich");
        assert!(!fixture.data().exists(), "{words:?}");
    }
    assert_eq!(fixture.run(&["endpoints"]).status, 0);
    assert!(!fixture.data().exists());
}

#[test]
fn an_empty_folder_is_not_filled_by_what_only_reads() {
    let fixture = Fixture::new();
    std::fs::create_dir_all(fixture.data().join("lost+found")).unwrap();
    fixture.run(&["account", "list"]).refused(2, "there is no data folder");
    assert_eq!(fixture.data().read_dir().unwrap().count(), 1);
}

#[test]
fn the_folder_is_named_by_the_flag_else_by_the_environment() {
    let fixture = Fixture::new();
    let made = fixture.run(&["account", "create", "Quill", "--data", "one"]);
    assert_eq!(made.status, 0, "{made:?}");
    let list = |words: &[&str]| {
        let mut command = fixture.command(&[&["account", "list", "--json"], words].concat());
        let output = command.env("ENRICH_DATA", "two").output().unwrap();
        output.status.code().unwrap()
    };
    assert_eq!(list(&[]), 2);
    assert_eq!(list(&["--data", "one"]), 0);
    assert!(!fixture.data().exists());
}

#[test]
fn an_id_that_is_not_there_is_told_clearly() {
    let fixture = Fixture::new();
    fixture.account(0);
    let said = format!("there is no account {NOBODY}; `enrich account list` shows them");
    for words in [
        &["account", "show", NOBODY][..],
        &["credits", "show", NOBODY],
        &["credits", "grant", NOBODY, "5"],
        &["key", "issue", NOBODY],
        &["key", "list", NOBODY],
        &["ledger", "export", NOBODY],
    ] {
        fixture.run(words).refused(1, &said);
    }
    fixture.run(&["account", "show", "Quill"]).refused(1, "there is no account Quill; `enrich");
}

#[test]
fn a_running_server_counts_a_grant_from_the_next_request_on() {
    let fixture = Fixture::with_records();
    let (account, key) = fixture.account(0);
    let store = fixture.store();
    let service = server(&store);
    let asked = serde_json::json!({"companyName": "Quill"});
    let ask = || recorded_call(&service, &key, "cuf", "r", asked.clone());
    assert_eq!(ask().0.status, 400);
    let granted = fixture.json(&["credits", "grant", &account, "2", "--note", "invoice 1042"]);
    assert_eq!(granted, serde_json::json!({"account": account, "balance": 2}));
    let (answer, record) = ask();
    assert_eq!((answer.status, record.outcome.used()), (200, Credits(1)));
    assert_eq!(fixture.json(&["credits", "show", &account])["balance"], 1);
    let id: AccountId = account.parse().unwrap();
    fixture.json(&["credits", "grant", &account, "-1"]);
    assert_eq!(pollster::block_on(store.ledger.balance(id)).unwrap(), Some(Credits::ZERO));
    assert_eq!(ask().0.status, 400);
}

#[test]
fn credits_are_taken_back_only_as_far_as_the_balance_goes() {
    let fixture = Fixture::new();
    let (account, _) = fixture.account(5);
    let past = fixture.run(&["credits", "grant", &account, "-6"]);
    past.refused(1, "the balance is 5 credits; no more than that can be taken back");
    assert_eq!(fixture.json(&["credits", "show", &account])["balance"], 5);
    assert_eq!(fixture.json(&["credits", "grant", &account, "-2"])["balance"], 3);
    let behind_dashes = fixture.run(&["credits", "grant", "--json", &account, "--", "-3"]);
    assert_eq!(behind_dashes.json()["balance"], 0);
    fixture.run(&["credits", "grant", &account, "0"]).refused(2, "0 credits change nothing");
    let most = i64::MAX.to_string();
    assert_eq!(fixture.run(&["credits", "grant", &account, &most]).status, 0);
    fixture
        .run(&["credits", "grant", &account, "1"])
        .refused(1, "an account cannot hold that many more");
}

#[test]
fn a_correction_names_the_row_it_corrects() {
    let fixture = Fixture::new();
    let (account, _) = fixture.account(5);
    let export = fixture.run(&["ledger", "export", &account]).out;
    let row = export.lines().nth(1).unwrap().split(',').nth(2).unwrap().to_owned();
    let adjusted =
        fixture.json(&["credits", "adjust", &account, &row, "-2", "--note", "typed twice"]);
    assert_eq!(adjusted, serde_json::json!({"account": account, "balance": 3}));
    let export = fixture.run(&["ledger", "export", &account]).out;
    let last = export.lines().last().unwrap();
    assert!(last.contains(",adjustment,-2,3,") && last.ends_with(&format!(",{row},typed twice")));
    let unknown = fixture.run(&["credits", "adjust", &account, NOBODY, "1"]);
    unknown.refused(1, "the account has no ledger row with this id");
}

#[test]
fn a_name_or_note_is_one_line() {
    let fixture = Fixture::new();
    fixture.run(&["account", "create", " "]).refused(2, "it cannot be empty");
    fixture.run(&["account", "create", "a\u{1b}[31m"]).refused(2, "it is one line");
    fixture.run(&["account", "create", &"x".repeat(201)]).refused(2, "at most 200 characters");
    assert!(!fixture.data().exists());
}
