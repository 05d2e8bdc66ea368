//! Tests of phone numbers.

use enrich_text::{Country, InvalidPhone, Phone};
use phonenumber::metadata::DATABASE;

fn read(text: &str) -> String {
    Phone::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}")).as_str().to_owned()
}

#[test]
fn a_number_is_read_from_every_way_to_write_it() {
    for text in [
        "+442079460123",
        "442079460123",
        "00442079460123",
        "00 44 20 7946 0123",
        "+44 20 7946 0123",
        "+44-20-7946-0123",
        "+44.20.7946.0123",
        "+44 (20) 7946 0123",
        "+44 (0)20 7946 0123",
        "+44 (0) 20 7946 0123",
        "0044 (0)20 7946 0123",
        "44 (0)20 7946 0123",
        "+44 020 7946 0123",
        "(+44) 20 7946 0123",
        "+ 44 20 7946 0123",
        "tel:+44-20-7946-0123",
        "TEL:+442079460123;ext=12",
        "+44 20 7946 0123 ext. 12",
        "+44 20 7946 0123 x12",
        "+44 20 7946 0123 extension 12",
        "+44 20 7946 0123 #12",
        "＋４４ ２０ ７９４６ ０１２３",
        "+44\u{a0}20\u{2011}7946\u{2013}0123",
        "\u{202a}+44 20 7946 0123\u{202c}",
        "+44 20/7946/0123",
    ] {
        assert_eq!(read(text), "+442079460123", "{text:?}");
    }
    assert_eq!(Phone::parse("+44 20 7946 0123").unwrap().digits(), "442079460123");
}

#[test]
fn a_number_that_may_be_national_is_not_international() {
    for text in ["+1 (202) 555-0152", "001 202 555 0152", "1 202 555 0152", "442079460123"] {
        assert!(Phone::parse_international(text).is_ok(), "{text}");
    }
    for text in ["(202) 555-0152", "312.555.0145", "6175550123", "646-555-0100", "13012345678"] {
        assert!(Phone::parse(text).is_ok(), "{text}");
        assert_eq!(Phone::parse_international(text), Err(InvalidPhone::NoCountryCode), "{text}");
    }
    assert_eq!(Phone::parse_international("Quill"), Err(InvalidPhone::NotDigits));
}

#[test]
fn fictional_numbers_are_possible_numbers() {
    assert_eq!(read("+1 202 555 0123"), "+12025550123");
    assert_eq!(read("+1 (202) 555-0199"), "+12025550199");
    assert_eq!(read("12025550100"), "+12025550100");
    assert_eq!(read("+44 7700 900123"), "+447700900123");
    assert_eq!(read("+61 491 570 156"), "+61491570156");
    assert_eq!(read("+49 30 23125 000"), "+493023125000");
    assert_eq!(read("+33 1 99 00 12 34"), "+33199001234");
}

#[test]
fn a_trunk_prefix_is_dropped_only_where_it_is_one() {
    assert_eq!(read("+49 (0)30 23125000"), "+493023125000");
    // In Italy, numbers begin with a zero that belongs to the number.
    assert_eq!(read("+39 06 1234 5678"), "+390612345678");
    assert_eq!(read("+39 (0)6 1234 5678"), "+390612345678");
    // The trunk prefix (the digits before a number in calls within the country) is `06` in Hungary,
    // and `8` in Russia.
    assert_eq!(read("+36 06 1 234 5678"), "+3612345678");
    assert_eq!(read("+7 8 495 123 45 67"), "+74951234567");
    assert_eq!(read("+7 800 555 01 23"), "+78005550123");
    assert_eq!(read("+1 (0) 202 555 0123"), "+12025550123");
    // The first zero is the trunk prefix. After it, no number in Germany begins with another zero.
    assert_eq!(Phone::parse("+49 (0)0 30 23125"), Err(InvalidPhone::ImpossibleLength));
    // Spain has no trunk prefix. But some people write a zero, as in countries with such a prefix.
    assert_eq!(read("+34 (0) 912 345 678"), "+34912345678");
}

#[test]
fn what_is_no_international_number_is_refused() {
    use InvalidPhone::{Empty, ImpossibleLength, NoCountryCode, NotDigits};
    for (text, reason) in [
        ("", Empty),
        ("phone", NotDigits),
        ("+1 800 FLOWERS", NotDigits),
        ("+44 20 7946 0123 / +44 20 7946 0124", NotDigits),
        ("++442079460123", NotDigits),
        ("+", NotDigits),
        ("ext. 12", NotDigits),
        ("ada@acme.example", NotDigits),
        ("+44 20 7946 0123 home", NotDigits),
        ("020 7946 0123", NoCountryCode),
        ("(020) 7946 0123", NoCountryCode),
        ("+0044 20 7946 0123", NoCountryCode),
        ("+999 123456789", NoCountryCode),
        ("+210 1234567", NoCountryCode),
        ("000", NoCountryCode),
        ("+1 202 555 012", ImpossibleLength),
        ("+1 202 555 01234", ImpossibleLength),
        ("+44 20", ImpossibleLength),
        ("+44", ImpossibleLength),
        ("+4", NoCountryCode),
        ("+44 00 20 7946 0123", ImpossibleLength),
        ("123456789012345678901234567890", ImpossibleLength),
    ] {
        assert_eq!(Phone::parse(text), Err(reason), "{text:?}");
    }
}

