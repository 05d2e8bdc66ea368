//! `enrich bulk`: looks up a whole list.

mod caller_args;
mod outcome;
mod progress;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use enrich_bulk::{
    Counts, Input, Layout, Mapping, Opened, Options, Output, Part, Purpose, Source, Stop, Target,
    Work, can_have_candidates, preview, run,
};

use super::import::is_standard;
use super::lookup::{candidates, endpoint};
use super::read_as::ReadAsArgs;
use super::{Console, Failure, Format, Verdict};
use caller_args::CallerArgs;
use enrich_server::stop_signal;
use outcome::{CostEstimate, Outcome};
use progress::Shown;

/// Number of rows that `--preview` shows.
const SHOWN_ROWS: usize = 3;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich bulk cuf --in leads.csv --map companyName=Company --out enriched.csv
  enrich bulk name_to_domain --in a.jsonl.gz --map company_name=firm --out b.csv.zst
  enrich bulk cuf --in leads.csv --out enriched.csv --candidates 3
  enrich bulk dte --in - --map limit:=10 --out - --url http://127.0.0.1:8080 --max-credits 500

Reads CSV with a header (delimiter and encoding are detected), Excel workbooks (.xlsx: the first
sheet) or JSON Lines, plain, .gz or .zst. The name of the output gives its format (.csv, .tsv,
.xlsx, .jsonl). The output has the rows of the list in the same order, with further columns: those
of the answer, `status` (found, not_found, invalid, failed), `error` and `credits`. If the list
already has a column of this name, the added one gets a number (status_2); --prefix adds a text to
the names of all added columns. A row that cannot be looked up is invalid and costs nothing. In CSV,
a cell that a spreadsheet would run as a formula gets an apostrophe before it.

With --candidates, a row whose company is not found by its name stays not_found, and gets the
companies that the name may mean, the most likely first: candidate_1_name, candidate_1_country,
candidate_1_domain, candidate_1_confidence and candidate_1_why, then candidate_2_name and so on.

Without --url, the rows are answered from the data folder, without a charge. With --url, set the key
in the variable ENRICH_KEY: every user of the machine can see a key on the command line.

