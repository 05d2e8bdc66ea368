//! Parses the body of a request, which is a JSON object or a form.
//!
//! If the first character that is not white space is `{`, the body is parsed as JSON, even if the
//! header `Content-Type` says that it is a form. The reason is that `curl -d '{…}'` sends such
//! requests. Otherwise the header decides: `application/json` is parsed as JSON, and everything
//! else as a form.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use percent_encoding::percent_decode;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::input::{Fields, Value};

/// Maximum size of a body in bytes: 64 KiB.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
/// Maximum depth of nesting in a body. The body itself is the first level.
pub const MAX_DEPTH: usize = 32;
/// Maximum number of fields in a body.
pub const MAX_FIELDS: usize = 64;

/// Why a body cannot be parsed. The message contains no text of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// The body is not UTF-8, or is not UTF-8 after percent-decoding.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The body is not JSON.
    #[error("it is not JSON (line {line}, column {column})")]
    NotJson {
        /// The line of the error, from 1.
        line: usize,
        /// The column of the error, from 1.
        column: usize,
    },
    /// The body is JSON, but not an object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// The body, or an object inside it, has two fields with the same name.
    #[error("a field is given twice")]
    FieldTwice,
    /// The body has more nested levels than [`MAX_DEPTH`].
    #[error("it nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The body has more than [`MAX_FIELDS`] fields.
    #[error("it has more than {MAX_FIELDS} fields")]
    TooManyFields,
}

/// Parses the fields of a body.
///
/// # Errors
///
/// [`Undecodable`] if the body is neither a JSON object nor a form, has a field twice, or exceeds
/// a limit.
pub fn decode<'b>(content_type: Option<&str>, body: &'b [u8]) -> Result<Fields<'b>, Undecodable> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    let media_type = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    if first == Some(&b'{') || media_type.trim().eq_ignore_ascii_case("application/json") {
        decode_json(body)
    } else {
        decode_form(body)
    }
}

fn decode_json(body: &[u8]) -> Result<Fields<'_>, Undecodable> {
    let text = std::str::from_utf8(body).map_err(|_| Undecodable::NotUtf8)?;
    let fault = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let fields = TopLevel { fault: &fault }.deserialize(&mut reader).and_then(|fields| {
        reader.end()?;
        Ok(fields)
    });
    fields.map_err(|error| match fault.take() {
        Some(fault) => fault,
        None if error.is_data() => Undecodable::NotAnObject,
        None => Undecodable::NotJson { line: error.line(), column: error.column() },
    })
}

/// Parses a form: `application/x-www-form-urlencoded` (WHATWG URL, section 5.1). The parser
/// `form_urlencoded` would replace invalid UTF-8 instead of refusing it, so this function checks
/// the body first. It can check the body as a whole, before it is split at `&` and `=`: these two
/// bytes are ASCII, so they are never inside a longer UTF-8 character.
fn decode_form(body: &[u8]) -> Result<Fields<'_>, Undecodable> {
    percent_decode(body).decode_utf8().map_err(|_| Undecodable::NotUtf8)?;
    let fault = Cell::new(None);
    let reader = serde_urlencoded::Deserializer::new(form_urlencoded::parse(body));
    let fields = TopLevel { fault: &fault }.deserialize(reader);
    // The parser of forms accepts every text. So only `TopLevel` can have returned an error, for
    // example for a field that is given twice. It has then stored the reason in `fault`, and the
    // `NotUtf8` below is never used.
    fields.map_err(|_| fault.take().unwrap_or(Undecodable::NotUtf8))
}

/// Parses the outermost level of a body: the fields of a JSON object or of a form. If the body is
/// refused, stores the reason in `fault`, because an error of serde can contain only a text.
struct TopLevel<'f> {
    fault: &'f Cell<Option<Undecodable>>,
}

/// Stores `fault` in `slot`, and returns an error of serde, which ends the parsing.
fn refuse<E: Error>(slot: &Cell<Option<Undecodable>>, fault: Undecodable) -> E {
    slot.set(Some(fault));
    E::custom(fault)
}

impl<'de> DeserializeSeed<'de> for TopLevel<'_> {
    type Value = Fields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Fields<'de>, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields::default();
        while let Some(name) = map.next_key_seed(Text)? {
            let value = map.next_value_seed(Nested { depth: 1, fault: self.fault })?;
            add(&mut fields, name, value).map_err(|fault| refuse(self.fault, fault))?;
        }
        Ok(fields)
    }
}

fn add<'b>(
    fields: &mut Fields<'b>,
    name: Cow<'b, str>,
    value: Value<'b>,
) -> Result<(), Undecodable> {
    if fields.len() == MAX_FIELDS {
        return Err(Undecodable::TooManyFields);
    }
    if fields.insert(name, value) { Ok(()) } else { Err(Undecodable::FieldTwice) }
}

