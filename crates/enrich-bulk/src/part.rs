//! The output of a list while it is written. One file has the rows, and another file has the
//! progress.
//!
//! `OUT` stands for the name of the output, such as `out.csv`. `OUT.part` contains the rows.
//! `OUT.job` is the checkpoint: it contains the number of these rows, their size in bytes, and a
//! hash that identifies them. Rows are synced to disk before `OUT.job` counts them, and `OUT.job`
//! is replaced atomically. When a job continues, it first truncates `OUT.part` to the size in
//! `OUT.job`. A truncated file is valid even if it is compressed, because each commit appends a
//! separate compressed member (gzip), stream (bzip2) or frame (zstd).

mod checkpoint;
mod error;
mod files;

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_import::{Compression, Format, format_from_file_name};

use crate::run::Counts;
use crate::{spreadsheet, workbook};
pub use checkpoint::Purpose;
pub(crate) use checkpoint::{Checkpoint, read_checkpoint};
pub use error::PartError;
pub(crate) use files::{
    compressed, private, remove, sync_folder_of, with_ending, write_atomically,
};
use files::{failed_at, folder_of};

/// The output that the rows are written to.
pub enum Output {
    /// A file. Until it is complete, its name ends with `.part`. An interrupted run can continue.
    Part(Box<Part>),
    /// A stream, such as the standard output. An interrupted run cannot continue.
    Stream {
        /// The stream that all output rows are written to. There is no `.part` file and no
        /// checkpoint.
        into: Box<dyn Write>,
        /// The format of the rows.
        format: Format,
        /// The purpose of the job: its endpoint, mapping and caller.
        purpose: Purpose,
    },
}

impl Output {
    /// Returns the counts of the rows that this run and earlier runs have written to a file. For a
    /// stream, returns counts of 0, because a stream has no checkpoint.
    pub(crate) fn counts(&self) -> Counts {
        match self {
            Self::Part(part) => part.checkpoint.counts,
            Self::Stream { .. } => Counts::default(),
        }
    }
}

/// An output file while it is written, with its checkpoint.
pub struct Part {
    out: PathBuf,
    part: PathBuf,
    job: PathBuf,
    file: File,
    format: Format,
    compression: Option<Compression>,
    /// Whether the checkpoint file `OUT.job` is kept when the output is complete.
    keeps_job: bool,
    /// A function that returns whether this process may still write the output. It returns `false`
    /// after another process has taken over the job. `None` if no other process can take over the
    /// job.
    guard: Option<Guard>,
    pub(crate) checkpoint: Checkpoint,
}

/// A function that returns whether this process may still write an output, or has lost the job to
/// another process.
pub(crate) type Guard = Arc<dyn Fn() -> bool + Send + Sync>;

/// The result of opening an output.
pub enum Opened {
    /// Rows remain to be written.
    ToDo(Box<Part>),
    /// All rows were already written by an earlier run. The value is the counts of these rows.
    Whole(Counts),
}

impl Part {
    /// Creates the output `out`, or continues it if it is unfinished and was begun for the same
    /// [`Purpose`]. `format` is used if the extension of `out` shows no format.
    ///
    /// # Errors
    ///
    /// When there is a file `out` that is not the output of this job, the output was begun for
    /// another purpose, or it cannot be written.
    pub fn open(out: &Path, format: Format, purpose: &Purpose) -> Result<Opened, PartError> {
        Self::open_with(out, format, purpose, false, None)
    }

    /// Opens an output as [`Part::open`] does, but keeps the checkpoint file `OUT.job` when the
    /// output is complete. So an output that is already complete can be opened too: the result is
    /// the counts of its rows.
    ///
    /// # Errors
    ///
    /// The errors of [`Part::open`].
    pub fn open_to_stay(
        out: &Path,
        format: Format,
        purpose: &Purpose,
    ) -> Result<Opened, PartError> {
        Self::open_with(out, format, purpose, true, None)
    }

    /// Does the same as [`Part::open_to_stay`]. If the output is new, the idempotency keys of its
    /// rows contain `prefix`, or a random text if `prefix` is `None`.
    pub(crate) fn open_of_job(
        out: &Path,
        format: Format,
        purpose: &Purpose,
        prefix: Option<String>,
    ) -> Result<Opened, PartError> {
        Self::open_with(out, format, purpose, true, prefix)
    }

    /// Returns this output with a `guard`, a function that is called before each commit of rows. If
    /// it returns `false`, the commit fails.
    pub(crate) fn guarded(self, guard: Guard) -> Self {
        Self { guard: Some(guard), ..self }
    }

