//! The output while it is made: rows appended to a file, and beside it how far it is whole.
//!
//! `OUT.part` holds the rows, `OUT.job` how many of them and which. The rows are on disk before
//! `OUT.job` says so, and it is replaced as a whole; so whatever stands in `OUT.part` behind what
//! `OUT.job` says is cut off when the job goes on. Every piece that is appended is a compressed
//! member (gzip) or frame (zstd) of its own, so a cut leaves a whole file here, too.

mod checkpoint;
mod error;
mod files;

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use enrich_import::{Compression, Format, told_by_name};

use crate::run::Counts;
use crate::{spreadsheet, workbook};
pub use checkpoint::Purpose;
pub(crate) use checkpoint::{Checkpoint, read_checkpoint};
pub use error::PartError;
use files::{compressed, failed_at, folder_of, remove};
pub(crate) use files::{private, sync_folder_of, with_ending, write_atomically};

/// Where rows go.
pub enum Output {
    /// A file that is named in the end, and can be gone on with until then.
    Part(Box<Part>),
    /// A stream, which can't.
    Stream {
        /// It.
        into: Box<dyn Write>,
        /// How the rows are written.
        format: Format,
        /// What the job does.
        purpose: Purpose,
    },
}

impl Output {
    /// What came of the rows that are written.
    pub(crate) fn counts(&self) -> Counts {
        match self {
            Self::Part(part) => part.checkpoint.counts,
            Self::Stream { .. } => Counts::default(),
        }
    }
}

/// A file that is being made.
pub struct Part {
    out: PathBuf,
    part: PathBuf,
    job: PathBuf,
    file: File,
    format: Format,
    compression: Option<Compression>,
    /// Whether `OUT.job` stays when the rows are whole.
    keeps_job: bool,
    pub(crate) checkpoint: Checkpoint,
}

/// An output that was opened.
pub enum Opened {
    /// Rows are to be written.
    ToDo(Box<Part>),
    /// All were written before, and what came of them is this.
    Whole(Counts),
}

impl Part {
    /// Begins the file `out`, or goes on with it where it was begun for the same purpose. `format`
    /// is taken where the name doesn't tell one.
    ///
    /// # Errors
    ///
    /// When it is there already, was begun for another purpose, or can't be written.
    pub fn open(out: &Path, format: Format, purpose: &Purpose) -> Result<Opened, PartError> {
        Self::open_with(out, format, purpose, false)
    }

    /// The same, but `OUT.job` stays beside the file when that is whole: whoever opens it again is
    /// told what came of its rows.
    ///
    /// # Errors
    ///
    /// As [`Part::open`].
    pub fn open_to_stay(
        out: &Path,
        format: Format,
        purpose: &Purpose,
    ) -> Result<Opened, PartError> {
        Self::open_with(out, format, purpose, true)
    }

