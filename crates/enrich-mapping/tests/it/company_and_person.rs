//! Rows that have a company and a person who works there.

use enrich_mapping::{Mapping, Outcome, Settings};
use serde_json::{Map, Value, json};

/// Creates a mapping from the names and values of columns, and maps rows with it. Returns the
/// records that were made from each row.
fn mapped(columns: &[&str], rows: &[&[&str]]) -> Vec<Value> {
    let names: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
    let record = |cells: &&[&str]| -> Map<String, Value> {
        names.iter().cloned().zip(cells.iter().map(|&cell| cell.into())).collect()
    };
    let records: Vec<_> = rows.iter().map(record).collect();
    let found = Mapping::from_synonyms(&names, &records, None).unwrap();
    records.iter().map(|record| records_of(&found.mapping, record)).collect()
}

fn records_of(mapping: &Mapping, record: &Map<String, Value>) -> Value {
    match mapping.map(record, &Settings::default()).outcome {
        Outcome::Records(records) => records.into_iter().map(Value::Object).collect(),
        Outcome::Skipped(reason) => reason.into(),
    }
}

#[test]
fn a_row_gives_the_company_and_its_contact() {
    let columns =
        ["Company", "Website", "Phone", "Contact Name", "Email", "Mobile", "LinkedIn", "Country"];
    let person = "https://www.linkedin.com/in/ada-byte-example";
    let company = "https://www.linkedin.com/company/quill-example";
    let rows: [&[&str]; 4] = [
        &[
            "Quill",
            "quill.example",
            "030 23125001",
            "Ada Byte",
            "ada@quill.example; info@quill.example",
            "0171 3920001",
            person,
            "DE",
        ],
        &["Quill", "quill.example", "", "Ada Byte", "", "", company, "DE"],
        &["Ink", "ink.example", "", "", "bob@ink.example", "0171 3920002", "", "DE"],
        &["Nib", "nib.example", "", "Sales Team", "eve@nib.example", "", "", "DE"],
    ];
    let found = mapped(&columns, &rows);
    assert_eq!(
        found[0],
        json!([
            {"type": "person", "first_name": "Ada", "last_name": "Byte", "company": "Quill",
                "company_domain": "quill.example", "country": "DE",
                "linkedin": "linkedin.com/in/ada-byte-example", "emails": ["ada@quill.example"],
                "phones": ["+491713920001"]},
            {"type": "company", "name": "Quill", "country": "DE", "domains": ["quill.example"],
                "emails": ["info@quill.example"], "phones": ["+493023125001"]},
        ])
    );
    assert_eq!(found[1][0].get("linkedin"), None);
    assert_eq!(found[1][1]["linkedin"], "linkedin.com/company/quill-example");
    // A row without a person gives only the company. The company gets all values, also those that a
    // person would get, such as the mobile phone number.
    assert_eq!(
        found[2],
        json!([{"type": "company", "name": "Ink", "country": "DE", "domains": ["ink.example"],
            "emails": ["bob@ink.example"], "phones": ["+491713920002"]}])
    );
    assert_eq!(found[3][0]["emails"], json!(["eve@nib.example"]));
}

#[test]
fn the_emails_before_the_person_are_the_companys() {
    let columns = ["Firma", "E-Mail", "Internet", "Ansprechpartner", "Mail Ansprechpartner"];
    let rows: [&[&str]; 3] = [
        &["Quill", "hallo@quill.example", "quill.example", "Ada Byte", "ada@quill.example"],
        &["Ink", "post@ink.example", "ink.example", "Bob Nib", "bob@ink.example"],
        &["Nib", "an@nib.example", "nib.example", "Eve Ink", "eve@nib.example"],
    ];
    let found = mapped(&columns, &rows);
    assert_eq!(found[0][0]["emails"], json!(["ada@quill.example"]));
    assert_eq!(found[0][1]["emails"], json!(["hallo@quill.example"]));
    let columns = ["Firma", "E-mail", "Internet", "Ansprechpartner", "E-mail (2)"];
    assert_eq!(mapped(&columns, &rows), found);
    // If there is only one column with email addresses, both the company and the person get the
    // address.
    let columns = ["Firma", "E-Mail", "Internet", "Ansprechpartner"];
    let found = mapped(&columns, &rows.map(|row| &row[..4]));
    assert_eq!(found[0][0]["emails"], json!(["hallo@quill.example"]));
    assert_eq!(found[0][1]["emails"], json!(["hallo@quill.example"]));
}