    fn may_write(&self) -> Result<(), PartError> {
        let may_write = self.guard.as_ref().is_none_or(|guard| guard());
        if may_write { Ok(()) } else { Err(PartError::Lost(self.out.clone())) }
    }

    fn open_with(
        out: &Path,
        format: Format,
        purpose: &Purpose,
        keeps_job: bool,
        prefix: Option<String>,
    ) -> Result<Opened, PartError> {
        let (part, job) = (with_ending(out, ".part"), with_ending(out, ".job"));
        let file_name = out.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let (named, compression) = format_from_file_name(&file_name);
        if named == Some(Format::Xlsx) && compression.is_some() {
            return Err(PartError::PackedWorkbook);
        }
        if let Some(ending) = workbook::other_ending(&file_name) {
            return Err(PartError::OtherWorkbook(ending));
        }
        let known = read_checkpoint(&job)?;
        if out.exists() {
            // If the checkpoint says that the output is complete, and `OUT.part` is missing, an
            // earlier process has renamed `OUT.part` to `out`. Any other file at `out` is an error.
            let Some(known) = known.filter(|known| known.is_whole && !part.exists()) else {
                return Err(PartError::IsThere(out.to_owned()));
            };
            if !keeps_job {
                remove(&job)?;
            }
            return Ok(Opened::Whole(known.counts));
        }
        if let Some(known) = &known {
            known.agree(purpose, &part, &job)?;
        }
        let failed = |error| PartError::Failed { path: part.clone(), error };
        let file = private().read(true).open(&part).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(PartError::Busy(part)),
            Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The checkpoint is read again, because another process may have written it before this
        // process got the lock.
        let checkpoint = match read_checkpoint(&job)? {
            // Uses the mapping of the checkpoint instead of the one in `purpose`, which may have
            // its fields in another order. The idempotency keys depend on this order. With other
            // keys, rows that were already paid would be charged again.
            Some(mut checkpoint) => {
                checkpoint.agree(purpose, &part, &job)?;
                checkpoint.purpose.columns =
                    checkpoint.purpose.columns.or_else(|| purpose.columns.clone());
                checkpoint
            }
            None => Checkpoint::begin_with(purpose.clone(), prefix).map_err(failed)?,
        };
        let length = file.metadata().map_err(failed)?.len();
        if length < checkpoint.output_bytes {
            return Err(PartError::Damaged(job));
        }
        file.set_len(checkpoint.output_bytes).map_err(failed)?;
        let format = named.unwrap_or(format);
        let out = out.to_owned();
        let mut part =
            Self { out, part, job, file, format, compression, keeps_job, guard: None, checkpoint };
        part.file.seek(SeekFrom::End(0)).map_err(failed_at(&part.part))?;
        if part.checkpoint.is_whole {
            part.name()?;
            return Ok(Opened::Whole(part.checkpoint.counts));
        }
        // The prefix of the idempotency keys must be on disk before the first key is used.
        write_atomically(&part.job, &part.checkpoint)?;
        Ok(Opened::ToDo(Box::new(part)))
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Appends rows and saves the checkpoint.
    pub(crate) fn commit(&mut self, text: &[u8]) -> Result<(), PartError> {
        self.may_write()?;
        if !text.is_empty() {
            let bytes = compressed(text, self.compression);
            let bytes = bytes.map_err(failed_at(&self.part))?;
            self.file.write_all(&bytes).map_err(failed_at(&self.part))?;
            self.file.sync_data().map_err(failed_at(&self.part))?;
            self.checkpoint.output_bytes += bytes.len() as u64;
        }
        write_atomically(&self.job, &self.checkpoint)
    }

    /// Renames the complete output to its final name. For a workbook, makes the workbook first.
    pub(crate) fn name(&self) -> Result<(), PartError> {
        self.may_write()?;
        if self.format == Format::Xlsx {
            let made = with_ending(&self.out, ".new");
            self.write_workbook(&made).map_err(failed_at(&made))?;
            self.keep_rows()?;
            give_name(&made, &self.out)?;
            remove(&made)?;
        } else {
            give_name(&self.part, &self.out)?;
        }
        remove(&self.part)?;
        if self.keeps_job { Ok(()) } else { remove(&self.job) }
    }

    /// Converts the CSV rows in `OUT.part` to a workbook at `path`.
    fn write_workbook(&self, path: &Path) -> io::Result<()> {
        let rows = File::open(&self.part)?.take(self.checkpoint.output_bytes);
        let mut file = private().truncate(true).open(path)?;
        workbook::write(io::BufReader::new(rows), &mut file, folder_of(path))?;
        file.sync_all()
    }

    /// Saves the CSV rows of a complete workbook in another file, because `OUT.part` is deleted
    /// next. If the checkpoint file `OUT.job` is kept, the other file is [`rows_of_workbook`]. It
    /// can be converted to a CSV file later. Otherwise, the rows are saved only if the workbook has
    /// truncated cells, and the other file is [`whole_cells_of`].
    fn keep_rows(&self) -> Result<(), PartError> {
        if !self.keeps_job {
            return match self.checkpoint.counts.cut_cells {
                0 => Ok(()),
                _ => self.write_whole_cells(),
            };
        }
        let rows = rows_of_workbook(&self.out);
        remove(&rows)?;
        let linked = fs::hard_link(&self.part, &rows);
        // Not every file system supports hard links. Without them, the file is copied.
        linked.or_else(|_| fs::copy(&self.part, &rows).map(drop)).map_err(failed_at(&rows))
    }

    fn write_whole_cells(&self) -> Result<(), PartError> {
        let whole = whole_cells_of(&self.out);
        let made = with_ending(&whole, ".new");
        let write = || {
            let mut file = private().truncate(true).open(&made)?;
            spreadsheet::write_csv(io::BufReader::new(File::open(&self.part)?), &mut file)?;
            file.sync_all()
        };
        write().map_err(failed_at(&made))?;
        give_name(&made, &whole)?;
        remove(&made)
    }
}

fn give_name(file: &Path, name: &Path) -> Result<(), PartError> {
    // A hard link is made instead of a rename, because a rename would replace a file that already
    // has this name.
    fs::hard_link(file, name).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(PartError::IsThere(name.to_owned())),
        // Not every file system supports hard links. Without them, the file is renamed, although a
        // rename would replace a file that already has this name.
        _ => fs::rename(file, name).map_err(failed_at(name)),
    })?;
    sync_folder_of(name)
}

