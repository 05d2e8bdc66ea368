//! `enrich import`: imports records into the directory.

mod format;
mod formats;
mod outcome;
mod progress;
mod rejects;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use enrich_core::port::importer::{Atomic, Importer, Load, Subjects};
use enrich_core::{Clock, SourceName};
use enrich_import::{Cause, ImportError, ImportSource, Preview, Report, Source};
use enrich_store::{DirectoryStore, SystemClock};

use super::read_as::ReadAsArgs;
use super::{Common, Console, Failure, Verdict};
use format::FormatArgs;
use outcome::Outcome;
use progress::Bar;
use rejects::Rejects;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich import companies.jsonl people.csv.gz --rejects rejected.jsonl
  enrich import - --source crm < export.jsonl
  enrich import latest-all.json.gz --dry-run
  enrich import leads.csv --column name=Firma --column domains=Homepage

Reads JSON Lines, CSV (delimiter and encoding are detected) and Excel workbooks (.xlsx: the first
sheet), plain, .gz, .bz2 or .zst. Also reads open data and exports in the layouts that --formats
lists (also zip, JSON and XML); it recognises them by their columns or keys. A running server
answers from the imported records without a restart.

Lines that cannot be used are rejected; all other lines are imported. If an import was stopped,
import the file again: records that are already there stay unchanged. A source has the name of its
file. If a file of another folder had the same name, --source must name the source of this one.
Names of columns and fields may be singular or plural. Records that have no identifier but a name
are counted as name_only.
JSON: {\"read\",\"added\",\"merged\",\"unchanged\",\"rejected\",\"name_only\",\"dropped\",\"seconds\"},
and \"skipped\": the number of records that a mapping leaves out, for each reason.

Exit status: 0 if any record was added, merged or unchanged; 1 if none was, or if --strict found a
line to reject; 2 if a file cannot be read.")]
pub(crate) struct Import {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["formats", "show_map"])]
    files: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    /// Name of the source of the records, for example for `enrich source remove` [default: each
    /// file's name]
    #[arg(long, value_name = "NAME", value_parser = source_name)]
    source: Option<SourceName>,
    #[command(flatten)]
    read_as: ReadAsArgs,
    /// File for the rejected lines, each with its line number and the reason
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Stop at the first rejected line, and change nothing; for one file at a time
    #[arg(long)]
    strict: bool,
    /// Import nothing; print the first N records (5 without N), and the counts that an import would
    /// have
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "5",
        conflicts_with_all = ["rejects", "strict"]
    )]
    dry_run: Option<usize>,
    /// List the formats that Enrich knows besides its own import format
    #[arg(long, conflicts_with = "files")]
    formats: bool,
    /// Print the mapping file of a format, to copy and change
    #[arg(long, value_name = "NAME", conflicts_with_all = ["files", "formats"])]
    show_map: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// Parses the name of a source.
pub(crate) fn source_name(text: &str) -> Result<SourceName, String> {
    SourceName::new(text).ok_or_else(|| "it has 1 to 200 characters, on one line".to_owned())
}

/// An input file that was opened.
struct Input {
    file: PathBuf,
    source: ImportSource,
    name: SourceName,
    /// The identity of the file: its full path without the compression extension. It is stored with
    /// the source. `None` for a pipe without a path.
    origin: Option<String>,
    /// Which companies and people the records may change.
    subjects: Subjects,
}

