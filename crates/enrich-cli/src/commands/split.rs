//! `enrich split`: stores the operator's decision that certain records never belong to the same
//! company.

use clap::Args;
use enrich_core::resolution::{DecidedRecord, DecisionKind, RecordClaims};

use super::company_arg::{CompanyArg, NamedCompany, ShownRecord};
use super::decision::NewDecision;
use super::{Common, Console, Failure, Verdict};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich split quill.example
  enrich split quill.example --record wikidata:Q42 --record list --dry-run
  enrich split wikidata:Q42 wikidata:Q43
  enrich split company:17 \"Quill Films\"

With one company, shows its records. With --record, takes the named records out of the company: they
are never again one company with its other records. A record is named by its source, by source and
id as SOURCE:ID, by an id in a register or data set, by a domain, or by its name.

With two companies, decides that they are never one. If both are one company now, its records are
divided: those with the first domain, id or name from those with the second.

Companies are named as for `enrich merge`. The decision holds like one of `enrich merge`, and wins over
everything that links the records. The rules decide where all other records belong.
JSON: as of `enrich merge`; with one company and no --record, a list of its records.

Exit status: 0 when it is done; 1 if there is no such company or record, if several companies are
meant, or if another decision says the contrary.")]
pub(crate) struct Split {
    /// The company
    company: CompanyArg,
    /// A company that is never one with the first
    #[arg(value_name = "OTHER", conflicts_with = "records")]
    other: Option<CompanyArg>,
    /// A record to take out of the company; may be repeated
    #[arg(long = "record", value_name = "RECORD")]
    records: Vec<String>,
    /// Show the companies and their records, and decide nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    common: Common,
}

/// The two sides of the decision: a record of the first side and a record of the second side never
/// belong to the same company.
type Sides<'a> = [Vec<&'a RecordClaims>; 2];

impl Split {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let importer = self.common.open_directory()?.importer;
        let company = self.company.find(&importer)?;
        let other = self.other.as_ref().map(|other| other.find(&importer)).transpose()?;
        let sides = match &other {
            Some(other) => between(&company, other)?,
            None if self.records.is_empty() => {
                return self.common.show(&ShownRecord::all(&company.found), console);
            }
            None => taken_out(&company, &self.records)?,
        };
        check(&sides)?;
        let sides = sides.map(|side| side.into_iter().map(DecidedRecord::of).collect());
        let is_two = other.as_ref().is_some_and(|it| it.company().id != company.company().id);
        let further = other.filter(|_| is_two).map(|it| it.found);
        let before = [company.found].into_iter().chain(further).collect();
        let new = NewDecision { kind: DecisionKind::Split, sides, before };
        new.make(&importer, self.dry_run, &self.common, console)
    }
}

/// Returns two lists of records: those of `one` and those of `other`. If both arguments name the
/// same company, for example by two of its domains, its records are divided: each list gets the
/// records with the domain, id or name that the user has typed in this argument.
fn between<'a>(one: &'a NamedCompany, other: &'a NamedCompany) -> Result<Sides<'a>, Failure> {
    if one.company().id != other.company().id {
        return Ok([one.records().iter().collect(), other.records().iter().collect()]);
    }
    let is_of = |it: &NamedCompany, record: &&RecordClaims| it.is_named_by(record);
    let these = one.records().iter().filter(|record| is_of(one, record)).collect();
    let those = one.records().iter().filter(|record| is_of(other, record)).collect();
    Ok([these, those])
}

/// Divides the records of a company into those that the user has named (`named`) and the others.
fn taken_out<'a>(company: &'a NamedCompany, named: &[String]) -> Result<Sides<'a>, Failure> {
    let is_named = |record: &&RecordClaims, text: &String| {
        ShownRecord::is_named(company.company(), record, text)
    };
    for text in named {
        if !company.records().iter().any(|record| is_named(&record, text)) {
            return Err(Failure::refused(format!(
                "{} has no record {text}; `enrich split COMPANY` shows its records",
                company.company().name
            )));
        }
    }
    let is_taken = |record: &&RecordClaims| named.iter().any(|text| is_named(record, text));
    let (taken, left) = company.records().iter().partition(is_taken);
    Ok([taken, left])
}

/// Returns an error if the split cannot be stored as a decision. The reasons are:
///
/// - A side has no records.
/// - Both sides have a record with the same source and the same id. A decision names a record by
///   these two values, so it could not tell the two records apart. If a record has no id, a
///   decision names it by its source, its name, and a domain or company page.
fn check([one, other]: &Sides<'_>) -> Result<(), Failure> {
    if one.is_empty() || other.is_empty() {
        return Err(Failure::refused(
            "all records are on one side, so there is nothing to split; `enrich split COMPANY` shows \
             the records",
        ));
    }
    let decided: Vec<DecidedRecord> = one.iter().map(|record| DecidedRecord::of(record)).collect();
    let both = other.iter().find(|record| decided.iter().any(|it| it.is(record)));
    match both {
        None => Ok(()),
        Some(record) => Err(Failure::refused(format!(
            "a record of the source {} named {} is on both sides; `enrich split COMPANY` shows the \
             records",
            record.key().source,
            record.display_name().unwrap_or_default()
        ))),
    }
}
