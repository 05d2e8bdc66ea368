//! Handles: which characters they have, how they are displayed, and how they are compared.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::InvalidPage;
use crate::network::Network;
use crate::table;

/// Maximum number of characters of a handle. Old handles on LinkedIn are the longest.
const MAX_HANDLE: usize = 200;

/// The first path segments that a social network reserves for itself, such as `login`, each with
/// the name of the network. They cannot be the handle of a page.
static RESERVED: LazyLock<HashSet<(&'static str, &'static str)>> = LazyLock::new(|| {
    table::rows(include_str!("../../data/reserved_paths.txt"))
        .flat_map(|[network, words]| table::values(words).map(move |word| (network, word)))
        .collect()
});

/// Whether a network reserves this first path segment for itself. `word` must be in lower case.
pub(super) fn is_reserved(network: Network, word: &str) -> bool {
    RESERVED.contains(&(network.as_str(), word))
}

/// Returns a handle without the white space around it. Returns `None` if it is too long, if it has
/// no letter, digit or `_`, or if it has a character that no network allows. Letters may be of any
/// script.
pub(crate) fn valid_handle(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_forbidden =
        |c: char| c.is_whitespace() || c.is_control() || "/\\?#@<>[]{}|^\"".contains(c);
    let has_name = text.chars().any(|c| c.is_alphanumeric() || c == '_');
    let fits = text.chars().nth(MAX_HANDLE).is_none();
    (has_name && fits && !text.chars().any(is_forbidden)).then_some(text)
}

/// Checks that a handle has at most `most` characters, and only ASCII letters, digits and
/// characters of `signs`.
pub(super) fn ascii<'a>(text: &'a str, signs: &str, most: usize) -> Result<&'a str, InvalidPage> {
    let fits = text.len() <= most
        && text.chars().all(|sign| sign.is_ascii_alphanumeric() || signs.contains(sign));
    valid_handle(text).filter(|_| fits).ok_or(InvalidPage::BadHandle)
}

/// Returns a handle in display form. Only the percent sign is percent-encoded, so that parsing the
/// display form gives the same handle.
pub(crate) fn shown(handle: &str) -> String {
    handle.replace('%', "%25")
}

/// Returns a handle in the form in which handles are compared: in lower case, and in Unicode
/// normalization form C (NFC).
pub(crate) fn fold_case(handle: &str) -> String {
    if handle.is_ascii() {
        return handle.to_ascii_lowercase();
    }
    handle.nfc().flat_map(char::to_lowercase).nfc().collect()
}
