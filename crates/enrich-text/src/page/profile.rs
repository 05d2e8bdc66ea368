//! Instagram and Twitter: the handle is the first path segment.

use super::handle::{ascii, fold_case, is_reserved};
use super::{InvalidPage, Named, first_segment};
use crate::network::Network;
use crate::web_address::Path;

/// The longest handle of Instagram, in characters.
const MAX_INSTAGRAM: usize = 30;
/// The longest handle that Twitter has ever allowed, in characters. The present limit is 15.
const MAX_TWITTER: usize = 20;

pub(super) fn on_site(network: Network, path: &Path<'_>) -> Result<Named, InvalidPage> {
    let first = first_segment(path)?;
    // A link into Instagram's app: `/_u/acme`.
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
