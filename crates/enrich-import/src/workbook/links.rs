//! Reads the hyperlinks of a sheet: the addresses to which its cells lead.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use quick_xml::events::Event;

use super::cell::{column_of, row_of};
use super::relations::{each_relation, relation_id};
use super::xml::{Xml, attribute};
use super::{Archive, Limits, damaged};

/// Maximum number of hyperlinks that are read from a sheet. Also the maximum number of their
/// addresses. Further hyperlinks and addresses are ignored.
const MAX_LINKS: usize = 200_000;
/// Maximum length of all addresses together, in bytes. Further addresses are ignored.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Maximum length of a hyperlink's address, in bytes. A longer one is ignored.
const MAX_ADDRESS_BYTES: usize = 2_048;
/// Maximum size of the part (file in the workbook's zip archive) that contains the addresses of
/// hyperlinks, after decompression, in bytes.
const MAX_ADDRESSES_PART_BYTES: u64 = 64 * 1024 * 1024;

/// The hyperlinks of a sheet: the address to which each link leads, by the row and column of the
/// link's cell. Links that lead to another cell of the workbook are left out.
#[derive(Debug, Default)]
pub(crate) struct Links(BTreeMap<(u64, usize), Arc<str>>);

impl Links {
    /// Reads the hyperlinks of the sheet at `path`. Their addresses are in another file, which is
    /// read first. If it has no address, the XML of the sheet is not read. Otherwise, the whole XML
    /// is read, because the hyperlinks are at its end.
    pub(super) fn read(archive: &mut Archive, path: &str, limits: &Limits) -> io::Result<Self> {
        let mut links = Self::default();
        let addresses = addresses(archive, path, limits)?;
        if addresses.is_empty() {
            return Ok(links);
        }
        let part = archive.by_name(path).map_err(damaged)?;
        let mut xml = Xml::new(part, limits.bounds.max_bytes, limits);
        let mut left = MAX_LINKS;
        while left > 0 {
            match xml.next()? {
                Event::Start(tag) | Event::Empty(tag)
                    if tag.local_name().as_ref() == b"hyperlink" =>
                {
                    left -= 1;
                    let id = relation_id(&tag);
                    let address = id.and_then(|id| addresses.get(&id));
                    // The reference of several cells, such as `B2:B9`, begins with the first one.
                    let cell = attribute(&tag, b"ref").unwrap_or_default();
                    if let (Some(address), Some(row), Some(column)) =
                        (address, row_of(&cell), column_of(&cell))
                    {
                        links.0.entry((row, column)).or_insert_with(|| Arc::clone(address));
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        Ok(links)
    }

    /// Returns the indexes of the columns in which a row after `header` has a hyperlink.
    pub(crate) fn columns_below(&self, header: u64) -> BTreeSet<usize> {
        self.0.keys().filter(|(row, _)| *row > header).map(|(_, column)| *column).collect()
    }

    /// Returns the hyperlinks of a row: the index of the column, and the address.
    pub(crate) fn of_row(&self, row: u64) -> impl Iterator<Item = (usize, &str)> {
        let cells = self.0.range((row, 0)..=(row, usize::MAX));
        cells.map(|((_, column), address)| (*column, &**address))
    }
}

/// Returns the addresses of a sheet's hyperlinks, by the ids that the sheet uses for them. Email
/// addresses are without `mailto:`.
fn addresses(
    archive: &mut Archive,
    path: &str,
    limits: &Limits,
) -> io::Result<HashMap<String, Arc<str>>> {
    let (mut addresses, mut bytes) = (HashMap::new(), 0);
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let part = format!("{folder}/_rels/{file}.rels");
    if archive.index_for_name(&part).is_none() {
        return Ok(addresses);
    }
    let part = (part.as_str(), MAX_ADDRESSES_PART_BYTES);
    each_relation(archive, part, limits, "hyperlink", |id, target| {
        let is_short = target.len() <= MAX_ADDRESS_BYTES;
        if is_short && addresses.len() < MAX_LINKS && bytes < MAX_BYTES {
            bytes += target.len();
            addresses.insert(id, Arc::from(without_scheme_of_mail(target)));
        }
    })?;
    Ok(addresses)
}

/// Returns the email address of a link such as `mailto:info@quill.example?subject=Hello`. Returns
/// any other link unchanged.
fn without_scheme_of_mail(target: &str) -> &str {
    match target.strip_prefix("mailto:") {
        Some(mail) => mail.split('?').next().unwrap_or(mail),
        None => target,
    }
}
