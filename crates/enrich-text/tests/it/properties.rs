//! Checks that no parser panics on any text, and that a parsed value, parsed again, gives the same
//! value. `PROPTEST_CASES` sets the number of texts.

use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, Network, PageUrl, PersonName, PersonPage, Phone,
    fold, is_public_mail_host,
};
use proptest::prelude::*;

/// Generates arbitrary texts, and texts that are made of parts that parsers recognise.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(PIECES);
    prop_oneof![
        any::<String>(),
        ".{0,40}",
        prop::collection::vec(pieces.prop_map(str::to_owned), 0..10).prop_map(|list| list.concat()),
        prop::collection::vec(
            prop_oneof![prop::sample::select(PIECES).prop_map(str::to_owned), "\\PC{0,3}"],
            0..8
        )
        .prop_map(|list| list.concat()),
    ]
}

const PIECES: &[&str] = &[
    " ",
    " ",
    ".",
    "-",
    "/",
    "@",
    "+",
    "?",
    "#",
    "#!/",
    ":",
    "%",
    "%2F",
    "%C3%A9",
    "&",
    "'",
    ",",
    "(",
    ")",
    "<",
    ">",
    "\"",
    "www.",
    "http://",
    "https://",
    "mailto:",
    "tel:",
    "acme",
    "Acme",
    "ACME",
    "a",
    "b",
    "S",
    "A",
    "example",
    "com",
    ".com",
    "co.uk",
    "münchen",
    "xn--mnchen-3ya",
    "食狮",
    "中国",
    "東京",
    "株式会社",
    "有限公司",
    "주식회사",
    "GmbH",
    "& Co. KG",
    "S.A.",
    "Sp. z o.o.",
    "Ltd",
    "Inc",
    "ООО",
    "Ł",
    "ß",
    "İ",
    "ǅ",
    "Σ",
    "ς",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{200b}",
    "\u{feff}",
    "ﬁ",
    "①",
    "㈱",
    "Ⅷ",
    "½",
    "١",
    "0",
    "00",
    "1",
    "44",
    "+44",
    "(0)",
    "20",
    "7946",
    "0123",
    "２",
    "ext. 5",
    "x5",
    "127.0.0.1",
    "0x7f",
    "[::1]",
    "linkedin.com/",
    "company/",
    "in/",
    "pub/",
    "facebook.com/",
    "pages/",
    "profile.php?id=",
    "12345678",
    "x.com/",
    "youtube.com/",
    "channel/",
    "UC",
    "abcdefghijklmnopqrstuv",
    "@acme",
    "instagram.com/",
    "van ",
    "de la ",
    "Dr. ",
    ", Jr.",
    "García",
    " Müller",
    "Bob ",
    "Sergej ",
    "محمد ",
    "الرشيد",
    " Jr.",
    "O'Brien",
    "Jean-Luc",
    "山田",
    "太郎",
    "김철수",
    "!",
    "™",
    "🍕",
    "จำกัด",
    "ห้าง",
    "שלום",
    "بع",
];

const FIRSTS: &str = "(ana|juan|maria|a|j|b|bob|robert|alex|alexandra|jean|omar|محمد|عمر)\
    ( (b|luis|l|maria|luc))?";
const LASTS: &str = "(garcia|marquez|de la cruz|van berg|vanberg|le|mueller|müller|popow|الرشيد|\
    al rashid|hassan)( (lopez|berg))?";