/// Parses a value. `depth` is the number of objects and lists around it. If the value is a list or
/// an object, checks its content but does not keep it.
#[derive(Clone, Copy)]
struct Nested<'f> {
    depth: usize,
    fault: &'f Cell<Option<Undecodable>>,
}

impl Nested<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(refuse(self.fault, Undecodable::TooDeep));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Nested<'_> {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value<'de>, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested<'_> {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value<'de>, E> {
        Ok(Value::Other("true or false"))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value<'de>, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        // `5.0` is the integer 5, as in JSON Schema. JSON integers of more than 64 bits also arrive
        // here as floats. They become the largest integer. Only the field `limit` may be a number,
        // and for it the largest integer has the same effect.
        let is_whole = number.is_finite() && number >= 0.0 && number.fract() == 0.0;
        Ok(if is_whole { Value::Integer(number as u64) } else { Value::Other("a number") })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value<'de>, E> {
        Text.visit_str(text).map(Value::Text)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Value<'de>, E> {
        Text.visit_borrowed_str(text).map(Value::Text)
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value<'de>, E> {
        Text.visit_string(text).map(Value::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        let inside = self.deeper()?;
        while list.next_element_seed(inside)?.is_some() {}
        Ok(Value::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        let inside = self.deeper()?;
        let mut names = HashSet::new();
        while let Some(name) = map.next_key_seed(Text)? {
            if !names.insert(name) {
                return Err(refuse(self.fault, Undecodable::FieldTwice));
            }
            map.next_value_seed(inside)?;
        }
        Ok(Value::Other("an object"))
    }
}

/// Parses the name of a field, or a value that is a text. The result is borrowed from the body,
/// unless it contains escapes.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(text.to_owned().into())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(body: &str) -> Result<Fields<'_>, Undecodable> {
        decode(Some("application/json"), body.as_bytes())
    }

    #[test]
    fn a_brace_makes_it_json_whatever_the_header_says() {
        let form = Some("application/x-www-form-urlencoded");
        let fields = decode(form, b" \n{\"a\":\"b\"}").unwrap();
        assert_eq!(fields.get("a"), Some(&Value::Text("b".into())));
    }

    #[test]
    fn an_unknown_type_is_read_as_a_form() {
        let fields = decode(Some("text/plain"), b"a=b+c%2Bd&e").unwrap();
        assert_eq!(fields.get("a"), Some(&Value::Text("b c+d".into())));
        assert_eq!(fields.get("e"), Some(&Value::Text("".into())));
    }

    #[test]
    fn a_field_given_twice_is_refused_at_any_depth() {
        for body in [r#"{"a":"1","a":"1"}"#, r#"{"a":{"b":1,"b":2}}"#, r#"{"a":1,"\u0061":2}"#] {
            assert_eq!(json(body).unwrap_err(), Undecodable::FieldTwice, "{body}");
        }
        assert_eq!(decode(None, b"a=1&%61=2").unwrap_err(), Undecodable::FieldTwice);
    }

    #[test]
    fn depth_is_counted_from_the_object_itself() {
        let nested = |lists: usize| format!("{{\"a\":{}{}}}", "[".repeat(lists), "]".repeat(lists));
        assert!(json(&nested(31)).is_ok());
        assert_eq!(json(&nested(32)).unwrap_err(), Undecodable::TooDeep);
        assert!(json(&nested(30_000)).is_err());
    }

    #[test]
    fn what_is_no_object_is_refused_without_quoting_it() {
        for body in
            ["\"secret\"", "[\"secret\"]", "12", "{\"secret\"", "", "{}{}", "{\"a\":secret}"]
        {
            let said = json(body).unwrap_err().to_string();
            assert!(!said.contains("secret"), "{body}: {said}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_refused() {
        for body in [&b"a=%ff"[..], b"%ff=a", b"a=\xff", b"a=%c3&b=%a9", b"%c3=%a9", b"a=\xc3%"] {
            assert_eq!(decode(None, body).unwrap_err(), Undecodable::NotUtf8, "{body:?}");
        }
        assert!(decode(None, b"a=\xc3%a9&%zz=%").is_ok());
        assert!(decode(None, b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn no_more_fields_are_read_than_the_limit() {
        let body: Vec<String> = (0..65).map(|n| format!("f{n}=1")).collect();
        assert_eq!(
            decode(None, body.join("&").as_bytes()).unwrap_err(),
            Undecodable::TooManyFields
        );
        assert!(decode(None, body[..64].join("&").as_bytes()).is_ok());
    }
}