#[test]
fn the_prefix_of_a_column_says_whether_it_is_the_companys() {
    let columns =
        ["KNT_NAZWA1", "KNT_EMAIL", "KNT_WWW", "KNT_TEL", "OSB_IMIE", "OSB_NAZWISKO", "OSB_EMAIL"];
    let row: &[&str] = &[
        "Quill",
        "ada@quill.example",
        "quill.example",
        "+48 22 555 01 01",
        "Ewa",
        "Byte",
        "ewa@quill.example",
    ];
    let found = mapped(&columns, &[row]);
    assert_eq!(found[0][0]["emails"], json!(["ewa@quill.example"]));
    assert_eq!(found[0][1]["name"], "Quill");
    assert_eq!(found[0][1]["emails"], json!(["ada@quill.example"]));
}

#[test]
fn columns_of_both_may_be_named() {
    let pair = |(field, column): (&str, &str)| (field.to_owned(), column.to_owned());
    let pairs = [
        ("name", "a"),
        ("domains", "b"),
        ("full_name", "c"),
        ("emails", "d"),
        ("company_emails", "e"),
        ("lei", "f"),
    ]
    .map(pair);
    let mapping = Mapping::from_columns(&pairs, None).unwrap();
    let row = json!({"a": "Quill", "b": "quill.example", "c": "Ada Byte", "d": "ada@quill.example",
        "e": "bob@quill.example", "f": "529900T8BM49AURSDO55"});
    assert_eq!(
        records_of(&mapping, row.as_object().unwrap()),
        json!([
            {"type": "person", "first_name": "Ada", "last_name": "Byte", "company": "Quill",
                "company_domain": "quill.example", "emails": ["ada@quill.example"]},
            {"type": "company", "name": "Quill", "domains": ["quill.example"],
                "emails": ["bob@quill.example"], "ids": {"lei": "529900T8BM49AURSDO55"}},
        ])
    );
    let pairs = [("full_name", "a"), ("domains", "b"), ("nmae", "c")].map(pair);
    let message = Mapping::from_columns(&pairs, None).unwrap_err().to_string();
    assert!(message.starts_with("`nmae` is no field of a person or a company;"), "{message}");
    assert!(message.contains("`company_emails`") && message.contains("`lei`"), "{message}");
}

#[test]
fn an_error_names_only_fields_that_rows_of_both_may_have() {
    let pair = |(field, column): (&str, &str)| (field.to_owned(), column.to_owned());
    let pairs = [("full_name", "a"), ("name", "b"), ("parent", "c")].map(pair);
    let mapping = Mapping::from_columns(&pairs, None).unwrap();
    let row = json!({"a": "Ada Byte", "b": "Quill", "c": "Ink Group"});
    let records = records_of(&mapping, row.as_object().unwrap());
    assert_eq!(records[1], json!({"type": "company", "name": "Quill", "parent": "Ink Group"}));
    for field in ["id", "urls"] {
        let pairs = [("full_name", "a"), ("name", "b"), (field, "c")].map(pair);
        let message = Mapping::from_columns(&pairs, None).unwrap_err().to_string();
        assert_eq!(message.matches(&format!("`{field}`")).count(), 1, "{message}");
    }
}

