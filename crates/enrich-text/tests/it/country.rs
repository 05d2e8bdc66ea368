//! Tests of countries.

use std::collections::{HashMap, HashSet};

use enrich_text::{Country, InvalidCountry};

#[test]
fn a_country_is_read_from_codes_and_names() {
    for (text, code) in [
        ("DE", "DE"),
        ("de", "DE"),
        ("DEU", "DE"),
        ("Germany", "DE"),
        ("GERMANY", "DE"),
        (" germany ", "DE"),
        ("USA", "US"),
        ("U.S.", "US"),
        ("U.S.A.", "US"),
        ("U S A", "US"),
        ("United States of America", "US"),
        ("the United States", "US"),
        ("The USA", "US"),
        ("America", "US"),
        ("UK", "GB"),
        ("U.K.", "GB"),
        ("Great Britain", "GB"),
        ("England", "GB"),
        ("scotland", "GB"),
        ("Wales", "GB"),
        ("Northern Ireland", "GB"),
        ("GBR", "GB"),
        ("EL", "GR"),
        ("XK", "XK"),
        ("Kosovo", "XK"),
        ("Holland", "NL"),
        ("The Netherlands", "NL"),
        ("Netherlands, The", "NL"),
        ("South Korea", "KR"),
        ("Korea", "KR"),
        ("Republic of Korea", "KR"),
        ("Korea, Republic of", "KR"),
        ("North Korea", "KP"),
        ("Russia", "RU"),
        ("Russian Federation", "RU"),
        ("Czech Republic", "CZ"),
        ("Czechia", "CZ"),
        ("Turkey", "TR"),
        ("Türkiye", "TR"),
        ("Turkiye", "TR"),
        ("Ivory Coast", "CI"),
        ("Côte d'Ivoire", "CI"),
        ("Cote d’Ivoire", "CI"),
        ("UAE", "AE"),
        ("U.A.E.", "AE"),
        ("Viet Nam", "VN"),
        ("Vietnam", "VN"),
        ("Burma", "MM"),
        ("Swaziland", "SZ"),
        ("eSwatini", "SZ"),
        ("Trinidad & Tobago", "TT"),
        ("St. Lucia", "LC"),
        ("Saint Lucia", "LC"),
        ("Curacao", "CW"),
        ("Bosnia", "BA"),
        ("Bosnia & Herzegovina", "BA"),
        ("DR Congo", "CD"),
        ("Congo", "CG"),
        ("Hong Kong", "HK"),
        ("Macau", "MO"),
        ("Taiwan", "TW"),
        ("Iran (Islamic Republic of)", "IR"),
        ("Cabo Verde", "CV"),
        ("East Timor", "TL"),
        ("Macedonia", "MK"),
        ("Palestine", "PS"),
        ("Vatican", "VA"),
        ("Guinea-Bissau", "GW"),
        ("Guinea Bissau", "GW"),
        ("Åland", "AX"),
        ("Reunion", "RE"),
        ("Deutschland", "DE"),
        ("España", "ES"),
        ("Georgia", "GE"),
        ("Niger", "NE"),
        ("Nigeria", "NG"),
    ] {
        assert_eq!(Country::parse(text).map(Country::alpha2), Ok(code), "{text:?}");
    }
}

#[test]
fn names_are_the_ones_people_say() {
    let name = |code| Country::from_code(code).unwrap().name();
    assert_eq!(name("GB"), "United Kingdom");
    assert_eq!(name("uk"), "United Kingdom");
    assert_eq!(name("US"), "United States");
    assert_eq!(name("kr"), "South Korea");
    assert_eq!(name("EL"), "Greece");
    assert_eq!(name("XK"), "Kosovo");
    assert_eq!(name("CI"), "Ivory Coast");
}

#[test]
fn a_code_is_alpha_2_alone() {
    for text in ["DEU", "Germany", "ZZ", "EU", "D", "D1", "Ⅾ", "dé"] {
        assert_eq!(Country::from_code(text), Err(InvalidCountry::UnknownCode), "{text:?}");
    }
    assert_eq!(Country::from_code(" "), Err(InvalidCountry::Empty));
}

#[test]
fn what_is_no_country_is_refused() {
    for text in ["Atlantis", "ZZ", "ZZZ", "EU", "Europe", "the", "!!!", "D E U T", "Germanyy"] {
        assert_eq!(Country::parse(text), Err(InvalidCountry::UnknownName), "{text:?}");
    }
}

#[test]
fn the_table_is_iso_3166_1_and_kosovo() {
    let all = Country::all();
    assert_eq!(all.len(), 249 + 1);
    assert!(all.is_sorted());
    for country in all {
        assert_eq!(Country::parse(country.alpha2()), Ok(*country));
        assert_eq!(Country::from_code(&country.alpha2().to_lowercase()), Ok(*country));
        assert_eq!(Country::parse(country.name()), Ok(*country));
    }
}

#[test]
fn no_name_or_code_of_the_table_means_two_countries() {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(b';')
        .comment(Some(b'#'))
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(include_bytes!("../../data/countries.csv").as_slice());
    let mut owners = HashMap::new();
    let mut alpha3 = HashSet::new();
    for row in reader.records() {
        let row = row.unwrap();
        assert_eq!(row.len(), 4, "{row:?}");
        assert!(row[1].len() == 3 && alpha3.insert(row[1].to_owned()), "{row:?}");
        let names = row[3].split('|').filter(|name| !name.is_empty());
        for name in names.chain([&row[1], &row[2]]) {
            let owner = owners.entry(enrich_text::fold(name)).or_insert(row[0].to_owned());
            assert_eq!(*owner, row[0], "{name}");
            assert_eq!(Country::parse(name).map(Country::alpha2), Ok(&row[0]), "{name}");
        }
    }
    assert_eq!(alpha3.len(), 250);
}
