//! `enrich forget --list`: forgets the values that a suppression list names.
//!
//! The list may be too large for memory, so it is read several times: to check every line before
//! anything changes, to add its entries, to end the entries that DROP (California's platform for
//! deletion requests) has removed, and to write the answers to DROP. Repeating a step is harmless.
//! So after an interruption, the same command completes the run.

mod answers;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use enrich_core::port::importer::Removed;
use enrich_core::port::suppression_lists::{
    Digest, DigestKind, NewList, OpenedList, SuppressionLists,
};
use enrich_core::{Clock, Timestamp, error_chain};
use enrich_import::{EntryContent, ListFault, ListFile, ListFormat, ListPart};
use enrich_snapshot::forget_all_of;
use enrich_store::SystemClock;
use pollster::block_on;
use serde::Serialize;

use super::super::table::Pairs;
use super::super::{Common, Console, Failure, Shown, Verdict};
use super::{ForgetFrom, Forgotten, Kind, Nodes, read};
use answers::{Answer, Answers};

/// Maximum number of entries that are added, ended or looked up in one batch. A batch takes about
/// 20 MB of memory. The entries are keyed hashes, so the rows of one batch are spread over the
/// whole table in the database. A batch can write every database page of this table. So fewer,
/// larger batches write fewer pages in total.
const BATCH: usize = 200_000;
/// Maximum number of values that are forgotten in one batch, if the list contains the values as
/// text and not as hashes.
const VALUES: usize = 10_000;

const WRONG_FOLDER: &str = "a list is loaded on the machine that imports, and this folder has no \
                            directory; run the same command there";

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// File whose entries are forgotten: an archive of California's deletion platform (DROP),
    /// hashes of email addresses, or values, one per line
    #[arg(long, value_name = "FILE", conflicts_with = "values")]
    pub(super) list: Option<PathBuf>,
    /// Format of the list [default: detected]
    #[arg(long, value_enum, requires = "list")]
    format: Option<FormatName>,
    /// Folder for the answers to DROP [default: the folder `answers` next to the list]
    #[arg(long, value_name = "FOLDER", requires = "list")]
    answers: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// An archive of DROP, or one file of an archive
    Drop,
    /// SHA-256 hashes of email addresses in hex, one per line
    Sha256,
    /// MD5 hashes of email addresses in hex, one per line
    Md5,
    /// SHA-1 hashes of email addresses in hex, one per line
    Sha1,
    /// Values, one per line
    Plain,
}

impl From<FormatName> for ListFormat {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Drop => Self::Drop,
            FormatName::Sha256 => Self::Hashes(DigestKind::EmailSha256),
            FormatName::Md5 => Self::Hashes(DigestKind::EmailMd5),
            FormatName::Sha1 => Self::Hashes(DigestKind::EmailSha1),
            FormatName::Plain => Self::Plain,
        }
    }
}

#[derive(Serialize)]
struct Loaded {
    entries: u64,
    new: u64,
    taken_back: u64,
    values: u64,
    subjects: u64,
    answers: Vec<Answer>,
}

impl Shown for Loaded {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let pairs = Pairs::default()
            .add("entries", self.entries)
            .add("new entries", self.new)
            .add("taken back", self.taken_back)
            .add("values removed", self.values)
            .add("subjects removed", self.subjects);
        let add = |pairs: Pairs, answer: &Answer| {
            pairs.add(
                &format!("answered in {}", answer.file),
                format!("{} deleted, {} not found", answer.deleted, answer.not_found),
            )
        };
        self.answers.iter().fold(pairs, add).write(out)
    }
}

impl ListArgs {
    pub(super) fn run(
        &self,
        path: &Path,
        kind: Option<Kind>,
        common: &Common,
        console: &mut Console<'_>,
    ) -> Result<Verdict, Failure> {
        let file = ListFile::open(path, self.format.map(ListFormat::from)).map_err(failure)?;
        if file.format() == ListFormat::Plain {
            return forget_plain(&file, kind, common, console);
        }
        if kind.is_some_and(|kind| kind != Kind::Email) {
            return Err(Failure::Impossible(
                "--kind says what the values of a plain list are; leave it out".to_owned(),
            ));
        }
        let parts = file.survey(&|_| Ok(())).map_err(failure)?;
        let from = ForgetFrom::open(common)?;
        let wrong = || Failure::Impossible(WRONG_FOLDER.to_owned());
        let importer = from.importer.as_deref().ok_or_else(wrong)?;
        let beside = path.parent().unwrap_or(Path::new(".")).join("answers");
        let folder = self.answers.as_deref().unwrap_or(&beside);
        let answers = Answers::check(folder, &parts, importer)?;
        let loaded =
            Load::begin(&file, importer, &parts)?.run(common, from.nodes.as_ref(), &answers)?;
        common.show(&loaded, console)
    }
}

