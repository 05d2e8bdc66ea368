//! The answers to DROP, California's platform for deletion requests. For each file that was
//! downloaded from DROP, Enrich writes a file of answers with the same name. This file has one line
//! for each id in the downloaded file: the id and its status.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use enrich_core::port::suppression_lists::{Digest, OpenedList, SuppressionLists};
use enrich_import::{EntryContent, ListFile, ListPart};
use pollster::block_on;
use serde::Serialize;
use tempfile::NamedTempFile;

use super::super::super::Failure;
use super::{BATCH, changed, is_of_removed, part_of};

/// The number for "found and deleted" in the answers to DROP, a platform for deletion requests.
const DELETED: u8 = 3;
/// The number for "not found" in the answers to DROP, a platform for deletion requests.
const NOT_FOUND: u8 = 5;

/// The folder for the files of answers to DROP, California's platform for deletion requests. Each
/// file has a temporary name until all files are complete.
pub(super) struct Answers {
    folder: PathBuf,
}

/// A file of answers to DROP that was written: its path, and the number of ids with each status.
#[derive(Serialize)]
pub(super) struct Answer {
    pub(super) file: String,
    pub(super) deleted: u64,
    pub(super) not_found: u64,
}

/// A file of answers to DROP (a platform for deletion requests) while the file is written.
struct Unfinished<'a> {
    part: &'a ListPart,
    opened: &'a OpenedList,
    out: BufWriter<NamedTempFile>,
    ids: Vec<String>,
    digests: Vec<Digest>,
    answer: Answer,
}

impl Answers {
    /// Checks that no file of answers to DROP (a platform for deletion requests) exists yet.
    /// Returns an error if one exists. Exception: if an earlier run of the command with the same
    /// list was interrupted, that run may have written the file, so the file may exist. Creates the
    /// folder if answers are needed.
    pub(super) fn check(
        folder: &Path,
        parts: &[ListPart],
        importer: &dyn SuppressionLists,
    ) -> Result<Self, Failure> {
        let answered = parts.iter().filter(|part| is_answered(part));
        for part in answered.clone() {
            let path = folder.join(&part.name);
            let known = block_on(importer.find_list(part.content))?;
            let is_interrupted = known.is_some_and(|known| !known.is_complete);
            if path.try_exists().map_err(|error| Failure::of_file(&path, &error))?
                && !is_interrupted
            {
                return Err(refused(&path));
            }
        }
        if answered.count() > 0 {
            fs::create_dir_all(folder).map_err(|error| Failure::of_file(folder, &error))?;
        }
        Ok(Self { folder: folder.into() })
    }

    /// Writes a file of answers for each file of the DROP archive that needs answers. The new files
    /// get their final names only when all of them are complete.
    pub(super) fn write(
        &self,
        file: &ListFile,
        importer: &dyn SuppressionLists,
        parts: &[(&ListPart, OpenedList)],
    ) -> Result<Vec<Answer>, Failure> {
        if !parts.iter().any(|(part, _)| is_answered(part)) {
            return Ok(Vec::new());
        }
        let mut files: Vec<Unfinished<'_>> = Vec::new();
        let mut entries = file.entries().map_err(changed)?;
        while let Some(entry) = entries.next_entry().map_err(changed)? {
            let Some((part, opened)) = part_of(parts, &entry.content) else { continue };
            let EntryContent::Drop { id, digest, .. } = entry.content else { continue };
            if !is_answered(part) {
                continue;
            }
            let at = match files.iter().position(|file| file.part.name == part.name) {
                Some(at) => at,
                None => {
                    files.push(self.begin(part, opened)?);
                    files.len() - 1
                }
            };
            let Some(unfinished) = files.get_mut(at) else { continue };
            unfinished.ids.push(id);
            unfinished.digests.push(digest);
            if unfinished.ids.len() >= BATCH {
                unfinished.flush(importer)?;
            }
        }
        for unfinished in &mut files {
            unfinished.flush(importer)?;
            let written = unfinished.out.flush();
            let synced = written.and_then(|()| unfinished.out.get_ref().as_file().sync_all());
            synced.map_err(|error| Failure::of_file(&self.folder, &error))?;
        }
        let answers =
            files.into_iter().map(|file| self.finish(file)).collect::<Result<Vec<_>, _>>();
        if answers.as_ref().is_ok_and(|answers| !answers.is_empty()) {
            let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
            synced.map_err(|error| Failure::of_file(&self.folder, &error))?;
        }
        answers
    }

