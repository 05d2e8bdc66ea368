//! Tells international phone numbers from national ones.

use phonenumber::metadata::DATABASE;

use super::{
    InvalidPhone, Phone, international_digits, is_separator, says_its_country, without_extension,
    without_link,
};
use crate::Country;
use crate::input;

impl Phone {
    /// Like [`parse`](Self::parse), but refuses a number that may be a national number of an
    /// unknown country. For example, `(202) 555-0152` is a number in Washington, but
    /// `+20 2555 0152`, with the same digits, is one in Cairo.
    ///
    /// A number that begins with `+` or `00` is parsed as [`parse`](Self::parse) does. Any other
    /// number must be one that the numbering plan of its calling code assigns, and must have one of
    /// these forms:
    ///
    /// - only digits, at least twelve;
    /// - a North American number that begins with a separate 1: `1 (202) 555-0152`.
    pub fn parse_international(text: &str) -> Result<Self, InvalidPhone> {
        /// Minimum number of digits of a number that has only digits. A shorter number may be
        /// national: mobile numbers in China and Brazil have eleven digits, and no national number
        /// has more.
        const MIN_DIGITS: usize = 12;
        let plain = without_link(input::plain(text)?);
        let phone = match Self::parse(text) {
            Ok(phone) if says_its_country(plain) => return Ok(phone),
            Ok(phone) => phone,
            // The text may be a national number. Then its first digits are no calling code, so the
            // error is that the calling code is missing.
            Err(InvalidPhone::ImpossibleLength) if !says_its_country(plain) => {
                return Err(InvalidPhone::NoCountryCode);
            }
            Err(error) => return Err(error),
        };
        let is_bare = plain.bytes().all(|byte| byte.is_ascii_digit());
        let has_one = plain.strip_prefix('1').is_some_and(|rest| rest.starts_with(is_separator));
        if ((is_bare && plain.len() >= MIN_DIGITS) || has_one) && phone.is_valid_number() {
            Ok(phone)
        } else {
            Err(InvalidPhone::NoCountryCode)
        }
    }

    /// Like [`parse`](Self::parse), for a text that should be an international number. The number
    /// may lack the `+` or `00`. Then it could also be a national number, so it is accepted only if
    /// all of these conditions are true:
    ///
    /// - It has at least eleven digits.
    /// - It does not begin with a zero or a bracket.
    /// - The numbering plan of its calling code assigns it.
    pub fn parse_with_code(text: &str) -> Result<Self, InvalidPhone> {
        /// Minimum number of digits of a number without `+` and `00`. A shorter number may be a
        /// national number of North America, which has ten digits.
        const MIN_DIGITS: usize = 11;
        let phone = Self::parse(text)?;
        let plain = without_link(input::plain(text)?);
        let is_complete = plain.starts_with(|first: char| !is_separator(first))
            && phone.digits().len() >= MIN_DIGITS
            && phone.is_valid_number();
        if says_its_country(plain) || is_complete {
            Ok(phone)
        } else {
            Err(InvalidPhone::NoCountryCode)
        }
    }

    /// Parses a number of a record with a known country.
    ///
    /// If a number begins with `+` or `00`, it is international. Otherwise these rules decide, in
    /// this order:
    ///
    /// 1. A number that begins with the calling code of the country is international, if the
    ///    numbering plan of the country assigns it.
    /// 2. Otherwise it is national, if the numbering plan of the country assigns it. A zero at the
    ///    beginning is the trunk prefix if the country has this prefix; else it is a part of the
    ///    number. The trunk prefix may be missing. But in a country with this prefix, a number in
    ///    the North American form `(202) 555-0152` is never national.
    /// 3. Otherwise, [`parse_international`](Self::parse_international) decides.
    ///
    /// # Errors
    ///
    /// [`InvalidPhone::NoCountryCode`], if the text looks like a number, but none of these rules
    /// accepts it.
    pub fn parse_of(text: &str, country: Country) -> Result<Self, InvalidPhone> {
        let plain = without_link(input::plain(text)?);
        let Some(region) = DATABASE.by_id(country.alpha2()) else {
            return Self::parse_international(text);
        };
        if says_its_country(plain) {
            return Self::parse(text);
        }
        let digits = international_digits(plain)?;
        let code = region.country_code().to_string();
        let with_code = || digits.starts_with(&code).then(|| Self::parse(text).ok()).flatten();
        let has_trunk_zero = region.national_prefix().is_some_and(|text| text.starts_with('0'));
        let national = || {
            if has_trunk_zero && is_north_american(plain) {
                return None;
            }
            let whole = format!("+{code}{digits}");
            let is_whole = |phone: &Self| phone.as_str() == whole;
            let keeps_zero = |phone: &Self| !digits.starts_with('0') || is_whole(phone);
            Self::parse(&whole).ok().filter(|phone| has_trunk_zero || keeps_zero(phone))
        };
        let found = with_code().filter(Self::is_valid_number);
        match found.or_else(|| national().filter(Self::is_valid_number)) {
            Some(phone) => Ok(phone),
            None => match Self::parse_international(text) {
                Err(InvalidPhone::ImpossibleLength) => Err(InvalidPhone::NoCountryCode),
                read => read,
            },
        }
    }
}

/// Whether a text has the form of a number in North America: `(202) 555-0152`.
fn is_north_american(text: &str) -> bool {
    let text = without_extension(text);
    let mut digits = text.chars().filter(char::is_ascii_digit);
    let Some((area, _)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return false;
    };
    area.len() == 3 && digits.next() != Some('0') && digits.count() == 9
}