proptest! {
    #[test]
    fn folding_what_was_folded_changes_nothing(text in texts()) {
        let folded = fold(&text);
        prop_assert_eq!(fold(&folded), folded);
    }

    #[test]
    fn folding_leaves_single_spaces_and_no_capitals(text in texts()) {
        let folded = fold(&text);
        prop_assert!(!folded.contains("  ") && folded.trim() == folded);
        prop_assert!(!folded.bytes().any(|b| b.is_ascii_uppercase()));
    }

    #[test]
    fn a_domain_reads_back_as_itself(text in texts()) {
        if let Ok(domain) = Domain::parse(&text) {
            prop_assert_eq!(&Domain::parse(domain.as_str()).unwrap(), &domain);
            prop_assert_eq!(Domain::parse(&domain.to_unicode()), Ok(domain.clone()));
            let registrable = domain.registrable();
            prop_assert_eq!(&Domain::parse(registrable.as_str()).unwrap(), &registrable);
            prop_assert_eq!(registrable.registrable(), registrable.clone());
            prop_assert!(domain.as_str().ends_with(registrable.as_str()));
            prop_assert!(registrable.as_str().starts_with(domain.label()));
            let _ = (domain.country(), is_public_mail_host(&domain));
        }
    }

    #[test]
    fn a_registrable_domain_has_a_dot(labels in "([a-z]{1,8}\\.){1,3}[a-z]{2,4}") {
        let domain = Domain::parse(&labels).unwrap();
        prop_assert!(domain.registrable().as_str().contains('.'));
    }

    #[test]
    fn an_email_address_reads_back_as_itself(text in texts(), local in "\\PC{1,12}") {
        for text in [text, format!("{local}@acme.example"), format!("<{local}@ACME.example>")] {
            if let Ok(address) = EmailAddress::parse(&text) {
                prop_assert_eq!(&EmailAddress::parse(address.as_str()).unwrap(), &address);
                prop_assert!(address.as_str().starts_with(address.local()));
                prop_assert!(address.without_tag().is_none_or(|bare| bare.without_tag().is_none()));
                prop_assert_eq!(Domain::parse(address.domain().as_str()), Ok(address.domain()));
            }
        }
    }

    #[test]
    fn a_phone_reads_back_as_itself(text in texts(), digits in "[+]?[0-9 ()./-]{3,24}") {
        for text in [text, digits] {
            if let Ok(phone) = Phone::parse(&text) {
                prop_assert_eq!(&Phone::parse(phone.as_str()).unwrap(), &phone);
                prop_assert_eq!(&Phone::parse(phone.digits()).unwrap(), &phone);
                prop_assert_eq!(format!("+{}", phone.digits()), phone.as_str());
                prop_assert!(phone.digits().bytes().all(|b| b.is_ascii_digit()));
            }
        }
    }

    #[test]
    fn a_page_reads_back_as_itself(text in texts(), path in "\\PC{0,16}") {
        for network in Network::ALL {
            for text in [text.clone(), format!("{}/{path}", network.host())] {
                if let Ok(page) = PageUrl::parse(network, &text) {
                    let again = PageUrl::parse(network, page.as_str());
                    prop_assert_eq!(again.as_ref(), Ok(&page));
                    let url = format!("https://www.{}/?a=b", page.as_str());
                    if !page.as_str().contains('?') {
                        let again = PageUrl::parse(network, &url).unwrap();
                        prop_assert_eq!(again.key(), page.key());
                    }
                }
            }
        }
    }

    #[test]
    fn a_person_page_reads_back_as_itself(text in texts(), path in "\\PC{0,16}") {
        for text in [text, format!("linkedin.com/in/{path}"), format!("linkedin.com/pub/{path}")] {
            if let Ok(page) = PersonPage::parse(&text) {
                let again = PersonPage::parse(page.as_str());
                prop_assert_eq!(again.as_ref(), Ok(&page));
            }
        }
    }

    #[test]
    fn a_country_reads_back_as_itself(text in texts()) {
        if let Ok(country) = Country::parse(&text) {
            prop_assert_eq!(Country::parse(country.name()), Ok(country));
        }
        let _ = Country::from_code(&text);
    }

    #[test]
    fn the_keys_of_a_company_name_follow_from_each_other(text in texts()) {
        if let Ok(name) = CompanyName::parse(&text) {
            let display = CompanyName::parse(name.display()).unwrap();
            prop_assert_eq!(&display, &name);
            if let Ok(folded) = CompanyName::parse(name.folded()) {
                prop_assert_eq!(folded.folded(), name.folded());
                // Folding removes the parentheses around a country after a name. So only names
                // without a country are compared.
                if name.country().is_none() {
                    prop_assert_eq!(folded.stripped(), name.stripped());
                    prop_assert_eq!(folded.squashed(), name.squashed());
                }
            }
            if let Ok(stripped) = CompanyName::parse(name.stripped()) {
                prop_assert_eq!(stripped.stripped(), name.stripped());
            }
            prop_assert!(!name.squashed().is_empty() && !name.squashed().contains(' '));
        }
    }

    #[test]
    fn a_person_agrees_with_themselves_and_is_found(text in texts(), other in texts()) {
        let names = [&text, &other].map(|text| PersonName::parse(text));
        for name in names.iter().flatten() {
            prop_assert!(name.agreement(name).is_some_and(|it| it == Default::default()));
            prop_assert!(name.keys().contains(&name.key()));
            prop_assert!(name.keys().len() <= PersonName::MAX_KEYS);
            prop_assert!(name.keys_to_look_up().flatten().any(|key| key == name.key()));
        }
        if let [Ok(one), Ok(two)] = &names {
            prop_assert_eq!(one.agreement(two), two.agreement(one));
        }
    }

    #[test]
    fn people_who_agree_share_a_key(
        firsts in prop::collection::vec(FIRSTS, 2),
        lasts in prop::collection::vec(LASTS, 2),
        is_turned: bool,
    ) {
        let held = PersonName::from_parts(&firsts[0], &lasts[0]).unwrap();
        let full = if is_turned {
            format!("{} {}", lasts[1], firsts[1])
        } else {
            format!("{} {}", firsts[1], lasts[1])
        };
        let asked = PersonName::parse(&full).unwrap();
        prop_assert_eq!(held.agreement(&asked), asked.agreement(&held));
        let Some(found) = asked.agreement(&held) else { return Ok(()) };
        let mut only_turned = found;
        (only_turned.order, only_turned.spelling) = (false, false);
        // Names that agree must share a key, so that a look-up of `asked` finds `held`. There is
        // one exception: one name has the family name first, and the names have a further
        // difference, such as a short form (`Bob`, `Robert`). A different spelling (`Müller`,
        // `Mueller`) is no such difference.
        if !found.order || only_turned == Default::default() {
            let keys = held.keys();
            prop_assert!(
                asked.keys_to_look_up().flatten().any(|key| keys.contains(&key)),
                "{:?} {:?} {:?}", asked, held, asked.agreement(&held)
            );
        }
    }
}

