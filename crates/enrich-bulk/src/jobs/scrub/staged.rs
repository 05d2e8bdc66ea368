//! Staged files. Each staged file is written next to the file that it will replace. When all staged
//! files are written, each is renamed to the name of the file that it replaces.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use enrich_core::SuppressedValues;
use enrich_import::Delimiter;

use super::holding::{cell_holds, line_holds};
use crate::part::{private, sync_folder_of, with_ending};
use crate::spreadsheet::BYTE_ORDER_MARK;
use crate::workbook;

/// Suffix of a staged file's name. A staged file is the new version of a file. It is written beside
/// that file, and later renamed to replace it.
const STAGED: &str = ".scrubbed";

/// The format of the rows in a file.
#[derive(Clone, Copy)]
pub(super) enum Written {
    /// CSV with a header and this delimiter.
    Csv(Delimiter),
    /// JSON Lines: one line for each row.
    Lines,
}

/// The result of copying a file.
pub(super) struct Copied {
    /// The number of removed rows.
    pub(super) removed: u64,
    /// The size of the copy, in bytes.
    pub(super) bytes: u64,
}

/// Files that are ready to replace other files.
#[derive(Default)]
pub(super) struct Staged {
    files: Vec<PathBuf>,
    /// Whether one of the staged files replaces the uploaded list of the job.
    pub(super) replaces_list: bool,
}

impl Staged {
    /// Creates the staged file that will replace the file at `path`.
    pub(super) fn begin(&mut self, path: &Path) -> io::Result<File> {
        let staged = with_ending(path, STAGED);
        let file = private().read(true).truncate(true).open(&staged)?;
        self.files.push(path.to_owned());
        Ok(file)
    }

    /// Returns the path of the staged file for the file at `path`.
    pub(super) fn path_of(path: &Path) -> PathBuf {
        with_ending(path, STAGED)
    }

    /// Writes a copy of the file at `path`, or of its first `bytes` bytes, as a staged file, which
    /// replaces the file later. Rows that contain a suppressed value (data that must be erased) are
    /// left out.
    pub(super) fn copy_without(
        &mut self,
        path: &Path,
        bytes: Option<u64>,
        written: Written,
        values: &dyn SuppressedValues,
    ) -> io::Result<Copied> {
        let from = BufReader::new(File::open(path)?.take(bytes.unwrap_or(u64::MAX)));
        let mut into = BufWriter::new(self.begin(path)?);
        let removed = match written {
            Written::Lines => copy_lines(from, &mut into, values)?,
            Written::Csv(delimiter) => copy_records(from, &mut into, delimiter, values)?,
        };
        let file = into.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(Copied { removed, bytes: file.metadata()?.len() })
    }

    /// Writes the staged file that will replace the workbook `out`. The rows of the workbook are
    /// read from the staged copy of the file `rows`.
    pub(super) fn make_workbook(&mut self, rows: &Path, out: &Path) -> io::Result<()> {
        let rows = BufReader::new(File::open(with_ending(rows, STAGED))?);
        let mut into = self.begin(out)?;
        workbook::write(rows, &mut into, out.parent().unwrap_or(Path::new(".")))?;
        into.sync_all()
    }

    /// Renames the staged files, so that they replace the present files. If the process ends before
    /// all of them are renamed, [`complete`] renames the others later.
    pub(super) fn put_in_place(mut self) -> io::Result<()> {
        for path in std::mem::take(&mut self.files) {
            fs::rename(with_ending(&path, STAGED), &path)?;
            sync_folder_of(&path).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        for path in &self.files {
            // If the file cannot be removed now, it is removed when the folder of jobs is opened
            // again.
            let _ = fs::remove_file(with_ending(path, STAGED));
        }
    }
}

/// Finishes an interrupted replacement of files in a job's folder. If `is_replacing` is true,
/// renames the remaining staged files. Otherwise the replacement had not begun, and the staged
/// files are removed.
pub(in crate::jobs) fn complete(folder: &Path, is_replacing: bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let staged = entry?.path();
        let name = staged.file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name.as_deref().and_then(|name| name.strip_suffix(STAGED)) else {
            continue;
        };
        if is_replacing {
            fs::rename(&staged, folder.join(name))?;
        } else {
            fs::remove_file(&staged)?;
        }
    }
    Ok(())
}

fn copy_lines(
    mut from: impl BufRead,
    into: &mut impl Write,
    values: &dyn SuppressedValues,
) -> io::Result<u64> {
    let (mut line, mut removed) = (Vec::new(), 0);
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(removed);
        }
        if line_holds(&line, values) {
            removed += 1;
        } else {
            into.write_all(&line)?;
        }
    }
}

fn copy_records(
    mut from: impl BufRead,
    into: &mut impl Write,
    delimiter: Delimiter,
    values: &dyn SuppressedValues,
) -> io::Result<u64> {
    // The CSV reader drops the byte order mark, so this code writes the mark to the copy.
    if from.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        into.write_all(BYTE_ORDER_MARK)?;
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter.as_byte())
        .has_headers(false)
        .flexible(true)
        .from_reader(from);
    let mut writer =
        csv::WriterBuilder::new().delimiter(delimiter.as_byte()).flexible(true).from_writer(into);
    let (mut record, mut removed, mut is_header) = (csv::ByteRecord::new(), 0, true);
    while reader.read_byte_record(&mut record)? {
        let is_row = !std::mem::take(&mut is_header);
        if is_row && record.iter().any(|cell| cell_holds(cell, values)) {
            removed += 1;
        } else {
            writer.write_byte_record(&record)?;
        }
    }
    writer.flush()?;
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_being_replaced_are_replaced_and_others_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (is_replacing, expected) in [(true, "new"), (false, "old")] {
            fs::write(path("list.csv"), "old").unwrap();
            fs::write(path("list.csv.scrubbed"), "new").unwrap();
            complete(folder.path(), is_replacing).unwrap();
            assert_eq!(fs::read_to_string(path("list.csv")).unwrap(), expected);
            assert!(!path("list.csv.scrubbed").exists());
        }
    }
}
