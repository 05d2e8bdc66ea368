//! `enrich duplicates`: lists pairs of companies that look alike, and why each pair was not united
//! into one company.

use std::io::{self, Write};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use enrich_core::resolution::Resemblance;
use enrich_store::{DuplicateCount, DuplicatePair, DuplicateSearch};
use serde::Serialize;

use super::company_arg::{CompanyArg, ShownCompany};
use super::table::write_table;
use super::{Common, Console, Failure, Shown, Verdict};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich duplicates
  enrich duplicates --kind id --limit 100
  enrich duplicates quill.example --json

Lists the pairs that look most alike first, by what they share, and counts all of them. A group is a
value that several companies share. With a company, lists only the pairs with this company; it is
named as for `enrich merge`. If two are one company nevertheless, `enrich merge` unites them. A million
companies take some seconds.

Text: one line for a pair, and below it the reason why they are not one company.
JSON: {\"counts\":[{\"kind\",\"groups\",\"pairs\"}],\"pairs\":[{\"kind\",\"shared\",\"companies\",
\"why\"}],\"crowded\"}. `companies` is a list of two {\"company\",\"name\",\"domain\",\"ids\"};
`crowded` is the number of values that more than 256 companies share, whose companies are not
compared.

Exit status: 0 when it is done; 1 if there is no such company, or if several are meant.")]
pub(crate) struct DuplicatesCommand {
    /// Only pairs with this company
    #[arg(value_name = "COMPANY")]
    company: Option<CompanyArg>,
    /// Only pairs that look alike in this way
    #[arg(long, value_parser = kind_parser())]
    kind: Option<Resemblance>,
    /// Maximum number of pairs of each kind that are listed
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    limit: u16,
    #[command(flatten)]
    common: Common,
}

/// Returns the name of a kind of resemblance, as the option `--kind` accepts it, and its
/// description.
fn described(resemblance: Resemblance) -> (&'static str, &'static str) {
    match resemblance {
        Resemblance::Id => ("id", "The same id in a register or data set"),
        Resemblance::HostAndName => ("host-and-name", "The same host, and equal names"),
        Resemblance::Host => ("host", "The same host, and names that are near"),
        Resemblance::DomainAndName => {
            ("domain-and-name", "The same registrable domain, and equal names")
        }
        Resemblance::LabelAndName => {
            ("label-and-name", "Domains that differ by their suffix, and equal names")
        }
        Resemblance::Page => ("page", "The same page, and names that are near"),
        Resemblance::Phone => ("phone", "The same phone number, and names that are near"),
        Resemblance::NameAlone => ("name", "Equal names, one without a domain or page"),
    }
}

/// Returns the name of a kind of resemblance, as `--kind` accepts it.
pub(super) fn kind_name(resemblance: Resemblance) -> &'static str {
    described(resemblance).0
}

fn kind_parser() -> impl TypedValueParser<Value = Resemblance> {
    let named = Resemblance::ALL.map(|kind| {
        let (name, meaning) = described(kind);
        PossibleValue::new(name).help(meaning)
    });
    PossibleValuesParser::new(named).try_map(|name| {
        let mut all = Resemblance::ALL.into_iter();
        all.find(|kind| kind_name(*kind) == name).ok_or("there is no such kind")
    })
}

/// How many companies look alike in one way (`kind`), for example because they have the same host.
/// `groups` is the number of such hosts. `pairs` is the number of pairs of companies: three
/// companies with the same host are three pairs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ShownCount {
    pub(super) kind: &'static str,
    pub(super) groups: u64,
    pub(super) pairs: u64,
}

impl ShownCount {
    pub(super) fn of(kind: Resemblance, count: DuplicateCount) -> Self {
        Self { kind: kind_name(kind), groups: count.groups, pairs: count.pairs }
    }

    pub(super) fn write_all(counts: &[Self], out: &mut dyn Write) -> io::Result<()> {
        let cells =
            |it: &Self| vec![it.kind.to_owned(), it.groups.to_string(), it.pairs.to_string()];
        write_table(&["LOOK ALIKE BY", ">GROUPS", ">PAIRS"], counts.iter().map(cells), out)
    }
}

#[derive(Serialize)]
struct ShownDuplicates {
    counts: Vec<ShownCount>,
    pairs: Vec<ShownPair>,
    crowded: u64,
}

#[derive(Serialize)]
struct ShownPair {
    kind: &'static str,
    shared: String,
    companies: [ShownCompany; 2],
    why: String,
}

impl From<&DuplicatePair> for ShownPair {
    fn from(pair: &DuplicatePair) -> Self {
        Self {
            kind: kind_name(pair.kind),
            shared: pair.shared.clone(),
            companies: pair.companies.each_ref().map(ShownCompany::of),
            why: pair.why.to_string(),
        }
    }
}

impl DuplicatesCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.common.open_directory()?;
        let company = self.company.map(|company| company.find(&store.importer)).transpose()?;
        let search = DuplicateSearch {
            company: company.map(|found| found.company().id),
            kind: self.kind,
            most: usize::from(self.limit),
        };
        let found = store.duplicates(&search)?;
        let counts = found.counts.iter().map(|(kind, count)| ShownCount::of(*kind, *count));
        let shown = ShownDuplicates {
            counts: counts.collect(),
            pairs: found.pairs.iter().map(ShownPair::from).collect(),
            crowded: found.crowded,
        };
        self.common.show(&shown, console)
    }
}

impl Shown for ShownDuplicates {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for ShownPair { kind, shared, companies: [one, other], why } in &self.pairs {
            writeln!(out, "{kind} {shared}: {} and {}", in_words(one), in_words(other))?;
            writeln!(out, "    {why}")?;
        }
        if !self.pairs.is_empty() {
            writeln!(out)?;
        }
        ShownCount::write_all(&self.counts, out)?;
        match self.crowded {
            0 => Ok(()),
            1 => writeln!(out, "\nOne value of more than 256 companies was left out."),
            more => writeln!(out, "\n{more} values of more than 256 companies were left out."),
        }
    }
}

/// Returns a company in one line: `Quill (company:17, quill.example)`.
fn in_words(shown: &ShownCompany) -> String {
    let ShownCompany { company, name, domain, .. } = shown;
    match domain {
        Some(domain) => format!("{name} ({company}, {domain})"),
        None => format!("{name} ({company})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_name_that_the_option_accepts() {
        for resemblance in Resemblance::ALL {
            let arg = clap::Arg::new("kind").long("kind").value_parser(kind_parser());
            let given = ["duplicates", "--kind", kind_name(resemblance)];
            let found = clap::Command::new("duplicates").arg(arg).get_matches_from(given);
            assert_eq!(found.get_one("kind"), Some(&resemblance));
        }
    }
}