#[test]
fn every_reader_refuses_a_text_of_64_kib_at_once() {
    let texts = ["a", "1", "+1 ", "a.", "www.", "é", " x", "@", "/", "%41", "株式会社", "ltd "];
    for piece in texts {
        let text = piece.repeat(64 * 1024 / piece.len());
        assert!(Domain::parse(&text).is_err());
        assert!(EmailAddress::parse(&text).is_err());
        assert!(Phone::parse(&text).is_err());
        assert!(Country::parse(&text).is_err());
        assert!(CompanyName::parse(&text).is_err());
        assert!(PersonName::parse(&text).is_err());
        assert!(PersonPage::parse(&text).is_err());
        assert!(PageUrl::parse(Network::LinkedIn, &text).is_err());
        assert!(fold(&text).len() <= 4 * text.len());
    }
}

#[test]
fn every_reader_refuses_control_characters_inside() {
    assert!(Domain::parse("acme.\0example").is_err());
    assert!(EmailAddress::parse("ada\n@acme.example").is_err());
    assert!(Phone::parse("+1 202\t5550123").is_err());
    assert!(Country::parse("Ger\u{7f}many").is_err());
    assert!(CompanyName::parse("Acme\u{1}").is_err());
    assert!(PersonName::parse("Ada\u{2}Lovelace").is_err());
    assert!(PersonName::from_parts("Ada", "Love\u{2}lace").is_err());
    assert!(PersonPage::parse("linkedin.com/in/a\u{3}da").is_err());
    assert!(PageUrl::parse(Network::Facebook, "ac\rme").is_err());
}
