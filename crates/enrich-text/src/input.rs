//! The checks that every parser makes first: the text must not be empty or too long, and must not
//! contain control characters.

/// Maximum number of characters of a text that a parser accepts, counted after trimming.
pub const MAX_CHARACTERS: usize = 512;

/// Why a text is refused before it is parsed. Each parser has its own error message for each of
/// these reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Empty,
    TooLong,
    ControlCharacter,
}

/// Returns the trimmed text. Returns an error if the trimmed text is empty, is too long, or
/// contains control characters.
///
/// The text is trimmed first, so a line end after it is not an error.
pub(crate) fn plain(text: &str) -> Result<&str, Unreadable> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Unreadable::Empty);
    }
    if is_longer_than(text, MAX_CHARACTERS) {
        return Err(Unreadable::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(Unreadable::ControlCharacter);
    }
    Ok(text)
}

fn is_longer_than(text: &str, characters: usize) -> bool {
    // A text has at least as many bytes as characters. So the characters of a text with few bytes
    // need not be counted.
    text.len() > characters && text.chars().nth(characters).is_some()
}

/// Converts the errors of [`plain`] to those of a parser.
macro_rules! refuses_unreadable {
    ($error:ty) => {
        impl From<crate::input::Unreadable> for $error {
            fn from(reason: crate::input::Unreadable) -> Self {
                match reason {
                    crate::input::Unreadable::Empty => Self::Empty,
                    crate::input::Unreadable::TooLong => Self::TooLong,
                    crate::input::Unreadable::ControlCharacter => Self::ControlCharacter,
                }
            }
        }
    };
}
pub(crate) use refuses_unreadable;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_counts_characters_and_not_bytes() {
        assert_eq!(plain(&"é".repeat(MAX_CHARACTERS)), Ok("é".repeat(MAX_CHARACTERS).as_str()));
        assert_eq!(plain(&"é".repeat(MAX_CHARACTERS + 1)), Err(Unreadable::TooLong));
    }

    #[test]
    fn white_space_around_is_not_counted() {
        let padded = format!("{}x\r\n", " ".repeat(MAX_CHARACTERS));
        assert_eq!(plain(&padded), Ok("x"));
    }

    #[test]
    fn a_control_character_inside_is_refused() {
        for text in ["a\0b", "a\tb", "a\nb", "a\u{7f}b", "a\u{85}b"] {
            assert_eq!(plain(text), Err(Unreadable::ControlCharacter), "{text:?}");
        }
    }

    #[test]
    fn nothing_but_white_space_is_empty() {
        for text in ["", " ", "\n\t", "\u{a0}\u{3000}"] {
            assert_eq!(plain(text), Err(Unreadable::Empty), "{text:?}");
        }
    }
}
