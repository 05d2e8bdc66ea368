//! Finds the meaning of a column from its values. This is needed for columns such as `Auftritt`,
//! whose names are not in the list of usual column names.

use std::collections::HashSet;

use enrich_text::{CompanyName, Network};
use serde_json::{Map, Value};

use crate::access_link::link_address;
use crate::address::{is_address, is_email};
use crate::contact_cell::ContactCell;
use crate::country_name::country_of;
use crate::location::{country_at_end, country_in};
use crate::meaning::Meaning;
use crate::native::plain_name;
use crate::no_value::is_no_name;
use crate::path::{Path, texts};
use crate::phone_text::{is_like_phone, phone_texts};
use crate::route::{Route, route_url};

/// Minimum number of values in a column. Fewer values are too few to show the column's meaning.
const LEAST_VALUES: usize = 3;
/// A column may have phone numbers if a word of its name begins with one of these texts: `Tel. 2`,
/// `Mobiele`.
const PHONE_WORDS: [&str; 9] = ["tel", "tél", "tlp", "fon", "mobi", "gsm", "handy", "cell", "тел"];
/// A column may have phone numbers if its name contains one of these texts: `Telefon-Nr.`.
const PHONE_NAMES: [&str; 7] = ["phone", "telefon", "電話", "携帯", "전화", "휴대", "手机"];
/// A column may have email addresses if its name contains one of these texts: `Mail 2`.
const EMAIL_NAMES: [&str; 8] =
    ["mail", "posta", "correo", "courriel", "почт", "メール", "메일", "邮箱"];
/// A column may have countries if its name contains one of these texts: `Country / Pays`.
const COUNTRY_NAMES: [&str; 12] = [
    "countr",
    "land",
    "pays",
    "país",
    "pais",
    "kraj",
    "ország",
    "země",
    "ülke",
    "стран",
    "国",
    "국가",
];
/// A column may have postal addresses or places that end with a country if its name contains one of
/// these texts: `HQ Location`.
const LOCATION_NAMES: [&str; 14] = [
    "location",
    "address",
    "headquarter",
    "adress",
    "anschrift",
    "sitz",
    "standort",
    "indirizzo",
    "sede",
    "dirección",
    "domicilio",
    "endereço",
    "adres",
    "siège",
];
/// If the name of a column contains one of these texts, its values are not about the company or
/// person of the row. They may be fax numbers, URLs of images (`Logo`), people who work on the row
/// (`Record owner`, `updated_by`), or relatives and assistants (`Conjoint`, `Emergency contact`).
const OTHER_NAMES: [&str; 41] = [
    "supervisor",
    "parent",
    "guardian",
    "referr",
    "recruit",
    "vorgesetzt",
    "accountant",
    "fax",
    "faks",
    "télécop",
    "факс",
    "ファックス",
    "팩스",
    "传真",
    "owner",
    "creat",
    "assign",
    "manager",
    "editor",
    "author",
    "bearbeiter",
    "betreuer",
    "verantwort",
    "logo",
    "image",
    "photo",
    "avatar",
    "mirror",
    "feed",
    "privacy",
    "unsubscribe",
    "conjoint",
    "spouse",
    "cónyuge",
    "coniuge",
    "ehepartner",
    "emergency",
    "notfall",
    "urgence",
    "parrain",
    "assistant",
];

