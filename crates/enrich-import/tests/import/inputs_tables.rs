//! Tests of records in tables: variants of CSV, and workbooks.

use enrich_mapping::{Input, InputKind};

use crate::inputs::{failure, fields, lines, records, until_error};

fn options() -> Input {
    Input::default()
}

#[test]
fn rows_are_objects_in_the_order_of_the_columns() {
    let text = ",Name, Number ,Zip\n1,Quill,007,\n2,\"Ink; Ltd\",,9\n";
    let records = records("a.csv", text, options());
    let expected = [
        "{\"Name\":\"Quill\",\"Number\":\"007\",\"Zip\":\"\"}",
        "{\"Name\":\"Ink; Ltd\",\"Number\":\"\",\"Zip\":\"9\"}",
    ];
    assert_eq!(fields(&records), expected);
    assert_eq!(lines(&records), [2, 3]);
}

#[test]
fn quotes_may_be_escaped_by_a_backslash() {
    let text = "name,site\n\"The \\\"Quill\\\" Ltd, 2\",a.example\n\"Ink \"\"x\"\"\",b.example\n";
    let records = records("a.csv", text, Input { escape: Some('\\'), ..options() });
    let expected = [
        "{\"name\":\"The \\\"Quill\\\" Ltd, 2\",\"site\":\"a.example\"}",
        "{\"name\":\"Ink \\\"x\\\"\",\"site\":\"b.example\"}",
    ];
    assert_eq!(fields(&records), expected);
}

#[test]
fn lines_before_the_header_are_skipped() {
    let text = "Notes:\n\"When exporting, you may notice; that, some; of\"\n\n\
        First Name,Last Name,URL\nAda,Quill,\n";
    let skip = Input { skip_until: Some("First Name,".to_owned()), ..options() };
    let rows = records("Connections.csv", text, skip.clone());
    assert_eq!(fields(&rows), ["{\"First Name\":\"Ada\",\"Last Name\":\"Quill\",\"URL\":\"\"}"]);
    assert_eq!(lines(&rows), [5]);
    let error = failure("Connections.csv", "a,b\n1,2\n", skip);
    assert_eq!(
        error,
        "none of the first 1000 lines begins with `First Name,`, as the header should"
    );
}

#[test]
fn rows_before_the_header_are_skipped_whatever_they_hold() {
    let text = "Directory 2026;;;as of:;14.11.2026\nOrganiser: Fair, www.fair.example;;;;\n;;;;\n\
        Place;;Company;Contact;\nHall;No.;Company;E-Mail;Website\n\
        1;A;Quill;info@quill.example;quill.example\n";
    let rows = records("a.csv", text, options());
    let expected = "{\"Hall\":\"1\",\"No.\":\"A\",\"Company\":\"Quill\",\
        \"E-Mail\":\"info@quill.example\",\"Website\":\"quill.example\"}";
    assert_eq!((fields(&rows), lines(&rows)), (vec![expected.to_owned()], vec![6]));
    let text = "\"EXTF\";700;21;\"Accounts\"\nNo.;Company;Website;Phone\n1;Quill;quill.example;\n";
    let rows = records("EXTF_accounts.csv", text, options());
    assert_eq!(lines(&rows), [3]);
}

#[test]
fn a_header_may_have_two_rows() {
    let text = "Members;;;;;\nNo.;Company;Address;;Contact;\n;;City;Country;Name;E-Mail\n\
        1;Quill;Ink;DE;Ada Byte;ada@quill.example\n";
    let expected = "{\"No.\":\"1\",\"Company\":\"Quill\",\"City\":\"Ink\",\"Country\":\"DE\",\
        \"Name\":\"Ada Byte\",\"E-Mail\":\"ada@quill.example\"}";
    let rows = records("a.csv", text, options());
    assert_eq!((fields(&rows), lines(&rows)), (vec![expected.to_owned()], vec![4]));
    let sheet: &[&[&str]] = &[
        &["Members"],
        &["No.", "Company", "Address", "", "Contact"],
        &["", "", "City", "Country", "Name", "E-Mail"],
        &["1", "Quill", "Ink", "DE", "Ada Byte", "ada@quill.example"],
    ];
    assert_eq!(fields(&records("a.xlsx", workbook(sheet), options())), [expected]);
    let columns = vec!["No.".to_owned(), "City".to_owned()];
    let chosen = Input { columns, ..options() };
    assert_eq!(fields(&records("a.csv", text, chosen)), [expected]);
}

