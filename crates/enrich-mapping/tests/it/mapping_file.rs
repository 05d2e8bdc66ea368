//! Tests of mappings that are created from a mapping file, from pairs of a field and a column, or
//! from the names of the columns alone.

use enrich_mapping::{Mapping, Outcome, RecordType, Settings};
use serde_json::{Map, Value, json};

fn refused(text: &str) -> String {
    Mapping::from_toml(text).unwrap_err().to_string()
}

fn records(mapping: &Mapping, record: &Value) -> Value {
    let record: &Map<String, Value> = record.as_object().unwrap();
    match mapping.map(record, &Settings::default()).outcome {
        Outcome::Records(records) => records.into(),
        Outcome::Skipped(reason) => reason.into(),
    }
}

#[test]
fn a_typo_is_refused_with_its_line_and_the_names_that_are_allowed() {
    let field = refused("[source]\nname = \"x\"\n[fields]\nnmae = \"a\"\n");
    assert!(
        field.starts_with("line 4: `nmae` is no field of a company; there are `name`, "),
        "{field}"
    );
    let cases = [
        ("[sorce]\n", "line 1: the mapping has no `sorce`; it has `source`, "),
        (
            "[source]\nname=\"x\"\nlicense=\"y\"\n",
            "line 3: `source` has no `license`; it has `name`, ",
        ),
        (
            "[record]\ntype=\"firm\"\n[fields]\n",
            "line 2: `firm` is no type of record; there are `company`, `person` and `domain`",
        ),
        (
            "[fields]\nname={from=\"a\", apply=\"upper\"}\n",
            "line 2: `upper` is no transform; there are `trim`, ",
        ),
        ("[fields]\nname={form=\"a\"}\n", "line 2: `name` has no `form`; it has `from`, "),
        ("[fields]\nname=3\n", "line 2: `name` is a column, a list of columns, or a table"),
        ("[fields]\nname=\"A_{3..1}\"\n", "line 2: `name` has a numbered range"),
        (
            "[fields]\nname=\"a\"\n[[skip]]\ncolumn=\"b\"\nreason=\"c\"\n",
            "line 3: `skip` needs `equals`",
        ),
        (
            "[fields]\nname=\"a\"\n[source]\nname=\"x\"\nconfidence=200\n",
            "line 5: `confidence` is a number from 1 to 100",
        ),
        ("x = \n", "line 1: "),
        ("", "line 1: the mapping needs the table `[fields]`"),
    ];
    for (text, expected) in cases {
        let message = refused(text);
        assert!(message.starts_with(expected), "{text:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn a_list_is_fallbacks_for_a_single_value_and_a_union_for_a_list() {
    let mapping = Mapping::from_toml(
        "source = {name = 'x', null = ['-']}\n[fields]\nname = ['a', 'b']\n\
         emails = ['c', 'd']\nphones = {first = ['e', 'f']}\n",
    )
    .unwrap();
    let record = json!({"a": "-", "b": "Quill", "c": "x@quill.example", "d": "y@quill.example",
        "e": "+49 30 23125001", "f": "+49 30 23125002"});
    assert_eq!(
        records(&mapping, &record),
        json!([{"type": "company", "name": "Quill",
            "emails": ["x@quill.example", "y@quill.example"], "phones": ["+493023125001"]}])
    );
}

#[test]
fn columns_of_the_command_line_make_a_mapping() {
    let pairs = [pair("name", "Company name"), pair("domain", "Website"), pair("lei", "LEI code")];
    let mapping = Mapping::from_columns(&pairs, None).unwrap();
    let record = json!({"Company name": "Quill", "Website": "www.quill.example",
        "LEI code": "529900T8BM49AURSDO55"});
    assert_eq!(
        records(&mapping, &record),
        json!([{"type": "company", "name": "Quill", "domains": ["quill.example"],
            "ids": {"lei": "529900T8BM49AURSDO55"}}])
    );
    let ranks = Mapping::from_columns(&[pair("domain", "host"), pair("page_rank", "pr")], None);
    let record = json!({"host": "facebook.com", "pr": "9.5"});
    assert_eq!(
        records(&ranks.unwrap(), &record),
        json!([{"type": "domain", "domain": "facebook.com", "page_rank": "9.5"}])
    );
    let message = Mapping::from_columns(&[pair("nmae", "x")], None).unwrap_err().to_string();
    assert!(
        message.starts_with("`nmae` is no field of a company; there are `id`, `name`, "),
        "{message}"
    );
    assert!(Mapping::from_columns(&[pair("title", "x")], Some(RecordType::Person)).is_ok());
}

fn synonyms(columns: &[&str]) -> String {
    let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    let Some(found) = Mapping::from_synonyms(&columns, &[], None) else { return "none".to_owned() };
    let used = found.mapping.used_columns();
    let used = used.iter().map(|(kind, used)| format!("{}: {}", kind.as_str(), shown(used)));
    let used: Vec<String> = used.collect();
    format!("{}; unused: {}", used.join("; "), found.unused.join(", "))
}

fn pair(first: &str, second: &str) -> (String, String) {
    (first.to_owned(), second.to_owned())
}

fn shown(used: &[(String, String)]) -> String {
    let used: Vec<_> = used.iter().map(|(column, field)| format!("{column} → {field}")).collect();
    used.join(", ")
}

#[test]
fn plain_columns_are_known_in_several_languages() {
    let cases = [
        (
            &["Company Name", "Website", "E-Mail", "Mirror URL"][..],
            "company: Company Name → name, Website → domains, E-Mail → emails; unused: Mirror URL",
        ),
        (
            &["Firma", "Webseite", "Telefon", "Land"],
            "company: Firma → name, Webseite → domains, Telefon → phones, Land → country; unused: ",
        ),
        (&["Société", "Site web"], "company: Société → name, Site web → domains; unused: "),
        (
            &["Vorname", "Nachname", "Firma", "Homepage"],
            "person: Vorname → first_name, Nachname → last_name, Firma → company, Homepage → \
             company_domain; company: Firma → name, Homepage → domains; unused: ",
        ),
        (
            &["Name", "Job Title", "Company"],
            "person: Name → full_name, Job Title → title, Company → company; \
             company: Company → name; unused: ",
        ),
        (
            &["Nom", "Prénom", "Société", "Ville"],
            "person: Nom → last_name, Prénom → first_name, Société → company; \
             company: Société → name; unused: Ville",
        ),
        (
            &["Contact", "Job Title", "Organisation"],
            "person: Contact → full_name, Job Title → title, Organisation → company; \
             company: Organisation → name; unused: ",
        ),
        (&["Domain", "Page Rank"], "domain: Domain → domains, Page Rank → page_rank; unused: "),
        (
            &["Company", "Website", "Contact person", "Phone"],
            "person: Company → company, Website → company_domain, Contact person → full_name; \
             company: Company → name, Website → domains, Phone → phones; unused: ",
        ),
        (
            &["Name", "Contact", "Email"],
            "person: Name → company, Contact → full_name, Email → emails; \
             company: Name → name, Email → emails; unused: ",
        ),
        (
            &["Nombre", "Contacto", "Web"],
            "person: Nombre → company, Contacto → full_name, Web → company_domain; \
             company: Nombre → name, Web → domains; unused: ",
        ),
        (
            &["Name", "Contact", "Job Title"],
            "person: Name → company, Contact → full_name, Job Title → title; \
             company: Name → name; unused: ",
        ),
        (
            &["氏名", "会社名", "ホームページ", "TEL（代表）"],
            "person: 氏名 → full_name, 会社名 → company, ホームページ → company_domain; \
             company: 会社名 → name, ホームページ → domains, TEL（代表） → phones; unused: ",
        ),
        (
            &["customer_company", "customer_first_name", "customer_last_name", "customer_email"],
            "person: customer_company → company, customer_first_name → first_name, \
             customer_last_name → last_name, customer_email → emails; \
             company: customer_company → name, customer_email → emails; unused: ",
        ),
        (
            &["Company", "billing_address_country", "billing_name"],
            "company: Company → name, billing_address_country → country; unused: billing_name",
        ),
        (&["a", "b"], "none"),
    ];
    for (columns, expected) in cases {
        assert_eq!(synonyms(columns), expected);
    }
}

#[test]
fn members_of_objects_are_known_by_their_own_names() {
    let cases = [
        (
            &["nazwa", "kontakt", "kontakt.www", "kontakt.email", "kontakt.name"][..],
            "company: nazwa → name, kontakt.www → domains, kontakt.email → emails; \
             unused: kontakt.name",
        ),
        (
            &["company", "company.name", "company.website"],
            "company: company.name → name, company.website → domains; unused: ",
        ),
        (&["Tel.", "Firma"], "company: Tel. → phones, Firma → name; unused: "),
        (
            &["Company / Société", "Tel/Mobile", "E-mail (such as a@quill.example)", "Name / City"],
            "company: Company / Société → name, Tel/Mobile → phones, \
             E-mail (such as a@quill.example) → emails; unused: Name / City",
        ),
        (
            &["English name", "Phone (fax number)", "Email (head office)", "Web (yes / no)"],
            "company: English name → name; \
             unused: Phone (fax number), Email (head office), Web (yes / no)",
        ),
    ];
    for (columns, expected) in cases {
        assert_eq!(synonyms(columns), expected);
    }
    let columns = ["name", "contact", "contact.website"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], None).unwrap();
    let row = json!({"name": "Quill", "contact": {"website": "quill.example"}});
    let expected = json!([{"type": "company", "name": "Quill", "domains": ["quill.example"]}]);
    assert_eq!(records(&found.mapping, &row), expected);
}

#[test]
fn rows_of_companies_and_of_private_customers_are_read() {
    let columns = ["Firma", "Vorname", "Nachname"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], None).unwrap();
    let read = |firm: &str, first: &str, last: &str| {
        records(&found.mapping, &json!({"Firma": firm, "Vorname": first, "Nachname": last}))
    };
    assert_eq!(read("Quill GmbH", "", ""), json!([{"type": "company", "name": "Quill GmbH"}]));
    let person = json!([{"type": "person", "first_name": "Ada", "last_name": "Byte"}]);
    assert_eq!(read("", "Ada", "Byte"), person);
    // The company has nothing but a name, and the person's record already contains this name. So no
    // record of the company is created.
    let person = json!([{"type": "person", "first_name": "Bob", "last_name": "Nib",
        "company": "Ink KG"}]);
    assert_eq!(read("Ink KG", "Bob", "Nib"), person);
}

