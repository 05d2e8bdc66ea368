//! Reads paths on Instagram and Twitter, whose first segment is the handle.

use super::handle::{ascii, fold_case, is_reserved};
use super::{InvalidPage, Named, first_segment};
use crate::network::Network;
use crate::web_address::Path;

/// Maximum number of characters of a handle on Instagram.
const MAX_INSTAGRAM: usize = 30;
/// Maximum number of characters that Twitter has ever allowed in a handle. Today's maximum is 15.
const MAX_TWITTER: usize = 20;

pub(super) fn on_site(network: Network, path: &Path<'_>) -> Result<Named, InvalidPage> {
    let first = first_segment(path)?;
    // A link such as `/_u/acme` opens the page `acme` in Instagram's app.
    let handle = match network {
        Network::Instagram if first == "_u" => super::segment_behind(path, 0)?,
        _ => first,
    };
    let handle = handle.strip_prefix('@').unwrap_or(handle);
    let key = fold_case(handle);
    if is_reserved(network, &key) {
        return Err(InvalidPage::NoPage);
    }
    let handle = match network {
        Network::Twitter => ascii(handle, "_", MAX_TWITTER)?,
        _ => ascii(handle, "_.", MAX_INSTAGRAM)?,
    };
    Ok(Named { path: handle.to_owned(), key })
}