#[test]
fn names_of_columns_may_have_line_breaks() {
    let text = "\"Members\n2026\",,\nCompany,\"Phone\r\n(office)\",Website\n\
        Quill,,quill.example\n";
    let rows = records("a.csv", text, options());
    let expected =
        r#"{"Company":"Quill","Phone\r\n(office)":"","Website":"quill.example"}"#.to_owned();
    assert_eq!((fields(&rows), lines(&rows)), (vec![expected.clone()], vec![5]));
    let columns = vec!["phone (office)".to_owned()];
    let chosen = Input { columns, ..options() };
    assert_eq!(fields(&records("a.csv", text, chosen)), [expected]);
    // A stray quote does not join the title with the header.
    let text = "\"Members\nCompany,Website\nQuill,\"quill.example\"\n";
    let columns = vec!["Website".to_owned()];
    let chosen = Input { columns, ..options() };
    let expected = r#"{"Company":"Quill","Website":"quill.example"}"#;
    assert_eq!(fields(&records("a.csv", text, chosen)), [expected]);
}

#[test]
fn lines_may_end_with_cr_alone() {
    let text = "Name,Site\rQuill,quill.example\r\"Ink\u{b}Ltd\",ink.example\r";
    let expected = [
        r#"{"Name":"Quill","Site":"quill.example"}"#,
        r#"{"Name":"Ink Ltd","Site":"ink.example"}"#,
    ];
    assert_eq!(fields(&records("a.csv", text, options())), expected);
}

#[test]
fn quotes_between_tabs_are_text_unless_each_encloses_a_field() {
    let text = "company_name\tnote\n\"Quill\tx\nInk\ty\nNib\t\"z\n\"The Barn\" Mill\tw\n";
    let expected = [
        "{\"company_name\":\"\\\"Quill\",\"note\":\"x\"}",
        "{\"company_name\":\"Ink\",\"note\":\"y\"}",
        "{\"company_name\":\"Nib\",\"note\":\"\\\"z\"}",
        "{\"company_name\":\"\\\"The Barn\\\" Mill\",\"note\":\"w\"}",
    ];
    assert_eq!(fields(&records("a.tsv", text, options())), expected);
    let text = "company_name\tnote\n\"Quill \"\"Ink\"\"\"\t\"a\tb\"\n";
    let expected = ["{\"company_name\":\"Quill \\\"Ink\\\"\",\"note\":\"a\\tb\"}"];
    assert_eq!(fields(&records("a.tsv", text, options())), expected);
}

/// Returns a workbook with these rows.
fn workbook(rows: &[&[&str]]) -> Vec<u8> {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (number, row) in (0..).zip(rows) {
        for (column, cell) in (0..).zip(*row) {
            sheet.write(number, column, *cell).unwrap();
        }
    }
    workbook.save_to_buffer().unwrap()
}

#[test]
fn rows_before_the_header_of_a_workbook_are_skipped() {
    let titled: &[&[&str]] =
        &[&["Prospects"], &[], &["", "Q4"], &["Company", "Website"], &["Quill", "quill.example"]];
    let expected = ["{\"Company\":\"Quill\",\"Website\":\"quill.example\"}"];
    let rows = records("a.xlsx", workbook(titled), options());
    assert_eq!(fields(&rows), expected);
    assert_eq!(lines(&rows), [5]);
    let named = Input { columns: vec!["website".to_owned()], ..options() };
    assert_eq!(fields(&records("a.xlsx", workbook(titled), named)), expected);
    let noted: &[&[&str]] = &[&["Made", "by Ada"], &["No.", "Company"], &["1", "Quill"]];
    let skip = Input { skip_until: Some("No.".to_owned()), ..options() };
    let rows = records("a.xlsx", workbook(noted), skip.clone());
    assert_eq!(fields(&rows), ["{\"No.\":\"1\",\"Company\":\"Quill\"}"]);
    let error = failure("a.xlsx", workbook(&[&["a", "b"]]), skip);
    assert_eq!(error, "none of the first 1000 lines begins with `No.`, as the header should");
    // None of these rows is a header below a title, so the first row is the header.
    let rows = records("a.xlsx", workbook(&[&["Quill"], &["Inkwell"]]), options());
    assert_eq!(fields(&rows), ["{\"Quill\":\"Inkwell\"}"]);
}

