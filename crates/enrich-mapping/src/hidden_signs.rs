//! Restores signs that websites and users replace by other texts.

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
        for (word, sign) in [("at", '@'), ("dot", '.')] {
            while let Some(shown) = with_sign(text, word, sign) {
                *text = shown;
            }
        }
    }
}

/// Replaces the first `word` that is in brackets, with the blanks around it: `ada (at) quill.example`.
/// Returns `None` if there is no such word.
fn with_sign(text: &str, word: &str, sign: char) -> Option<String> {
    text.match_indices(['(', '[', '{']).find_map(|(start, _)| {
        let (before, inside) = (text.get(..start)?, text.get(start + 1..)?);
        let end = inside.find([')', ']', '}'])?;
        let (inside, after) = (inside.get(..end)?, inside.get(end + 1..)?);
        let is_word = inside.trim().eq_ignore_ascii_case(word);
        is_word.then(|| format!("{}{sign}{}", before.trim_end(), after.trim_start()))
    })
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
            ("ada[AT]quill [dot] example", "ada@quill.example"),
            ("ada{at}quill.example; bob(at)quill.example", "ada@quill.example; bob@quill.example"),
            ("Quill (Berlin)", "Quill (Berlin)"),
            ("Quill (", "Quill ("),
            ("\u{201c}at\u{201d} (", "\u{201c}at\u{201d} ("),
        ] {
            let mut restored = text.to_owned();
            restore(&mut restored);
            assert_eq!(restored, expected);
        }
    }
}
