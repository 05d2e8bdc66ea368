//! Reads paths on YouTube: `/@acme`, `/c/acme`, `/user/acme`, `/acme` and `/channel/UC…`.

use super::handle::{fold_case, is_reserved, shown, valid_handle};
use super::{InvalidPage, Named, first_segment, segment_behind};
use crate::network::Network;
use crate::web_address::Path;

pub(super) fn is_kind(word: &str) -> bool {
    matches!(word, "c" | "user" | "channel")
}

pub(super) fn on_site(path: &Path<'_>) -> Result<Named, InvalidPage> {
    let first = first_segment(path)?;
    let kind = first.to_lowercase();
    match kind.as_str() {
        "channel" => {
            let id = segment_behind(path, 0)?;
            if is_channel_id(id) { Ok(channel(id)) } else { Err(InvalidPage::BadHandle) }
        }
        "c" | "user" => {
            let handle = segment_behind(path, 0)?;
            named(&format!("{kind}/"), handle.strip_prefix('@').unwrap_or(handle))
        }
        _ if is_reserved(Network::Youtube, &kind) => Err(InvalidPage::NoPage),
        _ if is_channel_id(first) => Ok(channel(first)),
        _ => match first.strip_prefix('@') {
            Some(handle) => named("@", handle),
            None => named("", first),
        },
    }
}

/// Reads a text that is only one word, without a host: a channel id, or a handle with or without
/// `@`. The word is the first segment of `path`.
pub(super) fn bare(path: &Path<'_>) -> Result<Named, InvalidPage> {
    let handle = first_segment(path)?;
    if is_channel_id(handle) {
        return Ok(channel(handle));
    }
    named("@", handle.strip_prefix('@').unwrap_or(handle))
}

fn is_channel_id(text: &str) -> bool {
    text.strip_prefix("UC").is_some_and(|rest| {
        rest.len() == 22 && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    })
}

fn channel(id: &str) -> Named {
    Named { path: format!("channel/{id}"), key: id.to_owned() }
}

fn named(before: &str, handle: &str) -> Result<Named, InvalidPage> {
    let handle = valid_handle(handle).ok_or(InvalidPage::BadHandle)?;
    Ok(Named { path: format!("{before}{}", shown(handle)), key: fold_case(handle) })
}
