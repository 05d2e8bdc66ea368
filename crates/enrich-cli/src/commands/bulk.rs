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
    Work, preview, run,
};

use super::import::is_standard;
use super::lookup::endpoint;
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
  enrich bulk dte --in - --map limit:=10 --out - --url http://127.0.0.1:8080 --max-credits 500

Reads CSV with a header (delimiter and encoding are detected), Excel workbooks (.xlsx: the first
sheet) or JSON Lines, plain, .gz or .zst; writes what the output's name says (.csv, .tsv, .xlsx,
.jsonl), each row as it came in with the answer's columns, `status` (found, not_found, invalid,
failed), `error` and `credits` added, in the order they came in. A name that the list has already
gets a number (status_2); --prefix names all of them. A row that cannot be looked up is invalid
and costs nothing. Cells of CSV that a spreadsheet would run get an apostrophe before them.

Without --url it asks the data folder and charges nobody. With it, the key comes from ENRICH_KEY: on
the command line every user of the machine could see it.

Ctrl-C, a crash or the ceiling leave OUT.part and OUT.job behind: the same command continues with
them, and no row is paid for twice (after a crash, within 24 hours). Remove both to start again.
JSON: {\"end\",\"rows\",\"found\",\"not_found\",\"invalid\",\"failed\",\"credits\",\"cut_cells\",\"seconds\"}; with --preview
{\"rows\",\"invalid\",\"highest_credits\",\"read_as\",\"delimiter\",\"encoding\",\"columns\",\"mapping\",
\"first_rows\"}. With `--out -` it goes to standard error.

Exit status: 0 if all rows are written; 1 if it ended before: it was stopped, the ceiling was
reached, or the credits ran out; 2 on an error: the list, the mapping, the output or the server
cannot be used.")]
pub(crate) struct Bulk {
    /// The endpoint: its path, or the end of it
    #[arg(value_name = "PATH", value_parser = endpoint)]
    endpoint: Target,
    /// The list; `-` is standard input
    #[arg(long = "in", value_name = "FILE")]
    list: PathBuf,
    /// Where the rows go; `-` is standard output, which cannot be continued
    #[arg(long, value_name = "FILE", required_unless_present = "preview")]
    out: Option<PathBuf>,
    /// The column of a field (FIELD=COLUMN), or what it is in every row (FIELD:=VALUE); a field
    /// that is not mapped takes the column of its name or of a usual one (`Website`), as the
    /// command then says. Case, blanks and punctuation of columns do not matter
    #[arg(long = "map", value_name = "FIELD=COLUMN")]
    map: Vec<String>,
    #[command(flatten)]
    read_as: ReadAsArgs,
    /// What the names of the added columns begin with, for example site_
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    #[command(flatten)]
    caller: CallerArgs,
    /// The most that all rows together may cost
    #[arg(long, value_name = "CREDITS", requires = "url")]
    max_credits: Option<u64>,
    /// How many rows are looked up at once
    #[arg(
        long,
        value_name = "ROWS",
        default_value_t = 16,
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    concurrency: u16,
    /// Show how many rows there are and what they cost at most, and look nothing up
    #[arg(long)]
    preview: bool,
    #[command(flatten)]
    format: Format,
}

impl Bulk {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
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
            columns: input.layout().filter(|layout| layout.delimiter.is_some()).map(|layout| {
                // The purpose is compared when a later run continues the list. The encoding is left
                // out, because it may become known only later in the list. The texts of the rows
                // are enough to recognise the list.
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

    /// Checks the mapping, and returns the highest cost of the list. Returns `None` if the list can
    /// be read only once, because it is standard input or a pipe.
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
        let preview = preview(&mut input, self.endpoint.endpoint, mapping, numbers);
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
            tokio::spawn(stop_on_signal(stop.clone()));
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

    /// Prints the result to standard output. If the rows are written there, prints the result to
    /// standard error instead.
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

/// Stops the run at the first signal: rows that were sent are still waited for. At the second
/// signal, ends the process at once, as a crash would.
async fn stop_on_signal(stop: Stop) {
    for is_second in [false, true] {
        let Ok(signal) = stop_signal() else { return };
        signal.await;
        if is_second {
            std::process::exit(130);
        }
        stop.now();
        // Writing fails if standard error is closed. Then nobody could read the message anyway.
        let _ = writeln!(
            io::stderr(),
            "stopping: waiting for the rows that were sent; repeat to end at once"
        );
    }
}

fn in_words(counts: &Counts) -> String {
    let Counts { found, not_found, invalid, failed, credits, .. } = counts;
    format!(
        "{found} found, {not_found} not found, {invalid} invalid, {failed} failed, {credits} credits"
    )
}
