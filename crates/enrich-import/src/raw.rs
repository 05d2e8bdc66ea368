//! The fields of a record as they are in the file, before their values are parsed.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use enrich_mapping::{Field, Named, is_no_value};

const CSV_LIST_SEPARATOR: char = '|';

/// The fields of a record. A file may give the values of a list field under the field's name, such
/// as `emails`, and also under its singular, such as `email`. So each field has two places: the
/// first for the value under the singular, the second for the value under the name itself. In CSV,
/// a company's ids may also have a column for each register, such as `lei`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a> {
    values: [[Option<Raw<'a>>; 2]; Field::COUNT],
    /// The texts of the CSV columns that contain ids. Each has the scheme of its column: the
    /// register or data set that gives the ids, such as `lei`.
    ids: Vec<(&'static str, &'a str)>,
}

impl<'a> Fields<'a> {
    /// Sets the value of a field. The file may use the field's own name (`emails`) or its singular
    /// (`email`); there is a place for each. Returns `false` if the place already had a value.
    pub(crate) fn set(&mut self, named: Named, raw: Raw<'a>) -> bool {
        let place = usize::from(!named.is_singular);
        self.values[named.field as usize][place].replace(raw).is_none()
    }

    /// Returns the values of a field; `None` if the field has no value. Null, empty text, and text
    /// such as `n/a` count as no value.
    pub(crate) fn get(&self, field: Field) -> Option<Given<'a>> {
        let given = self.values[field as usize].map(|raw| raw.filter(|raw| !raw.is_absent()));
        given.iter().any(Option::is_some).then_some(Given(given))
    }

    /// Adds the text of a CSV column that contains ids. `scheme` is the register or data set that
    /// gives the ids, such as `lei`.
    pub(crate) fn add_ids(&mut self, scheme: &'static str, text: &'a str) {
        self.ids.push((scheme, text));
    }

    /// Returns the ids from the CSV columns that contain ids, such as a column `lei`. Each id comes
    /// with the scheme of its column.
    pub(crate) fn ids_by_column(&self) -> impl Iterator<Item = (&'static str, Item<'a>)> {
        let items = |text: &'a str| text.split(CSV_LIST_SEPARATOR).filter_map(Item::of_text);
        self.ids.iter().flat_map(move |&(scheme, text)| items(text).map(move |id| (scheme, id)))
    }

    /// Moves the value of the field `from` to the field `to`, and there into the place for the
    /// singular of the field's name. Does nothing if this place already has a value. For example, a
    /// company has no field `domain`, only the field `domains`. So if the file gives a company a
    /// `domain`, the value is moved to `domains`.
    pub(crate) fn move_to_singular(&mut self, from: Field, to: Field) {
        if let Some(Given([singular, own])) = self.get(from)
            && self.values[to as usize][0].is_none()
        {
            self.values[to as usize][0] = own.or(singular);
            self.values[from as usize] = [None, None];
        }
    }
}

/// The values of one field, such as `emails`: first the value that the file gives under the
/// singular of the field's name (`email`), then the value under the name itself. At least one of
/// them is present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a>([Option<Raw<'a>>; 2]);

impl<'a> Given<'a> {
    /// Returns the values of a list field, except empty ones. A value that is not a list counts as
    /// a list of one value.
    pub(crate) fn list(self) -> Vec<Item<'a>> {
        self.0.into_iter().flatten().flat_map(Raw::list).collect()
    }

    /// Returns the value of a field that may have only one value; `None` if the value is empty.
    pub(crate) fn one(self) -> Result<Option<Item<'a>>, SeveralValues> {
        match self.0 {
            [Some(one), Some(other)] => match (one.one()?, other.one()?) {
                (Some(_), Some(_)) => Err(SeveralValues),
                (one, other) => Ok(one.or(other)),
            },
            [one, other] => one.or(other).map_or(Ok(None), Raw::one),
        }
    }

    pub(crate) fn is_csv(self) -> bool {
        self.0.into_iter().flatten().any(|raw| matches!(raw, Raw::Csv(_)))
    }
}

/// A value as it is in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Raw<'a> {
    Json(&'a RawValue),
    /// The text of a field of a CSV row.
    Csv(&'a str),
}

#[derive(Clone, Debug)]
pub(crate) enum Item<'a> {
    Text(Cow<'a, str>),
    /// A JSON number, as the characters that are in the file.
    Number(&'a str),
    Object(&'a RawValue),
    /// A value that no field accepts: a boolean, a list inside a list, or text with an invalid
    /// escape, such as `\ud800`.
    Other,
}

impl<'a> Raw<'a> {
    fn is_absent(self) -> bool {
        match self {
            Self::Json(raw) => Item::of_json(raw).is_none(),
            Self::Csv(text) => Item::of_text(text).is_none(),
        }
    }

    /// Returns the values of a list field, except empty ones. A value that is not a list counts as
    /// a list of one value.
    pub(crate) fn list(self) -> Vec<Item<'a>> {
        match self {
            Self::Json(raw) if raw.get().starts_with('[') => json_list(raw),
            Self::Json(raw) => Item::of_json(raw).into_iter().collect(),
            Self::Csv(text) => text.split(CSV_LIST_SEPARATOR).filter_map(Item::of_text).collect(),
        }
    }

    /// Returns the value of a field that may have only one value; `None` if the value is empty.
    fn one(self) -> Result<Option<Item<'a>>, SeveralValues> {
        match self {
            Self::Json(_) => {
                let mut list = self.list();
                if list.len() > 1 { Err(SeveralValues) } else { Ok(list.pop()) }
            }
            Self::Csv(text) => Ok(Item::of_text(text)),
        }
    }
}

/// The error for a field that has several values, but may have only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeveralValues;

impl<'a> Item<'a> {
    /// Returns the trimmed text as a value; `None` if the text is empty or stands for no value.
    fn of_text(text: &'a str) -> Option<Self> {
        let text = text.trim();
        (!is_no_value(text)).then_some(Self::Text(Cow::Borrowed(text)))
    }

    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) | Self::Object(_) | Self::Other => None,
        }
    }

    /// Returns the JSON value; `None` if it is null, or a text that stands for no value.
    pub(crate) fn of_json(raw: &'a RawValue) -> Option<Self> {
        let json = raw.get();
        match json.as_bytes().first()? {
            b'n' => None,
            b'"' => match unescaped(json) {
                Some(text) => Self::of_text(text),
                None => match serde_json::from_str::<String>(json) {
                    Ok(text) if is_no_value(&text) => None,
                    Ok(text) => Some(Self::Text(Cow::Owned(text))),
                    Err(_) => Some(Self::Other),
                },
            },
            b'-' | b'0'..=b'9' => Some(Self::Number(json)),
            b'{' => Some(Self::Object(raw)),
            _ => Some(Self::Other),
        }
    }
}

