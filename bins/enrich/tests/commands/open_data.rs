//! Tests of `enrich import` with files of public sources. Also tests that the licence and the
//! attribution of a source are stored.

use std::fs;
use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::fixture::{Fixture, QUILL, Ran};

const ENTERPRISES: &str = "\"EnterpriseNumber\",\"Status\",\"JuridicalSituation\",\
    \"TypeOfEnterprise\",\"JuridicalForm\",\"JuridicalFormCAC\",\"StartDate\"\n\
    \"0999.000.327\",\"AC\",\"000\",\"2\",\"416\",,09-08-1960\n\
    \"0999.000.129\",\"AC\",\"000\",\"2\",\"416\",,09-08-1960\n\
    \"0999.000.228\",\"AC\",\"000\",\"1\",,,09-08-1960\n";

const DENOMINATIONS: &str = "\"EntityNumber\",\"Language\",\"TypeOfDenomination\",\"Denomination\"\n\
    \"0999.000.129\",\"2\",\"002\",\"QM\"\n\
    \"0999.000.129\",\"2\",\"001\",\"Quillmark Vereniging\"\n\
    \"0999.000.129\",\"1\",\"001\",\"Association Quillmark\"\n\
    \"0999.000.228\",\"2\",\"001\",\"Ada Fernwright\"\n\
    \"0999.000.327\",\"2\",\"003\",\"Inkwell\"\n\
    \"2.999.000.001\",\"2\",\"003\",\"A place of business\"\n";

const CONTACTS: &str = "\"EntityNumber\",\"EntityContact\",\"ContactType\",\"Value\"\n\
    \"0999.000.129\",\"ENT\",\"TEL\",\"02 555 01 01\"\n\
    \"0999.000.129\",\"ENT\",\"WEB\",\"www.quillmark.example; shop.quillmark.example\"\n\
    \"0999.000.327\",\"ENT\",\"EMAIL\",\"info@inkwell.example\"\n";

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn assert_refused(ran: &Ran, told: &str) {
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains(told), "{ran:?}");
}

fn kbo() -> Vec<u8> {
    zip(&[
        ("meta.csv", "\"Variable\",\"Value\"\n\"SnapshotDate\",\"30-05-2025\"\n"),
        ("enterprise.csv", ENTERPRISES),
        ("denomination.csv", DENOMINATIONS),
        ("contact.csv", CONTACTS),
        ("branch.csv", "\"Id\",\"StartDate\",\"EnterpriseNumber\"\n"),
    ])
}

#[test]
fn the_files_of_the_belgian_register_are_joined() {
    let fixture = Fixture::new();
    fixture.file("kbo.zip", kbo());
    let shown = fixture.run(&["import", "kbo.zip", "--dry-run"]);
    assert_eq!(shown.status, 0, "{shown:?}");
    insta::assert_snapshot!("joined_files", shown.err);
    let ran = fixture.json(&["import", "kbo.zip"]);
    assert_eq!((&ran["read"], &ran["added"]), (&2.into(), &2.into()), "{ran}");
    assert_eq!(ran["skipped"]["natural person"], 1, "{ran}");
    let held = fixture.json(&["lookup", "company", "--id", "be:0999000129"]);
    assert!(held.to_string().contains("quillmark.example"), "{held}");
    let again = fixture.json(&["import", "kbo.zip"]);
    assert_eq!((&again["added"], &again["unchanged"]), (&0.into(), &2.into()), "{again}");

    fixture.file("KboOpenData_0001.zip", zip(&[("enterprise.csv", ENTERPRISES), ("a.csv", "a")]));
    let part = fixture.run(&["import", "KboOpenData_0001.zip", "--format", "kbo"]);
    assert_refused(
        &part,
        "no file in the zip archive fits `denomination.csv`; it has enterprise.csv, a.csv",
    );
}

