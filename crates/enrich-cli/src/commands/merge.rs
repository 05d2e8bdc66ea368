//! `enrich merge`: stores the operator's decision that two companies are the same company.

use clap::Args;
use enrich_core::resolution::{DecidedRecord, DecisionKind};

use super::company_arg::CompanyArg;
use super::decision::NewDecision;
use super::{Common, Console, Failure, Verdict};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich merge quill.example lei:213800D1EI4B9WTWWD28 --dry-run
  enrich merge company:17 company:4711
  enrich merge \"Quill Pens\" quill.example

A company is named by its domain, an id in a register or data set, its number (`enrich duplicates`
shows it), or a name that no other company has.

The decision names all records that the two companies have now, so it holds when they are imported
again, when a source is removed, and after `enrich reindex`. It also unites companies with different
ids in one scheme. `enrich decision list` shows the decisions, `enrich decision undo` takes one back.
JSON: {\"decision\",\"kind\",\"records\",\"companies\"}: the number of the decision, null with
--dry-run; the records {\"company\",\"source\",\"id\",\"name\",\"domains\",\"ids\"} as they were
divided before; and the companies {\"company\",\"name\",\"domain\",\"ids\"} that have them now.

Exit status: 0 when it is done; 1 if there is no such company, if several are meant, or if another
decision says the contrary.")]
pub(crate) struct Merge {
    /// One of the companies
    #[arg(value_name = "COMPANY")]
    one: CompanyArg,
    /// The other company
    #[arg(value_name = "OTHER")]
    other: CompanyArg,
    /// Show the companies and their records, and decide nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    common: Common,
}

impl Merge {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let importer = self.common.open_directory()?.importer;
        let (one, other) = (self.one.find(&importer)?, self.other.find(&importer)?);
        if one.company().id == other.company().id {
            let name = &one.company().name;
            return Err(Failure::refused(format!("both are already one company, {name}")));
        }
        let sides =
            [&one, &other].map(|it| it.records().iter().map(DecidedRecord::of).collect::<Vec<_>>());
        let new =
            NewDecision { kind: DecisionKind::Merge, sides, before: vec![one.found, other.found] };
        new.make(&importer, self.dry_run, &self.common, console)
    }
}
