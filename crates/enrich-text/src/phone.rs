//! Phone numbers in E.164.

mod national;

use std::fmt;
use std::sync::LazyLock;

use phonenumber::Metadata;
use phonenumber::metadata::DATABASE;

use crate::Country;
use crate::input::{self, refuses_unreadable};

/// A phone number in E.164: `+`, country calling code, national number.
///
/// The number is possible: its country calling code exists, and numbers with this code can have its
/// length. It may belong to nobody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Phone(String);

/// Why a text is not a phone number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPhone {
    /// The text is empty or only white space.
    #[error("a phone number cannot be empty; send one like `+12025550123`")]
    Empty,
    /// The text is longer than any phone number.
    #[error("a phone number has at most 15 digits; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("a phone number holds no control characters; send plain text")]
    ControlCharacter,
    /// The text contains letters, or other characters that phone numbers do not have.
    #[error("a phone number is written with digits, spaces, dots, dashes and brackets alone")]
    NotDigits,
    /// The number has no country calling code, or one that does not exist.
    #[error("a phone number starts with `+` and a country calling code, like `+12025550123`")]
    NoCountryCode,
    /// No number with this country calling code has this length.
    #[error(
        "no number of this country calling code has so many digits; check for a missing or an \
         extra one"
    )]
    ImpossibleLength,
}

refuses_unreadable!(InvalidPhone);

impl Phone {
    /// Parses an international number. The number begins with `+`, with `00`, or directly with its
    /// calling code; `tel:` may be before it. The number may contain spaces, dots, dashes,
    /// slashes, brackets, and a trunk zero as in `+44 (0)20 …`. An extension is ignored, because
    /// E.164 has none.
    pub fn parse(text: &str) -> Result<Self, InvalidPhone> {
        let text = without_link(input::plain(text)?);
        let digits = international_digits(text)?;
        let (code, national) = split(&digits).ok_or(InvalidPhone::NoCountryCode)?;
        let national = code.without_trunk_prefix(national);
        if !code.is_possible(national) || code.has_trunk_zero(national) {
            return Err(InvalidPhone::ImpossibleLength);
        }
        Ok(Self(format!("+{}{national}", code.digits)))
    }

    /// Like [`parse`](Self::parse), but if a country is given, also accepts national numbers of
    /// this country.
    ///
    /// If a number begins with `+` or `00`, it is international. If it begins with another zero,
    /// it is national, because no calling code begins with zero. Any other number may be
    /// international or national. These rules decide, in this order:
    ///
    /// 1. A number that begins with the calling code of the given country, or consists only of
    ///    digits, is international if the numbering plan of its calling code assigns such numbers.
    ///    (`/v1/itm` returns international numbers as digits only.)
    /// 2. Otherwise it is national, if the numbering plan of the given country assigns such
    ///    numbers.
    /// 3. Otherwise it is international, if an international number like this is possible; if not,
    ///    it is national.
    pub fn parse_in(text: &str, country: Option<Country>) -> Result<Self, InvalidPhone> {
        let international = Self::parse(text);
        let Some(region) = country.and_then(|country| DATABASE.by_id(country.alpha2())) else {
            return international;
        };
        let plain = without_link(input::plain(text)?);
        if says_its_country(plain) {
            return international;
        }
        let digits = international_digits(plain)?;
        let code = region.country_code().to_string();
        let national = Self::parse(&format!("+{code}{digits}"));
        if digits.starts_with('0') {
            return national;
        }
        let is_valid_number =
            |number: &Result<Self, _>| number.as_ref().is_ok_and(Self::is_valid_number);
        let may_be_international =
            digits.starts_with(&code) || plain.bytes().all(|byte| byte.is_ascii_digit());
        if may_be_international && is_valid_number(&international) {
            return international;
        }
        if is_valid_number(&national) { national } else { international.or(national) }
    }

    /// Whether the numbering plan of the number's country assigns numbers like this one.
    fn is_valid_number(&self) -> bool {
        phonenumber::parse(None, &self.0).is_ok_and(|number| number.is_valid())
    }