#[test]
fn hyperlinks_replace_texts_or_are_in_columns_of_their_own() {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_url_with_text(0, 0, "https://fair.example", "Exhibitors").unwrap();
    for (column, name) in (0..).zip(["Company", "Website", "Mail", "City"]) {
        sheet.write(1, column, name).unwrap();
    }
    sheet.write_url_with_text(2, 0, "https://fair.example/quill", "Quill").unwrap();
    sheet.write_url_with_text(2, 1, "https://quill.example/en", "click here").unwrap();
    sheet.write_url_with_text(2, 2, "mailto:a@quill.example?subject=x", "write").unwrap();
    sheet.write_url_with_text(2, 3, "internal:Sheet1!A1", "Ink").unwrap();
    sheet.write(3, 0, "Nib").unwrap();
    // The cell was edited, but not its link.
    sheet.write_url_with_text(3, 1, "https://quill.example/en", "www.nib.example").unwrap();
    let bytes = workbook.save_to_buffer().unwrap();
    let expected = [
        "{\"Company\":\"Quill\",\"Website\":\"https://quill.example/en\",\
         \"Mail\":\"a@quill.example\",\"City\":\"Ink\",\
         \"Company (link)\":\"https://fair.example/quill\"}",
        "{\"Company\":\"Nib\",\"Website\":\"www.nib.example\",\"Mail\":\"\",\"City\":\"\"}",
    ];
    assert_eq!(fields(&records("a.xlsx", bytes.clone(), options())), expected);
    let columns = vec!["website".to_owned(), "Company (link)".to_owned()];
    let chosen = Input { columns, ..options() };
    assert_eq!(fields(&records("a.xlsx", bytes, chosen)), expected);
}

#[test]
fn a_table_without_a_header_gets_column_names() {
    let columns = vec!["rank".to_owned(), "domain".to_owned()];
    let records = records(
        "tranco.csv",
        "1,quill.example\r\n2,ink.example\r\n",
        Input { header: columns, ..options() },
    );
    let expected = [
        "{\"rank\":\"1\",\"domain\":\"quill.example\"}",
        "{\"rank\":\"2\",\"domain\":\"ink.example\"}",
    ];
    assert_eq!(fields(&records), expected);
    assert_eq!(lines(&records), [1, 2]);
}

#[test]
fn comments_are_skipped_between_rows() {
    let text = "# made on Monday\na,b\n#x\n1,2\n\"3\n#4\",5\n";
    let rows = records("a.csv", text, Input { comment: Some('#'), ..options() });
    assert_eq!(fields(&rows), ["{\"a\":\"1\",\"b\":\"2\"}", "{\"a\":\"3\\n#4\",\"b\":\"5\"}"]);
}

#[test]
fn delimiter_and_encoding_are_detected_or_set() {
    let (text, _, _) = encoding_rs::WINDOWS_1252.encode("Firma;Ort\nSchröder;Köln\n");
    let expected = ["{\"Firma\":\"Schröder\",\"Ort\":\"Köln\"}"];
    assert_eq!(fields(&records("a.csv", text.to_vec(), options())), expected);
    let set = Input { delimiter: Some(','), encoding: Some("utf-8".to_owned()), ..options() };
    let rows = records("a.csv", text.to_vec(), set);
    assert_eq!(fields(&rows), ["the line is not UTF-8"]);
    let utf_16: Vec<u8> =
        "\u{feff}Firma;Ort\nSchröder;Köln\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(fields(&records("a.csv", utf_16, options())), expected);
}

#[test]
fn a_row_of_ten_mebibytes_costs_itself_alone() {
    let text = format!("a,b\n{},1\n2,3\n", "x".repeat(10 * 1024 * 1024));
    let rows = records("a.csv", text, options());
    assert_eq!(
        fields(&rows),
        ["the line is longer than 1048576 bytes", "{\"a\":\"2\",\"b\":\"3\"}"]
    );
    let rows = records("a.csv", "a,b\n1\n1,2,3\n", options());
    assert_eq!(fields(&rows)[0], "the row has 1 fields where the header has 2");
}