#[test]
fn people_whose_names_are_in_any_kind_of_column_are_people() {
    let name = ("Name", ["Ada Byte", "Bob Nib", "Eve Quill"]);
    let firm = ("Company", ["Quill GmbH", "Ink KG", "Nib AG"]);
    let read = read_by_values(&[name, ("Job title", ["CEO", "CTO", "CFO"]), firm]);
    assert_eq!(
        read,
        "Name → full_name, Job title → title, Company → company; Company → name; by values: "
    );
    let columns = ["company", "contact", "contact.first_name", "contact.last_name"];
    let columns = columns.map(str::to_owned);
    let record = json!({"company": "Quill", "contact": {"first_name": ["Ada"], "last_name": "B"}});
    let records = [record.as_object().unwrap().clone()];
    let found = Mapping::from_synonyms(&columns, &records, None).unwrap();
    assert_eq!(found.mapping.used_columns()[0].0, RecordType::Person);
}

/// Creates a mapping from columns with three values each. Returns the columns that the mapping
/// reads, each with its field. After `by values:` follow the columns whose meaning was detected
/// from their values, because their names are not usual ones. Returns `none` if there is no
/// mapping.
fn read_by_values(columns: &[(&str, [&str; 3])]) -> String {
    let names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let record = |at: usize| {
        let cells = columns.iter().map(|(name, cells)| ((*name).to_owned(), cells[at].into()));
        cells.collect::<Map<_, _>>()
    };
    let records: Vec<_> = (0..3).map(record).collect();
    let Some(found) = Mapping::from_synonyms(&names, &records, None) else {
        return "none".to_owned();
    };
    let used = found.mapping.used_columns();
    let used: Vec<String> = used.iter().map(|(_, used)| shown(used)).collect();
    format!("{}; by values: {}", used.join("; "), found.by_values.join(", "))
}

