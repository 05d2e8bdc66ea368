//! Labels: short texts, by which people recognise a key, an account or a grant.

use std::fmt;

/// One line of text, with at most [`Label::MAX_CHARACTERS`] characters and without white space
/// around it. It may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label(String);

/// Why a text is not a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLabel {
    /// The text has more than [`Label::MAX_CHARACTERS`] characters.
    #[error("it has at most {} characters", Label::MAX_CHARACTERS)]
    TooLong,
    /// The text contains a line break or another control character.
    #[error("it is one line, without control characters")]
    ControlCharacter,
}

impl Label {
    /// Maximum length of a label, in characters.
    pub const MAX_CHARACTERS: usize = 200;

    /// Parses a label that a person has typed. White space around it is removed.
    ///
    /// # Errors
    ///
    /// When the text is too long, or is not one line.
    pub fn parse(text: &str) -> Result<Self, InvalidLabel> {
        let text = text.trim();
        if text.chars().count() > Self::MAX_CHARACTERS {
            return Err(InvalidLabel::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(InvalidLabel::ControlCharacter);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the text of the label.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_line_of_at_most_200_characters() {
        assert_eq!(Label::parse(" web shop ").unwrap().as_str(), "web shop");
        assert_eq!(Label::parse("").unwrap(), Label::default());
        assert!(Label::parse(&"é".repeat(200)).is_ok());
        assert_eq!(Label::parse(&"é".repeat(201)), Err(InvalidLabel::TooLong));
        assert_eq!(Label::parse("web\nshop"), Err(InvalidLabel::ControlCharacter));
    }
}