    /// Loads the numbering plans, which takes tens of milliseconds. A server calls this before it
    /// answers. Otherwise the first number that it parses would take this time.
    pub fn prepare() {
        LazyLock::force(&CALLING_CODES);
    }

    /// Returns the number in E.164, with `+`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the digits of the number, without `+`.
    pub fn digits(&self) -> &str {
        self.0.get(1..).unwrap_or_default()
    }

    /// Whether the numbering plan of the number's country reserves numbers like this one for
    /// mobile phones. Returns `false` if mobile and fixed phones share these numbers, as in North
    /// America, or if the plan does not contain the number.
    pub fn is_mobile(&self) -> bool {
        phonenumber::parse(None, &self.0)
            .is_ok_and(|number| number.number_type(&DATABASE) == phonenumber::Type::Mobile)
    }
}

impl fmt::Display for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the number in a text, without `tel:` before it, and without the parameters of a link,
/// which begin with `;` (RFC 3966).
fn without_link(text: &str) -> &str {
    let text = match text.get(..4) {
        Some(scheme) if scheme.eq_ignore_ascii_case("tel:") => text.get(4..).unwrap_or_default(),
        _ => text,
    };
    text.split(';').next().unwrap_or(text).trim()
}

/// Whether a text shows that it is an international number: it contains `+`, or its digits begin
/// with `00`.
fn says_its_country(text: &str) -> bool {
    let text = without_extension(text);
    let mut digits = text.chars().filter_map(digit);
    text.contains(['+', '\u{ff0b}']) || (digits.next(), digits.next()) == (Some('0'), Some('0'))
}

/// Returns the digits of an international number, starting with the calling code.
fn international_digits(text: &str) -> Result<String, InvalidPhone> {
    let mut digits = String::with_capacity(text.len());
    let mut plus = false;
    for sign in without_extension(text).chars() {
        if let Some(digit) = digit(sign) {
            digits.push(digit);
        } else if matches!(sign, '+' | '\u{ff0b}') && digits.is_empty() && !plus {
            plus = true;
        } else if !is_separator(sign) {
            return Err(InvalidPhone::NotDigits);
        }
    }
    if digits.is_empty() {
        return Err(InvalidPhone::NotDigits);
    }
    match digits.strip_prefix("00") {
        Some(rest) if !plus => Ok(rest.to_owned()),
        _ => Ok(digits),
    }
}

/// Converts an ASCII digit or a full-width digit to an ASCII digit; returns `None` for any other
/// character.
fn digit(sign: char) -> Option<char> {
    match sign {
        '0'..='9' => Some(sign),
        '\u{ff10}'..='\u{ff19}' => char::from_digit(u32::from(sign) - 0xff10, 10),
        _ => None,
    }
}

fn is_separator(sign: char) -> bool {
    sign.is_whitespace()
        || matches!(
            sign,
            '.' | '-'
                | '/'
                | '('
                | ')'
                | '['
                | ']'
                | '\u{b7}'
                | '\u{2010}'..='\u{2015}'
                | '\u{2212}'
                | '\u{ff08}'
                | '\u{ff09}'
                | '\u{ff0d}'
                | '\u{ff0e}'
                // Zero-width characters. A number that was copied from a web page may contain them.
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
        )
}

/// Returns a number without the extension at its end, such as `ext. 12`, `Extension: 12`, `x12` or
/// `#12`.
fn without_extension(text: &str) -> &str {
    let number = text.trim_end_matches(|sign: char| sign.is_ascii_digit());
    if number.len() == text.len() {
        return text;
    }
    let number = number.trim_end_matches([' ', '.', ':']);
    let word_start = number.trim_end_matches(|sign: char| sign.is_ascii_alphabetic()).len();
    let (rest, word) = number.split_at(word_start);
    match word {
        "" => number.strip_suffix('#').unwrap_or(text),
        _ if ["x", "ext", "extn", "extension"].iter().any(|e| word.eq_ignore_ascii_case(e)) => rest,
        _ => text,
    }
}