#[test]
fn values_show_the_meaning_of_columns_with_unknown_names() {
    let firm = ("Unternehmung", ["Quill GmbH", "Inkwell", "Nib & Co. KG"]);
    let site = ("Auftritt", ["www.quill.example", "https://inkwell.example/de", "nib.example"]);
    let mail = ("Adresse", ["info@quill.example", "a@inkwell.example", "#mailto:b@nib.example#"]);
    let phone = ("Telefon-Nr. (Büro)", ["030 23125 001", "+49 30 23125002", "030/23125003"]);
    assert_eq!(
        read_by_values(&[firm, site, mail, phone]),
        "Unternehmung → name, Auftritt → domains, Adresse → emails, Telefon-Nr. (Büro) → phones; \
         by values: Unternehmung, Auftritt, Adresse, Telefon-Nr. (Büro)"
    );
    // These columns are not read. Fax numbers and dates are not phone numbers. A record owner is a
    // user of the program that exported the file. A `conjoint` is somebody's spouse. `Team` has the
    // same address in every row, so the address says nothing about the company of the row.
    let fax = ("Telefax Büro", ["030 23125 001", "030 23125002", "030 23125003"]);
    let date = ("Telefonisch erreicht", ["01.11.2026", "02.11.2026", "03.11.2026"]);
    let owner = ("Record owner", ["ada@quill.example", "bob@quill.example", "eve@quill.example"]);
    let user = ("Courriel conjoint", ["x@quill.example", "y@ink.example", "z@nib.example"]);
    let same = ("Team", ["x@quill.example", "x@quill.example", "x@quill.example"]);
    assert_eq!(
        read_by_values(&[("Firma", ["Quill", "Ink", "Nib"]), fax, date, owner, user, same]),
        "Firma → name; by values: "
    );
    // Both `Website` and `Auftritt` have websites. Only `Website` is read, because its name is a
    // usual one. The meaning of `Auftritt` could only be detected from its values.
    let firm = ("Firma", ["Quill", "Ink", "Nib"]);
    let sites = ("Website", ["quill.example", "ink.example", "nib.example"]);
    assert_eq!(
        read_by_values(&[firm, sites, site]),
        "Firma → name, Website → domains; by values: "
    );
    assert_eq!(read_by_values(&[("A", ["1", "2", "3"]), site]), "none");
    // These columns are not read: links to pages of one site are not the websites of companies,
    // ids are not phone numbers, and regions are not countries.
    let links = ("Profile", ["https://a.example/1", "https://a.example/2", "https://a.example/3"]);
    let ids = ("Hotel ID", ["030231250", "030231251", "030231252"]);
    let region = ("Bundesland", ["BY", "BY", "BE"]);
    assert_eq!(read_by_values(&[firm, links, ids, region]), "Firma → name; by values: ");
    // The column name `Jméno` may mean "first name". But here, the values have several words. So
    // they are the full names of people, who work at the companies.
    let whole = ("Jméno", ["Ada Byte", "Bob Nib", "Ing. Eve Quill"]);
    let both = "Firma → company, Jméno → full_name; Firma → name; by values: ";
    assert_eq!(read_by_values(&[firm, whole]), both);
    let companies = ("Název", ["Quill s.r.o.", "Ink a.s.", "Nib"]);
    let both = "Název → company, Jméno → full_name; Název → name; by values: ";
    assert_eq!(read_by_values(&[companies, whole]), both);
    // A column is read as countries only if its name says so, because `CA` and `DE` are also codes
    // of states.
    let country = ("Hauptland", ["CA", "USA", "Canada"]);
    let state = ("State", ["CA", "DE", "IN"]);
    let read = read_by_values(&[firm, country, state]);
    assert_eq!(read, "Firma → name, Hauptland → country; by values: Hauptland");
}

