//! Reads a whole suppression list (values that must be forgotten) once before it is loaded. Checks
//! every line, and describes the content of the list.

use blake3::Hasher;
use enrich_core::port::suppression_lists::DigestKind;

use super::{DropFile, DropList, EntryContent, LineFault, ListFault, ListFile, ListFormat};

/// A file of a suppression list. A list from DROP (California's deletion platform) may be an
/// archive with several files; any other list is one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPart {
    /// The name of the file, without its folder.
    pub name: String,
    /// For a file from DROP (California's deletion platform): the file's name, and which of DROP's
    /// lists it contains. `None` for other formats.
    pub file: Option<DropFile>,
    /// The kind of value from which the digests (hashes) are made, such as email addresses. `None`
    /// if the digests of the file are not compared with values of the directory.
    pub kind: Option<DigestKind>,
    /// The number of entries.
    pub entries: u64,
    /// A hash that shows whether the same list was loaded before. It is made from the file's name
    /// and its digests; for DROP, also from the entries' ids. For a list of values in plain text,
    /// it is not used: the directory does not store such a list, and forgets its values at once.
    pub content: [u8; 32],
}

struct Counted {
    part: ListPart,
    hasher: Hasher,
}

impl ListFile {
    /// Reads the suppression list to its end, and returns what each of its files contains. If the
    /// list has values in plain text, calls `check` with each value. `check` returns an error if
    /// the text is not a valid value.
    ///
    /// # Errors
    ///
    /// When the list can't be read, or a line is not an entry. Also when the list is empty,
    /// except for DROP, which often publishes files without entries.
    pub fn survey(
        &self,
        check: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<Vec<ListPart>, ListFault> {
        let mut entries = self.entries()?;
        let mut all: Vec<Counted> = entries.files()?.into_iter().map(Counted::of_drop).collect();
        if all.is_empty() {
            all.push(Counted::new(self.name(), None, kind_of(self.format())));
        }
        while let Some(entry) = entries.next_entry()? {
            let name = match &entry.content {
                EntryContent::Drop { file, .. } => Some(&file.name),
                EntryContent::Digest(_) => None,
                EntryContent::Value(value) => {
                    let fault = |text| entries.fault_at(entry.line, LineFault::NotAValue(text));
                    check(value).map_err(fault)?;
                    None
                }
            };
            let is_it = |one: &&mut Counted| name.is_none_or(|name| *name == one.part.name);
            if let Some(counted) = all.iter_mut().find(is_it) {
                counted.add(&entry.content);
            }
        }
        let is_empty = all.iter().all(|counted| counted.part.entries == 0);
        if is_empty && self.format() != ListFormat::Drop {
            return Err(ListFault::Empty { file: self.name() });
        }
        Ok(all.into_iter().map(Counted::end).collect())
    }
}

impl Counted {
    fn new(name: String, file: Option<DropFile>, kind: Option<DigestKind>) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(name.as_bytes()).update(&[0]);
        let part = ListPart { name, file, kind, entries: 0, content: [0; 32] };
        Self { part, hasher }
    }

    fn of_drop(file: DropFile) -> Self {
        let kind = file.list.and_then(DropList::kind);
        Self::new(file.name.clone(), Some(file), kind)
    }

    fn add(&mut self, content: &EntryContent) {
        self.part.entries += 1;
        match content {
            EntryContent::Drop { id, digest, .. } => {
                self.hasher.update(id.as_bytes()).update(&[0]).update(digest);
            }
            EntryContent::Digest(digest) => {
                self.hasher.update(digest);
            }
            EntryContent::Value(_) => {}
        }
    }

    fn end(self) -> ListPart {
        ListPart { content: self.hasher.finalize().into(), ..self.part }
    }
}

impl DropList {
    /// Returns the kind of the list's digests, such as digests of email addresses, to compare them
    /// with the values in the directory. Returns `None` if the directory has no such values.
    pub fn kind(self) -> Option<DigestKind> {
        match self {
            Self::Email => Some(DigestKind::DropEmail),
            Self::Phone => Some(DigestKind::DropPhone),
            Self::Ndz | Self::Maid | Self::NameVin | Self::Ctvid => None,
        }
    }
}

fn kind_of(format: ListFormat) -> Option<DigestKind> {
    match format {
        ListFormat::Hashes(kind) => Some(kind),
        ListFormat::Drop | ListFormat::Plain => None,
    }
}