/// A suppression list that is being loaded. Each file of a DROP archive is one of its `parts`; any
/// other list has one part.
struct Load<'a> {
    file: &'a ListFile,
    importer: &'a dyn SuppressionLists,
    parts: Vec<(&'a ListPart, OpenedList)>,
    at: Timestamp,
}

impl<'a> Load<'a> {
    fn begin(
        file: &'a ListFile,
        importer: &'a dyn SuppressionLists,
        parts: &'a [ListPart],
    ) -> Result<Self, Failure> {
        let at = SystemClock.now();
        let open = |part: &'a ListPart| {
            let list = NewList {
                name: part.name.clone(),
                kind: part.kind,
                content: part.content,
                entries: part.entries,
                at,
            };
            Ok((part, block_on(importer.open_list(&list))?))
        };
        let parts = parts.iter().map(open).collect::<Result<_, Failure>>()?;
        Ok(Self { file, importer, parts, at })
    }

    fn run(
        &self,
        common: &Common,
        nodes: Option<&Nodes>,
        answers: &Answers,
    ) -> Result<Loaded, Failure> {
        let new = self.add()?;
        // A DROP archive can contain the same entry in a list and in its file of removed entries.
        // Such an entry is not in force, and its value must stay in the look-up data. So
        // `take_back` first ends the removed entries. Then `remove` removes only the values of the
        // entries that are still in force.
        let taken_back = self.take_back()?;
        let removed = self.remove()?;
        if let Some(nodes) = nodes {
            forget_all_of(&*nodes.ports.snapshots, common.data.path())
                .map_err(|error| Failure::impossible(&error))?;
        }
        let answers = answers.write(self.file, self.importer, &self.parts)?;
        let numbers: Vec<_> = self.parts.iter().map(|(_, opened)| opened.number).collect();
        block_on(self.importer.complete(&numbers))?;
        let entries = self.parts.iter().map(|(part, _)| part.entries).sum();
        let Removed { values, subjects } = removed;
        Ok(Loaded { entries, new, taken_back, values, subjects, answers })
    }

    /// Returns the part of the list (for example, one file of a DROP archive) that contains an
    /// entry; `None` if an earlier run has already loaded this part completely.
    fn unfinished_part(&self, content: &EntryContent) -> Option<(&ListPart, &OpenedList)> {
        let (part, opened) = part_of(&self.parts, content)?;
        (!opened.is_complete).then_some((part, opened))
    }

    /// Adds the entries of this file to the suppression lists in the directory (the look-up data).
    /// Returns how many of the entries were in no suppression list before.
    fn add(&self) -> Result<u64, Failure> {
        let mut added = 0;
        let mut batch: Vec<Digest> = Vec::new();
        let mut of: Option<(DigestKind, OpenedList)> = None;
        let mut flush = |of: Option<(DigestKind, OpenedList)>, batch: &mut Vec<Digest>| {
            if let Some((kind, list)) = of.filter(|_| !batch.is_empty()) {
                let add = self.importer.add(list.number, kind, std::mem::take(batch));
                added += block_on(add)?;
            }
            Ok::<(), Failure>(())
        };
        let mut entries = self.file.entries().map_err(changed)?;
        while let Some(entry) = entries.next_entry().map_err(changed)? {
            let Some((part, opened)) = self.unfinished_part(&entry.content) else { continue };
            let (Some(kind), Some(digest)) = (part.kind, digest_of(entry.content)) else {
                continue;
            };
            let next = Some((kind, *opened));
            if next != of || batch.len() >= BATCH {
                flush(of, &mut batch)?;
                of = next;
            }
            batch.push(digest);
        }
        flush(of, &mut batch)?;
        Ok(added)
    }

    /// Ends the suppression of the entries that DROP (California's platform for deletion requests)
    /// has removed from its lists. A file from DROP, such as `20260312_4821_Removed.csv`, contains
    /// these entries. Returns how many of them were in force until now. Later imports can add their
    /// values again, unless something else suppresses the values.
    fn take_back(&self) -> Result<u64, Failure> {
        let is_to_do = |(part, opened): &(&ListPart, OpenedList)| {
            is_of_removed(part) && part.entries > 0 && !opened.is_complete
        };
        if !self.parts.iter().any(is_to_do) {
            return Ok(0);
        }
        let mut taken_back = 0;
        let mut batches: Vec<(DigestKind, Vec<Digest>)> = Vec::new();
        let mut entries = self.file.entries().map_err(changed)?;
        while let Some(entry) = entries.next_entry().map_err(changed)? {
            let is_unfinished = |(part, _): &(&ListPart, &OpenedList)| is_of_removed(part);
            if self.unfinished_part(&entry.content).filter(is_unfinished).is_none() {
                continue;
            }
            let EntryContent::Drop { digest, list, .. } = entry.content else { continue };
            let Some(kind) = list.kind() else { continue };
            match batches.iter_mut().find(|(of, _)| *of == kind) {
                Some((_, batch)) => batch.push(digest),
                None => batches.push((kind, vec![digest])),
            }
            for (kind, batch) in batches.iter_mut().filter(|(_, batch)| batch.len() >= BATCH) {
                let digests = std::mem::take(batch);
                taken_back += block_on(self.importer.take_back(*kind, digests, self.at))?;
            }
        }
        for (kind, batch) in batches {
            taken_back += block_on(self.importer.take_back(kind, batch, self.at))?;
        }
        Ok(taken_back)
    }

    /// Removes from the directory the values that the list names.
    fn remove(&self) -> Result<Removed, Failure> {
        let unfinished = self.parts.iter().filter(|(_, opened)| !opened.is_complete);
        let mut kinds: Vec<DigestKind> = unfinished.filter_map(|(part, _)| part.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Ok(block_on(self.importer.remove_listed(&kinds, self.at))?)
    }
}

