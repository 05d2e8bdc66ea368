//! Detects the encoding of an XML text, and where its records are, from its beginning.

use quick_xml::events::Event;

use super::{MAX_DEPTH, local};
use crate::text_encoding::TextEncoding;

/// Returns the encoding in the XML declaration: `ISO-8859-1` in `<?xml encoding="ISO-8859-1"?>`,
/// for example. Ignores the name UTF-16, because the byte order mark shows this encoding.
pub(crate) fn declared_encoding(head: &[u8]) -> Option<TextEncoding> {
    let end = head.windows(2).position(|bytes| bytes == b"?>")?;
    let declaration = std::str::from_utf8(head.get(..end)?).ok()?;
    let (_, after) = declaration.split_once("encoding")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    let label = value.get(1..)?.split(quote).next()?;
    TextEncoding::parse(label).filter(|encoding| !encoding.label().starts_with("utf-16"))
}

/// Detects the path of the records. Records are elements that have the same name and directly
/// follow each other. If several paths fit, returns the shortest path. If several paths are equally
/// short, returns the first of them. If no path fits, returns the name of the root element.
pub(crate) fn detected_path(head: &[u8]) -> String {
    let mut reader = quick_xml::Reader::from_reader(head);
    reader.config_mut().expand_empty_elements = true;
    // The open elements. Each has its own name and the name of its last child element.
    let mut open: Vec<(String, String)> = Vec::new();
    let mut best: Option<Vec<String>> = None;
    let mut root = None;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                let name = String::from_utf8_lossy(local_bytes(tag.name().as_ref())).into_owned();
                root.get_or_insert_with(|| name.clone());
                let is_better = best.as_ref().is_none_or(|best| open.len() + 1 < best.len());
                if let Some((_, last)) = open.last_mut() {
                    if *last == name && is_better {
                        let around = open.iter().map(|(name, _)| name.clone());
                        best = Some(around.chain([name.clone()]).collect());
                    } else {
                        last.clone_from(&name);
                    }
                }
                if open.len() >= MAX_DEPTH {
                    break;
                }
                open.push((name, String::new()));
            }
            Ok(Event::End(_)) => {
                open.pop();
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    best.map_or_else(|| root.unwrap_or_default(), |path| path.join("/"))
}

fn local_bytes(name: &[u8]) -> &[u8] {
    std::str::from_utf8(name).map_or(name, |name| local(name).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_encoding_is_used() {
        let declared = |text: &str| declared_encoding(text.as_bytes()).map(TextEncoding::label);
        let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a/>";
        assert_eq!(declared(text).unwrap(), "windows-1252");
        assert_eq!(declared("<?xml version=\"1.0\"?><a encoding=\"latin1\"/>"), None);
        assert_eq!(declared("<?xml version=\"1.0\" encoding=\"UTF-16\"?>"), None);
    }

    #[test]
    fn records_are_the_outermost_repeated_elements() {
        let text = "<x:All><h><n/></h><Rs><R><e/><e/></R><R/></Rs></x:All>";
        assert_eq!(detected_path(text.as_bytes()), "All/Rs/R");
        assert_eq!(detected_path(b"<a><b/></a>"), "a");
        assert_eq!(detected_path(b"<a><b"), "a");
    }
}