#[test]
fn a_named_column_of_full_names_may_have_the_family_name_first() {
    let pair = |(field, column): (&str, &str)| (field.to_owned(), column.to_owned());
    for (column, first) in [("Teljes név", "Ada"), ("x", "Byte")] {
        let pairs = [("full_name", column), ("company", "y")].map(pair);
        let mapping = Mapping::from_columns(&pairs, None).unwrap();
        let row = json!({column: "Byte Ada", "y": "Quill"});
        let records = records_of(&mapping, row.as_object().unwrap());
        assert_eq!(records[0]["first_name"], first, "{column}");
    }
}

#[test]
fn a_job_title_beside_a_name_is_left_out() {
    let columns = ["Company", "Website", "Contact"];
    for (text, first, last) in [
        ("Ada Byte - VP Operations", "Ada", "Byte"),
        ("CEO & Founder - Ada Byte", "Ada", "Byte"),
        ("Ada Byte, Managing Partner", "Ada", "Byte"),
        ("Ada Byte (Owner); Bob Byte (Office Mgr)", "Ada", "Byte"),
        ("Ada Byte | Sales Director", "Ada", "Byte"),
        ("Byte, Ada", "Ada", "Byte"),
        ("Frau Dr. Ada Byte", "Ada", "Byte"),
        ("Dipl.-Ing. (FH) Ada Byte", "Ada", "Byte"),
        ("Ada (Addie) Byte", "Ada", "Byte"),
        ("le Maire (Ada Byte)", "Ada", "Byte"),
        ("M. BYTE-NIB Ada", "Ada", "BYTE-NIB"),
        ("Ada & Bob Byte", "Ada", "Byte"),
        ("Ada Byte und Bob Nib", "Ada", "Byte"),
        ("Ada y Bob Byte Nib", "Ada Byte", "Nib"),
        ("Byte, Ada & Nib, Bob", "Ada", "Byte"),
        ("Ada Byte y Nib", "Ada Byte y", "Nib"),
    ] {
        let found = mapped(&columns, &[&["Quill", "quill.example", text]]);
        let name = (&found[0][0]["first_name"], &found[0][0]["last_name"]);
        assert_eq!(name, (&first.into(), &last.into()), "{text}");
    }
    // A person needs a first name. Without one, the row gives only the company.
    for text in ["Fr. Byte", "Ada (last name follows)", "Ingen uppgift"] {
        let found = mapped(&columns, &[&["Quill", "quill.example", text]]);
        assert_eq!(found[0].as_array().map(Vec::len), Some(1), "{text}");
    }
}

#[test]
fn the_numbers_of_the_company_are_the_persons_if_there_is_no_company() {
    let columns = ["Company", "Company phone", "First name", "Last name", "Mobile"];
    let rows: [&[&str]; 2] = [
        &["Quill", "+493023125001", "Ada", "Byte", "+491713920001"],
        &["private person", "+493023125002", "Bob", "Nib", ""],
    ];
    let found = mapped(&columns, &rows);
    assert_eq!(found[0][0]["phones"], json!(["+491713920001"]));
    assert_eq!(found[0][1]["phones"], json!(["+493023125001"]));
    assert_eq!(
        found[1],
        json!([{"type": "person", "first_name": "Bob", "last_name": "Nib",
            "phones": ["+493023125002"]}])
    );
}

#[test]
fn a_column_may_be_named_as_the_prefix_of_another() {
    let pairs = [
        ("first_name", "a"),
        ("last_name", "c"),
        ("last_name_prefix", "b"),
        ("area_code", "d"),
        ("phones", "e"),
        ("country", "f"),
    ]
    .map(|(field, column)| (field.to_owned(), column.to_owned()));
    let mapping = Mapping::from_columns(&pairs, None).unwrap();
    let row = json!({"a": "Ada", "b": "van der", "c": "Byte", "d": "030", "e": "23125-001",
        "f": "DE"});
    assert_eq!(
        records_of(&mapping, row.as_object().unwrap()),
        json!([{"type": "person", "first_name": "Ada", "last_name": "van der Byte",
            "country": "DE", "phones": ["+493023125001"]}])
    );
}