/// Returns the content of a JSON string without copying it; `None` if the string has escapes.
fn unescaped(json: &str) -> Option<&str> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains('\\')).then_some(inside)
}

fn json_list(raw: &RawValue) -> Vec<Item<'_>> {
    match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        Ok(values) => values.into_iter().filter_map(Item::of_json).collect(),
        Err(_) => vec![Item::Other],
    }
}

/// A JSON object with a domain and the country of the website at this domain.
#[derive(Debug, Deserialize)]
pub(crate) struct SiteObject<'a> {
    #[serde(borrow, default)]
    pub(crate) domain: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) country: Option<&'a RawValue>,
}

/// Splits a text such as `quill.example@DE` into domain and country.
///
/// An `@` can also be part of a URL, as in `//user@quill.example`. No country's code or name
/// contains a dot. So a text with a dot after the last `@` is a host and not a country.
pub(crate) fn csv_site(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('@') {
        Some((domain, country)) if !country.contains('.') => (domain, Some(country)),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_under_the_singular_comes_first() {
        let mut fields = Fields::default();
        for (name, text) in [("domains", "b.example|c.example"), ("domain", "a.example")] {
            assert!(fields.set(Field::from_name(name).unwrap(), Raw::Csv(text)));
        }
        fields.move_to_singular(Field::Domain, Field::Domains);
        let texts: Vec<_> = fields.get(Field::Domains).unwrap().list().iter().map(shown).collect();
        assert_eq!(texts, ["a.example", "b.example", "c.example"]);
        assert!(fields.get(Field::Domain).is_none());
    }

    #[test]
    fn a_value_under_both_names_of_a_single_field_is_several_values() {
        let mut fields = Fields::default();
        let named = |is_singular| Named { field: Field::Title, is_singular };
        fields.set(named(true), Raw::Csv("Owner"));
        assert_eq!(shown(&fields.get(Field::Title).unwrap().one().unwrap().unwrap()), "Owner");
        fields.set(named(false), Raw::Csv("Founder"));
        assert!(fields.get(Field::Title).unwrap().one().is_err());
    }

    fn items(json: &str) -> String {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        format!("{:?}", Raw::Json(raw).list().iter().map(shown).collect::<Vec<_>>())
    }

    fn shown(item: &Item<'_>) -> String {
        match item {
            Item::Text(text) => text.to_string(),
            Item::Number(digits) => format!("#{digits}"),
            Item::Object(_) => "object".to_owned(),
            Item::Other => "other".to_owned(),
        }
    }

    #[test]
    fn one_value_is_a_list_of_one_and_empty_ones_are_left_out() {
        let cases = [
            (r#""a""#, r#"["a"]"#),
            (r#"["a","b"]"#, r#"["a", "b"]"#),
            (r#"[ null , "" , " \t" , "c" ]"#, r#"["c"]"#),
            (r"[5.20,1e3,-0]", r##"["#5.20", "#1e3", "#-0"]"##),
            (r#"[true,["a"],{"domain":"a"}]"#, r#"["other", "other", "object"]"#),
            (r#""\u00e9\n""#, r#"["é\n"]"#),
            (r#""\ud800""#, r#"["other"]"#),
            ("null", "[]"),
            ("[]", "[]"),
        ];
        for (json, expected) in cases {
            assert_eq!(items(json), expected, "{json}");
        }
    }

    #[test]
    fn several_values_are_not_one() {
        let raw: &RawValue = serde_json::from_str(r#"["a","b"]"#).unwrap();
        assert!(Raw::Json(raw).one().is_err());
        let raw: &RawValue = serde_json::from_str(r#"["a",null]"#).unwrap();
        assert_eq!(shown(&Raw::Json(raw).one().unwrap().unwrap()), "a");
        let one = Raw::Csv("a|b").one().unwrap().unwrap();
        assert_eq!(shown(&one), "a|b");
    }

    #[test]
    fn a_site_in_csv_may_name_its_country_or_a_user() {
        let cases = [
            ("acme.de", ("acme.de", None)),
            ("acme.de@DE", ("acme.de", Some("DE"))),
            ("acme.de@Germany", ("acme.de", Some("Germany"))),
            ("info@acme.de", ("info@acme.de", None)),
            ("https://u@acme.de@DE", ("https://u@acme.de", Some("DE"))),
        ];
        for (text, parts) in cases {
            assert_eq!(csv_site(text), parts);
        }
    }
}
