//! `enrich decision`: lists the decisions that users have made with the commands `enrich merge` and
//! `enrich split`, and undoes them.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use enrich_core::resolution::{DecidedRecord, Decision, DecisionKind};
use enrich_core::{Clock, Timestamp};
use enrich_store::{CompanyRecords, Decided, SqliteImporter, StoredDecision, SystemClock};
use serde::Serialize;

use super::company_arg::{ShownCompany, ShownRecord};
use super::table::{Row, write_table};
use super::{Common, Console, Failure, Shown, Verdict, named};

/// A decision is about two groups of records, its sides. This is the maximum number of records that
/// are named for each side.
const MAX_NAMED: usize = 3;

#[derive(Debug, Subcommand)]
pub(crate) enum DecisionCommand {
    /// List the decisions that are in force
    #[command(after_help = "\
Example:
  enrich decision list

JSON: a list of {\"decision\",\"kind\",\"at\",\"sides\"}. `kind` is \"merge\" or \"split\"; each of
the two sides is a list of records {\"source\",\"id\",\"name\",\"place\"}. `place` is a domain or a page
by which a record without an id is known.")]
    List(Common),
    /// Take a decision back
    #[command(after_help = "\
Example:
  enrich decision undo 3

The records are divided into companies again, as if the decision had never been made.
JSON: {\"decision\",\"kind\",\"companies\"}, with the companies that have the records now.

Exit status: 0 when it is done; 1 if no decision with this number is in force.")]
    Undo(Undo),
}

#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The number of the decision
    number: u64,
    #[command(flatten)]
    common: Common,
}

impl DecisionCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::List(common) => list(&common, console),
            Self::Undo(undo) => undo.run(console),
        }
    }
}

#[derive(Serialize)]
struct ShownDecision {
    decision: u64,
    kind: &'static str,
    at: Timestamp,
    sides: [Vec<NamedRecord>; 2],
}

/// One of the records that a decision is about.
#[derive(Serialize)]
struct NamedRecord {
    source: String,
    id: Option<String>,
    name: String,
    place: String,
}

impl From<DecidedRecord> for NamedRecord {
    fn from(DecidedRecord { source, id, name, place }: DecidedRecord) -> Self {
        Self { source, id, name, place }
    }
}

impl From<StoredDecision> for ShownDecision {
    fn from(StoredDecision { decision, at }: StoredDecision) -> Self {
        let Decision { number, kind, sides } = decision;
        let side = |records: Vec<DecidedRecord>| records.into_iter().map(Into::into).collect();
        Self { decision: number, kind: kind_name(kind), at, sides: sides.map(side) }
    }
}

fn kind_name(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Merge => "merge",
        DecisionKind::Split => "split",
    }
}

fn list(common: &Common, console: &mut Console<'_>) -> Result<Verdict, Failure> {
    let decisions = pollster::block_on(common.open_directory()?.importer.decisions())?;
    if decisions.is_empty() {
        console.note("there are no decisions; `enrich merge` and `enrich split` make them");
    }
    let list: Vec<ShownDecision> = decisions.into_iter().map(ShownDecision::from).collect();
    common.show(&list, console)
}

impl Row for ShownDecision {
    const TITLES: &'static [&'static str] = &[">DECISION", "KIND", "MADE AT", "RECORDS", "AND"];

    fn cells(&self) -> Vec<String> {
        let [one, other] = self.sides.each_ref().map(|side| in_words(side));
        let number = self.decision.to_string();
        vec![number, self.kind.to_owned(), named::to_the_second(self.at), one, other]
    }
}