impl Import {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        if self.formats {
            return self.common.show(&formats::formats(), console);
        }
        if let Some(name) = &self.show_map {
            console.out.write_all(formats::mapping_text(name)?.as_bytes())?;
            return Ok(Verdict::Yes);
        }
        if self.strict && self.files.len() > 1 {
            return Err(Failure::Impossible(
                "--strict takes one file at a time: what is not changed is all of one file".into(),
            ));
        }
        if self.files.iter().filter(|file| is_standard(file)).count() > 1 {
            return Err(Failure::Impossible("standard input can be read once".to_owned()));
        }
        // All files are opened before anything is imported, so that a missing file is noticed
        // early.
        let inputs = self.files.iter().map(|file| self.open(file, console));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        if let Some(most) = self.dry_run {
            return self.preview(inputs, most, console);
        }
        self.see_same_names(&inputs)?;
        self.import(inputs, console)
    }

    fn import(&self, inputs: Vec<Input>, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let rejects = self.rejects.as_deref();
        let mut rejects = rejects.map(|path| Rejects::create(path, &self.files)).transpose()?;
        let store = self.common.data.open_or_make_directory(console)?;
        for input in &inputs {
            self.see_source(&store, input)?;
        }

        let started = Instant::now();
        let is_only_file = inputs.len() == 1;
        let mut sum = Report::default();
        let mut stopped = None;
        for input in inputs {
            let file = input.file.clone();
            let (report, cause) = self.take(&store, input, rejects.as_mut(), console);
            if let Some(layout) = report.layout.as_ref().filter(|layout| !layout.is_plain()) {
                console.note(&format!("{}: {layout}", file.display()));
            }
            if !matches!(cause, Some(Cause::Rejected { .. })) {
                outcome::note_rejected(&file, &report, console);
            }
            sum += report;
            if let Some(cause) = cause {
                stopped = Some(failure_of(&file, &cause));
                break;
            }
        }
        let outcome = Outcome::new(&sum, started.elapsed(), is_only_file);
        if self.common.format.json {
            outcome.note_details(console);
        }
        self.common.show(&outcome, console)?;
        match stopped {
            Some(failure) => Err(failure),
            None => Ok(Verdict::from(sum.took_anything())),
        }
    }

    /// Shows the first native records of the files, and what would be imported.
    fn preview(
        &self,
        inputs: Vec<Input>,
        most: usize,
        console: &mut Console<'_>,
    ) -> Result<Verdict, Failure> {
        let started = Instant::now();
        let is_only_file = inputs.len() == 1;
        let mut sum = Report::default();
        for Input { file, source, .. } in inputs {
            let total = source.source.total_bytes();
            let mut bar = Bar::new(&file, total, console.is_watched);
            let preview = enrich_import::preview(source, most, &mut bar);
            let Preview { records, report } =
                preview.map_err(|error| Failure::of_file(&file, &error.cause))?;
            for record in records {
                console.note(&record);
            }
            outcome::note_rejected(&file, &report, console);
            sum += report;
        }
        let outcome = Outcome::new(&sum, started.elapsed(), is_only_file);
        if self.common.format.json {
            outcome.note_details(console);
        }
        self.common.show(&outcome, console)?;
        Ok(Verdict::from(sum.took_anything()))
    }

    fn open(&self, file: &Path, console: &mut Console<'_>) -> Result<Input, Failure> {
        let source = if is_standard(file) {
            Source::stdin()
        } else {
            Source::file(file).map_err(|error| Failure::of_file(file, &error))?
        };
        let source = source.read_as(self.read_as.read_as());
        let file_name = source.name().cloned();
        let format::Plan { source, name, subjects } = self.format.plan(file, source, console)?;
        // Files of a format are one source, whatever folder they are in.
        let origin = if name.is_some() { None } else { origin(file) };
        let name = self.source.clone().or(name).or(file_name);
        let name = name.ok_or_else(|| {
            Failure::Impossible(format!(
                "{}: a source cannot have this name; give one with --source",
                file.display()
            ))
        })?;
        Ok(Input { file: file.to_owned(), source, name, origin, subjects })
    }

    /// Returns an error if several files have the same name: their records would belong to one
    /// source.
    fn see_same_names(&self, inputs: &[Input]) -> Result<(), Failure> {
        for (at, input) in inputs.iter().enumerate().filter(|_| self.source.is_none()) {
            let mut before = inputs.iter().take(at);
            let other = before.find(|before| before.name == input.name);
            if let Some(other) = other.filter(|other| other.origin != input.origin) {
                return Err(other_file(input, &other.file.display().to_string()));
            }
        }
        Ok(())
    }

    /// Returns an error if there is already a source with this file's name, but its records are
    /// from another file.
    fn see_source(&self, store: &DirectoryStore, input: &Input) -> Result<(), Failure> {
        let Some(origin) = input.origin.as_ref().filter(|_| self.source.is_none()) else {
            return Ok(());
        };
        let known = pollster::block_on(store.importer.source_file(&input.name));
        match known.map_err(|error| Failure::impossible(&error))? {
            Some(known) if known != *origin => Err(other_file(input, &known)),
            _ => Ok(()),
        }
    }

    /// Imports one file. If the import stops early, the report has the results until then, and the
    /// second value says why.
    fn take(
        &self,
        store: &DirectoryStore,
        input: Input,
        rejects: Option<&mut Rejects>,
        console: &Console<'_>,
    ) -> (Report, Option<Cause>) {
        let mut bar = Bar::new(&input.file, input.source.source.total_bytes(), console.is_watched);
        let load = Load {
            source: input.name,
            file: input.origin,
            at: SystemClock.now(),
            atomic: if self.strict { Atomic::Whole } else { Atomic::Batch },
            subjects: input.subjects,
        };
        let rejects = rejects.map(Rejects::writer);
        let importer = store.importer.as_ref();
        let import = enrich_import::import(input.source, importer, load, rejects, &mut bar);
        match pollster::block_on(import) {
            Ok(report) => (report, None),
            Err(ImportError { report, cause }) => (*report, Some(cause)),
        }
    }
}

fn other_file(input: &Input, known: &str) -> Failure {
    let (file, name) = (input.file.display(), input.name.as_str());
    Failure::Impossible(format!(
        "{file}: the source {name} holds the records of another file, {known}; name this file's \
         source with --source, or use --source {name} to put both into one"
    ))
}

/// Returns the identity of the file: its full path without the compression extension. For standard
/// input, returns `-`; for another pipe, returns `None`.
fn origin(file: &Path) -> Option<String> {
    if is_standard(file) {
        return Some("-".to_owned());
    }
    let path = file.canonicalize().ok().filter(|path| path.is_file())?;
    let path = path.to_string_lossy();
    let endings = [".gz", ".bz2", ".zst"];
    let stem = endings.iter().find_map(|ending| path.strip_suffix(ending));
    Some(stem.unwrap_or(&path).to_owned())
}

/// Whether a file name is `-`, which means standard input or standard output.
pub(super) fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn failure_of(file: &Path, cause: &Cause) -> Failure {
    match (cause, Failure::of_file(file, cause)) {
        (Cause::Rejected { .. }, Failure::Impossible(message)) => Failure::Refused(message),
        (_, failure) => failure,
    }
}
