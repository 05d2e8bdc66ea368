//! The files of an import: how they are opened, and to which sources their records belong.

use std::path::{Path, PathBuf};

use clap::Args;
use enrich_core::SourceName;
use enrich_core::port::importer::{Importer, NewSubjects, SourceTerms};
use enrich_import::{ImportSource, Source};
use enrich_store::DirectoryStore;

use super::super::read_as::ReadAsArgs;
use super::super::{Console, Failure};
use super::format::{FormatArgs, Plan};

// How files are read. (A doc comment here would become the help of the command.)
#[derive(Debug, Default, Args)]
pub(super) struct InputArgs {
    #[command(flatten)]
    format: FormatArgs,
    /// Name of the source of the records, for example for `enrich source remove` [default: the name
    /// of the format, or each file's name]
    #[arg(long, value_name = "NAME", value_parser = source_name)]
    source: Option<SourceName>,
    #[command(flatten)]
    read_as: ReadAsArgs,
}

pub(crate) fn source_name(text: &str) -> Result<SourceName, String> {
    SourceName::new(text).ok_or_else(|| "it has 1 to 200 characters, on one line".to_owned())
}

/// An input file that was opened.
pub(super) struct Input {
    pub(super) file: PathBuf,
    pub(super) source: ImportSource,
    pub(super) name: SourceName,
    /// The file or folder that the records are from. It is stored with the source. `None` for a
    /// pipe other than standard input.
    pub(super) origin: Option<Origin>,
    pub(super) terms: Option<SourceTerms>,
    /// Whether the records may add companies and people, or only change stored ones.
    pub(super) subjects: NewSubjects,
}

impl InputArgs {
    /// Opens a file, and decides how it is read.
    pub(super) fn open(&self, file: &Path, console: &mut Console<'_>) -> Result<Input, Failure> {
        let source = if is_standard(file) {
            Source::stdin()
        } else {
            Source::file(file).map_err(|error| Failure::of_file(file, &error))?
        };
        let source = source.read_as(self.read_as.read_as());
        let file_name = source.name().cloned();
        let Plan { source, name, terms, subjects } = self.format.plan(file, source, console)?;
        // Some formats define the name of the source, so all files with such a format in one folder
        // belong to one source. The origin of this source is then the folder, and not the file.
        let origin = if name.is_some() { Origin::of_folder(file) } else { Origin::of_file(file) };
        let name = self.source.clone().or(name).or(file_name);
        let name = name.ok_or_else(|| {
            Failure::Impossible(format!(
                "{}: a source cannot have this name; give one with --source",
                file.display()
            ))
        })?;
        Ok(Input { file: file.to_owned(), source, name, origin, terms, subjects })
    }

    /// Returns an error if two files would belong to the same source, although they have different
    /// origins (files or folders): the records of both would be mixed in one source. If the user
    /// has named the source with `--source`, there is no error.
    pub(super) fn see_same_names(&self, inputs: &[Input]) -> Result<(), Failure> {
        for (at, input) in inputs.iter().enumerate().filter(|_| self.source.is_none()) {
            let mut before = inputs.iter().take(at);
            let other = before.find(|before| before.name == input.name);
            if let Some(other) = other.filter(|other| other.origin != input.origin) {
                let known = format!("another file, {}", other.file.display());
                return Err(other_origin(input, &known));
            }
        }
        Ok(())
    }

    /// Returns an error if the look-up data already has a source of this name with records from
    /// another file or folder. If the user has named the source with `--source`, there is no error.
    pub(super) fn see_source(&self, store: &DirectoryStore, input: &Input) -> Result<(), Failure> {
        let Some(origin) = input.origin.as_ref().filter(|_| self.source.is_none()) else {
            return Ok(());
        };
        let known = pollster::block_on(store.importer.source_file(&input.name));
        match known.map_err(|error| Failure::impossible(&error))? {
            Some(known) if known != origin.text => {
                let what = if origin.is_folder { "another folder" } else { "another file" };
                Err(other_origin(input, &format!("{what}, {known}")))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the error for a file whose source already has records from another file or folder.
fn other_origin(input: &Input, known: &str) -> Failure {
    let (file, name) = (input.file.display(), input.name.as_str());
    Failure::Impossible(format!(
        "{file}: the source {name} holds the records of {known}; name this file's source with \
         --source, or use --source {name} to put both into one"
    ))
}

/// The file or folder from which the records of a source come.
#[derive(PartialEq)]
pub(super) struct Origin {
    /// The full path of the file, without a compression extension such as `.gz`, or of the folder.
    /// For standard input, `-`.
    pub(super) text: String,
    is_folder: bool,
}

impl Origin {
    /// Returns the origin of a source whose records come from one file: the file's path, without a
    /// compression extension such as `.gz`. For standard input, it is `-`. Returns `None` for a
    /// pipe other than standard input.
    fn of_file(file: &Path) -> Option<Self> {
        if is_standard(file) {
            return Some(Self { text: "-".to_owned(), is_folder: false });
        }
        let path = full_path(file)?;
        let path = path.to_string_lossy();
        let endings = [".gz", ".bz2", ".zst"];
        let stem = endings.iter().find_map(|ending| path.strip_suffix(ending));
        Some(Self { text: stem.unwrap_or(&path).to_owned(), is_folder: false })
    }

    /// Returns the origin of a source whose records come from all files of a folder: the path of
    /// the folder that contains `file`. For standard input, it is `-`. Returns `None` for a pipe
    /// other than standard input.
    fn of_folder(file: &Path) -> Option<Self> {
        if is_standard(file) {
            return Self::of_file(file);
        }
        let folder = full_path(file)?.parent()?.to_string_lossy().into_owned();
        Some(Self { text: folder, is_folder: true })
    }
}

/// Returns the full path of a regular file; `None` if there is no such file, or if it is a pipe
/// or a folder.
fn full_path(file: &Path) -> Option<PathBuf> {
    file.canonicalize().ok().filter(|path| path.is_file())
}

/// Whether a file name is `-`, which means standard input or standard output.
pub(in crate::commands) fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}
