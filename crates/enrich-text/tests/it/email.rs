//! Tests of email addresses.

use enrich_text::{EmailAddress, InvalidEmailAddress};

#[test]
fn an_address_is_read_from_every_way_to_write_it() {
    for text in [
        "ada@acme.example",
        "Ada@ACME.example",
        " ada@acme.example ",
        "Ada <ada@acme.example>",
        "\"Lovelace, Ada\" <ada@acme.example>",
        "Ada (home) <Ada@acme.example>",
        "<ada@acme.example>",
        "< ada@acme.example >",
        "mailto:ada@acme.example",
        "MAILTO:ada@acme.example?subject=hello",
        "<mailto:ada@acme.example>",
        "ada@acme.example.",
    ] {
        let address = EmailAddress::parse(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(address.as_str(), "ada@acme.example", "{text:?}");
        assert_eq!(address.local(), "ada");
        assert_eq!(address.domain().as_str(), "acme.example");
    }
}

#[test]
fn hosts_are_read_as_hosts_are() {
    let address = EmailAddress::parse("ada@MÜNCHEN.example").unwrap();
    assert_eq!(address.as_str(), "ada@xn--mnchen-3ya.example");
    // The address keeps `www.`, so that mail can still be delivered. The address's domain has no
    // `www.`.
    let address = EmailAddress::parse("ada@www.acme.example").unwrap();
    assert_eq!(address.as_str(), "ada@www.acme.example");
    assert_eq!(address.domain().as_str(), "acme.example");
}

#[test]
fn unusual_local_parts_are_taken() {
    for text in [
        "o'brien@acme.example",
        "ada.lovelace+news@acme.example",
        "a_b-c=d/e!f@acme.example",
        "\"ada lovelace\"@acme.example",
        "\"a@b\"@acme.example",
        "jürgen@acme.example",
        "1@acme.example",
    ] {
        assert_eq!(EmailAddress::parse(text).unwrap().as_str(), text);
    }
}

#[test]
fn a_composed_letter_is_the_same_as_its_parts() {
    let one = EmailAddress::parse("E\u{301}ric@acme.example");
    assert_eq!(one, EmailAddress::parse("\u{e9}ric@acme.example"));
}

#[test]
fn a_tag_can_be_taken_off() {
    let bare = |text| EmailAddress::parse(text).unwrap().without_tag().map(|a| a.to_string());
    assert_eq!(bare("Ada+news@acme.example"), Some("ada@acme.example".to_owned()));
    assert_eq!(bare("ada+a+b@acme.example"), Some("ada@acme.example".to_owned()));
    assert_eq!(bare("ada+@acme.example"), Some("ada@acme.example".to_owned()));
    assert_eq!(bare("ada@acme.example"), None);
    assert_eq!(bare("+ada@acme.example"), None);
    assert_eq!(bare("\"a+b\"@acme.example"), None);
}

#[test]
fn what_is_no_address_is_refused() {
    use InvalidEmailAddress::{BadDomain, BadLocalPart, Empty, NoAt, TooLong};
    for (text, reason) in [
        ("", Empty),
        ("ada", NoAt),
        ("acme.example", NoAt),
        ("Ada <>", NoAt),
        ("mailto:", NoAt),
        ("ada@", BadDomain),
        ("ada@localhost", BadDomain),
        ("ada@192.0.2.1", BadDomain),
        ("ada@[192.0.2.1]", BadDomain),
        ("ada@acme.example/x", BadDomain),
        ("ada@acme.example:25", BadDomain),
        ("ada@acme..example", BadDomain),
        ("ada@acme.example, bob@acme.example", BadLocalPart),
        ("@acme.example", BadLocalPart),
        ("ada lovelace@acme.example", BadLocalPart),
        (".ada@acme.example", BadLocalPart),
        ("ada.@acme.example", BadLocalPart),
        ("a..b@acme.example", BadLocalPart),
        ("ada@bob@acme.example", BadLocalPart),
    ] {
        assert_eq!(EmailAddress::parse(text), Err(reason), "{text:?}");
    }
    let long = format!("{}@acme.example", "a".repeat(65));
    assert_eq!(EmailAddress::parse(&long), Err(BadLocalPart));
    let label = "a".repeat(60);
    let long = format!("{label}@{label}.{label}.{label}.{label}.example");
    assert_eq!(EmailAddress::parse(&long), Err(TooLong));
}

#[test]
fn messages_never_repeat_the_input() {
    for text in ["lovelace", "lovelace@localhost", "love lace@acme.example"] {
        let message = EmailAddress::parse(text).unwrap_err().to_string();
        assert!(message.contains("ada@acme.example"), "{message}");
        assert!(!message.contains("lace"), "{message}");
    }
}
