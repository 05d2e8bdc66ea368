//! Tests of domains.

use enrich_text::{Country, Domain, InvalidDomain};

fn read(text: &str) -> String {
    Domain::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}")).as_str().to_owned()
}

#[test]
fn a_domain_is_read_from_every_way_to_write_it() {
    for text in [
        "acme.example",
        "ACME.Example",
        "  acme.example\n",
        "acme.example.",
        "www.acme.example",
        "WWW.acme.example.",
        "www.www.acme.example",
        "http://acme.example",
        "HTTPS://www.Acme.example/",
        "ftp://acme.example",
        "//acme.example/about",
        "acme.example/about?x=1#top",
        "acme.example?x=1",
        "acme.example#top",
        "acme.example:8443",
        "acme.example:",
        "https://acme.example:443/about",
        "https://user:secret@acme.example/",
        "user@acme.example",
        "https://acme.example/a@b.example",
        "https://acme.example\\about",
        "acme．example",
        "acme。example",
        "ａｃｍｅ.example",
    ] {
        assert_eq!(read(text), "acme.example", "{text:?}");
    }
}

#[test]
fn subdomains_stay() {
    assert_eq!(read("https://shop.acme.example/"), "shop.acme.example");
    assert_eq!(read("www2.acme.example"), "www2.acme.example");
    assert_eq!(read("my_shop.acme.example"), "my_shop.acme.example");
}

#[test]
fn internationalised_domains_are_one_in_either_form() {
    assert_eq!(read("münchen.example"), "xn--mnchen-3ya.example");
    assert_eq!(read("MÜNCHEN.example"), "xn--mnchen-3ya.example");
    assert_eq!(read("xn--mnchen-3ya.example"), "xn--mnchen-3ya.example");
    assert_eq!(read("XN--MNCHEN-3YA.example"), "xn--mnchen-3ya.example");
    assert_eq!(Domain::parse("münchen.example").unwrap().to_unicode(), "münchen.example");
    assert_eq!(Domain::parse("acme.example").unwrap().to_unicode(), "acme.example");
}

#[test]
fn a_domain_that_is_called_www_is_kept() {
    assert_eq!(read("www.com"), "www.com");
    assert_eq!(read("www.www.com"), "www.com");
    assert_eq!(read("www.gov.uk"), "gov.uk");
}

#[test]
fn a_single_label_is_refused() {
    for text in ["localhost", "acme", "http://acme/", "www", "acme.", "acme:80", "東京"] {
        assert_eq!(Domain::parse(text), Err(InvalidDomain::SingleLabel), "{text:?}");
    }
}

#[test]
fn an_ip_address_is_refused_in_every_notation() {
    for text in [
        "192.0.2.1",
        "http://192.0.2.1:80/x",
        "192.0.2.1.",
        "192.0.2",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "0300.0.2.1",
        "256.256.256.256",
        "1.2.3.4.5",
        "acme.123",
        "www.192.0.2.1",
        "[2001:db8::1]",
        "http://[2001:db8::1]:80/",
        "2001:db8::1",
        "１９２.0.2.1",
    ] {
        assert_eq!(Domain::parse(text), Err(InvalidDomain::IpAddress), "{text:?}");
    }
}

#[test]
fn what_is_no_host_is_refused() {
    for text in [
        "acme..example",
        ".acme.example",
        "-acme.example",
        "acme-.example",
        "acme .example",
        "acme corp.example",
        "acme,example.com",
        "http://",
        "https:///path",
        "/about",
        "?x",
        "@",
        "acme.example:80:80",
        "acme.example:port",
        "acme.example:99999",
        "acme.example..",
        "ac%6de.example",
        "acme!.example",
        "acme_corp.example",
        "xn--a.example",
    ] {
        assert_eq!(Domain::parse(text), Err(InvalidDomain::Malformed), "{text:?}");
    }
    assert_eq!(Domain::parse(" "), Err(InvalidDomain::Empty));
}

#[test]
fn lengths_are_those_of_the_dns() {
    let label = "a".repeat(63);
    assert!(Domain::parse(&format!("{label}.example")).is_ok());
    assert_eq!(Domain::parse(&format!("{label}a.example")), Err(InvalidDomain::TooLong));
    let name = format!("{label}.{label}.{label}.{}.ex", "a".repeat(58));
    assert_eq!(name.len(), 253);
    assert!(Domain::parse(&name).is_ok());
    assert_eq!(Domain::parse(&format!("a{name}")), Err(InvalidDomain::TooLong));
}

#[test]
fn the_registrable_domain_follows_the_public_suffix_list() {
    for (host, registrable, label) in [
        ("acme.example", "acme.example", "acme"),
        ("shop.acme.example", "acme.example", "acme"),
        ("a.b.acme.com", "acme.com", "acme"),
        ("corporativo.nestle.com.br", "nestle.com.br", "nestle"),
        ("acme.co.uk", "acme.co.uk", "acme"),
        ("x.acme.co.uk", "acme.co.uk", "acme"),
        ("acme.unknowntld", "acme.unknowntld", "acme"),
        ("x.acme.unknowntld", "acme.unknowntld", "acme"),
        // Suffixes from the private section of the public suffix list count as public suffixes too.
        ("acme.github.io", "acme.github.io", "acme"),
        ("x.acme.blogspot.com", "acme.blogspot.com", "acme"),
        // A text that is itself a public suffix counts as a registrable domain.
        ("co.uk", "co.uk", "co"),
        ("github.io", "github.io", "github"),
        // In the result, an internationalised suffix is in ASCII, as A-labels (`xn--…`).
        ("www.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn", "xn--85x722f"),
        ("x.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn", "xn--85x722f"),
        // The public suffix list has the wildcard `*.ck`, so `foo.ck` is a public suffix. `www.ck`
        // is an exception from this wildcard.
        ("x.www.ck", "www.ck", "www"),
        ("x.acme.foo.ck", "acme.foo.ck", "acme"),
    ] {
        let domain = Domain::parse(host).unwrap();
        assert_eq!(domain.registrable().as_str(), registrable, "{host}");
        assert_eq!(domain.label(), label, "{host}");
    }
}

#[test]
fn the_country_is_that_of_the_top_level_domain() {
    for (host, code) in [
        ("acme.de", Some("DE")),
        ("acme.co.uk", Some("GB")),
        ("acme.gb", Some("GB")),
        ("acme.com.br", Some("BR")),
        ("acme.co", Some("CO")),
        ("acme.io", Some("IO")),
        ("пример.рф", Some("RU")),
        ("例子.中国", Some("CN")),
        ("acme.한국", Some("KR")),
        ("acme.ελ", Some("GR")),
        ("acme.com", None),
        ("acme.eu", None),
        ("acme.example", None),
        ("acme.el", None),
        ("acme.xk", None),
        ("acme.ac", None),
        ("acme.su", None),
    ] {
        let country = Domain::parse(host).unwrap().country();
        assert_eq!(country.map(Country::alpha2), code, "{host}");
    }
}

#[test]
fn messages_say_what_to_do_and_never_repeat_the_input() {
    for text in ["ada-lovelace", "192.0.2.77", "ada lovelace.example", &"lovelace".repeat(99)] {
        let message = Domain::parse(text).unwrap_err().to_string();
        assert!(message.contains("domain"), "{message}");
        assert!(!message.contains("lovelace") && !message.contains("77"), "{message}");
    }
}