#[test]
fn every_example_number_of_every_country_is_possible_and_reads_as_the_library_reads_it() {
    let mut examples = 0;
    for region in DATABASE.iter() {
        let kinds = region.descriptors();
        let kinds =
            [kinds.fixed_line(), kinds.mobile(), kinds.toll_free(), kinds.uan(), kinds.voip()];
        for example in kinds.into_iter().flatten().filter_map(|kind| kind.example()) {
            let number = format!("+{}{example}", region.country_code());
            assert_eq!(read(&number), number, "{}", region.id());
            let theirs = phonenumber::parse(None, &number).unwrap();
            let theirs = theirs.format().mode(phonenumber::Mode::E164).to_string();
            // The crate `phonenumber` wrongly removes an `8` from Russian numbers and a `1` from
            // numbers of some islands. These numbers are not compared.
            if theirs.len() == number.len() {
                assert_eq!(theirs, number, "{}", region.id());
            }
            examples += 1;
        }
    }
    assert!(examples > 700, "{examples}");
}

#[test]
fn messages_never_repeat_the_input() {
    for text in ["020 7946 0123", "+44 7946", "+44 7946 x y"] {
        let message = Phone::parse(text).unwrap_err().to_string();
        assert!(!message.contains("7946"), "{message}");
    }
}

#[test]
fn a_national_number_is_read_with_a_country() {
    for (country, text, wanted) in [
        ("GB", "020 7946 0123", "+442079460123"),
        ("GB", "(020) 7946-0123 ext. 12", "+442079460123"),
        ("DE", "030 23125 001", "+493023125001"),
        ("US", "(202) 555-0123", "+12025550123"),
        ("US", "1 202 555 0123", "+12025550123"),
        ("IT", "06 698 12345", "+390669812345"),
        ("ES", "912 345 678", "+34912345678"),
        ("FR", "01 42 68 53 00", "+33142685300"),
    ] {
        let country = Country::from_code(country).unwrap();
        let read = Phone::parse_in(text, Some(country));
        assert_eq!(read.as_ref().map(Phone::as_str), Ok(wanted), "{text} in {country:?}");
    }
}

#[test]
fn an_international_number_is_the_same_with_any_country() {
    let gb = Country::from_code("GB").unwrap();
    for text in ["+12025550123", "00 1 202 555 0123", "tel:+1-202-555-0123", "12025550123"] {
        let read = Phone::parse_in(text, Some(gb));
        assert_eq!(read.as_ref().map(Phone::as_str), Ok("+12025550123"), "{text}");
    }
    // `/v1/itm` returns numbers as digits only. Such a number must be accepted with any country,
    // not only with its own.
    for country in ["GB", "DE", "CH", "US"] {
        for digits in ["442079460123", "41446681800", "493023125001", "12025550123"] {
            let country = Country::from_code(country).unwrap();
            let read = Phone::parse_in(digits, Some(country));
            let wanted = format!("+{digits}");
            assert_eq!(read.as_ref().map(Phone::as_str), Ok(wanted.as_str()), "{country:?}");
        }
    }
    assert_eq!(Phone::parse_in("020 7946 0123", None), Err(InvalidPhone::NoCountryCode));
    for text in ["", "07", "020 7946 0123 4567 89", "call me", "+999"] {
        assert!(Phone::parse_in(text, Some(gb)).is_err(), "{text}");
    }
}

#[test]
fn a_number_of_a_country_must_be_possible_there() {
    let read = |country: &str, text: &str| {
        let country = Country::from_code(country).unwrap();
        Phone::parse_of(text, country).map(|phone| phone.as_str().to_owned())
    };
    for (country, text, wanted) in [
        ("GB", "020 7946 0123", "+442079460123"),
        ("GB", "44 20 7946 0123", "+442079460123"),
        ("DE", "030 23125 001", "+493023125001"),
        ("US", "(202) 555-0123", "+12025550123"),
        ("US", "1-202-555-0123", "+12025550123"),
        ("GB", "1 (202) 555-0123", "+12025550123"),
        ("GB", "493023125001", "+493023125001"),
        ("US", "+49 30 23125 001", "+493023125001"),
        ("IT", "06 698 12345", "+390669812345"),
        ("ES", "912 345 678", "+34912345678"),
        ("BR", "(11) 3100-0701", "+551131000701"),
        ("AR", "(11) 4321-0987", "+541143210987"),
    ] {
        assert_eq!(read(country, text).as_deref(), Ok(wanted), "{text} in {country}");
    }
    for (country, text) in [
        ("GB", "(202) 555-0161"),
        ("FR", "(202) 555-0161"),
        ("SE", "(202) 555-0161"),
        ("DE", "(202) 555-0161"),
        ("DE", "(202) 555-0161 ext. 12"),
        ("GB", "415 555 0154"),
        ("US", "08-465 004 51"),
        ("US", "02 61 91 04 55"),
        ("US", "030 23125 011"),
    ] {
        assert_eq!(read(country, text), Err(InvalidPhone::NoCountryCode), "{text} in {country}");
    }
    assert_eq!(read("GB", "Quill"), Err(InvalidPhone::NotDigits));
    // `22` is the area code of Warsaw, and not a calling code. The text does not show the country.
    let of_warsaw = Phone::parse_international("22 123 45 67");
    assert_eq!(of_warsaw, Err(InvalidPhone::NoCountryCode));
    assert_eq!(read("GB", "+44 20 7946"), Err(InvalidPhone::ImpossibleLength));
}

#[test]
fn a_number_with_a_calling_code_is_not_written_as_a_national_one() {
    for text in ["+20 2 2555 0161", "0044 20 7946 0123", "44 20 7946 0123", "12025550123"] {
        assert!(Phone::parse_with_code(text).is_ok(), "{text}");
    }
    for text in ["(202) 555-0161", "2025550161", "020 7946 0123", "(44) 20 7946 0123"] {
        assert_eq!(Phone::parse_with_code(text), Err(InvalidPhone::NoCountryCode), "{text}");
    }
}
