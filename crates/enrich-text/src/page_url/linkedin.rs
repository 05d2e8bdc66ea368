//! Reads paths on LinkedIn: `/company/acme`, `/school/acme` and `/showcase/acme`.

use super::handle::{fold_case, shown, valid_handle};
use super::{InvalidPage, Named, segment_behind};
use crate::web_address::Path;

const KINDS: [&str; 3] = ["company", "school", "showcase"];

/// Path segments that may be before the kind of page (`company`). `mwlite` is in paths of the
/// mobile site, and `organization-guest` is in paths for visitors who are not signed in.
const BEFORE_KIND: [&str; 2] = ["mwlite", "organization-guest"];

pub(super) fn is_kind(word: &str) -> bool {
    KINDS.contains(&word)
}

pub(super) fn on_site(path: &Path<'_>) -> Result<Named, InvalidPage> {
    let at = usize::from(BEFORE_KIND.contains(&path.word(0).as_str()));
    let kind = path.word(at);
    if !is_kind(&kind) {
        return Err(InvalidPage::NoPage);
    }
    named(&kind, segment_behind(path, at)?)
}

/// Reads a single word, such as `acme` or `@acme`, as the handle of a company. The word is the
/// first segment of `path`.
pub(super) fn bare(path: &Path<'_>) -> Result<Named, InvalidPage> {
    let handle = super::first_segment(path)?;
    named("company", handle.strip_prefix('@').unwrap_or(handle))
}

fn named(kind: &str, handle: &str) -> Result<Named, InvalidPage> {
    let handle = valid_handle(handle).ok_or(InvalidPage::BadHandle)?;
    Ok(Named { path: format!("{kind}/{}", shown(handle)), key: fold_case(handle) })
}