/// Returns the path of the CSV file that is written next to a workbook if the workbook has
/// truncated cells. The CSV file has the complete cells.
pub fn whole_cells_of(out: &Path) -> PathBuf {
    with_ending(out, ".csv")
}

/// Returns the counts of the rows that a job has written to the output `out` so far; `None` if
/// there is no checkpoint of this output.
///
/// # Errors
///
/// When the checkpoint cannot be read.
pub fn counts_of(out: &Path) -> Result<Option<Counts>, PartError> {
    let checkpoint = read_checkpoint(&with_ending(out, ".job"))?;
    Ok(checkpoint.map(|checkpoint| checkpoint.counts))
}

/// Returns the rows of the unfinished output `out`, as a file that is limited to the complete rows;
/// `None` if no output was begun. If the output will be a workbook, returns a temporary workbook
/// with these rows. The temporary file has no name any more, so it disappears when it is closed.
///
/// # Errors
///
/// When the rows cannot be read.
pub fn rows_until_now(out: &Path) -> Result<Option<io::Take<File>>, PartError> {
    let Some(rows) = begun_rows(out)? else { return Ok(None) };
    let part = with_ending(out, ".part");
    let file_name = out.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if format_from_file_name(&file_name).0 != Some(Format::Xlsx) || rows.limit() == 0 {
        return Ok(Some(rows));
    }
    let made = workbook_until_now(out, rows).map_err(failed_at(&part))?;
    let length = made.metadata().map_err(failed_at(&part))?.len();
    Ok(Some(made.take(length)))
}

/// Returns the complete rows of the unfinished output `out` in their stored form; `None` if the
/// output was not begun. The rows of a workbook are stored as CSV.
pub(crate) fn begun_rows(out: &Path) -> Result<Option<io::Take<File>>, PartError> {
    let Some(checkpoint) = read_checkpoint(&with_ending(out, ".job"))? else { return Ok(None) };
    let part = with_ending(out, ".part");
    let file = File::open(&part).map_err(failed_at(&part))?;
    Ok(Some(file.take(checkpoint.output_bytes)))
}

fn workbook_until_now(out: &Path, rows: io::Take<File>) -> io::Result<File> {
    let folder = folder_of(out);
    let mut made = tempfile::tempfile_in(folder)?;
    workbook::write(io::BufReader::new(rows), &mut made, folder)?;
    made.seek(SeekFrom::Start(0))?;
    Ok(made)
}

/// Returns the paths that an output uses: the complete file, the unfinished rows and the
/// checkpoint.
pub(crate) fn files_of(out: &Path) -> [PathBuf; 3] {
    [out.to_owned(), with_ending(out, ".part"), with_ending(out, ".job")]
}

/// Returns the path of the CSV rows that are kept next to a complete workbook: `out.xlsx.rows`.
pub(crate) fn rows_of_workbook(out: &Path) -> PathBuf {
    with_ending(out, ".rows")
}