#[test]
fn a_particle_is_a_part_of_the_last_name() {
    let columns = ["Voornaam", "Tussenvoegsel", "Achternaam"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], None).unwrap();
    let read = |particle: &str| {
        let row = json!({"Voornaam": "Ada", "Tussenvoegsel": particle, "Achternaam": "Dijk"});
        records(&found.mapping, &row)[0]["last_name"].clone()
    };
    assert_eq!((read("van"), read("")), ("van Dijk".into(), "Dijk".into()));
}

#[test]
fn full_width_characters_are_read_as_ascii() {
    let columns = ["会社名", "メール", "電話", "ホームページ", "国"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], None).unwrap();
    let row = json!({"会社名": "青空製作所", "メール": "info＠aozora.example",
        "電話": "０３－３２３４－５６７８（代表）", "ホームページ": "ａｏｚｏｒａ．ｅｘａｍｐｌｅ", "国": "JP"});
    let expected = json!([{"type": "company", "name": "青空製作所", "country": "JP",
        "domains": ["aozora.example"], "emails": ["info@aozora.example"],
        "phones": ["+81332345678"]}]);
    assert_eq!(records(&found.mapping, &row), expected);
}

#[test]
fn columns_with_addresses_that_are_not_read_are_named() {
    let mapping = Mapping::from_toml("[fields]\nname=\"Name\"\ndomains=\"Site\"\n").unwrap();
    let record = json!({"Name": "Quill", "Site": "quill.example", "Second": "millpond.example",
        "Mail": "info@quill.example", "Version": "1.2", "City": "Berlin"});
    let unused = mapping.unused(&[record.as_object().unwrap().clone()]);
    assert_eq!(unused, ["Second", "Mail"]);
}