/// Forgets the values of a plain list, as `enrich forget VALUE` does.
fn forget_plain(
    file: &ListFile,
    kind: Option<Kind>,
    common: &Common,
    console: &mut Console<'_>,
) -> Result<Verdict, Failure> {
    file.survey(&|value| read(value, kind).map(drop)).map_err(failure)?;
    let from = ForgetFrom::open(common)?;
    let mut all = Forgotten { forgotten: 0, values: 0, subjects: 0 };
    let mut batch = Vec::new();
    let mut entries = file.entries().map_err(changed)?;
    loop {
        let next = entries.next_entry().map_err(changed)?;
        if let Some(EntryContent::Value(value)) = next.as_ref().map(|entry| &entry.content) {
            batch.push(read(value, kind).map_err(Failure::Impossible)?);
        }
        if batch.len() >= VALUES || next.is_none() {
            let forgotten = from.forget(&std::mem::take(&mut batch))?;
            all.forgotten += forgotten.forgotten;
            all.values += forgotten.values;
            all.subjects += forgotten.subjects;
        }
        if next.is_none() {
            from.note_what_remains(console);
            return common.show(&all, console);
        }
    }
}

/// Returns the part of the list (one file of a DROP archive, or the whole list) that contains an
/// entry.
fn part_of<'a>(
    parts: &'a [(&'a ListPart, OpenedList)],
    content: &EntryContent,
) -> Option<(&'a ListPart, &'a OpenedList)> {
    let is_it = |part: &ListPart| match content {
        EntryContent::Drop { file, .. } => part.name == file.name,
        EntryContent::Digest(_) | EntryContent::Value(_) => true,
    };
    parts.iter().find(|(part, _)| is_it(part)).map(|(part, opened)| (*part, opened))
}

fn digest_of(content: EntryContent) -> Option<Digest> {
    match content {
        EntryContent::Drop { digest, .. } | EntryContent::Digest(digest) => Some(digest),
        EntryContent::Value(_) => None,
    }
}

/// Whether the part contains entries that DROP (California's platform for deletion requests) has
/// removed from its lists. The values of such entries need no longer be suppressed.
fn is_of_removed(part: &ListPart) -> bool {
    part.file.as_ref().is_some_and(|file| file.list.is_none())
}

/// Returns the failure for a list that cannot be loaded, before anything was changed.
fn failure(fault: ListFault) -> Failure {
    Failure::Impossible(format!("{}; nothing was changed", error_chain(&fault)))
}

/// Returns the failure for a list that was valid when it was checked, and has changed since.
fn changed(fault: ListFault) -> Failure {
    let fault = error_chain(&fault);
    Failure::Impossible(format!(
        "the list changed while it was read: {fault}; run the command again"
    ))
}
