//! Reads the relations of a workbook's parts (files in its zip archive): the ids by which a part
//! refers to another part or to an address.

use std::io;

use quick_xml::events::{BytesStart, Event};

use super::xml::{Xml, attribute};
use super::{Archive, Limits, damaged};

/// Calls `take` with the id and the target of each relation of a kind, such as `worksheet`. `part`
/// is the path, in the zip archive, of the file that lists the relations. If this file has more
/// than `max_bytes` bytes after decompression, returns an error.
pub(super) fn each_relation(
    archive: &mut Archive,
    (part, max_bytes): (&str, u64),
    limits: &Limits,
    kind: &str,
    mut take: impl FnMut(String, &str),
) -> io::Result<()> {
    let part = archive.by_name(part).map_err(damaged)?;
    let mut xml = Xml::new(part, max_bytes, limits);
    loop {
        match xml.next()? {
            Event::Start(tag) | Event::Empty(tag)
                if tag.local_name().as_ref() == b"Relationship" =>
            {
                let type_url = attribute(&tag, b"Type").unwrap_or_default();
                let is_kind = type_url.rsplit('/').next() == Some(kind);
                let named = attribute(&tag, b"Id").zip(attribute(&tag, b"Target"));
                if let Some((id, target)) = named.filter(|_| is_kind) {
                    take(id, &target);
                }
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// Returns the relation id in the XML element of a sheet or a hyperlink. The target of the relation
/// with this id ([`each_relation`]) is the file that contains the sheet, or the address to which
/// the hyperlink leads. The id is in the attribute `r:id`; some files use another prefix than `r`.
pub(super) fn relation_id(tag: &BytesStart<'_>) -> Option<String> {
    attribute(tag, b"r:id").or_else(|| {
        let mut given = tag.attributes();
        let mut given = given.with_checks(false).flatten();
        let id = given.find(|given| given.key.as_ref().ends_with(b":id"))?;
        String::from_utf8(id.value.into_owned()).ok()
    })
}