/// Returns the meaning that most of a column's values have, such as websites; `None` if they show
/// no meaning. The values must differ in most records. If the same few values occur again and
/// again, they say nothing about the record: they may name the user who added it.
///
/// - `Emails`: the values are email addresses.
/// - `Domains`: the values are addresses of different websites.
/// - `LinkedIn`: the values are LinkedIn pages of people.
/// - `CompanyLinkedIn`: the values are LinkedIn pages of companies.
/// - `Phones`: the values may be phone numbers, and the name of the column says so.
/// - `Country`: the values are countries, and the name of the column says so. They need not differ.
/// - `Location`: at least a fifth of the values end with a country, and the name of the column says
///   that it has addresses or places. They need not differ.
/// - `Company`: at least a third of the values have a legal form such as `Ltd`, and no value is a
///   web or email address.
pub(crate) fn meaning_of_values(column: &str, records: &[Map<String, Value>]) -> Option<Meaning> {
    let name = plain_name(column);
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&OTHER_NAMES) {
        return None;
    }
    let values = values_of(column, records);
    let is_part = has(&["bundesland", "landkreis", "landing", "inland", "island", "landlord"]);
    let is_long = |value: &String| value.chars().count() > 2;
    let may_be_countries =
        values.iter().any(is_long) || values.iter().collect::<HashSet<_>>().len() > 1;
    if has(&COUNTRY_NAMES)
        && !is_part
        && may_be_countries
        && values.iter().all(|value| country_of(value).is_some())
    {
        return Some(Meaning::Country);
    }
    let located = values.iter().filter(|value| country_at_end(value).is_some()).count();
    if has(&LOCATION_NAMES)
        && !has(&["besitz", "deliver"])
        && located > 0
        && 5 * located >= values.len()
    {
        return Some(Meaning::Location);
    }
    let values = Some(values).filter(|values| are_distinct(values))?;
    let are_mostly = |is: &dyn Fn(&str) -> bool| {
        5 * values.iter().filter(|value| is(value)).count() >= 4 * values.len()
    };
    if are_mostly(&begins_with_email) {
        return Some(Meaning::Emails);
    }
    if names_phones(column) && are_mostly(&are_phones) {
        return Some(Meaning::Phones);
    }
    if are_mostly(&|value| matches!(route_url(value), Route::Person(_))) {
        return Some(Meaning::LinkedIn);
    }
    if are_mostly(&is_company_page) {
        return Some(Meaning::CompanyLinkedIn);
    }
    if are_mostly(&is_site) {
        // If most addresses are on one site, such as a register, they are not the websites of the
        // companies. So the hosts must differ.
        let hosts: Vec<String> = values.iter().map(|value| host(value)).collect();
        return are_distinct(&hosts).then_some(Meaning::Domains);
    }
    (are_companies(&values) && !values.iter().any(|value| is_address(value)))
        .then_some(Meaning::Company)
}

/// Whether most values of a column of names have several words. Then the values are whole names of
/// people, even if the column's name may mean "first name", such as `Jméno`.
pub(crate) fn are_whole_names(column: &str, records: &[Map<String, Value>]) -> bool {
    let values = values_of(column, records);
    let whole = values.iter().filter(|value| value.split_whitespace().nth(1).is_some()).count();
    values.len() >= LEAST_VALUES && 2 * whole > values.len()
}

/// Whether the name of a column contains a word for `meaning`, which must be [`Meaning::Emails`] or
/// [`Meaning::Phones`]. For any other meaning, returns `false`. A column with such a word is read
/// even if another column already has this meaning.
pub(crate) fn names_more(column: &str, meaning: Meaning) -> bool {
    let name = plain_name(column);
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match meaning {
        Meaning::Emails => has(&EMAIL_NAMES),
        Meaning::Phones => names_phones(column),
        _ => false,
    }
}

/// Returns the values of the column: from each record, the first text that is a real value. Texts
/// that stand for no value, such as `n/a` and `0`, are skipped.
pub(crate) fn values_of(column: &str, records: &[Map<String, Value>]) -> Vec<String> {
    let path = Path::column(column);
    let values = records.iter().filter_map(|record| {
        let mut found = path.find(record).into_iter().flat_map(texts);
        found.find(|text| !is_no_name(text)).map(|text| text.trim().to_owned())
    });
    values.collect()
}

/// Whether there are at least [`LEAST_VALUES`] values, and three quarters of them differ.
fn are_distinct(values: &[String]) -> bool {
    let distinct: HashSet<&str> = values.iter().map(String::as_str).collect();
    values.len() >= LEAST_VALUES && 4 * distinct.len() >= 3 * values.len()
}

/// Whether the first word of a cell is an email address. Further addresses may follow.
fn begins_with_email(text: &str) -> bool {
    is_email(link_address(text).split([' ', ';', ',', '/']).next().unwrap_or_default())
}

