//! Prints progress lines, and the results of a torture as a table. Also returns the results as
//! JSON.

use std::fmt::Display;
use std::io::{self, Write};

use serde_json::{Map, Value};

use crate::tally::Tally;

/// The output for progress lines.
pub(crate) struct Console<'a> {
    /// The stream that the lines are written to, usually the standard output.
    pub(crate) out: &'a mut dyn Write,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summary {
    name: String,
    rows: Vec<(&'static str, Value)>,
}

impl Console<'_> {
    /// Writes a line and flushes it.
    pub(crate) fn print(&mut self, line: impl Display) -> io::Result<()> {
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }
}

impl Summary {
    /// Returns a summary with this name and without rows.
    pub(crate) fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), rows: Vec::new() }
    }

    /// Adds a row with a figure or a text.
    pub(crate) fn row(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.rows.push((name, value.into()));
        self
    }

    /// Adds the counts of calls and charges.
    pub(crate) fn tally(self, tally: &Tally) -> Self {
        self.row("requests", tally.calls)
            .row("acknowledged as charged", tally.charged)
            .row("in flight at the cut", tally.in_flight)
            .row("answered after the cut", tally.late)
            .row("of both charged", tally.in_flight_charged)
            .row("repeats answered again", tally.replayed)
            .row("free misses", tally.free)
            .row("refused without credits", tally.without_credits)
            .row("refused, still running", tally.still_running)
            .row("answered 500 or 503", tally.failed)
            .row("acknowledged and lost", tally.lost)
    }

    /// Returns the name and the figures as JSON.
    pub(crate) fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("torture".to_owned(), self.name.clone().into());
        for (name, value) in &self.rows {
            object.insert(name.replace([' ', '-'], "_").replace(',', ""), value.clone());
        }
        Value::Object(object)
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        writeln!(out, "\n{}", self.name)?;
        for (name, value) in &self.rows {
            match value {
                Value::String(text) => writeln!(out, "  {name:width$}  {text}")?,
                value => writeln!(out, "  {name:width$}  {:>10}", value.to_string())?,
            }
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_json_say_the_same() {
        let summary = Summary::of("kill").row("rounds", 3).row("seen, in all", "yes");
        let mut text = Vec::new();
        summary.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let rounds = format!("  rounds        {:>10}", 3);
        assert_eq!(text, format!("\nkill\n{rounds}\n  seen, in all  yes\n"));
        let json = serde_json::json!({ "torture": "kill", "rounds": 3, "seen_in_all": "yes" });
        assert_eq!(summary.json(), json);
    }
}
