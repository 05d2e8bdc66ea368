//! Parses the fields of a body one by one, and collects all their errors.

use std::borrow::Cow;
use std::fmt;

use enrich_core::{Ask, InvalidFields, Projection, Question};
use enrich_text::Country;

/// Maximum number of characters in an input.
const MAX_CHARACTERS: usize = 512;

/// The value of a field, as the caller sent it. `Debug` shows only the type of the value.
#[derive(Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// A whole number from 0 to `u64::MAX`. Only the field `limit` may have such a value.
    Integer(u64),
    /// JSON's `null`, which counts as missing.
    Null,
    /// A value of another type. The text names the type for messages, such as "a list".
    Other(&'static str),
}

/// The fields of a body. `Debug` shows only the number of fields: even the name of a field may be
/// private data.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields<'a> {
    sent: Vec<(Cow<'a, str>, Value<'a>)>,
    /// The country whose national phone numbers are accepted. With `None`, only international
    /// numbers are accepted.
    country: Option<Country>,
}

impl<'a> Fields<'a> {
    /// Returns the value of a field; `None` if there is no such field.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.sent.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Adds a field and returns `true`. If there is already a field with this name, adds nothing
    /// and returns `false`.
    pub fn insert(&mut self, name: Cow<'a, str>, value: Value<'a>) -> bool {
        let is_new = self.get(&name).is_none();
        if is_new {
            self.sent.push((name, value));
        }
        is_new
    }

    /// Sets the country whose national phone numbers are accepted. With `None`, only international
    /// numbers are accepted.
    #[must_use]
    pub fn in_country(self, country: Option<Country>) -> Self {
        Self { country, ..self }
    }

    /// Returns the names and values of all fields, in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.sent.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// Whether there is a field with this name that has a value and is not blank.
    pub fn has(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Text(text)) => !text.trim().is_empty(),
            None | Some(Value::Null) => false,
            Some(Value::Integer(_) | Value::Other(_)) => true,
        }
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.sent.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }
}

/// Parses the fields of one call. It collects the errors of all fields, so that one refusal
/// reports them together. It also collects the texts of the valid fields. From these texts,
/// [`Input::ask`] makes [`Ask::canonical`]: bytes that are equal for equal requests. `Debug` shows
/// only the names of the parsed fields.
pub struct Input<'a> {
    fields: &'a Fields<'a>,
    invalid: InvalidFields,
    parsed_fields: Vec<(&'static str, Cow<'a, str>)>,
}

impl<'a> Input<'a> {
    /// Prepares to parse `fields`. No field is parsed yet.
    pub fn of(fields: &'a Fields<'a>) -> Self {
        Self { fields, invalid: InvalidFields::default(), parsed_fields: Vec::new() }
    }

