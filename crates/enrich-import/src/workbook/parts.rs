//! Reads the parts of a workbook (files in its zip archive) that are not sheets: the list of
//! sheets, the formats and the shared strings.

use std::collections::HashMap;
use std::io;

use quick_xml::events::Event;

use super::cell::{Style, is_date_format};
use super::relations::{each_relation, relation_id};
use super::xml::{Xml, attribute, text_of};
use super::{Archive, Limits, MAX_CELL_BYTES, damaged, refusal};
use crate::no_list::NoList;

/// Maximum size of one part of a workbook (a file in its zip archive) after decompression, in
/// bytes. Sheets and the shared strings have other limits.
const MAX_PART_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of shared strings. Each string has an offset of 4 bytes in memory, so all offsets
/// take at most 64 MiB.
const MAX_STRINGS: usize = 16 * 1024 * 1024;
/// Maximum length of all shared strings together, in bytes.
const MAX_STRING_BYTES: usize = 64 * 1024 * 1024;
/// Maximum size of the part that contains the shared strings, after decompression, in bytes.
const MAX_STRINGS_PART_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum number of entries in each list of the workbook: of sheets, and of cell formats.
const MAX_ENTRIES: usize = 100_000;

pub(super) struct Sheets {
    /// The visible sheets, in their order.
    pub(super) visible: Vec<SheetPart>,
    /// The number of sheets, visible or hidden.
    pub(super) count: usize,
    /// Whether day numbers count from 1904 instead of 1900.
    pub(super) is_1904: bool,
}

pub(super) struct SheetPart {
    pub(super) name: String,
    pub(super) path: String,
}

/// Finds the visible sheets, and counts all sheets.
pub(super) fn sheets(archive: &mut Archive, folder: &str, limits: &Limits) -> io::Result<Sheets> {
    let worksheets = worksheets(archive, folder, limits)?;
    let part = archive.by_name(&format!("{folder}workbook.xml")).map_err(damaged)?;
    let mut xml = Xml::new(part, MAX_PART_BYTES, limits);
    let mut sheets = Sheets { visible: Vec::new(), count: 0, is_1904: false };
    loop {
        match xml.next()? {
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                b"workbookPr" => {
                    let is_1904 = attribute(&tag, b"date1904");
                    sheets.is_1904 = matches!(is_1904.as_deref(), Some("1" | "true"));
                }
                b"sheet" => {
                    let id = relation_id(&tag);
                    let path = id.and_then(|id| worksheets.get(&id));
                    let is_shown = attribute(&tag, b"state").is_none_or(|state| state == "visible");
                    if let Some(path) = path {
                        sheets.count += 1;
                        if is_shown && sheets.visible.len() < MAX_ENTRIES {
                            let name = attribute(&tag, b"name").unwrap_or_default();
                            sheets.visible.push(SheetPart { name, path: path.clone() });
                        }
                    }
                }
                _ => {}
            },
            Event::Eof => return Ok(sheets),
            _ => {}
        }
    }
}

/// Returns the path of each worksheet, by the id that `workbook.xml` uses for the worksheet.
fn worksheets(
    archive: &mut Archive,
    folder: &str,
    limits: &Limits,
) -> io::Result<HashMap<String, String>> {
    let mut worksheets = HashMap::new();
    let part = format!("{folder}_rels/workbook.xml.rels");
    each_relation(archive, (&part, MAX_PART_BYTES), limits, "worksheet", |id, target| {
        let path = match target.strip_prefix('/') {
            Some(absolute) => absolute.to_owned(),
            None => format!("{folder}{target}"),
        };
        if worksheets.len() < MAX_ENTRIES {
            worksheets.insert(id, path);
        }
    })?;
    Ok(worksheets)
}

/// Returns a list that says, for each cell format, how it displays numbers. A cell refers to its
/// format by an index into this list.
pub(super) fn styles(
    archive: &mut Archive,
    folder: &str,
    is_1904: bool,
    limits: &Limits,
) -> io::Result<Vec<Style>> {
    let name = format!("{folder}styles.xml");
    if archive.index_for_name(&name).is_none() {
        return Ok(Vec::new());
    }
    let mut xml = Xml::new(archive.by_name(&name).map_err(damaged)?, MAX_PART_BYTES, limits);
    let (mut own, mut styles, mut is_cells) = (HashMap::new(), Vec::new(), false);
    loop {
        match xml.next()? {
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                b"numFmt" if own.len() < MAX_ENTRIES => {
                    let id = attribute(&tag, b"numFmtId").and_then(|id| id.parse::<u32>().ok());
                    if let Some((id, code)) = id.zip(attribute(&tag, b"formatCode")) {
                        own.insert(id, is_date_format(&code));
                    }
                }
                b"cellXfs" => is_cells = true,
                b"xf" if is_cells && styles.len() < MAX_ENTRIES => {
                    let id = attribute(&tag, b"numFmtId").and_then(|id| id.parse::<u32>().ok());
                    let id = id.unwrap_or_default();
                    // The range of ids of the built-in formats for dates and times (ECMA-376, part
                    // 1, 18.8.30).
                    let is_known = matches!(id, 14..=22 | 27..=36 | 45..=47 | 50..=58);
                    styles.push(match own.get(&id).copied().unwrap_or(is_known) {
                        true => Style::Date { is_1904 },
                        false => Style::Number,
                    });
                }
                _ => {}
            },
            Event::End(tag) if tag.local_name().as_ref() == b"cellXfs" => is_cells = false,
            Event::Eof => return Ok(styles),
            _ => {}
        }
    }
}

/// The shared strings of the workbook, one after the other in one text.
#[derive(Default)]
pub(super) struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    pub(super) fn read(archive: &mut Archive, folder: &str, limits: &Limits) -> io::Result<Self> {
        let name = format!("{folder}sharedStrings.xml");
        let mut strings = Self::default();
        if archive.index_for_name(&name).is_none() {
            return Ok(strings);
        }
        let part = archive.by_name(&name).map_err(damaged)?;
        let mut xml = Xml::new(part, MAX_STRINGS_PART_BYTES, limits);
        let (mut is_text, mut phonetic) = (false, false);
        loop {
            match xml.next()? {
                Event::Start(tag) => match tag.local_name().as_ref() {
                    b"t" => is_text = !phonetic,
                    b"rPh" => phonetic = true,
                    _ => {}
                },
                Event::Empty(tag) if tag.local_name().as_ref() == b"si" => strings.end()?,
                Event::End(tag) => match tag.local_name().as_ref() {
                    b"t" => is_text = false,
                    b"rPh" => phonetic = false,
                    b"si" => strings.end()?,
                    _ => {}
                },
                Event::Eof => return Ok(strings),
                event if is_text => {
                    if let Some(text) = text_of(&event)? {
                        strings.push(&text)?;
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)? as usize;
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start as usize..end)
    }

    fn push(&mut self, text: &str) -> io::Result<()> {
        let begun = self.text.len() - self.ends.last().copied().unwrap_or_default() as usize;
        if begun + text.len() > MAX_CELL_BYTES {
            return Err(refusal(NoList::LargeWorkbook("a cell with too much text")));
        }
        if self.text.len() + text.len() > MAX_STRING_BYTES {
            return Err(refusal(NoList::LargeWorkbook("too much text")));
        }
        self.text.push_str(text);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let end = u32::try_from(self.text.len()).ok().filter(|_| self.ends.len() < MAX_STRINGS);
        self.ends
            .push(end.ok_or_else(|| refusal(NoList::LargeWorkbook("too many different texts")))?);
        Ok(())
    }
}
