//! `enrich import`: imports records into the directory (the look-up data).

mod format;
mod formats;
mod inputs;
mod notes;
mod outcome;
mod progress;
mod rejects;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use enrich_core::Clock;
use enrich_core::port::importer::{Atomic, ImportOptions, Importer};
use enrich_import::{Cause, ImportError, Preview, Report};
use enrich_store::{SystemClock, lower_priority};

use super::{Common, Console, Failure, Shown, Verdict};
use inputs::{Input, InputArgs};
use outcome::Outcome;
use progress::Bar;
use rejects::Rejects;

pub(super) use inputs::is_standard;
pub(crate) use inputs::source_name;

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
    inputs: InputArgs,
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
        // All files are opened before the first one is imported, so that a missing file is noticed
        // early.
        let inputs = self.files.iter().map(|file| self.inputs.open(file, console));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        if let Some(most) = self.dry_run {
            return self.preview(inputs, most, console);
        }
        self.inputs.see_same_names(&inputs)?;
        self.import(inputs, console)
    }

    fn import(&self, inputs: Vec<Input>, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let rejects = self.rejects.as_deref();
        let mut rejects = rejects.map(|path| Rejects::create(path, &self.files)).transpose()?;
        // The priority is lowered before any thread is started, because a new thread gets the
        // priority of the thread that starts it.
        lower_priority();
        let store = self.common.data.open_or_make_directory(console)?;
        for input in &inputs {
            self.inputs.see_source(&store, input)?;
        }

        let atomic = if self.strict { Atomic::Whole } else { Atomic::InParts };
        let started = Instant::now();
        let is_only_file = inputs.len() == 1;
        let mut sum = Report::default();
        let mut stopped = None;
        for input in inputs {
            let file = input.file.clone();
            let importer = store.importer.as_ref();
            let (report, cause) = take(importer, input, atomic, rejects.as_mut(), console);
            outcome::note_layout(&file, &report, console);
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

    /// Prints the first `most` records of each file in the import format, and the counts that an
    /// import would have. Imports nothing.
    fn preview(
        &self,
        inputs: Vec<Input>,
        most: usize,
        console: &mut Console<'_>,
    ) -> Result<Verdict, Failure> {
        let started = Instant::now();
        let is_only_file = inputs.len() == 1;
        let mut sum = Report::default();
        for input in inputs {
            let Input { file, source, .. } = input;
            let total = source.total_bytes();
            let mut bar = Bar::new(&file, total, console.is_watched);
            let preview = enrich_import::preview(source, most, &mut bar);
            let Preview { records, report } =
                preview.map_err(|error| Failure::of_file(&file, &error.cause))?;
            outcome::note_layout(&file, &report, console);
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
}

/// Imports files into the look-up data as `enrich import` does without options. Returns the counts.
pub(crate) fn import_files(
    files: &[PathBuf],
    importer: &dyn Importer,
    console: &mut Console<'_>,
) -> Result<impl Shown + use<>, Failure> {
    let args = InputArgs::default();
    let inputs = files.iter().map(|file| args.open(file, console));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    args.see_same_names(&inputs)?;
    let (started, is_only_file) = (Instant::now(), inputs.len() == 1);
    let mut sum = Report::default();
    for input in inputs {
        let file = input.file.clone();
        let (report, cause) = take(importer, input, Atomic::InParts, None, console);
        outcome::note_rejected(&file, &report, console);
        if let Some(cause) = cause {
            return Err(failure_of(&file, &cause));
        }
        sum += report;
    }
    if !sum.took_anything() {
        return Err(Failure::Refused("the files have no record that can be imported".to_owned()));
    }
    Ok(Outcome::new(&sum, started.elapsed(), is_only_file))
}

/// Imports one file. If the import stops early, the second value is the reason, and the report has
/// the counts until then.
fn take(
    importer: &dyn Importer,
    input: Input,
    atomic: Atomic,
    rejects: Option<&mut Rejects>,
    console: &Console<'_>,
) -> (Report, Option<Cause>) {
    let mut bar = Bar::new(&input.file, input.source.total_bytes(), console.is_watched);
    let load = ImportOptions {
        source: input.name,
        file: input.origin.map(|origin| origin.text),
        terms: input.terms,
        at: SystemClock.now(),
        atomic,
        new_subjects: input.subjects,
    };
    let rejects = rejects.map(Rejects::writer);
    let import = enrich_import::import(input.source, importer, load, rejects, &mut bar);
    match pollster::block_on(import) {
        Ok(report) => (report, None),
        Err(ImportError { report, cause }) => (*report, Some(cause)),
    }
}

fn failure_of(file: &Path, cause: &Cause) -> Failure {
    match (cause, Failure::of_file(file, cause)) {
        (Cause::Rejected { .. }, Failure::Impossible(message)) => Failure::Refused(message),
        (_, failure) => failure,
    }
}