/// Returns the meaning of a column whose name is a usual one, if its values do not contradict it.
/// `meaning` is the meaning that the name shows. If a column of companies or names, such as
/// `Account`, has email addresses, returns [`Meaning::Emails`]. Otherwise returns `None` if the
/// values contradict `meaning`: for example, a column `Country` may have ids of another table, such
/// as `49`, and a column `Last` may have dates.
pub(crate) fn unless_contradicted(
    meaning: Meaning,
    column: &str,
    records: &[Map<String, Value>],
) -> Option<Meaning> {
    let values = values_of(column, records);
    if values.is_empty() {
        return Some(meaning);
    }
    let are_mostly = |is: &dyn Fn(&str) -> bool| {
        2 * values.iter().filter(|value| is(value)).count() > values.len()
    };
    // Digits of a phone number after a name do not count: `Ada Byte, 020 7946 0123`.
    let has_digit =
        |value: &str| ContactCell::read(value).name.contains(|sign: char| sign.is_ascii_digit());
    let has_no_letter = |value: &str| !value.contains(char::is_alphabetic);
    match meaning {
        Meaning::FirstName | Meaning::LastName | Meaning::FullName | Meaning::Contact
            if are_mostly(&has_digit) =>
        {
            None
        }
        Meaning::Company
        | Meaning::Name
        | Meaning::Title
        | Meaning::Twitter
        | Meaning::Instagram
            if are_mostly(&has_no_letter) =>
        {
            None
        }
        Meaning::Company | Meaning::Name if are_mostly(&begins_with_email) => Some(Meaning::Emails),
        Meaning::Country => {
            values.iter().any(|value| country_in(value).is_some()).then_some(meaning)
        }
        _ => Some(meaning),
    }
}

/// Whether the values of a column are the names of companies: at least one in three has a legal
/// form.
pub(crate) fn has_companies(column: &str, records: &[Map<String, Value>]) -> bool {
    let values = values_of(column, records);
    !values.is_empty() && are_companies(&values)
}

fn are_companies(values: &[String]) -> bool {
    3 * values.iter().filter(|value| has_legal_form(value)).count() >= values.len()
}

/// Whether the name of a column says that the column has phone numbers. `Hotel ID` and
/// `Kostenstelle` contain `tel`, but no word of them begins with `tel`, so they do not say so.
fn names_phones(column: &str) -> bool {
    let name = plain_name(column);
    let column = column.to_lowercase();
    let mut words = column.split(|sign: char| !sign.is_alphanumeric());
    PHONE_NAMES.iter().any(|part| name.contains(part))
        || words.any(|word| PHONE_WORDS.iter().any(|start| word.starts_with(start)))
}

fn are_phones(text: &str) -> bool {
    let numbers = phone_texts(text);
    !numbers.is_empty() && numbers.iter().all(|number| is_like_phone(number))
}

fn is_company_page(text: &str) -> bool {
    matches!(route_url(text), Route::Page(page) if page.network() == Network::LinkedIn)
}

/// Whether a text is a web address. A text such as `a.byte` may be a user's name, so an address
/// without `www.` and `://` must end in a usual top-level domain.
fn is_site(text: &str) -> bool {
    const ENDINGS: [&str; 9] =
        ["com", "net", "org", "info", "biz", "edu", "gov", "example", "coop"];
    let first = first_address(text);
    let is_marked = first.contains("://") || first.starts_with("www.");
    match route_url(first) {
        Route::Domain(domain) => {
            let ending = domain.rsplit('.').next().unwrap_or_default();
            is_marked || ending.len() == 2 || ENDINGS.contains(&ending)
        }
        Route::Platform | Route::Page(_) => true,
        _ => false,
    }
}

/// Returns the domain of a web address. If the address is on a social network or a platform,
/// returns the whole address.
fn host(text: &str) -> String {
    let first = first_address(text);
    match route_url(first) {
        Route::Domain(domain) => domain,
        _ => first.to_owned(),
    }
}

/// Returns the first of the web addresses in a cell.
fn first_address(text: &str) -> &str {
    link_address(text).split([' ', ';', ',']).next().unwrap_or_default()
}

fn has_legal_form(text: &str) -> bool {
    CompanyName::parse(text).is_ok_and(|name| name.stripped() != name.folded())
}
