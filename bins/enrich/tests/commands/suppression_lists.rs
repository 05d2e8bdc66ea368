//! Tests of `enrich forget --list`. The hashes `ANNA` and `NUMBER` are published test vectors from
//! the specification of DROP, California's platform for deletion requests.

use std::fs;
use std::io::{Cursor, Write};

use serde_json::{Value, json};

use crate::fixture::{Fixture, Ran};

const RECORDS: &str = r#"{"type":"company","name":"Quill Ltd","country":"GB","domains":["quill.example"],"emails":["Anna.Smith@domain.com","info@quill.example"],"phones":["+1 415 555 9317","+44 20 7946 0123"]}
{"type":"person","first_name":"Ada","last_name":"Penn","company_domain":"quill.example","linkedin":"linkedin.com/in/ada-penn-example","emails":["ada+news@quill.example"]}
"#;

/// SHA-256 in Base64 of `anna.smith@domain.com`.
const ANNA: &str = "KA18MT/ph6IHYjzT9zwETySDQyvSh87YuoSBpOQtkhE=";
/// SHA-256 in Base64 of `ada@quill.example`.
const ADA: &str = "K5bszsuw4utfYUvrBrwhkXU5CAYyFODnCoFI+cDMRRE=";
/// SHA-256 in Base64 of an address that the look-up data does not have.
const NOBODY: &str = "uMyZgjgJT4RGCrlle/ZN+4NP4uvuPWF63TgDopr6y2Q=";
/// SHA-256 in Base64 of the phone number `4155559317`.
const NUMBER: &str = "vGM7y5n+hBXRSEAklhHDPCbysyNgYTmXdMcagGUOY8E=";

const EMAIL_FILE: &str = "20260312_4821_Email.csv";

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.file("records.jsonl", RECORDS);
    assert_eq!(fixture.run(&["import", "records.jsonl"]).status, 0);
    fixture
}

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Returns an archive as DROP delivers it. Each file name has a date, a number and the name of a
/// list.
fn drop_archive(files: &[(&str, &str)]) -> Vec<u8> {
    let named: Vec<_> =
        files.iter().map(|(list, text)| (format!("20260312_4821_{list}.csv"), *text)).collect();
    zip(&named.iter().map(|(name, text)| (name.as_str(), *text)).collect::<Vec<_>>())
}

fn emails(fixture: &Fixture) -> Value {
    fixture.json(&["lookup", "nte", "companyName=Quill"])["emails"].clone()
}

fn phones(fixture: &Fixture) -> Value {
    fixture.json(&["lookup", "ntp", "companyName=Quill"])["phones"].clone()
}

fn answers(fixture: &Fixture, name: &str) -> String {
    fs::read_to_string(fixture.path().join("answers").join(name)).unwrap()
}

fn names_no_value(ran: &Ran) {
    for value in ["anna", "415", "ada", ANNA, "domain.com"] {
        assert!(!ran.out.contains(value) && !ran.err.contains(value), "{ran:?}");
    }
}