const PLACES: &str = "{\"id\":\"1\",\"geometry\":{},\"properties\":{\"names\":{\"primary\":\"Quill West\"},\
    \"websites\":[\"https://quillmark.example/west\"],\"phones\":[\"+442079460101\"]}}\n\
    {\"id\":\"2\",\"geometry\":{},\"properties\":{\"names\":{\"primary\":\"Quill East\"},\
    \"websites\":[\"https://quillmark.example/east\"],\"phones\":[\"+442079460102\"]}}\n\
    {\"id\":\"3\",\"geometry\":{},\"properties\":{\"names\":{\"primary\":\"Inkwell\"},\
    \"websites\":[\"https://inkwell.example/\"],\"phones\":[\"+442079460103\"]}}\n\
    {\"id\":\"4\",\"geometry\":{},\"properties\":{\"names\":{\"primary\":\"Quill North\"},\
    \"websites\":[\"https://quillmark.example/north\"],\"phones\":[\"+442079460104\"]}}\n\
    {\"id\":\"5\",\"geometry\":{},\"properties\":{\"names\":{\"primary\":\"Quill South\"},\
    \"websites\":[\"https://quillmark.example/south\"],\"phones\":[\"+442079460105\"]}}\n";

#[test]
fn a_domain_with_more_than_three_places_gives_no_numbers() {
    let fixture = Fixture::new();
    fixture.file("places.geojsonseq", PLACES);
    for input in ["places.geojsonseq", "-"] {
        let words = ["import", input, "--dry-run", "--format", "overture"];
        let shown = fixture.run_with_input(&words, PLACES);
        assert_eq!(shown.status, 0, "{shown:?}");
        assert_eq!(shown.err.matches("\"phones\"").count(), 1, "{shown:?}");
        assert!(shown.err.contains("+442079460103"), "{shown:?}");
        let told = "4 values of domains that too many records share were left out";
        assert!(shown.out.contains(told), "{shown:?}");
    }
    let three: Vec<&str> = PLACES.lines().take(4).collect();
    fixture.file("places.geojsonseq", three.join("\n"));
    let shown = fixture.run(&["import", "places.geojsonseq", "--dry-run"]);
    assert_eq!(shown.err.matches("\"phones\"").count(), 4, "{shown:?}");
}

const UNIVERSITIES: &str = "[{\"name\":\"Quillmark University\",\"country\":\"Belgium\",\
    \"alpha_two_code\":\"BE\",\"domains\":[\"quillmark.example\"],\
    \"web_pages\":[\"https://www.quillmark.example/\"],\"state-province\":null}]";

#[test]
fn the_terms_of_a_source_are_kept_and_shown() {
    let fixture = Fixture::new();
    fixture.file("own.jsonl", QUILL);
    fixture.file("kbo.zip", kbo());
    assert_eq!(fixture.run(&["import", "own.jsonl", "kbo.zip"]).status, 0);
    let sources = fixture.json(&["source", "list"]);
    assert_eq!(sources[0]["source"], "kbo");
    assert_eq!(sources[0]["licence"], "KBO/BCE open data licence");
    assert_eq!(
        sources[0]["attribution"],
        "Source: FPS Economy, Crossroads Bank for Enterprises (KBO/BCE)"
    );
    assert_eq!(sources[0]["homepage"], "https://kbopub.economie.fgov.be/kbo-open-data");
    assert_eq!((&sources[1]["source"], &sources[1]["licence"]), (&"own.jsonl".into(), &"".into()));
    let listed = fixture.run(&["source", "list"]).out;
    assert!(listed.starts_with("SOURCE"), "{listed}");
    assert!(listed.contains("KBO/BCE open data licence  Source: FPS Economy"), "{listed}");

    // The user's own mapping gives the source `leads` a licence. A later import without a licence
    // does not change it.
    fixture.file("leads.csv", "Firm\nInkwell\n");
    fixture.file(
        "leads.toml",
        "[source]\nname = \"leads\"\nlicence = \"ours\"\n[fields]\nname = \"Firm\"\n",
    );
    assert_eq!(fixture.run(&["import", "leads.csv", "--map", "leads.toml"]).status, 0);
    let words = ["import", "leads.csv", "--column", "name=Firm", "--source", "leads"];
    assert_eq!(fixture.run(&words).status, 0);
    assert_eq!(fixture.json(&["source", "list"])[1]["licence"], "ours");
}