/// Names the records of one side of a decision: `Quill (wikidata Q42), Ink (list) and 3 more`.
fn in_words(records: &[NamedRecord]) -> String {
    let record = |NamedRecord { source, id, name, .. }: &NamedRecord| match id {
        Some(id) => format!("{name} ({source} {id})").trim_start().to_owned(),
        None => format!("{name} ({source})"),
    };
    let named: Vec<String> = records.iter().take(MAX_NAMED).map(record).collect();
    match records.len().saturating_sub(MAX_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

impl Undo {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let importer = self.common.open_directory()?.importer;
        let number = self.number;
        let undone = pollster::block_on(importer.take_decision_back(number, SystemClock.now()))?;
        let Some(StoredDecision { decision, .. }) = undone else {
            return Err(Failure::refused(format!(
                "no decision {number} is in force; `enrich decision list` shows them"
            )));
        };
        let companies = pollster::block_on(importer.companies_of(&decision))?;
        let companies = companies.iter().map(|it| ShownCompany::of(&it.company)).collect();
        let kind = kind_name(decision.kind);
        self.common.show(&Undone { decision: number, kind, companies }, console)
    }
}

#[derive(Serialize)]
struct Undone {
    decision: u64,
    kind: &'static str,
    companies: Vec<ShownCompany>,
}

impl Shown for Undone {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "decision {} is taken back; its records are now of:", self.decision)?;
        write_companies(&self.companies, out)
    }
}

fn write_companies(companies: &[ShownCompany], out: &mut dyn Write) -> io::Result<()> {
    let cells = |it: &ShownCompany| {
        vec![
            it.company.clone(),
            it.name.clone(),
            it.domain.clone().unwrap_or_default(),
            it.ids.join(", "),
        ]
    };
    write_table(&["COMPANY", "NAME", "DOMAIN", "IDS"], companies.iter().map(cells), out)
}

/// A decision that is still to be made. `before` contains the companies to which the records belong
/// now.
pub(super) struct NewDecision {
    pub(super) kind: DecisionKind,
    pub(super) sides: [Vec<DecidedRecord>; 2],
    pub(super) before: Vec<CompanyRecords>,
}

/// A decision that was made, or that would be made.
#[derive(Serialize)]
struct Made {
    /// The number of the decision; `None` if it was not made (`--dry-run`).
    decision: Option<u64>,
    kind: &'static str,
    /// The records that the affected companies had before the decision.
    records: Vec<ShownRecord>,
    /// The companies that have the records after the decision. With `--dry-run`, the companies
    /// that have the records now.
    companies: Vec<ShownCompany>,
}

impl NewDecision {
    /// Makes the decision and shows it. With `is_dry`, makes no decision, and only shows the
    /// records and companies that it would affect.
    pub(super) fn make(
        self,
        importer: &SqliteImporter,
        is_dry: bool,
        common: &Common,
        console: &mut Console<'_>,
    ) -> Result<Verdict, Failure> {
        let Self { kind, sides, before } = self;
        let records = before.iter().flat_map(ShownRecord::all).collect();
        let mut made =
            Made { decision: None, kind: kind_name(kind), records, companies: Vec::new() };
        if is_dry {
            made.companies = before.iter().map(|it| ShownCompany::of(&it.company)).collect();
            return common.show(&made, console);
        }
        let deciding = importer.decide(kind, sides.clone(), SystemClock.now());
        let number = match pollster::block_on(deciding)? {
            Decided::Stored(number) | Decided::Known(number) => number,
            Decided::Contradicted(number) => return Err(contradicted(kind, number)),
        };
        let decision = Decision { number, kind, sides };
        let after = pollster::block_on(importer.companies_of(&decision))?;
        if kind == DecisionKind::Merge && after.len() > 1 {
            console.note(
                "the records are not one company yet: too many companies resemble them; see \
                 docs/entity-resolution.md",
            );
        }
        made.decision = Some(number);
        made.companies = after.iter().map(|it| ShownCompany::of(&it.company)).collect();
        common.show(&made, console)
    }
}

fn contradicted(kind: DecisionKind, number: u64) -> Failure {
    let contrary = match kind {
        DecisionKind::Merge => "says that records of these companies are never one company",
        DecisionKind::Split => "says that these records are one company",
    };
    Failure::refused(format!(
        "decision {number} {contrary}; take it back first: `enrich decision undo {number}`"
    ))
}

impl Shown for Made {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.records.write_text(out)?;
        writeln!(out)?;
        match self.decision {
            Some(number) => {
                writeln!(out, "decision {number} ({}); the records are now of:", self.kind)?
            }
            None => writeln!(out, "nothing was decided (--dry-run); the records are of:")?,
        }
        write_companies(&self.companies, out)
    }
}