After Ctrl-C, a crash or the end by --max-credits, OUT.part and OUT.job are left. The same command
then continues with them, and pays for no row twice (after a crash, within 24 hours). Remove both
files to start again.
JSON: {\"end\",\"rows\",\"found\",\"not_found\",\"invalid\",\"failed\",\"credits\",\"cut_cells\",\"seconds\"}; with --preview
{\"rows\",\"invalid\",\"highest_credits\",\"read_as\",\"delimiter\",\"encoding\",\"columns\",\"mapping\",
\"first_rows\"}. With `--out -`, the JSON goes to standard error.

Exit status: 0 if all rows are written; 1 if it ended earlier: it was stopped, --max-credits was
reached, or the account had no credits left; 2 if the list, the mapping, the output or the server
cannot be used.")]
pub(crate) struct Bulk {
    /// Path of the endpoint, or the path's last part, such as `cuf`
    #[arg(value_name = "PATH", value_parser = endpoint)]
    endpoint: Target,
    /// File with the list; `-` is standard input
    #[arg(long = "in", value_name = "FILE")]
    list: PathBuf,
    /// File for the rows and their answers; `-` is standard output. A stopped run can be continued
    /// only with a file
    #[arg(long, value_name = "FILE", required_unless_present = "preview")]
    out: Option<PathBuf>,
    /// Column that gives a field (FIELD=COLUMN), or a value of the field for all rows
    /// (FIELD:=VALUE). For other fields, the command selects the column with the field's name or a
    /// usual name (`Website`), and prints its choice. Case, spaces and punctuation of column names
    /// do not matter
    #[arg(long = "map", value_name = "FIELD=COLUMN")]
    map: Vec<String>,
    #[command(flatten)]
    read_as: ReadAsArgs,
    /// Text before the names of all added columns, for example site_
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    /// For rows whose company is not found by its name, add the companies that the name may mean,
    /// at most N (1 to 10). Only from the data folder
    #[arg(long, value_name = "N", value_parser = candidates, conflicts_with = "url")]
    candidates: Option<usize>,
    #[command(flatten)]
    caller: CallerArgs,
    /// Maximum cost of all rows together, in credits
    #[arg(long, value_name = "CREDITS", requires = "url")]
    max_credits: Option<u64>,
    /// Maximum number of rows that are looked up at the same time
    #[arg(
        long,
        value_name = "ROWS",
        default_value_t = 16,
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    concurrency: u16,
    /// Show the number of rows and their highest cost, without looking them up
    #[arg(long)]
    preview: bool,
    #[command(flatten)]
    format: Format,
}

impl Bulk {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        if self.candidates.is_some() && !can_have_candidates(self.endpoint.endpoint) {
            let path = self.endpoint.endpoint.path;
            return Err(Failure::Impossible(format!(
                "{path} does not look for companies by their names, so it has no candidates"
            )));
        }
        let mapping = Mapping::parse(self.map.iter().map(String::as_str));
        let typed = mapping.map_err(|error| Failure::impossible(&error))?;
        let input = self.open()?;
        let mapping = typed.guessed(self.endpoint.endpoint, input.columns());
        let estimate = self.estimate(&mapping)?;
        if self.preview {
            let estimate = estimate.ok_or_else(|| {
                Failure::Impossible(
                    "standard input can be read only once; preview a file".to_owned(),
                )
            })?;
            return console.show(&estimate, self.format);
        }
        let Some(out) = self.out.clone() else {
            return Err(Failure::Impossible("name the output with --out".to_owned()));
        };
        let layout = estimate.as_ref().and_then(|estimate| estimate.layout.clone());
        if let Some(layout) = layout.or(input.layout()).filter(|layout| !layout.is_plain()) {
            console.note(&format!("{}: {layout}", self.list.display()));
        }
        for (field, column) in mapping.columns.iter().filter(|pair| !typed.columns.contains(pair)) {
            console.note(&format!("{field} is taken from the column `{column}`"));
        }
        if let Some(estimate) = &estimate {
            console.note(&estimate.in_a_line());
        }
        let started = Instant::now();
        let purpose = Purpose {
            endpoint: self.endpoint.endpoint.path.to_owned(),
            mapping,
            caller: self.caller.in_words(),
            prefix: self.prefix.clone(),
            candidates: self.candidates.unwrap_or_default(),
            columns: input.layout().filter(|layout| layout.delimiter.is_some()).map(|layout| {
                // A later run continues the output only if its `purpose` is the same. The encoding
                // is left out here: it may be detected only in a later row, so it can differ
                // between two runs of the same list.
                Layout { encoding: None, ..layout }.to_string()
            }),
        };
        let output = if is_standard(&out) {
            let into = Box::new(io::stdout());
            Output::Stream { into, format: input.format(), purpose }
        } else {
            match Part::open(&out, input.format(), &purpose).map_err(|e| Failure::impossible(&e))? {
                Opened::ToDo(part) => Output::Part(part),
                Opened::Whole(counts) => {
                    return self.show(&Outcome::whole(counts, started.elapsed()), &out, console);
                }
            }
        };
        let rows = estimate.map(|estimate| estimate.rows());
        let outcome = self.ask(input, output, rows, console)?;
        let outcome = Outcome::new(outcome, started.elapsed());
        self.show(&outcome, &out, console)?;
        outcome.verdict(&out)
    }

    fn open(&self) -> Result<Input, Failure> {
        let source =
            if is_standard(&self.list) { Ok(Source::stdin()) } else { Source::file(&self.list) };
        let source = source.map(|source| source.read_as(self.read_as.read_as()));
        source.and_then(Input::open).map_err(|error| Failure::of_file(&self.list, &error))
    }

    /// Checks the mapping, and returns the highest possible cost of the list. Returns `None` if the
    /// list can be read only once, because it is standard input or a pipe.
    fn estimate(&self, mapping: &Mapping) -> Result<Option<CostEstimate>, Failure> {
        if is_standard(&self.list) || self.list.metadata().is_ok_and(|data| !data.is_file()) {
            return Ok(None);
        }
        let mut first_rows = Vec::new();
        let mut input = self.open()?;
        while first_rows.len() < SHOWN_ROWS {
            let row = input.next_row().map_err(|error| Failure::of_file(&self.list, &error))?;
            let Some(row) = row else { break };
            first_rows.push(input.shown(&row));
        }
        let mut input = self.open()?;
        let numbers = self.caller.national_numbers();
        let candidates = self.candidates.unwrap_or_default();
        let preview = preview(&mut input, self.endpoint.endpoint, mapping, numbers, candidates);
        let preview = preview.map_err(|error| Failure::of_file(&self.list, &error))?;
        Ok(Some(CostEstimate::new(preview, self.caller.is_metered(), &input, mapping, first_rows)))
    }

    fn ask(
        &self,
        input: Input,
        output: Output,
        rows: Option<u64>,
        console: &mut Console<'_>,
    ) -> Result<enrich_bulk::Outcome, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::impossible(&error))?;
        runtime.block_on(async {
            let concurrency = usize::from(self.concurrency);
            let caller = self.caller.caller(self.endpoint, concurrency)?;
            let stop = Stop::default();
            stop_on_signal(&stop);
            let options =
                Options { concurrency, max_credits: self.max_credits, ..Options::default() };
            let endpoint = self.endpoint.endpoint;
            let work = Work { input, caller: &*caller, endpoint, output };
            let mut shown = Shown::new(rows, console);
            let outcome = run(work, options, &stop, &mut shown).await;
            shown.finish();
            outcome.map_err(|error| Failure::of_bulk(&error))
        })
    }

    /// Prints the result to standard output. If the rows are written to standard output too,
    /// prints the result to standard error instead.
    fn show(
        &self,
        outcome: &Outcome,
        out: &Path,
        console: &mut Console<'_>,
    ) -> Result<Verdict, Failure> {
        if !is_standard(out) {
            if let Some(cut) = outcome.cut(out) {
                console.note(&cut);
            }
            return console.show(outcome, self.format);
        }
        let mut nowhere = io::sink();
        let mut beside = Console { out: console.err, err: &mut nowhere, is_watched: false };
        beside.show(outcome, self.format)
    }
}

impl Failure {
    fn of_bulk(error: &enrich_bulk::RunError) -> Self {
        match error {
            enrich_bulk::RunError::Stream(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Self::ReaderGone
            }
            error => Self::impossible(error),
        }
    }
}

/// Stops the run at the first signal, but waits for the rows that were already sent. At the
/// second signal, ends the process immediately, like a crash. On Unix, a signal that arrives
/// after this function has returned is never missed.
fn stop_on_signal(stop: &Stop) {
    let Ok(first) = stop_signal() else { return };
    let stop = stop.clone();
    tokio::spawn(async move {
        first.await;
        let second = stop_signal();
        stop.now();
        // Writing fails if standard error is closed. Then nobody can read the message anyway.
        let _ = writeln!(
            io::stderr(),
            "stopping: waiting for the rows that were sent; repeat to end at once"
        );
        if let Ok(second) = second {
            second.await;
            std::process::exit(130);
        }
    });
}

fn in_words(counts: &Counts) -> String {
    let Counts { found, not_found, invalid, failed, credits, .. } = counts;
    format!(
        "{found} found, {not_found} not found, {invalid} invalid, {failed} failed, {credits} credits"
    )
}