#[test]
fn a_file_of_a_format_in_another_folder_does_not_join_its_source() {
    let fixture = Fixture::new();
    for folder in ["one", "two"] {
        fs::create_dir(fixture.path().join(folder)).unwrap();
    }
    for file in ["one/universities.json", "one/world_universities.json", "two/universities.json"] {
        fixture.file(file, UNIVERSITIES);
    }
    let both = fixture.run(&["import", "one/universities.json", "two/universities.json"]);
    assert_refused(&both, "the source universities holds the records of another file, one/");
    // Files of one format in one folder belong to one source.
    let both = ["import", "one/universities.json", "one/world_universities.json"];
    assert_eq!(fixture.run(&both).status, 0);
    let other = fixture.run(&["import", "two/universities.json"]);
    assert_refused(&other, "the source universities holds the records of another folder, /");
    let said = ["import", "two/universities.json", "--source", "universities"];
    assert_eq!(fixture.run(&said).status, 0);
    let sources = fixture.json(&["source", "list"]);
    assert_eq!(sources.as_array().unwrap().len(), 1, "{sources}");
    // The name of this file equals the name of an existing source, but the records of that source
    // come from another file. So the import is refused.
    fixture.file("universities", QUILL);
    let named = fixture.run(&["import", "universities"]);
    named.refused(2, "the source universities holds the records of another file");
}

const LEADS: &str = "Leads 2026 - exported 2026-09-30,,,,\n\
    ,,,,\n\
    Account Name,Website,Website 2,Annual Revenue,Phone\n\
    Quillmark,https://www.quillmark.example/en,shop.quillmark.example,\"1,250,000\",+44 20 7946 0123\n\
    \"Inkwell, Inc.\",inkwell.example,N/A,\"12,000\",N/A\n\
    N/A,,,,\n";

#[test]
fn a_column_that_may_be_the_companys_name_is_named() {
    let fixture = Fixture::new();
    let rows = "Standbetreiber;Ansprechpartner;E-Mail\nQuillmark;Ada Byte;ada@quillmark.example\n\
        Inkwell;Bob Nib;bob@inkwell.example\n";
    fixture.file("fair.csv", rows);
    let ran = fixture.run(&["import", "fair.csv", "--dry-run"]);
    assert!(ran.err.contains("is it `Standbetreiber`?"), "{ran:?}");
}

#[test]
fn a_title_above_the_header_is_skipped_and_words_for_no_value_are_none() {
    let fixture = Fixture::new();
    fixture.file("export.csv", LEADS);
    let ran = fixture.run(&["import", "export.csv", "--dry-run", "--json"]);
    let report = ran.json();
    assert_eq!((&report["added"], &report["dropped"]), (&2.into(), &0.into()), "{ran:?}");
    assert_eq!(report["skipped"]["no name"], 1, "{ran:?}");
    assert!(ran.err.contains("[\"quillmark.example\",\"shop.quillmark.example\"]"), "{ran:?}");
    let named = ["import", "export.csv", "--column", "name=Account Name", "--column"];
    let ran = fixture.run(&[&named[..], &["domains=Website", "--dry-run", "--json"]].concat());
    assert_eq!(ran.json()["added"], 2, "{ran:?}");
    assert!(ran.err.contains("export.csv: not used: Website 2"), "{ran:?}");
}

