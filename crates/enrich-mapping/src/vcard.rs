//! Reads vCard files: contact cards of people (vCard 2.1, 3.0 and 4.0; RFC 2426, RFC 6350).

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Returns the cards in a file, as records for the mapping `vcard`.
///
/// A card becomes an object. The values of each property are a list under the property's name in
/// upper case, without its group (`item1.`) and parameters. The parts of `N` and `ORG` are under
/// `N.FAMILY`, `N.GIVEN`, `ORG.NAME` and `ORG.UNIT`. If the card describes an organisation, the
/// object has the member `IS-COMPANY`. Folded lines are joined; quoted-printable and backslashes
/// are decoded. Text that is not UTF-8 is read as ISO 8859-1. Lines outside of cards are left
/// out. If a card has no end line, it ends where the next card begins, or at the end of the file.
pub fn vcards(bytes: &[u8]) -> impl Iterator<Item = Map<String, Value>> + '_ {
    let mut lines = Lines { bytes };
    let mut open: Option<Map<String, Value>> = None;
    std::iter::from_fn(move || {
        loop {
            let Some(line) = lines.next() else { return open.take().map(finished) };
            let Some((name, parameters, value)) = parts(&line) else { continue };
            match (name.as_str(), value.trim().to_ascii_uppercase().as_str()) {
                ("BEGIN", "VCARD") => {
                    if let Some(card) = open.replace(Map::new()) {
                        return Some(finished(card));
                    }
                }
                ("END", "VCARD") => {
                    if let Some(card) = open.take() {
                        return Some(finished(card));
                    }
                }
                _ => {
                    if let Some(card) = &mut open {
                        add(card, &name, parameters, value);
                    }
                }
            }
        }
    })
}

/// Completes a card: adds `IS-COMPANY` if the card says that it describes an organisation, or if it
/// has an organisation's name but no person's name.
fn finished(mut card: Map<String, Value>) -> Map<String, Value> {
    let says = |name: &str, word: &str| {
        let values = card.get(name).and_then(Value::as_array);
        let texts = values.into_iter().flatten().filter_map(Value::as_str);
        texts.into_iter().any(|text| text.eq_ignore_ascii_case(word))
    };
    let has_name = card.contains_key("N.GIVEN") || card.contains_key("N.FAMILY");
    let is_company = says("KIND", "org")
        || says("X-ABSHOWAS", "COMPANY")
        || (!has_name && card.contains_key("ORG.NAME"));
    if is_company {
        card.insert("IS-COMPANY".to_owned(), true.into());
    }
    card
}

/// Iterates over the lines of a file. In vCard, a long line may be folded: it continues on the next
/// lines, which begin with a blank or a tab. This iterator joins such lines to one line.
struct Lines<'b> {
    bytes: &'b [u8],
}

/// Maximum number of bytes in a joined line. A continuation line that would exceed this maximum
/// is left out. Most of the lines that are left out belong to a picture.
const MOST_OF_A_LINE: usize = 64 * 1024;

impl<'b> Lines<'b> {
    /// Returns the next line of the file without joining folded lines.
    fn physical(&mut self) -> Option<&'b [u8]> {
        if self.bytes.is_empty() {
            return None;
        }
        let end = self.bytes.iter().position(|&byte| byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (self.bytes.get(..end)?, self.bytes.get(end + 1..)?),
            None => (self.bytes, &[][..]),
        };
        self.bytes = rest;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

impl Iterator for Lines<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = self.physical()?.to_vec();
        let push = |line: &mut Vec<u8>, more: &[u8]| {
            if line.len() + more.len() <= MOST_OF_A_LINE {
                line.extend_from_slice(more);
            }
        };
        loop {
            let is_soft = line.ends_with(b"=") && is_quoted_printable(&line);
            match self.bytes.first() {
                Some(b' ' | b'\t') if !is_soft => {
                    let more = self.physical().unwrap_or_default();
                    push(&mut line, more.get(1..).unwrap_or_default());
                }
                Some(_) if is_soft => {
                    line.pop();
                    let more = self.physical().unwrap_or_default();
                    push(&mut line, more.trim_ascii_start());
                }
                _ => break,
            }
        }
        Some(text(&line).into_owned())
    }
}

fn is_quoted_printable(line: &[u8]) -> bool {
    let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
    name.to_ascii_uppercase().windows(16).any(|part| part == b"QUOTED-PRINTABLE")
}

