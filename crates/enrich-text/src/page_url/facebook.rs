//! Reads paths on Facebook: handles, and pages that have only a number.

use super::handle::{fold_case, is_reserved, shown, valid_handle};
use super::{InvalidPage, Named, first_segment, segment_behind};
use crate::network::Network;
use crate::web_address::Path;

/// Minimum number of digits of a page's number after a name and a dash: `1234567` in
/// `Acme-Corp-1234567`. Fewer digits are not read as the number of a page.
const MIN_ID_BEHIND_NAME: usize = 7;

pub(super) fn is_kind(word: &str) -> bool {
    matches!(word, "pages" | "people" | "pg" | "profile.php")
}

pub(super) fn on_site(path: &Path<'_>) -> Result<Named, InvalidPage> {
    let first = first_segment(path)?;
    match first.to_lowercase().as_str() {
        "profile.php" => {
            let id = path.parameter("id").filter(|id| is_id(id)).ok_or(InvalidPage::NoPage)?;
            Ok(Named { path: format!("profile.php?id={id}"), key: id.to_owned() })
        }
        "pages" | "people" => with_id(path),
        // `/p/Name-ID` is a page. Any other `/p/…` is a post.
        "p" => match path.segment(1).and_then(id_behind_name) {
            Some(_) => with_id(path),
            None => Err(InvalidPage::NoPage),
        },
        "pg" => named(segment_behind(path, 0)?),
        _ => named(first.strip_prefix('@').unwrap_or(first)),
    }
}

/// Reads a path that contains the page's number: `/pages/Name/ID`, `/pages/category/Kind/Name-ID`,
/// `/people/Name/ID`, `/p/Name-ID`. Segments after the number only select another view of the page,
/// so they are ignored.
fn with_id(path: &Path<'_>) -> Result<Named, InvalidPage> {
    let mut shown_path = String::new();
    for segment in &path.segments {
        let segment = segment.as_deref().ok_or(InvalidPage::BadHandle)?;
        if !shown_path.is_empty() {
            shown_path.push('/');
        }
        let kind_or_name = valid_handle(segment).ok_or(InvalidPage::BadHandle)?;
        shown_path.push_str(&shown(kind_or_name));
        let id =
            if is_id(kind_or_name) { Some(kind_or_name) } else { id_behind_name(kind_or_name) };
        if let Some(id) = id {
            return Ok(Named { path: shown_path, key: id.to_owned() });
        }
    }
    Err(InvalidPage::NoPage)
}

fn named(handle: &str) -> Result<Named, InvalidPage> {
    let handle = valid_handle(handle).ok_or(InvalidPage::BadHandle)?;
    let word = handle.to_lowercase();
    if word == "p" || is_kind(&word) || is_reserved(Network::Facebook, &word) {
        return Err(InvalidPage::NoPage);
    }
    let key = match id_behind_name(handle) {
        Some(id) => id.to_owned(),
        None => fold_case(handle).replace('.', ""),
    };
    Ok(Named { path: shown(handle), key })
}

/// Returns the number after the last dash: `1234567` in `Acme-Corp-1234567`. A segment with a dash
/// cannot be a handle, because handles on Facebook contain no dash.
fn id_behind_name(segment: &str) -> Option<&str> {
    let (_, id) = segment.rsplit_once('-')?;
    (id.len() >= MIN_ID_BEHIND_NAME && is_id(id)).then_some(id)
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit())
}