#[test]
fn a_download_of_drop_is_forgotten_and_answered() {
    let fixture = fixture();
    let archive = drop_archive(&[
        (
            "Email",
            &format!("ID,Hash\nAb3dEf6hIj00,{ANNA}\nAb3dEf6hIj01,{NOBODY}\nAb3dEf6hIj02,{ADA}\n"),
        ),
        ("NDZ", &format!("ID,Hash\nNd00,{NOBODY}\n")),
        ("Phone", &format!("ID,Hash\nZy9xWv8uTs00,{NUMBER}\n")),
        ("CTVID", "ID,Hash\n"),
        ("Removed", "ID,Hash,ListType\n"),
    ]);
    fixture.file("drop-download.zip", archive);
    assert_eq!(emails(&fixture), json!(["anna.smith@domain.com", "info@quill.example"]));

    let ran = fixture.run(&["forget", "--list", "drop-download.zip", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    names_no_value(&ran);
    let done = ran.json();
    assert_eq!((&done["entries"], &done["new"]), (&5.into(), &4.into()), "{done}");
    assert_eq!((&done["values"], &done["subjects"]), (&3.into(), &0.into()), "{done}");
    assert_eq!(emails(&fixture), json!(["info@quill.example"]));
    assert_eq!(phones(&fixture), json!(["+442079460123"]));
    let email = "Id,Status\nAb3dEf6hIj00,3\nAb3dEf6hIj01,5\nAb3dEf6hIj02,3\n";
    assert_eq!(answers(&fixture, EMAIL_FILE), email);
    assert_eq!(answers(&fixture, "20260312_4821_Phone.csv"), "Id,Status\nZy9xWv8uTs00,3\n");
    assert_eq!(answers(&fixture, "20260312_4821_NDZ.csv"), "Id,Status\nNd00,5\n");
    assert_eq!(fs::read_dir(fixture.path().join("answers")).unwrap().count(), 3);

    let again = fixture.json(&["import", "records.jsonl", "--source", "other"]);
    assert_eq!(again["dropped"], 3, "{again}");
    assert_eq!(emails(&fixture), json!(["info@quill.example"]));
    let counts = fixture.json(&["check"])["directory"]["counts"].clone();
    assert_eq!((&counts["suppression_lists"], &counts["entries_of_lists"]), (&5.into(), &4.into()));
    assert_eq!(counts["suppressed_values"], 3);
    assert_eq!(
        fixture.json(&["stats"])["suppression"],
        json!({"lists": 5, "entries": 4, "values": 3})
    );

    let repeated = fixture.run(&["forget", "--list", "drop-download.zip"]);
    repeated.refused(1, "answer file answers/20260312_4821_Email.csv exists already");
    // A list that was loaded before can be loaded again, with another folder for its answers.
    let elsewhere = fixture.json(&["forget", "--list", "drop-download.zip", "--answers", "b/c"]);
    assert_eq!((&elsewhere["new"], &elsewhere["values"]), (&0.into(), &0.into()));
    assert_eq!(fs::read_to_string(fixture.path().join("b/c").join(EMAIL_FILE)).unwrap(), email);
}

#[test]
fn a_later_import_leaves_out_what_a_list_has() {
    let fixture = Fixture::new();
    fixture.file("empty.jsonl", r#"{"type":"company","name":"Ink Ltd","domains":["ink.example"]}"#);
    assert_eq!(fixture.run(&["import", "empty.jsonl"]).status, 0);
    let list = format!("ID,Hash\na,{ANNA}\nb,{ADA}\n");
    fixture.file(EMAIL_FILE, list);
    fixture.json(&["forget", "--list", EMAIL_FILE]);
    assert_eq!(answers(&fixture, EMAIL_FILE), "Id,Status\na,5\nb,5\n");
    fixture.file("records.jsonl", RECORDS);
    assert_eq!(fixture.json(&["import", "records.jsonl"])["dropped"], 2);
    assert_eq!(emails(&fixture), json!(["info@quill.example"]));

    // The file `Removed` takes back the list's entry for `anna.smith@domain.com` (`ANNA`). So the
    // next import of `records.jsonl` stores this address.
    fixture.file("20260501_4821_Removed.csv", format!("ID,Hash,ListType\na,{ANNA},Email\n"));
    assert_eq!(fixture.json(&["forget", "--list", "20260501_4821_Removed.csv"])["taken_back"], 1);
    assert_eq!(fixture.json(&["import", "records.jsonl"])["dropped"], 1);
    assert_eq!(emails(&fixture), json!(["anna.smith@domain.com", "info@quill.example"]));
}

#[test]
fn an_entry_is_taken_back_and_forget_stays_final() {
    let fixture = fixture();
    fixture.file(EMAIL_FILE, format!("ID,Hash\na,{ANNA}\nb,{ADA}\n"));
    assert_eq!(fixture.json(&["forget", "--list", EMAIL_FILE])["values"], 2);
    // `ada@quill.example` is also forgotten by a command of its own, without a list. So the address
    // stays suppressed when the list's entry for it is taken back.
    fixture.json(&["forget", "ada@quill.example"]);
    let removed = format!("ID,Hash,ListType\na,{ANNA},Email\nb,{ADA},Email\nc,{NOBODY},MAID\n");
    fixture.file("20260501_4821_Removed.csv", removed);
    let done = fixture.json(&["forget", "--list", "20260501_4821_Removed.csv"]);
    assert_eq!((&done["taken_back"], &done["answers"]), (&2.into(), &json!([])), "{done}");
    assert_eq!(fixture.json(&["check"])["directory"]["counts"]["suppressed_values"], 1);
    assert_eq!(fixture.json(&["import", "records.jsonl"])["dropped"], 1);
    assert_eq!(emails(&fixture), json!(["info@quill.example", "anna.smith@domain.com"]));

    // The same list is loaded again. Its entries that were taken back do not suppress their values
    // again.
    fixture.json(&["forget", "--list", EMAIL_FILE, "--answers", "again"]);
    assert_eq!(emails(&fixture), json!(["info@quill.example", "anna.smith@domain.com"]));
    // A new list has the address too, so the address is suppressed again.
    fixture.file("20260601_4821_Email.csv", format!("ID,Hash\nd,{ANNA}\n"));
    fixture.json(&["forget", "--list", "20260601_4821_Email.csv"]);
    assert_eq!(answers(&fixture, "20260601_4821_Email.csv"), "Id,Status\nd,3\n");
    assert_eq!(emails(&fixture), json!(["info@quill.example"]));
}

#[test]
fn an_entry_that_is_removed_in_the_same_download_keeps_its_value() {
    let fixture = fixture();
    let archive = drop_archive(&[
        ("Removed", &format!("ID,Hash,ListType\na,{ANNA},Email\n")),
        ("Email", &format!("ID,Hash\na,{ANNA}\n")),
    ]);
    fixture.file("drop-download.zip", archive);
    let done = fixture.json(&["forget", "--list", "drop-download.zip"]);
    assert_eq!((&done["taken_back"], &done["values"]), (&1.into(), &0.into()));
    assert_eq!(answers(&fixture, EMAIL_FILE), "Id,Status\na,5\n");
    assert_eq!(emails(&fixture), json!(["anna.smith@domain.com", "info@quill.example"]));
}

#[test]
fn lists_of_hashes_are_recognised_by_their_length() {
    for (list, hash) in [
        ("md5.txt", "F1BDEF993664D37F45C75AA3B7B28E73\r\n\r\n"),
        ("sha1.txt", "a9afaf63e102f1ae29e55010cbd6551a3b945626\n"),
        ("sha256.txt", "280d7c313fe987a207623cd3f73c044f2483432bd287ced8ba8481a4e42d9211"),
    ] {
        let fixture = fixture();
        fixture.file(list, hash);
        let ran = fixture.run(&["forget", "--list", list, "--json"]);
        assert_eq!((ran.status, &ran.json()["values"]), (0, &1.into()), "{ran:?}");
        names_no_value(&ran);
        assert_eq!(emails(&fixture), json!(["info@quill.example"]), "{list}");
        // Removing the source does not end the suppression.
        fixture.json(&["source", "remove", "records.jsonl"]);
        assert_eq!(fixture.json(&["import", "records.jsonl"])["dropped"], 1);
        assert_eq!(emails(&fixture), json!(["info@quill.example"]), "{list}");
        let again = fixture.json(&["forget", "--list", list]);
        assert_eq!((&again["new"], &again["values"]), (&0.into(), &0.into()));
    }
}

#[test]
fn a_plain_list_forgets_as_values_do() {
    let fixture = fixture();
    fixture.file(
        "list.txt",
        "anna.smith@domain.com\n+1 415 555 9317\nlinkedin.com/in/ada-penn-example\n",
    );
    let done = fixture.json(&["forget", "--list", "list.txt"]);
    assert_eq!((&done["forgotten"], &done["subjects"]), (&3.into(), &1.into()), "{done}");
    assert_eq!(emails(&fixture), json!(["info@quill.example"]));
    assert_eq!(phones(&fixture), json!(["+442079460123"]));
}

#[test]
fn a_list_that_cannot_be_used_changes_nothing() {
    let fixture = fixture();
    let email = |text: &str| drop_archive(&[("Phone", "ID,Hash\n"), ("Email", text)]);
    let whole = email(&format!("ID,Hash\na,{ANNA}\nb,{ADA}\n"));
    let cut = whole.get(..whole.len() / 2).unwrap().to_vec();
    let member = "line 2: the hash is not the Base64 of 32 bytes; get the list again";
    for (name, bytes, expected) in [
        ("cut.zip", cut, "its list of files is missing; get it again"),
        (
            "a.zip",
            email(&format!("ID,Hashes\na,{ANNA}\n")),
            "the columns are not ID,Hash; get the list again",
        ),
        ("b.zip", email("ID,Hash\na,anna.smith@domain.com\n"), member),
        (
            "c.zip",
            email(&format!("ID,Hash\na,{ANNA}\n'=a,{ANNA}\n")),
            "line 3: the ID is not 1 to 64",
        ),
        ("d.zip", email(&format!("ID,Hash\na,{ANNA},x\n")), "line 2: the row has 3 fields"),
        ("e.zip", zip(&[("readme.txt", "anna")]), "readme.txt is no list of DROP"),
        (
            "f.zip",
            drop_archive(&[("Removed", &format!("ID,Hash,ListType\na,{ANNA},Fax\n"))]),
            "line 2: the list type is not",
        ),
        (
            "md5.txt",
            b"F1BDEF993664D37F45C75AA3B7B28E73\n415\n".to_vec(),
            "md5.txt: line 2: this is no hash of 32 hex digits",
        ),
        ("plain.txt", b"anna.smith@domain.com\nanna\n".to_vec(), "plain.txt: line 2: "),
        ("none.txt", Vec::new(), "none.txt is empty; get the list again"),
    ] {
        fixture.file(name, bytes);
        let ran = fixture.run(&["forget", "--list", name]);
        ran.refused(2, expected);
        assert!(ran.err.trim_end().ends_with("nothing was changed"), "{ran:?}");
        names_no_value(&ran);
    }
    assert!(!fixture.path().join("answers").exists());
    assert_eq!(emails(&fixture), json!(["anna.smith@domain.com", "info@quill.example"]));
    assert_eq!(fixture.json(&["check"])["directory"]["counts"]["entries_of_lists"], 0);
    fixture
        .run(&["forget", "--list", "missing.zip"])
        .refused(2, "missing.zip can't be read as a list");
}

#[test]
fn an_answer_file_that_exists_is_not_replaced() {
    let fixture = fixture();
    fixture.file(EMAIL_FILE, format!("ID,Hash\na,{ANNA}\n"));
    fs::create_dir(fixture.path().join("answers")).unwrap();
    fixture.file(&format!("answers/{EMAIL_FILE}"), "mine");
    fixture.run(&["forget", "--list", EMAIL_FILE]).refused(1, "exists already; move it away");
    assert_eq!(answers(&fixture, EMAIL_FILE), "mine");
    assert_eq!(emails(&fixture), json!(["anna.smith@domain.com", "info@quill.example"]));
}

#[test]
fn a_run_that_was_interrupted_is_completed_by_the_same_command() {
    let fixture = fixture();
    fixture.file(EMAIL_FILE, format!("ID,Hash\na,{ANNA}\nb,{NOBODY}\n"));
    // The unfinished file cannot be created, because a folder has its name. So the run ends with an
    // error after the values were removed, and before the answers are written.
    let blocked = fixture.path().join("answers").join(format!(".{EMAIL_FILE}.unfinished"));
    fs::create_dir_all(&blocked).unwrap();
    assert_eq!(fixture.run(&["forget", "--list", EMAIL_FILE]).status, 2);
    assert_eq!(emails(&fixture), json!(["info@quill.example"]));
    fs::remove_dir(blocked).unwrap();
    // Interrupted runs can also leave two answer files for the same list: a complete file and an
    // unfinished file. The test writes both files here, and then runs the command again.
    let unfinished = format!("answers/.{EMAIL_FILE}.unfinished");
    fixture.file(&unfinished, "Id,Sta");
    fixture.file(&format!("answers/{EMAIL_FILE}"), "Id,Status\na,3\nb,5\n");
    let done = fixture.json(&["forget", "--list", EMAIL_FILE]);
    assert_eq!(
        (&done["answers"][0]["deleted"], &done["answers"][0]["not_found"]),
        (&1.into(), &1.into())
    );
    assert_eq!(answers(&fixture, EMAIL_FILE), "Id,Status\na,3\nb,5\n");
    assert!(!fixture.path().join(unfinished).exists());
    fixture.run(&["forget", "--list", EMAIL_FILE]).refused(1, "exists already");
}