/// Decodes bytes as UTF-8, or else as ISO 8859-1, in which each byte is one letter.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(),
    }
}

/// Splits a line into the name, the parameters and the value of a property. Leaves out a group
/// before the name, such as `item1.` in `item1.TEL:5550100`. Returns `None` for a line without a
/// colon.
fn parts(line: &str) -> Option<(String, &str, &str)> {
    let mut is_quoted = false;
    let colon = line.find(|letter| {
        is_quoted ^= letter == '"';
        letter == ':' && !is_quoted
    })?;
    let (head, value) = (line.get(..colon)?, line.get(colon + 1..)?);
    let (name, parameters) = head.split_once(';').unwrap_or((head, ""));
    let name = name.rsplit('.').next().unwrap_or(name);
    Some((name.trim().to_ascii_uppercase(), parameters, value))
}

/// Adds a property to a card. The properties `N` and `ORG` are split into their parts.
fn add(card: &mut Map<String, Value>, name: &str, parameters: &str, value: &str) {
    let is_encoded = parameters.to_ascii_uppercase().contains("QUOTED-PRINTABLE");
    let value = if is_encoded { unquoted(value) } else { value.to_owned() };
    let parts: &[&str] = match name {
        "N" => &["N.FAMILY", "N.GIVEN"],
        "ORG" => &["ORG.NAME", "ORG.UNIT"],
        _ => &[],
    };
    if parts.is_empty() {
        push(card, name, unescaped(&value));
        return;
    }
    for (part, text) in parts.iter().zip(split(&value)) {
        push(card, part, unescaped(&text));
    }
}

fn push(card: &mut Map<String, Value>, name: &str, value: String) {
    let value = value.trim();
    if value.is_empty() {
        return;
    }
    let values = card.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(values) = values {
        values.push(value.into());
    }
}

/// Splits a value at semicolons that have no backslash before them.
fn split(value: &str) -> Vec<String> {
    let (mut parts, mut is_escaped) = (vec![String::new()], false);
    for letter in value.chars() {
        match (letter, is_escaped) {
            (';', false) => parts.push(String::new()),
            _ => {
                if let Some(part) = parts.last_mut() {
                    part.push(letter);
                }
            }
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    parts
}

/// Removes the backslashes that escape characters of a value; `\n` becomes a blank.
fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n' | 'N') => out.push(' '),
                Some(other) => out.push(other),
                None => {}
            },
            _ => out.push(letter),
        }
    }
    out
}

/// Decodes quoted-printable (RFC 2045).
fn unquoted(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) if byte == b'=' => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    text(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(text: &str) -> Vec<String> {
        vcards(text.as_bytes()).map(|card| Value::Object(card).to_string()).collect()
    }

    #[test]
    fn vcard_lines_are_unfolded_ungrouped_and_unescaped() {
        let text = "BEGIN:VCARD\r\nVERSION:3.0\r\nitem1.URL;TYPE=x:https\\://quill.exa\r\n mple/a\r\n\
                    N:Fern\\;wright;Ada;;;\r\nORG:Quill\\, Inc.;Data\r\nEND:VCARD\r\n";
        let expected = r#"{"VERSION":["3.0"],"URL":["https://quill.example/a"],"N.FAMILY":["Fern;wright"],"N.GIVEN":["Ada"],"ORG.NAME":["Quill, Inc."],"ORG.UNIT":["Data"]}"#;
        assert_eq!(cards(text), [expected]);
    }

    #[test]
    fn vcard_2_1_has_quoted_printable_with_soft_breaks() {
        let text = "BEGIN:VCARD\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BChl=\nteich;Grace\n\
                    TEL;CELL:+1 202 555 0199\nEND:VCARD\n";
        let expected =
            r#"{"N.FAMILY":["Mühlteich"],"N.GIVEN":["Grace"],"TEL":["+1 202 555 0199"]}"#;
        assert_eq!(cards(text), [expected]);
    }

    #[test]
    fn a_card_without_an_end_ends_with_the_next() {
        let text = "FN:outside\nBEGIN:VCARD\nFN:A\nBEGIN:VCARD\nFN:B\n";
        assert_eq!(cards(text), [r#"{"FN":["A"]}"#, r#"{"FN":["B"]}"#]);
        assert!(cards("").is_empty());
    }
}
