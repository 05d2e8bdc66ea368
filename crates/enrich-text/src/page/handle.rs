//! Handles: their characters, display and comparison.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::InvalidPage;
use crate::network::Network;
use crate::table;

/// The most characters of a handle. No network has longer ones; old LinkedIn handles are the
/// longest.
const MAX_HANDLE: usize = 200;

/// First path segments reserved by the network; they cannot be a page's handle.
static RESERVED: LazyLock<HashSet<(&'static str, &'static str)>> = LazyLock::new(|| {
    table::rows(include_str!("../../data/reserved_paths.txt"))
        .flat_map(|[network, words]| table::values(words).map(move |word| (network, word)))
        .collect()
});

/// Whether a first path segment, in lower case, is reserved by the network.
pub(super) fn is_reserved(network: Network, word: &str) -> bool {
    RESERVED.contains(&(network.as_str(), word))
}

/// Returns a handle without the white space around it. `None` if it is too long, has no letter,
/// digit or `_`, or has a character that no network allows. Letters of all scripts are allowed.
pub(crate) fn valid_handle(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_forbidden =
        |c: char| c.is_whitespace() || c.is_control() || "/\\?#@<>[]{}|^\"".contains(c);
    let has_name = text.chars().any(|c| c.is_alphanumeric() || c == '_');
    let fits = text.chars().nth(MAX_HANDLE).is_none();
    (has_name && fits && !text.chars().any(is_forbidden)).then_some(text)
}

/// Checks that a handle has at most `most` characters: ASCII letters, digits and `signs`.
pub(super) fn ascii<'a>(text: &'a str, signs: &str, most: usize) -> Result<&'a str, InvalidPage> {
    let fits = text.len() <= most
        && text.chars().all(|sign| sign.is_ascii_alphanumeric() || signs.contains(sign));
    valid_handle(text).filter(|_| fits).ok_or(InvalidPage::BadHandle)
}

/// Returns the display form of a handle. Only a percent sign is encoded, so that the display form
/// parses to itself.
pub(crate) fn shown(handle: &str) -> String {
    handle.replace('%', "%25")
}

/// Returns the form in which handles are compared: upper and lower case become the same.
pub(crate) fn fold_case(handle: &str) -> String {
    if handle.is_ascii() {
        return handle.to_ascii_lowercase();
    }
    handle.nfc().flat_map(char::to_lowercase).nfc().collect()
}
