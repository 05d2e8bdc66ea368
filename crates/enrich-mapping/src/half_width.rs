//! Replaces two kinds of characters by ASCII characters: full-width characters, which Japanese and
//! Chinese keyboards write, and the digits of the Arabic script. Removes invisible marks.

use std::borrow::Cow;

/// Replaces full-width characters and the digits of the Arabic script by ASCII characters:
/// `０３－１２３４` becomes `03-1234`. Removes invisible marks ([`is_mark`]).
pub(crate) fn half_width(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let visible = text.chars().filter(|sign| !is_mark(*sign));
    visible.map(|sign| ascii(sign).unwrap_or(sign)).collect()
}

/// Whether a character is an invisible mark: a mark for the direction of text, a zero-width space,
/// or a byte order mark.
fn is_mark(sign: char) -> bool {
    let is_direction = matches!(
        sign,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}'
    );
    is_direction || matches!(sign, '\u{200b}' | '\u{feff}')
}

fn ascii(sign: char) -> Option<char> {
    /// The code point of a full-width character minus the code point of the same ASCII character.
    const FULL_WIDTH: u32 = 0xff01 - 0x21;
    let digit = |zero: char| char::from_digit(u32::from(sign) - u32::from(zero), 10);
    match sign {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(sign) - FULL_WIDTH),
        '\u{3000}' => Some(' '),
        '\u{660}'..='\u{669}' => digit('\u{660}'),
        '\u{6f0}'..='\u{6f9}' => digit('\u{6f0}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_width_characters_and_arabic_digits_become_ascii() {
        assert_eq!(half_width("０７５－２００－０６０４"), "075-200-0604");
        assert_eq!(half_width("（ａ＠ｂ．ｃ）　"), "(a@b.c) ");
        assert_eq!(half_width("٠٢ ۰۹"), "02 09");
        assert_eq!(half_width("\u{202a}info\u{200e}@quill.example\u{202c}"), "info@quill.example");
        assert_eq!(half_width("Müller 株式会社"), "Müller 株式会社");
    }
}
