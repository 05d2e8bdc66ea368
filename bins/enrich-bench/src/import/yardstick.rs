//! The yardstick for imports: the time that the program `sqlite3` takes to load the same companies
//! into a table.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde::Serialize;
use serde_json::Value;

use super::child::processor_seconds;

/// The fields of a company in a row, in the order of the table's columns.
const COLUMNS: [&str; 12] = [
    "id",
    "name",
    "aliases",
    "country",
    "domains",
    "linkedin",
    "facebook",
    "twitter",
    "emails",
    "phones",
    "ip",
    "page_rank",
];

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Yardstick {
    pub(super) seconds: f64,
    pub(super) processor_seconds: f64,
}

/// Loads the companies in a file of JSON Lines into a database, with the command `.import` of the
/// program `sqlite3`. Returns the times of this load. The conversion of the file into rows is not
/// timed.
pub(super) fn measure(folder: &Path, lines: &Path) -> anyhow::Result<Yardstick> {
    let (rows, database) = (folder.join("rows.tsv"), folder.join("yardstick.sqlite"));
    write_rows(lines, &rows)?;
    let columns = COLUMNS.map(|column| format!("{column} TEXT")).join(", ");
    let script = format!(
        "PRAGMA journal_mode = WAL;\n\
         CREATE TABLE company ({columns});\n\
         CREATE INDEX by_domain ON company (domains);\n\
         CREATE INDEX by_page ON company (linkedin);\n\
         CREATE INDEX by_name ON company (name);\n\
         CREATE VIRTUAL TABLE words USING fts5 (name, content='company');\n\
         .mode ascii\n.separator \"\\t\" \"\\n\"\n\
         .import '{}' company\n\
         INSERT INTO words (rowid, name) SELECT rowid, name FROM company;\n\
         SELECT count(*) FROM company;\n",
        rows.display()
    );
    let began = Instant::now();
    let mut command = Command::new("sqlite3");
    command.arg("-batch").arg(&database).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().context("`sqlite3` cannot be run: apt-get install sqlite3")?;
    child.stdin.take().context("no standard input")?.write_all(script.as_bytes())?;
    // The few lines that `sqlite3` prints fit into the pipe. So `sqlite3` can end, although this
    // process reads the lines only later.
    let processor_seconds = processor_seconds(child.id())?;
    let output = child.wait_with_output()?;
    let seconds = began.elapsed().as_secs_f64();
    ensure!(output.status.success(), "`sqlite3` ended with {}", output.status);
    for path in [rows, database] {
        fs::remove_file(path)?;
    }
    Ok(Yardstick { seconds, processor_seconds })
}

fn write_rows(lines: &Path, to: &Path) -> anyhow::Result<()> {
    let mut rows = BufWriter::new(File::create(to)?);
    for line in BufReader::new(File::open(lines)?).lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let cells = COLUMNS.map(|column| cell(&line[column]));
        writeln!(rows, "{}", cells.join("\t"))?;
    }
    Ok(rows.into_inner()?.sync_all()?)
}

/// Returns the text that the table gets for a field of a company. If the field is a list, returns
/// the text of its first value, because the table has only one text in each cell. Returns an empty
/// text for numbers and objects.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.first().map(cell).unwrap_or_default(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_the_first_value() {
        let line: Value = serde_json::from_str(r#"{"a":["x","y"],"b":"z"}"#).unwrap();
        assert_eq!([&line["a"], &line["b"], &line["c"]].map(cell), ["x", "z", ""]);
    }
}
