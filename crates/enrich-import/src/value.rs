//! Parses the values of a record's fields. A value that can't be read is dropped, and the other
//! values of the record are kept.

use std::borrow::Cow;

use enrich_core::Confidence;
use enrich_text::{Country, Domain, MAX_CHARACTERS};

use crate::limits::MAX_LIST_VALUES;
use crate::raw::{Fields, Item, SeveralValues, SiteObject, csv_site};
use crate::rejection::{BadValue, Rejection};
use crate::report::Notes;
use enrich_mapping::{Field, is_no_name};

/// The fields of a record, with methods that parse the values. A value that can't be read is
/// counted in `notes` as dropped.
pub(crate) struct Values<'f, 'a> {
    pub(crate) fields: &'f Fields<'a>,
    pub(crate) line: u64,
    pub(crate) notes: &'f mut Notes,
}

pub(crate) struct Sites {
    /// The domains that could be read. Each may have the country of its website.
    pub(crate) sites: Vec<(Domain, Option<Country>)>,
    /// Whether the record's first domain, which is the main domain, could be read.
    pub(crate) has_main: bool,
}

impl Values<'_, '_> {
    pub(crate) fn required<T, E>(
        &self,
        field: Field,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, Rejection>
    where
        BadValue: From<E>,
    {
        let missing = Rejection::Missing(field.name());
        let unreadable = |reason| Rejection::Unreadable { field: field.name(), reason };
        let Some(raw) = self.fields.get(field) else { return Err(missing) };
        match raw.one() {
            Ok(Some(item)) if is_nameless(field, &item) => Err(missing),
            Ok(Some(item)) => parse_item(field, &item, parse).map_err(unreadable),
            Ok(None) => Err(missing),
            Err(SeveralValues) => Err(unreadable(BadValue::SeveralValues)),
        }
    }

    /// Returns the value of a field that may have only one value. If the value can't be read,
    /// counts it in `notes` as dropped, and returns `None`.
    pub(crate) fn one<T, E>(
        &mut self,
        field: Field,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T>
    where
        BadValue: From<E>,
    {
        let read = match self.fields.get(field)?.one() {
            Ok(item) => parse_item(field, &item?, parse),
            Err(SeveralValues) => Err(BadValue::SeveralValues),
        };
        self.or_note(field, read)
    }

    /// Returns the first [`MAX_LIST_VALUES`] values of a list field. Further values, and values
    /// that can't be read, are counted in `notes` as dropped.
    pub(crate) fn list<T, E>(
        &mut self,
        field: Field,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T>
    where
        BadValue: From<E>,
    {
        let Some(raw) = self.fields.get(field) else { return Vec::new() };
        let items = self.shortened(field, raw.list());
        items
            .iter()
            .filter_map(|item| self.or_note(field, parse_item(field, item, &parse)))
            .collect()
    }

    pub(crate) fn sites(&mut self) -> Sites {
        let mut read = Sites { sites: Vec::new(), has_main: false };
        let Some(raw) = self.fields.get(Field::Domains) else { return read };
        for (place, item) in self.shortened(Field::Domains, raw.list()).iter().enumerate() {
            let site = match (raw.is_csv(), item) {
                (true, Item::Text(text)) => self.csv_site(text),
                (false, Item::Object(object)) => self.site_object(object.get()),
                _ => {
                    let domain = parse_item(Field::Domains, item, Domain::parse);
                    self.or_note(Field::Domains, domain).map(|domain| (domain, None))
                }
            };
            read.has_main |= place == 0 && site.is_some();
            read.sites.extend(site);
        }
        read
    }

    /// Counts a value in `notes` as dropped for this reason, although the value could be read. Does
    /// nothing if `value` is `None`, because then there is no value to drop.
    pub(crate) fn drop_read<T>(&mut self, field: Field, value: Option<T>, reason: BadValue) {
        if value.is_some() {
            self.notes.drop_value(field.name(), reason, self.line);
        }
    }

    fn shortened<'i>(&mut self, field: Field, mut items: Vec<Item<'i>>) -> Vec<Item<'i>> {
        for _ in items.iter().skip(MAX_LIST_VALUES) {
            self.notes.drop_value(field.name(), BadValue::TooMany, self.line);
        }
        items.truncate(MAX_LIST_VALUES);
        items
    }

    fn csv_site(&mut self, text: &str) -> Option<(Domain, Option<Country>)> {
        let (domain, country) = csv_site(text);
        let domain = Domain::parse(domain).map_err(BadValue::from);
        let domain = self.or_note(Field::Domains, domain)?;
        let country = country.and_then(|country| {
            self.or_note(Field::Domains, Country::parse(country).map_err(BadValue::from))
        });
        Some((domain, country))
    }

    fn site_object(&mut self, json: &str) -> Option<(Domain, Option<Country>)> {
        let object = serde_json::from_str(json).map_err(|_| BadValue::NotText);
        let object: SiteObject<'_> = self.or_note(Field::Domains, object)?;
        let item = object.domain.and_then(Item::of_json);
        let domain = parse_item(Field::Domains, &item.unwrap_or(Item::Other), Domain::parse);
        let domain = self.or_note(Field::Domains, domain)?;
        let country = object.country.and_then(Item::of_json).and_then(|item| {
            self.or_note(Field::Domains, parse_item(Field::Domains, &item, Country::parse))
        });
        Some((domain, country))
    }

    /// Returns the value of `read`. If `read` is an error, counts the value of `field` in `notes`
    /// as dropped, and returns `None`.
    pub(crate) fn or_note<T>(&mut self, field: Field, read: Result<T, BadValue>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(reason) => {
                self.notes.drop_value(field.name(), reason, self.line);
                None
            }
        }
    }
}

/// Whether the field is one for names, but the value is not a name: `0`, for example.
fn is_nameless(field: Field, item: &Item<'_>) -> bool {
    field.is_name() && matches!(item, Item::Text(text) if is_no_name(text))
}

/// Returns the trimmed text. It is an error if the text has more than [`MAX_CHARACTERS`]
/// characters, or has control characters.
pub(crate) fn plain_text(text: &str) -> Result<String, BadValue> {
    let text = text.trim();
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        return Err(BadValue::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(BadValue::ControlCharacter);
    }
    Ok(text.to_owned())
}

/// Parses a confidence: a whole number from 1 to 100, in decimal digits.
pub(crate) fn confidence(text: &str) -> Result<Confidence, BadValue> {
    let percent = text.trim().parse().ok();
    percent.and_then(Confidence::new).ok_or(BadValue::NotAConfidence)
}

pub(crate) fn ip_address(text: &str) -> Result<std::net::IpAddr, BadValue> {
    text.trim().parse().map_err(|_| BadValue::NotAnIpAddress)
}

pub(crate) fn parse_item<T, E>(
    field: Field,
    item: &Item<'_>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<T, BadValue>
where
    BadValue: From<E>,
{
    let text: Cow<'_, str> = match item {
        Item::Text(text) => Cow::Borrowed(text),
        Item::Number(digits) if takes_numbers(field) => Cow::Borrowed(digits),
        Item::Number(_) | Item::Object(_) | Item::Other => return Err(BadValue::NotText),
    };
    Ok(parse(&text)?)
}

/// Whether the field accepts a JSON number. Many files give the values of these fields as numbers.
fn takes_numbers(field: Field) -> bool {
    matches!(field, Field::Id | Field::Ids | Field::Confidence | Field::PageRank | Field::Phones)
}
