//! What an embedding program takes from what was found, and how many items it is charged as.

use crate::response_template::ResponseTemplate;

/// What a program takes from what was found ([`Service::ask`](super::Service::ask)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    items: u64,
    text: String,
}

impl Picked {
    /// One item, whatever its text.
    pub fn one(text: impl Into<String>) -> Self {
        Self::items(1, text)
    }

    /// The text of so many items, by which a price per items is computed; 0 say that nothing was
    /// found.
    pub fn items(items: u64, text: impl Into<String>) -> Self {
        Self { items, text: text.into() }
    }

    /// The draft that is charged by.
    pub(super) fn into_draft(self) -> ResponseTemplate {
        match self.items {
            0 => ResponseTemplate::default(),
            items => ResponseTemplate { items, body: self.text.into_bytes() },
        }
    }
}
