//! Reads hyperlinks in the form in which Microsoft Access exports them.

/// Returns the address of a hyperlink `text#address#`: `https://quill.example` for
/// `Quill#https://quill.example#`, and `info@quill.example` for `Mail#mailto:info@quill.example#`.
/// Returns any other text unchanged, such as a URL with a fragment.
pub(crate) fn link_address(text: &str) -> &str {
    let mut parts = text.trim().split('#').skip(1);
    match (parts.next().map(str::trim), parts.next()) {
        (Some(address), Some(_)) if address.contains(['.', '@']) => {
            address.strip_prefix("mailto:").unwrap_or(address)
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_hyperlink_is_between_two_signs() {
        for (text, address) in [
            ("a@b.example#mailto:a@b.example#", "a@b.example"),
            ("#https://b.example#", "https://b.example"),
            ("B#https://b.example/x#top#", "https://b.example/x"),
            ("https://b.example/#top", "https://b.example/#top"),
            ("b.example", "b.example"),
            ("No. #1 #2", "No. #1 #2"),
        ] {
            assert_eq!(link_address(text), address);
        }
    }
}
