//! Fields of a form or a query, in the order they were sent.

use url::form_urlencoded;

/// How many are read. No form of these pages has as many.
const MOST_FIELDS: usize = 256;

/// What was typed. Fields that are missing are empty: a page cannot tell them apart either.
#[derive(Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `application/x-www-form-urlencoded` (WHATWG URL, section 5.1). Bytes that are no
    /// UTF-8 become replacement characters.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().take(MOST_FIELDS).collect())
    }

    /// The first value of a field as it was sent; empty where there is none.
    pub(crate) fn raw(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// The same without white space around it.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Whether a field is there at all, as of a ticked box.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }
}

/// A query of these pairs; those without a value are left out.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()));
    query.finish()
}

/// The longest label, in characters; the same as on the command line.
const MAX_CHARACTERS: usize = 200;

/// Reads a label: one line of text.
pub(crate) fn line(text: &str) -> Result<&str, String> {
    let text = text.trim();
    if text.chars().count() > MAX_CHARACTERS {
        return Err(format!("A label can have at most {MAX_CHARACTERS} characters."));
    }
    if text.chars().any(char::is_control) {
        return Err("A label must be one line, without control characters.".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_send_them() {
        let form = Form::read(b"label=+web+shop%21+&empty=&again=1&again=2");
        assert_eq!((form.raw("label"), form.text("label")), (" web shop! ", "web shop!"));
        assert_eq!((form.text("empty"), form.text("none"), form.text("again")), ("", "", "1"));
        assert!(form.has("empty") && !form.has("none"));
    }

    #[test]
    fn a_query_reads_back() {
        let query = query(&[("from", "2026-01-01"), ("none", ""), ("id", "a&b=c d")]);
        assert_eq!(query, "from=2026-01-01&id=a%26b%3Dc+d");
        assert_eq!(Form::read(query.as_bytes()).text("id"), "a&b=c d");
    }
}