#[test]
fn a_column_may_be_named_as_one_with_the_family_name_first() {
    let mapping = |fields: &[(&str, &str)]| {
        let pairs = fields.iter().map(|(field, column)| ((*field).into(), (*column).into()));
        Mapping::from_columns(&pairs.collect::<Vec<_>>(), None).unwrap()
    };
    let row = json!({"a": "Quill", "b": "MME BYTE ADA MIA"});
    let ada = json!({"type": "person", "first_name": "ADA MIA", "last_name": "BYTE"});
    let found = records_of(&mapping(&[("family_name_first", "b")]), row.as_object().unwrap());
    assert_eq!(found, json!([ada]));
    for (text, first, last) in [
        ("Byte Nib, Ada", "Ada", "Byte Nib"),
        ("Byte Ada, 020 7946 0123", "Ada", "Byte"),
        ("Byte Ada, Director", "Ada", "Byte"),
        ("Byte Ada / Nib Bob", "Ada", "Byte"),
    ] {
        let row = json!({"b": text});
        let found = records_of(&mapping(&[("family_name_first", "b")]), row.as_object().unwrap());
        assert_eq!(
            (&found[0]["first_name"], &found[0]["last_name"]),
            (&json!(first), &json!(last))
        );
    }
    let both = mapping(&[("name", "a"), ("company_emails", "c"), ("family_name_first", "b")]);
    let found = records_of(&both, row.as_object().unwrap());
    assert_eq!(
        (&found[0]["first_name"], &found[0]["company"]),
        (&json!("ADA MIA"), &json!("Quill"))
    );
}

#[test]
fn an_email_address_shows_the_order_of_a_name() {
    let columns = ["Company", "Contact", "E-mail"];
    let rows: [&[&str]; 2] = [
        &["Quill Ltd", "Byte Ada", "a.byte@quill.example"],
        &["Ink Ltd", "Bob Nib", "b.nib@ink.example"],
    ];
    let found = mapped(&columns, &rows);
    assert_eq!(found[0][0]["last_name"], "Byte");
    assert_eq!(found[1][0]["last_name"], "Nib");
}

#[test]
fn values_may_contradict_the_name_of_a_column() {
    let rows: [&[&str]; 2] = [
        &["ada@quill.example", "Quill", "+493023125001", "1058", "Byte Ada"],
        &["bob@ink.example", "Ink", "+493023125002", "1062", "Nib Bob"],
    ];
    let columns = ["Account", "Firma", "Telefon", "País", "Contact (surname first)"];
    let found = mapped(&columns, &rows);
    assert_eq!(
        found[0],
        json!([
            {"type": "person", "first_name": "Ada", "last_name": "Byte", "company": "Quill",
                "emails": ["ada@quill.example"]},
            {"type": "company", "name": "Quill", "emails": ["ada@quill.example"],
                "phones": ["+493023125001"]},
        ])
    );
}

/// Maps a row of a list of people. Returns the first and the last name of the person; both are
/// empty if the row gives no person.
fn name_of(first: &str, last: &str) -> (String, String) {
    let found = mapped(&["First name", "Last name", "Email"], &[&[first, last, "x@quill.example"]]);
    let text = |field: &str| found[0][0][field].as_str().unwrap_or_default().to_owned();
    (text("first_name"), text("last_name"))
}

#[test]
fn names_that_are_also_words_are_names() {
    for (first, last) in [
        ("Don", "Fernwright"),
        ("Sig", "Hansen"),
        ("Wei", "Pan"),
        ("Al", "Byte"),
        ("Ana", "Sales"),
        ("Ada", "Care"),
        ("Wei", "Du"),
    ] {
        assert_eq!(name_of(first, last), (first.to_owned(), last.to_owned()));
    }
    assert_eq!(name_of("Sales", "Team"), (String::new(), String::new()));
    assert_eq!(name_of("Sig. Ada", "Byte"), ("Ada".to_owned(), "Byte".to_owned()));
}