#[test]
fn a_mapping_or_an_encoding_that_does_not_fit_gets_advice() {
    let fixture = Fixture::new();
    fixture.file("crm.csv", "Firma,Web\nQuill,quill.example\n");
    fixture.file(
        "crm.toml",
        "[source]\nname = \"crm\"\n[[input]]\nkind = \"csv\"\n[record]\ntype = \"company\"\n\
         [fields]\nnames = \"Company\"\n",
    );
    let ran = fixture.run(&["import", "crm.csv", "--map", "crm.toml"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.err.contains("no record of this file was used"), "{ran:?}");
    fixture.file("old.csv", b"name,domain\nQuill \xe9,quill.example\n");
    let ran = fixture.run(&["import", "old.csv", "--encoding", "utf-8"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.err.contains("line 2: the line is not UTF-8"), "{ran:?}");
    assert!(ran.err.contains("--encoding, such as windows-1252"), "{ran:?}");
}

#[test]
fn addresses_of_a_company_are_not_those_of_the_person_beside_it() {
    let fixture = Fixture::new();
    let dump = "Account\tAccount Domain\tFirst Name\tLast Name\tEmail\tCompany Email\tNotes\n\
        Quillmark\tquillmark.example\tAda\tFernwright\tada@quillmark.example\t\
        info@quillmark.example\t\"Met.\nSaid \"\"call\"\" later.\"\n";
    fixture.file("dump.tsv", dump);
    let ran = fixture.run(&["import", "dump.tsv", "--dry-run"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.err.contains("\"emails\":[\"ada@quillmark.example\"]"), "{ran:?}");
    assert!(ran.err.contains("\"company_domain\":\"quillmark.example\""), "{ran:?}");
}

#[test]
fn a_table_without_any_known_column_makes_no_folder_and_says_what_to_do() {
    let fixture = Fixture::new();
    fixture.file("odd.csv", "Wer;Wo\nInkwell;inkwell.example\n");
    let ran = fixture.run(&["import", "odd.csv"]);
    ran.refused(2, "name the columns with --column, such as --column name=Firma");
    assert!(!fixture.data().exists());
}

#[test]
fn a_file_that_no_layout_can_read_is_told_also_with_a_chosen_format() {
    let fixture = Fixture::new();
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]>\
        <LEIData><LEIRecords><LEIRecord><LEI>&b;</LEI></LEIRecord></LEIRecords></LEIData>";
    fixture.file("bomb.xml", bomb);
    for format in [&[][..], &["--format", "gleif"]] {
        let ran = fixture.run(&[&["import", "bomb.xml"], format].concat());
        ran.refused(2, "the XML file declares entities of its own");
    }
    assert!(!fixture.data().exists());
}

#[test]
fn cards_are_recognised_by_their_first_line() {
    let fixture = Fixture::new();
    let card = "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Fernwright;Ada;;;\r\nFN:Ada Fernwright\r\n\
        ORG:Quillmark;Research\r\nEMAIL;TYPE=work:ada@quillmark.example\r\nEND:VCARD\r\n";
    fixture.file("contacts.vcf", card);
    let ran = fixture.run(&["import", "contacts.vcf", "--dry-run", "--json"]);
    assert_eq!(ran.json()["added"], 1, "{ran:?}");
    assert!(ran.err.contains("contacts.vcf: the format is vcard"), "{ran:?}");
}

#[test]
fn a_wrong_encoding_and_a_column_twice_are_told() {
    let fixture = Fixture::new();
    fixture.file("latin.csv", b"Firma;Webseite\nM\xfcller;mueller.example\nInk;ink.example\n");
    let ran = fixture.run(&["import", "latin.csv", "--encoding", "utf-8", "--json"]);
    let report = ran.json();
    assert_eq!((&report["added"], &report["rejected"]), (&1.into(), &1.into()), "{ran:?}");
    assert!(ran.err.contains("latin.csv: line 2: "), "{ran:?}");
    let fixture = Fixture::new();
    fixture.file("twice.csv", "Company,Website,Website\nQuill,quill.example,x.example\n");
    let ran = fixture.run(&["import", "twice.csv"]);
    ran.refused(2, "the header has the column `Website` twice; rename or remove one");
    assert!(!fixture.data().exists());
}