#[test]
fn a_column_must_not_be_there_twice() {
    let error = failure("a.csv", "Name,Site,Name \n1,2,3\n", options());
    assert_eq!(error, "the header has the column `Name` twice; rename or remove one");
    let rows = records("a.csv", "Name,,\n1,2,3\n", options());
    assert_eq!(fields(&rows), ["{\"Name\":\"1\"}"]);
    let rows = records("a.csv", "Name,Free,Free (2),Free,Free\n1,2,3,4,5\n", options());
    let numbered = r#"{"Name":"1","Free":"2","Free (2)":"3","Free (3)":"4","Free (4)":"5"}"#;
    assert_eq!(fields(&rows), [numbered]);
    // A record may have several email addresses, so their columns may have the same name.
    let rows = records("a.csv", "Firma,E-mail,E-mail\n1,2,3\n", options());
    assert_eq!(fields(&rows), [r#"{"Firma":"1","E-mail":"2","E-mail (2)":"3"}"#]);
    let columns = vec!["Free".to_owned()];
    let needed = Input { columns, ..Input::default() };
    let error = failure("a.csv", "Name,Free,Free\n1,2,3\n", needed);
    assert_eq!(error, "the header has the column `Free` twice; rename or remove one");
}

#[test]
fn an_empty_table_has_no_records() {
    for text in ["", "\n\n", "a,b\n"] {
        assert_eq!(records("a.csv", text, options()), []);
    }
}

#[test]
fn the_sign_of_the_end_of_a_dos_file_is_no_row() {
    let rows = records("a.csv", "Company,Website\r\nQuill,quill.example\r\n\u{1a}", options());
    assert_eq!(rows.len(), 1);
}

#[test]
fn json_under_the_kind_csv_is_told() {
    let csv = Input { kind: Some(InputKind::Csv), ..options() };
    let error = failure("a.csv", "{\"a\":1}\n", csv);
    assert!(error.starts_with("this is JSON, not CSV"), "{error}");
}

#[test]
fn rows_of_a_workbook_are_objects() {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (row, cells) in
        [["Company", "Site"], ["Quill", ""], ["Ink", "ink.example"]].iter().enumerate()
    {
        for (column, cell) in cells.iter().enumerate() {
            sheet.write(row as u32, column as u16, *cell).unwrap();
        }
    }
    let bytes = workbook.save_to_buffer().unwrap();
    for name in ["a.xlsx", "stdin"] {
        let rows = records(name, bytes.clone(), options());
        let expected = [
            "{\"Company\":\"Quill\",\"Site\":\"\"}",
            "{\"Company\":\"Ink\",\"Site\":\"ink.example\"}",
        ];
        assert_eq!(fields(&rows), expected);
    }
}

#[test]
fn the_first_sheet_with_a_table_is_read() {
    let workbook = |sheets: &[&[&[&str]]]| {
        let mut workbook = rust_xlsxwriter::Workbook::new();
        for rows in sheets {
            let sheet = workbook.add_worksheet();
            for (row, cells) in rows.iter().enumerate() {
                sheet.write_row(row as u32, 0, cells.iter().copied()).unwrap();
            }
        }
        workbook.save_to_buffer().unwrap()
    };
    let cover: &[&[&str]] =
        &[&["Customers"], &["Date", "2026-11-01"], &["Phone", "+1 201 555 0100"]];
    let table: &[&[&str]] = &[&["Company", "Website", "Note"], &["Quill", "quill.example", "x"]];
    let other: &[&[&str]] = &[&["Company", "Phone"], &["Ink", "1"]];
    let expected = ["{\"Company\":\"Quill\",\"Website\":\"quill.example\",\"Note\":\"x\"}"];
    assert_eq!(
        fields(&records("a.xlsx", workbook(&[cover, &[], table, other]), options())),
        expected
    );
    assert_eq!(fields(&records("a.xlsx", workbook(&[table, other]), options())), expected);
    // No sheet has two known columns, so the first sheet is read.
    let rows =
        records("a.xlsx", workbook(&[&[&["A", "B"], &["1", "2"]], &[&["C"], &["3"]]]), options());
    assert_eq!(fields(&rows), ["{\"A\":\"1\",\"B\":\"2\"}"]);
    // If a mapping needs certain columns, the first sheet with these columns is read.
    let columns = Input { columns: vec!["B".to_owned()], ..options() };
    let rows = records("a.xlsx", workbook(&[table, &[&["A", "B"], &["1", "2"]]]), columns);
    assert_eq!(fields(&rows), ["{\"A\":\"1\",\"B\":\"2\"}"]);
}

#[test]
fn a_workbook_of_a_million_empty_rows_has_few_records() {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet_with_constant_memory().unwrap();
    sheet.write(0, 0, "Company").unwrap();
    let bold = rust_xlsxwriter::Format::new().set_bold();
    for row in 1..1_000_000 {
        sheet.write_blank(row, 0, &bold).unwrap();
    }
    sheet.write(1_000_000, 0, "Quill").unwrap();
    let rows = records("a.xlsx", workbook.save_to_buffer().unwrap(), options());
    assert_eq!(fields(&rows), ["{\"Company\":\"Quill\"}"]);
    assert_eq!(lines(&rows), [1_000_001]);
}

#[test]
fn what_is_no_list_is_told() {
    let (_, error) = until_error("a.csv", b"%PDF-1.7\n".to_vec(), options());
    assert!(error.unwrap().to_string().starts_with("this is a PDF document"));
}