#[test]
fn columns_about_something_else_are_not_read() {
    let rows: [&[&str]; 3] = [
        &["Quill", "quill.example", "2026-01-05", "zoe@ink.example", "No", "No", "1"],
        &["Ink", "ink.example", "2026-01-06", "yan@nib.example", "No", "No", "2"],
        &["Nib", "nib.example", "2026-01-07", "xia@quill.example", "No", "No", "3"],
    ];
    let columns = [
        "Name",
        "Website",
        "Last Contact",
        "Supplier Email",
        "Landing page",
        "Facebook",
        "Position",
    ];
    let expected = json!([{"type": "company", "name": "Quill", "domains": ["quill.example"],
        "emails": ["zoe@ink.example"]}]);
    assert_eq!(mapped(&columns, &rows)[0], expected);
    let rows = rows.map(|row| [row, &["a@quill.example"]].concat());
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    let columns = [&columns[..], &["Email"]].concat();
    let expected = json!([{"type": "company", "name": "Quill", "domains": ["quill.example"],
        "emails": ["a@quill.example"]}]);
    assert_eq!(mapped(&columns, &rows)[0], expected, "the supplier is another company");
    let people = mapped(&["First", "Last", "Email"], &[&["Ada", "Byte", "ada@quill.example"]]);
    assert_eq!(people[0][0]["last_name"], "Byte");
}

#[test]
fn a_column_of_countries_may_have_places() {
    let rows: [&[&str]; 2] = [&["Quill", "Leeds, UK"], &["Ink", "75"]];
    let found = mapped(&["Company", "Country"], &rows);
    assert_eq!(found[0], json!([{"type": "company", "name": "Quill", "country": "GB"}]));
    assert_eq!(found[1], json!([{"type": "company", "name": "Ink"}]));
}

#[test]
fn a_domain_is_no_handle_of_linkedin() {
    let columns = ["Company", "LinkedIn", "Contact"];
    let found = mapped(&columns, &[&["Quill", "quill.example", "Ada Byte"]]);
    assert_eq!(found[0][0].get("linkedin"), None);
    let found = mapped(&columns, &[&["Quill", "quill.example", ""]]);
    assert_eq!(found[0][0]["domains"], json!(["quill.example"]));
}

#[test]
fn a_handle_of_a_network_is_no_website() {
    let rows: [&[&str]; 1] = [&["Quill", "Instagram @quill.example"]];
    let found = mapped(&["Company", "Website"], &rows);
    assert_eq!(found[0][0]["domains"], json!(["Instagram"]), "reported as invalid later");
}

#[test]
fn the_family_name_is_first_in_some_languages() {
    for (column, text, first, last) in [
        ("Người đại diện", "Nguyễn Văn Ada", "Văn Ada", "Nguyễn"),
        ("Kapcsolattartó", "Byte Ada", "Ada", "Byte"),
        ("氏名", "山田 太郎", "太郎", "山田"),
        ("氏名", "Ada Byte", "Ada", "Byte"),
        ("담당자", "김영희", "영희", "김"),
        ("Contact", "Ada Byte", "Ada", "Byte"),
    ] {
        let found = mapped(&["Company", "Website", column], &[&["Quill", "quill.example", text]]);
        let name = (&found[0][0]["first_name"], &found[0][0]["last_name"]);
        assert_eq!(name, (&first.into(), &last.into()), "{column}: {text}");
    }
}

#[test]
fn an_address_gives_the_country_if_no_column_does() {
    let rows: [&[&str]; 2] = [
        &["Quill &amp; Co", "(614) 555-0112", "1 Mill Lane, Columbus, OH 43299, USA"],
        &["Ink", "512 555 0134", "Austin"],
    ];
    let found = mapped(&["Company", "Phone", "HQ Location"], &rows);
    assert_eq!(
        found[0],
        json!([{"type": "company", "name": "Quill & Co", "country": "US",
            "phones": ["+16145550112"]}])
    );
    assert_eq!(found[1], json!([{"type": "company", "name": "Ink"}]));
}