/// The properties that all numbers with one calling code share.
#[derive(Clone, Copy)]
struct CallingCode {
    digits: u16,
    /// Bit n is set if national numbers with n digits are possible.
    lengths: u32,
    /// The digits before a national number in calls within the country, such as the first zero of
    /// `020 7946 0123`. They are not dialled in calls from abroad. `None` if the country has no
    /// such digits.
    trunk_prefix: Option<&'static str>,
}

/// All calling codes, with the possible lengths of their numbers. The index is the calling code.
///
/// The lengths are from libphonenumber. They are stored here for speed: to check a length, the
/// crate `phonenumber` would run a regular expression for every kind of number in a country.
static CALLING_CODES: LazyLock<Vec<Option<CallingCode>>> =
    LazyLock::new(|| (0..1000).map(calling_code).collect());

fn calling_code(digits: u16) -> Option<CallingCode> {
    let regions = DATABASE.by_code(&digits)?;
    let lengths = regions.iter().copied().fold(0, |all, region| all | possible_lengths(region));
    let trunk_prefix = regions.first().and_then(|region| region.national_prefix());
    Some(CallingCode { digits, lengths, trunk_prefix })
}

/// Returns the possible lengths of a region's national numbers, for those numbers that can be
/// called from abroad. In the result, bit n is set if n digits are possible.
fn possible_lengths(region: &Metadata) -> u32 {
    let kinds = region.descriptors();
    [
        kinds.fixed_line(),
        kinds.mobile(),
        kinds.toll_free(),
        kinds.premium_rate(),
        kinds.shared_cost(),
        kinds.personal_number(),
        kinds.voip(),
        kinds.pager(),
        kinds.uan(),
        kinds.voicemail(),
    ]
    .into_iter()
    .flatten()
    .flat_map(|kind| kind.possible_length())
    .filter_map(|&length| 1_u32.checked_shl(u32::from(length)))
    .fold(0, |all, length| all | length)
}

/// Splits a number into its calling code and its national number. This is unambiguous, because no
/// calling code is the beginning of another one.
fn split(digits: &str) -> Option<(CallingCode, &str)> {
    (1..=3).find_map(|length| {
        let (code, national) = digits.split_at_checked(length)?;
        let code = CALLING_CODES.get(code.parse::<usize>().ok()?).copied().flatten()?;
        // No calling code begins with `0`. Without this check, `049` would be read as the calling
        // code 49.
        (!digits.starts_with('0')).then_some((code, national))
    })
}

impl CallingCode {
    fn is_possible(self, national: &str) -> bool {
        u32::try_from(national.len())
            .ok()
            .and_then(|length| self.lengths.checked_shr(length))
            .is_some_and(|lengths| lengths & 1 == 1)
    }

    /// Whether a national number begins with a zero, and the country's trunk prefix is a zero. In
    /// such a country, a zero at the beginning is always the trunk prefix.
    fn has_trunk_zero(self, national: &str) -> bool {
        self.trunk_prefix == Some("0") && national.starts_with('0')
    }

    /// Returns a national number without the trunk prefix, if somebody has left the prefix in the
    /// number by mistake.
    ///
    /// - If the country's trunk prefix is a zero, a zero at the beginning is always removed.
    /// - In any other country, the trunk prefix or a zero at the beginning may be a part of the
    ///   number itself. So it is removed only if the number's length is impossible with it and
    ///   possible without it.
    fn without_trunk_prefix(self, national: &str) -> &str {
        match self.trunk_prefix {
            Some("0") => national.strip_prefix('0').unwrap_or(national),
            _ if self.is_possible(national) => national,
            prefix => [prefix.unwrap_or("0"), "0"]
                .into_iter()
                .filter_map(|prefix| national.strip_prefix(prefix))
                .find(|shorter| self.is_possible(shorter))
                .unwrap_or(national),
        }
    }
}