#[test]
fn the_kind_of_a_file_with_plain_columns_may_be_given() {
    let columns = ["Name", "Job Title", "Website"].map(str::to_owned);
    let found = Mapping::from_synonyms(&columns, &[], Some(RecordType::Company)).unwrap();
    let used = found.mapping.used_columns();
    let used: Vec<&str> = used[0].1.iter().map(|(_, field)| field.as_str()).collect();
    assert_eq!(used, ["name", "domains"]);
    assert!(Mapping::from_synonyms(&["a".to_owned()], &[], Some(RecordType::Company)).is_none());
}

#[test]
fn the_null_texts_of_a_mapping_add_to_those_of_every_source() {
    let text = "source = {name = 'x', null = ['Fehlanzeige']}\n[fields]\nname = 'Firma'\n\
        domains = {from = 'Web', split = ' '}\naliases = ['Kurz', 'Lang']\n";
    let mapping = Mapping::from_toml(text).unwrap();
    let row = json!({"Firma": "Quill", "Web": "k. A.", "Kurz": "Fehlanzeige", "Lang": "\\N"});
    assert_eq!(records(&mapping, &row), json!([{"type": "company", "name": "Quill"}]));
    for name in ["keine Angabe", "Fehlanzeige", "0", "#REF!"] {
        assert_eq!(records(&mapping, &json!({"Firma": name})), "no name", "{name}");
    }
}

/// Returns the columns that the mapping reads, each with the field that gets its values.
fn read_as(columns: &[&str]) -> Vec<(String, String)> {
    let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
    Mapping::from_synonyms(&columns, &[], None)
        .map_or(Vec::new(), |synonyms| synonyms.mapping.used_columns()[0].1.to_vec())
}