    fn open_with(
        out: &Path,
        format: Format,
        purpose: &Purpose,
        keeps_job: bool,
    ) -> Result<Opened, PartError> {
        let (part, job) = (with_ending(out, ".part"), with_ending(out, ".job"));
        let file_name = out.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let (named, compression) = told_by_name(&file_name);
        if named == Some(Format::Xlsx) && compression.is_some() {
            return Err(PartError::PackedWorkbook);
        }
        if let Some(ending) = workbook::other_ending(&file_name) {
            return Err(PartError::OtherWorkbook(ending));
        }
        let known = read_checkpoint(&job)?;
        if out.exists() {
            // The process ended after the file was named and before this was tidied up.
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
        // Read again, now that nobody else writes it.
        let checkpoint = match read_checkpoint(&job)? {
            // Its own mapping stays: the rows' idempotency keys depend on the order of its fields.
            Some(mut checkpoint) => {
                checkpoint.agree(purpose, &part, &job)?;
                checkpoint.purpose.columns =
                    checkpoint.purpose.columns.or_else(|| purpose.columns.clone());
                checkpoint
            }
            None => Checkpoint::begin(purpose.clone()).map_err(failed)?,
        };
        let length = file.metadata().map_err(failed)?.len();
        if length < checkpoint.output_bytes {
            return Err(PartError::Damaged(job));
        }
        file.set_len(checkpoint.output_bytes).map_err(failed)?;
        let format = named.unwrap_or(format);
        let out = out.to_owned();
        let mut part = Self { out, part, job, file, format, compression, keeps_job, checkpoint };
        part.file.seek(SeekFrom::End(0)).map_err(failed_at(&part.part))?;
        if part.checkpoint.is_whole {
            part.name()?;
            return Ok(Opened::Whole(part.checkpoint.counts));
        }
        // The job's own idempotency keys are on disk before the first of them is used.
        write_atomically(&part.job, &part.checkpoint)?;
        Ok(Opened::ToDo(Box::new(part)))
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Appends what was written, and keeps how far it is.
    pub(crate) fn commit(&mut self, text: &[u8]) -> Result<(), PartError> {
        if !text.is_empty() {
            let bytes = compressed(text, self.compression);
            let bytes = bytes.map_err(failed_at(&self.part))?;
            self.file.write_all(&bytes).map_err(failed_at(&self.part))?;
            self.file.sync_data().map_err(failed_at(&self.part))?;
            self.checkpoint.output_bytes += bytes.len() as u64;
        }
        write_atomically(&self.job, &self.checkpoint)
    }

    /// Gives the file its name.
    pub(crate) fn name(&self) -> Result<(), PartError> {
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

    /// Makes a workbook of the rows, which are CSV until then.
    fn write_workbook(&self, path: &Path) -> io::Result<()> {
        let rows = File::open(&self.part)?.take(self.checkpoint.output_bytes);
        let mut file = private().truncate(true).open(path)?;
        workbook::write(io::BufReader::new(rows), &mut file, folder_of(path))?;
        file.sync_all()
    }

    /// Keeps the rows of a workbook that stays, so that they can be made into another one. Of any
    /// other that has cells cut, they stand whole in a CSV file beside it.
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
        // Not every file system has links.
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
    // A name that somebody else took meanwhile isn't taken from them.
    fs::hard_link(file, name).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(PartError::IsThere(name.to_owned())),
        // Not every file system has links.
        _ => fs::rename(file, name).map_err(failed_at(name)),
    })?;
    sync_folder_of(name)
}

/// The CSV file beside a workbook that has cells cut, where they stand whole.
pub fn whole_cells_of(out: &Path) -> PathBuf {
    with_ending(out, ".csv")
}

/// How far the job beside `out` is; `None` where there is none.
///
/// # Errors
///
/// When that can't be read.
pub fn counts_of(out: &Path) -> Result<Option<Counts>, PartError> {
    let checkpoint = read_checkpoint(&with_ending(out, ".job"))?;
    Ok(checkpoint.map(|checkpoint| checkpoint.counts))
}

/// The rows of `out` that are whole while it is made, where there are any: the file and how much
/// of it counts. Of a workbook, one of these rows is made beside it, and removed already.
///
/// # Errors
///
/// When that can't be read.
pub fn rows_until_now(out: &Path) -> Result<Option<io::Take<File>>, PartError> {
    let Some(rows) = begun_rows(out)? else { return Ok(None) };
    let part = with_ending(out, ".part");
    let file_name = out.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if told_by_name(&file_name).0 != Some(Format::Xlsx) || rows.limit() == 0 {
        return Ok(Some(rows));
    }
    let made = workbook_until_now(out, rows).map_err(failed_at(&part))?;
    let length = made.metadata().map_err(failed_at(&part))?.len();
    Ok(Some(made.take(length)))
}

/// The rows of `out` that are whole while it is made, as they are kept: those of a workbook as CSV.
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

/// The files of an output, made or being made.
pub(crate) fn files_of(out: &Path) -> [PathBuf; 3] {
    [out.to_owned(), with_ending(out, ".part"), with_ending(out, ".job")]
}

/// The rows of a workbook that stays, as CSV.
pub(crate) fn rows_of_workbook(out: &Path) -> PathBuf {
    with_ending(out, ".rows")
}