    fn begin<'a>(
        &self,
        part: &'a ListPart,
        opened: &'a OpenedList,
    ) -> Result<Unfinished<'a>, Failure> {
        // The unfinished file of an interrupted run may still be there. It is removed.
        let name = format!(".{}.unfinished", part.name);
        let path = self.folder.join(&name);
        let removed = fs::remove_file(&path).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        let made = removed.and_then(|()| {
            let file =
                tempfile::Builder::new().prefix(&name).rand_bytes(0).tempfile_in(&self.folder)?;
            let mut out = BufWriter::new(file);
            writeln!(out, "Id,Status")?;
            Ok(out)
        });
        let out = made.map_err(|error| Failure::of_file(&path, &error))?;
        let file = self.folder.join(&part.name).display().to_string();
        let answer = Answer { file, deleted: 0, not_found: 0 };
        Ok(Unfinished { part, opened, out, ids: Vec::new(), digests: Vec::new(), answer })
    }

    /// Gives a complete file of answers to DROP its final name. If an interrupted run has already
    /// written a file with this name, the content of both files must be the same.
    fn finish(&self, unfinished: Unfinished<'_>) -> Result<Answer, Failure> {
        let path = self.folder.join(&unfinished.part.name);
        let failed = |error: &dyn std::error::Error| Failure::of_file(&path, error);
        let file = unfinished.out.into_inner().map_err(|error| failed(&error))?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(unfinished.answer),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                let is_same =
                    are_equal(error.file.path(), &path).map_err(|error| failed(&error))?;
                if is_same { Ok(unfinished.answer) } else { Err(refused(&path)) }
            }
            Err(error) => Err(failed(&error.error)),
        }
    }
}

impl Unfinished<'_> {
    /// Finds out the status of the ids in `self.ids`, and writes each id with its status to the
    /// file.
    fn flush(&mut self, importer: &dyn SuppressionLists) -> Result<(), Failure> {
        let digests = std::mem::take(&mut self.digests);
        let removed = match self.part.kind {
            Some(kind) => block_on(importer.were_removed(self.opened.number, kind, digests))?,
            None => vec![false; digests.len()],
        };
        for (id, is_removed) in self.ids.drain(..).zip(removed) {
            let (status, count) = match is_removed {
                true => (DELETED, &mut self.answer.deleted),
                false => (NOT_FOUND, &mut self.answer.not_found),
            };
            *count += 1;
            writeln!(self.out, "{id},{status}")
                .map_err(|error| Failure::of_file(Path::new(&self.answer.file), &error))?;
        }
        Ok(())
    }
}

/// Whether DROP (California's platform for deletion requests) expects answers to this part of a
/// suppression list, for example to one file of a DROP archive. DROP expects no answers to a part
/// without entries. It also expects none to a file such as `20260312_4821_Removed.csv`, which names
/// the entries that DROP has removed from its lists.
fn is_answered(part: &ListPart) -> bool {
    part.file.is_some() && !is_of_removed(part) && part.entries > 0
}

fn refused(path: &Path) -> Failure {
    Failure::refused(format!(
        "the answer file {} exists already; move it away, or name another folder with --answers",
        path.display()
    ))
}

fn are_equal(one: &Path, other: &Path) -> io::Result<bool> {
    if fs::metadata(one)?.len() != fs::metadata(other)?.len() {
        return Ok(false);
    }
    let bytes = |path| Ok::<_, io::Error>(BufReader::new(File::open(path)?).bytes());
    for (one, other) in bytes(one)?.zip(bytes(other)?) {
        if one? != other? {
            return Ok(false);
        }
    }
    Ok(true)
}
