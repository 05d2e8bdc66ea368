//! Restores characters that websites and users replace by other texts, such as `@` for `(at)`.

use std::borrow::Cow;

/// Replaces entities of HTML, such as `&amp;`, which exports of websites leave in texts. Replaces
/// `(at)` and `[dot]`, by which users hide email addresses.
pub(crate) fn restore(text: &mut String) {
    if text.contains('&')
        && let Cow::Owned(decoded) = html_escape::decode_html_entities(text)
    {
        *text = decoded;
    }
    if text.contains(['(', '[', '{']) {
        let is_in_host = |before: &str, after: &str| {
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
        };
        *text = with_sign(text, &["dot"], '.', is_in_host);
        // A host must follow `(at)`, because `AT` is also the code of Austria: `Quill GmbH (AT)`.
        let is_in_address = |before: &str, after: &str| {
            before.ends_with(char::is_alphanumeric) && begins_with_host(after)
        };
        let at = ["at", "arobase", "arroba", "chiocciola", "zavináč", "kukac", "@"];
        *text = with_sign(text, &at, '@', is_in_address);
    }
}

/// Replaces each of the `words` in brackets, and the blanks around it, by `sign`: `ada (at)
/// quill.example` becomes `ada@quill.example`. `fits` says whether the sign fits between the text
/// before it and the text after it.
fn with_sign(text: &str, words: &[&str], sign: char, fits: impl Fn(&str, &str) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, bracket)) = rest.find(['(', '[', '{']).map(|at| rest.split_at(at)) {
        shown.push_str(before);
        let kept = shown.trim_end();
        let after = words.iter().find_map(|word| after_word(bracket, word));
        match after.filter(|after| fits(kept, after)) {
            Some(after) => {
                shown.truncate(kept.len());
                shown.push(sign);
                rest = after;
            }
            None => {
                // All brackets have one byte.
                let (bracket, after) = bracket.split_at(1);
                shown.push_str(bracket);
                rest = after;
            }
        }
    }
    shown + rest
}

/// If `text` begins with `word` in brackets, returns the text after the brackets, without white
/// space at its beginning: `quill.example` for the text `(at) quill.example` and the word `at`. The
/// first character of `text` must be the opening bracket.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let inside = text.get(1..)?.trim_start();
    let (found, after) = inside.split_at_checked(word.len())?;
    let after = after.trim_start().strip_prefix([')', ']', '}'])?;
    found.eq_ignore_ascii_case(word).then(|| after.trim_start())
}

/// Whether a text begins with the name of a host, such as `quill.example`.
fn begins_with_host(text: &str) -> bool {
    /// Maximum length of the name of a host.
    const LONGEST: usize = 253;
    let is_of_host = |sign: &char| sign.is_alphanumeric() || matches!(sign, '.' | '-');
    let host: String = text.chars().take(LONGEST).take_while(is_of_host).collect();
    host.split_once('.')
        .is_some_and(|(first, rest)| !first.is_empty() && rest.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_signs_are_restored() {
        for (text, expected) in [
            ("Quill &amp; Co", "Quill & Co"),
            ("Quill & Co; Ink", "Quill & Co; Ink"),
            ("ada (at) quill.example", "ada@quill.example"),
            ("ada [arobase] quill.example", "ada@quill.example"),
            ("ada ( at ) sub.quill.example", "ada@sub.quill.example"),
            ("ada[AT]quill [dot] example", "ada@quill.example"),
            ("ada{at}quill.example; bob(at)quill.example", "ada@quill.example; bob@quill.example"),
            ("ada(at)quill.example (at)", "ada@quill.example (at)"),
            ("Quill (Berlin)", "Quill (Berlin)"),
            ("Quill GmbH (AT)", "Quill GmbH (AT)"),
            ("Quill (AT) Vertrieb", "Quill (AT) Vertrieb"),
            ("Quill (", "Quill ("),
            ("Quill (at", "Quill (at"),
            ("(dot) Quill (dot)", "(dot) Quill (dot)"),
            ("\u{201c}at\u{201d} (", "\u{201c}at\u{201d} ("),
            ("Quill (at\u{e9})", "Quill (at\u{e9})"),
        ] {
            let mut restored = text.to_owned();
            restore(&mut restored);
            assert_eq!(restored, expected);
        }
    }

    #[test]
    fn a_text_of_many_brackets_is_read_once() {
        for text in ["(", "(at)", "a(at", "( ", "a(dot)"] {
            let mut text = text.repeat(200_000);
            restore(&mut text);
            assert!(text.len() >= 200_000);
        }
    }
}