#[test]
fn columns_of_exhibitors_vendors_and_customers_have_names_of_companies() {
    for column in [
        "Aussteller",
        "Exhibitor",
        "Lieferant",
        "Lieferantenname",
        "Vendor Name",
        "Kunde",
        "Kreditor",
        "Debitor",
        "Name 1",
        "Bezeichnung",
        "Firmenname",
        "org",
        "org_name",
        "company_nm",
        "Name (Adressattyp Unternehmen)",
        "Fournisseur",
        "Proveedor",
        "Fornitore",
        "Leverancier",
        "Legal name",
    ] {
        let expected = [pair(column, "name"), pair("Internet", "domains")];
        assert_eq!(read_as(&[column, "Internet"]), expected, "{column}");
    }
    let used = read_as(&["Customer", "Firma", "Legal name"]);
    assert_eq!(used, [pair("Firma", "name"), pair("Legal name", "aliases")]);
}

#[test]
fn columns_of_databases_are_known_by_their_short_names() {
    for (column, field) in [
        ("linkedin_handle", "linkedin"),
        ("li_url", "linkedin"),
        ("hq_country_cd", "country"),
        ("country_cd", "country"),
        ("land_code", "country"),
        ("phone_e164", "phones"),
        ("primary_contact_email", "emails"),
        ("Mobile Phone Number", "phones"),
    ] {
        let expected = [pair("company_nm", "name"), pair(column, field)];
        assert_eq!(read_as(&["company_nm", column]), expected, "{column}");
    }
}

#[test]
fn an_unknown_column_of_distinct_texts_may_be_the_companys_name() {
    let likely = |columns: &[&str], rows: &[[&str; 3]]| {
        let columns: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
        let record = |row: &[&str; 3]| {
            let cells = row.iter().map(|&cell| Value::from(cell));
            columns.iter().cloned().zip(cells).collect::<Map<_, _>>()
        };
        let records: Vec<_> = rows.iter().map(record).collect();
        let synonyms = Mapping::from_synonyms(&columns, &[], None)?;
        synonyms.likely_company(&records).map(str::to_owned)
    };
    let rows = [["Quillmark", "Ada Byte", "Hall 1"], ["Inkwell Ltd", "Bob Nib", "Hall 1"]];
    let found = likely(&["Standbetreiber", "Ansprechpartner", "Halle"], &rows);
    assert_eq!(found.as_deref(), Some("Standbetreiber"));
    assert_eq!(likely(&["Firma", "Full name", "Halle"], &rows), None);
    let rows = [["Quillmark", "Ada Byte", "Berlin"], ["Inkwell Ltd", "Bob Nib", "Bern"]];
    assert_eq!(likely(&["Standbetreiber", "Ansprechpartner", "Ort"], &rows), None);
}

#[test]
fn a_bar_separates_aliases_and_pages_but_not_the_parts_of_a_url() {
    let pairs = [("name", "a"), ("aliases", "b"), ("linkedin", "c")];
    let pairs = pairs.map(|(field, column)| (field.to_owned(), column.to_owned()));
    let mapping = Mapping::from_columns(&pairs, None).unwrap();
    let row = json!({"a": "Quill", "b": "Quillmark | QM",
        "c": "https://www.linkedin.com/company/quill|https://www.linkedin.com/showcase/quill-ink/"});
    let expected = json!({"type": "company", "name": "Quill", "aliases": ["Quillmark", "QM"],
        "linkedin": ["linkedin.com/company/quill", "linkedin.com/showcase/quill-ink"]});
    assert_eq!(records(&mapping, &row), json!([expected]));
    let row = json!({"a": "Quill", "c": "https://www.linkedin.com/company/quill?a=1|2"});
    assert_eq!(records(&mapping, &row)[0]["linkedin"], "linkedin.com/company/quill");
}