    /// Parses a required field. If the field is missing or invalid, records the error and returns
    /// `None`.
    pub fn required<T, E: std::fmt::Display>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        match self.text(name) {
            Ok(Some(text)) => self.parsed(name, text, parse),
            Ok(None) => {
                self.note(name, "is required".to_owned());
                None
            }
            Err(()) => None,
        }
    }

    /// Parses an optional field. If the field is missing, returns `Some(None)`. If the field is
    /// invalid, records the error and returns `None`.
    pub fn optional<T, E: std::fmt::Display>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<Option<T>> {
        match self.text(name) {
            Ok(Some(text)) => self.parsed(name, text, parse).map(Some),
            Ok(None) => Some(None),
            Err(()) => None,
        }
    }

    /// Parses the optional field `limit` of an endpoint with a list as answer. The value is a
    /// number, or a text of digits, and at least 1. If the field is missing, returns `Some(None)`.
    /// If the value is invalid, records the error and returns `None`.
    pub fn limit(&mut self) -> Option<Option<u64>> {
        const NAME: &str = "limit";
        let digits = match self.fields.get(NAME) {
            Some(Value::Integer(number)) => number.to_string(),
            Some(Value::Text(text)) => text.trim().to_owned(),
            Some(Value::Other(_)) => "?".to_owned(),
            None | Some(Value::Null) => String::new(),
        };
        if digits.is_empty() {
            return Some(None);
        }
        let is_decimal =
            digits.len() <= MAX_CHARACTERS && digits.bytes().all(|b| b.is_ascii_digit());
        // A number that needs more than 64 bits becomes the largest number. This has the same
        // effect as a request without a limit.
        match is_decimal.then(|| digits.parse().unwrap_or(u64::MAX)) {
            None | Some(0) => {
                self.note(NAME, "must be a whole number, at least 1".to_owned());
                None
            }
            Some(limit) => {
                self.parsed_fields.push((NAME, limit.to_string().into()));
                Some(Some(limit))
            }
        }
    }

    /// Returns the trimmed text of a field, which the answer repeats. Returns an empty text if the
    /// field is missing or is not a text.
    pub fn echo(&self, name: &str) -> &'a str {
        match self.fields.get(name) {
            Some(Value::Text(text)) => text.trim(),
            _ => "",
        }
    }

    /// Returns the country whose national phone numbers are accepted, which is the country of the
    /// account. `None` means that only international numbers are accepted.
    pub fn country(&self) -> Option<Country> {
        self.fields.country
    }

    /// Whether there is a field with this name that has a value and is not blank.
    pub fn has(&self, name: &str) -> bool {
        self.fields.has(name)
    }

    /// Returns all errors that were found in the fields.
    pub fn invalid(self) -> InvalidFields {
        self.invalid
    }

    /// Creates the request, after all fields were parsed.
    ///
    /// # Errors
    ///
    /// All errors of the fields, if there are any.
    pub fn ask(
        self,
        question: Question,
        projection: Projection,
        echo: String,
        limit: Option<u64>,
    ) -> Result<Ask, InvalidFields> {
        if !self.invalid.0.is_empty() {
            return Err(self.invalid);
        }
        let mut fields = self.parsed_fields;
        fields.sort_unstable();
        let length = |(name, value): &(&str, Cow<'_, str>)| name.len() + value.len() + 2 * 8;
        let mut canonical = Vec::with_capacity(fields.iter().map(length).sum());
        for (name, value) in &fields {
            for part in [*name, value] {
                canonical.extend_from_slice(&(part.len() as u64).to_be_bytes());
                canonical.extend_from_slice(part.as_bytes());
            }
        }
        Ok(Ask { question, projection, echo, limit, canonical })
    }

    /// Returns the trimmed text of a field; `None` if the field is missing or blank. If the value
    /// is not a valid text, records the error and returns `Err`.
    fn text(&mut self, name: &'static str) -> Result<Option<&'a str>, ()> {
        let fault = match self.fields.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Text(text)) => {
                let text = text.trim();
                if text.is_empty() {
                    return Ok(None);
                }
                if text.len() > MAX_CHARACTERS && text.chars().count() > MAX_CHARACTERS {
                    format!("is longer than {MAX_CHARACTERS} characters")
                } else if text.chars().any(char::is_control) {
                    "holds a control character".to_owned()
                } else {
                    return Ok(Some(text));
                }
            }
            Some(Value::Integer(_)) => "must be a string, not a number".to_owned(),
            Some(Value::Other(kind)) => format!("must be a string, not {kind}"),
        };
        self.note(name, fault);
        Err(())
    }

    fn parsed<T, E: std::fmt::Display>(
        &mut self,
        name: &'static str,
        text: &'a str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        match parse(text) {
            Ok(value) => {
                self.parsed_fields.push((name, text.into()));
                Some(value)
            }
            Err(error) => {
                self.note(name, error.to_string());
                None
            }
        }
    }

    /// Records that a field is invalid. `fault` says why.
    pub fn note(&mut self, name: &'static str, fault: String) {
        self.invalid.0.push((name, fault));
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(…)",
            Self::Integer(_) => "Integer(…)",
            Self::Null => "Null",
            Self::Other(kind) => kind,
        })
    }
}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fields({})", self.len())
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read: Vec<&str> = self.parsed_fields.iter().map(|(name, _)| *name).collect();
        let invalid: Vec<&str> = self.invalid.0.iter().map(|(name, _)| *name).collect();
        f.debug_struct("Input").field("read", &read).field("invalid", &invalid).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_what_was_sent() {
        let text = |text: &'static str| Value::Text(text.into());
        let fields = fields(&[("email", text("ada@quill.example")), ("limit", Value::Integer(7))]);
        let mut input = Input::of(&fields);
        assert!(input.required("email", |text| Ok::<_, String>(text.to_owned())).is_some());
        assert!(input.required("limit", |text| Ok::<_, String>(text.to_owned())).is_none());
        assert_eq!(format!("{fields:?}"), "Fields(2)");
        assert_eq!(format!("{:?}", fields.get("email")), "Some(Text(…))");
        assert_eq!(format!("{input:?}"), r#"Input { read: ["email"], invalid: ["limit"] }"#);
    }

    fn fields(pairs: &[(&'static str, Value<'static>)]) -> Fields<'static> {
        let mut fields = Fields::default();
        for (name, value) in pairs {
            assert!(fields.insert((*name).into(), value.clone()));
        }
        fields
    }

    fn limit_of(value: Value<'static>) -> Option<Option<u64>> {
        Input::of(&fields(&[("limit", value)])).limit()
    }

    #[test]
    fn a_limit_is_a_decimal_string_or_an_integer_from_one_on() {
        let text = |text: &'static str| Value::Text(text.into());
        assert_eq!(limit_of(text(" 5 ")), Some(Some(5)));
        assert_eq!(limit_of(Value::Integer(5)), Some(Some(5)));
        assert_eq!(limit_of(text("99999999999999999999999")), Some(Some(u64::MAX)));
        assert_eq!(limit_of(text(" ")), Some(None));
        for bad in ["0", "-1", "1.5", "+5", "five", "５"] {
            assert_eq!(limit_of(text(bad)), None, "{bad}");
        }
        assert_eq!(limit_of(Value::Other("a number")), None);
    }

    #[test]
    fn every_field_at_fault_is_named() {
        let fields =
            fields(&[("b", Value::Integer(1)), ("c", Value::Text("x".repeat(513).into()))]);
        let mut input = Input::of(&fields);
        let keep = |text: &str| Ok::<_, String>(text.to_owned());
        for name in ["a", "b", "c"] {
            assert_eq!(input.required(name, keep), None);
        }
        let invalid = input.invalid();
        let named: Vec<&str> = invalid.0.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, ["a", "b", "c"]);
    }
}
