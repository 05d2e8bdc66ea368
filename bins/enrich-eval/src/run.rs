//! Looks up the queries of an evaluation set, scores the answers and draws charts.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;

use crate::ask::{self, Answered};
use crate::catalogue::{self, Catalogue};
use crate::draw;
use crate::half::Half;
use crate::identifiers;
use crate::pairs;
use crate::queries;
use crate::strict;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich-eval run ../data/eval

Writes answers.csv, reliability.svg and precision-recall.svg to the folder of `--out`, and prints
what the set's own score.py says of the answers; then how many of the set's pages, further domains
and addresses find their company, imported to a folder beside that of `--data`; then how the names
of the pairs in ../name_pairs beside the set are judged. Files are searched as score.py does: in
the folder that EVAL_DIR names, in the half's own, beside the script.")]
pub(crate) struct Run {
    #[command(flatten)]
    catalogue: Catalogue,
    /// Half of the set whose queries are looked up: dev or test [default: dev, or the half that
    /// exists]
    #[arg(long, value_name = "HALF")]
    half: Option<String>,
    /// Folder for answers and charts
    #[arg(long, value_name = "DIR", default_value = "target/eval-out")]
    out: PathBuf,
}

impl Run {
    pub(crate) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let half = Half::find(&self.catalogue.set, self.half.as_deref())?;
        let begun = std::time::Instant::now();
        let store = catalogue::open(&self.catalogue)?;
        writeln!(out, "imported the catalogue in {:.1} s", begun.elapsed().as_secs_f64())?;
        let (answered, times) = ask::all(&store, &half)?;
        fs::create_dir_all(&self.out)
            .with_context(|| format!("{} can't be made", self.out.display()))?;
        let answers = self.out.join("answers.csv");
        write(&answers, &answered)?;
        tell_times(&times, out)?;
        writeln!(out, "{}", score(&self.catalogue.set, &half, &answers)?)?;
        strict::tell(&answered, out)?;
        draw::reliability(&answered, &self.out.join("reliability.svg"))?;
        draw::precision_recall(&answered, &self.out.join("precision-recall.svg"))?;
        writeln!(out, "answers and pictures are in {}", self.out.display())?;
        writeln!(out)?;
        let beside = beside(&self.catalogue.data, "-identifiers");
        identifiers::report(&self.catalogue.set, &half, &beside, out)?;
        writeln!(out)?;
        pairs::report(&self.catalogue.set, out)
    }
}

/// Returns the path of a folder in the same place as `folder`, with `end` added to the folder's
/// name. For example, `target/eval` and `-identifiers` give `target/eval-identifiers`.
fn beside(folder: &Path, end: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or(folder.as_os_str()).to_owned();
    name.push(end);
    folder.with_file_name(name)
}

fn write(path: &Path, answered: &[Answered]) -> anyhow::Result<()> {
    let mut file = csv::Writer::from_path(path)
        .with_context(|| format!("{} can't be written", path.display()))?;
    file.write_record(["qid", "domain", "confidence"])?;
    for one in answered {
        if let Some((domain, confidence)) = &one.answer {
            let domain = queries::in_unicode(domain);
            file.write_record([&one.query.qid, &domain, &confidence.to_string()])?;
        }
    }
    file.flush()?;
    Ok(())
}

/// Runs the evaluation set's `score.py`, and returns what it prints.
fn score(set: &Path, half: &Half, answers: &Path) -> anyhow::Result<String> {
    let script = set.join("score.py");
    let mut command = Command::new("python3");
    command.arg(&script).arg(&half.name).arg(answers);
    if let Some(folder) = half.folder() {
        command.env("EVAL_DIR", folder);
    }
    let output =
        command.output().context("python3 can't be run; it is needed for the set's score.py")?;
    ensure!(
        output.status.success(),
        "{} failed: {}",
        script.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn tell_times(
    times: &BTreeMap<&'static str, Vec<Duration>>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    for (file, times) in times {
        let mut times = times.clone();
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
        writeln!(
            out,
            "{file}: {} queries, median {:.3} ms, 99th percentile {:.3} ms, longest {:.3} ms",
            times.len(),
            at(50),
            at(99),
            at(100)
        )?;
    }
    Ok(())
}
