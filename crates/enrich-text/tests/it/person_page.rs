//! Tests of the parser for people's pages: their profiles on LinkedIn.

use enrich_text::{InvalidPersonPage, PersonPage};

#[test]
fn a_profile_is_read_from_every_way_to_write_it() {
    for text in [
        "https://www.linkedin.com/in/ada",
        "https://www.linkedin.com/in/ada/",
        "http://de.linkedin.com/in/ada?trk=x",
        "linkedin.com/IN/ada",
        "https://m.linkedin.com/in/ada#experience",
        "https://www.linkedin.com/in/ada/details/experience/",
        "https://www.linkedin.com/in/ada/en",
        "https://www.linkedin.com/mwlite/in/ada",
        "/in/ada",
        "in/ada",
        "ada",
        "@ada",
        "%61da",
    ] {
        let page = PersonPage::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(page.as_str(), "linkedin.com/in/ada", "{text:?}");
        assert_eq!(page.key(), "linkedin-in:ada", "{text:?}");
    }
}

#[test]
fn case_and_encoding_are_not_compared() {
    let key = |text| PersonPage::parse(text).unwrap().key().to_owned();
    assert_eq!(key("linkedin.com/in/Ada-Lovelace"), key("ada-lovelace"));
    assert_eq!(key("linkedin.com/in/j%C3%BCrgen"), key("linkedin.com/in/Jürgen"));
    assert_eq!(PersonPage::parse("in/j%C3%BCrgen").unwrap().as_str(), "linkedin.com/in/jürgen");
}

#[test]
fn the_old_form_keeps_what_tells_namesakes_apart() {
    let page =
        PersonPage::parse("https://www.linkedin.com/pub/ada-lovelace/1A/2b3/4c5/?trk=x").unwrap();
    assert_eq!(page.as_str(), "linkedin.com/pub/ada-lovelace/1A/2b3/4c5");
    assert_eq!(page.key(), "linkedin-in:ada-lovelace/1a/2b3/4c5");
    let short = PersonPage::parse("linkedin.com/pub/ada/").unwrap();
    assert_eq!(short.key(), PersonPage::parse("linkedin.com/in/ada").unwrap().key());
    assert_eq!(short.as_str(), "linkedin.com/pub/ada");
}

#[test]
fn what_is_no_profile_is_refused() {
    use InvalidPersonPage::{BadHandle, CompanyPage, Empty, NoPage, OtherNetwork};
    for (text, reason) in [
        ("", Empty),
        ("https://www.linkedin.com/company/acme", CompanyPage),
        ("company/acme", CompanyPage),
        ("linkedin.com/school/acme", CompanyPage),
        ("linkedin.com/showcase/acme", CompanyPage),
        ("linkedin.com", NoPage),
        ("linkedin.com/in", NoPage),
        ("linkedin.com/in/", NoPage),
        ("linkedin.com/pub/", NoPage),
        ("linkedin.com/feed", NoPage),
        ("linkedin.com/sales/people/x", NoPage),
        ("linkedin.com/ada", NoPage),
        ("lnkd.in/ada", NoPage),
        ("twitter.com/ada", OtherNetwork),
        ("https://acme.example/in/ada", OtherNetwork),
        ("linkedin.example/in/ada", OtherNetwork),
        ("Ada Lovelace", BadHandle),
        ("ada@acme.example", BadHandle),
        ("linkedin.com/in/%FF", BadHandle),
        ("linkedin.com/in/---", BadHandle),
    ] {
        assert_eq!(PersonPage::parse(text), Err(reason), "{text:?}");
    }
}
