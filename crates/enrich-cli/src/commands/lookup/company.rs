//! Shows the company that has an external id or a name, for operators.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::Args;
use enrich_core::port::directory::Directory;
use enrich_core::{Candidate, Company, Found, Parent, Projection, Question};
use enrich_store::SqliteDirectory;
use enrich_text::{CompanyName, Country, ExternalId};
use serde::Serialize;

use super::super::table::Pairs;
use super::super::{Failure, Shown};

// The options that say which company is shown. (A doc comment here would become the help of the
// command.)
#[derive(Debug, Args)]
pub(super) struct CompanyArgs {
    /// Only with `company`: the company's id in a register or data set
    #[arg(long, value_name = "SCHEME:ID", value_parser = ExternalId::from_text)]
    id: Option<ExternalId>,
    /// Only with `company`: the company's name
    #[arg(long, value_parser = CompanyName::parse, conflicts_with = "id")]
    name: Option<CompanyName>,
    /// List the companies that the name may mean, at most N [default: 5]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        default_missing_value = "5",
        value_parser = candidates,
        requires = "name"
    )]
    candidates: Option<usize>,
}

/// Parses the maximum number of candidates that the user wants: from 1 to
/// [`Candidate::MAX_LISTED`].
pub(crate) fn candidates(text: &str) -> Result<usize, String> {
    let most = text.parse().ok().filter(|most| (1..=Candidate::MAX_LISTED).contains(most));
    most.ok_or_else(|| format!("it is a whole number from 1 to {}", Candidate::MAX_LISTED))
}

/// The company or the companies to show.
pub(super) enum Wanted<'a> {
    /// The company with this id.
    Id(&'a ExternalId),
    /// The company that this name means.
    Name(&'a CompanyName),
    /// The companies that this name may mean, at most this number.
    Candidates(&'a CompanyName, usize),
}

impl CompanyArgs {
    /// Returns the company or companies that the options name; `None` if no option is given.
    pub(super) fn wanted(&self) -> Option<Wanted<'_>> {
        match (&self.id, &self.name, self.candidates) {
            (Some(id), _, _) => Some(Wanted::Id(id)),
            (None, Some(name), Some(most)) => Some(Wanted::Candidates(name, most)),
            (None, Some(name), None) => Some(Wanted::Name(name)),
            (None, None, _) => None,
        }
    }
}

/// The company that was found; `None` if there is none.
#[derive(Debug, Serialize)]
pub(super) struct LookedUp {
    company: Option<ShownCompany>,
}

#[derive(Debug, Serialize)]
struct ShownCompany {
    name: String,
    aliases: Vec<String>,
    /// The alpha-2 codes of the countries where the company has its seats.
    country: Vec<&'static str>,
    domains: Vec<String>,
    /// The ids of the company, grouped by scheme, such as `lei`.
    ids: BTreeMap<String, Vec<String>>,
    parent: Option<ShownParent>,
    /// The confidence that this company is meant, in percent. It is at most 80 if another company
    /// fits equally well, for example because it has the same id.
    confidence: u8,
}

/// The organisation that a company belongs to.
#[derive(Debug, Serialize)]
struct ShownParent {
    /// The id, domain or name by which a source gives the parent. If no source gives a parent, the
    /// directory may have derived one; then this is the derived parent's domain.
    given: String,
    /// The name of the parent; `None` if the directory does not contain the parent.
    name: Option<String>,
    domain: Option<String>,
    /// Whether the directory has derived the parent from the names and domains of the two
    /// companies, because no source gives a parent.
    derived: bool,
}

impl LookedUp {
    /// Returns the company that was found, and the organisation that it belongs to, in the form in
    /// which they are shown.
    pub(super) fn of(directory: &SqliteDirectory, found: Option<&Found>) -> Result<Self, Failure> {
        let Some(found) = found else { return Ok(Self { company: None }) };
        let confidence = found.confidence.percent();
        let Some(company) = found.company() else { return Ok(Self { company: None }) };
        let parent = match company.parent.as_deref() {
            Some(text) => Some(ShownParent::of(directory, text)?),
            None => directory.derived_parent(company)?.as_ref().map(ShownParent::derived),
        };
        Ok(Self { company: Some(ShownCompany::of(company, parent, confidence)) })
    }
}

impl ShownParent {
    fn of(directory: &SqliteDirectory, text: &str) -> Result<Self, Failure> {
        let found = match Parent::parse(text) {
            Ok(parent) => find(directory, &Question::Company(parent.company_ref()))?,
            Err(_) => None,
        };
        let company = found.as_ref().and_then(Found::company);
        Ok(Self {
            given: text.to_owned(),
            name: company.map(|company| company.name.clone()),
            domain: company.and_then(Company::domain).map(str::to_owned),
            derived: false,
        })
    }

    fn derived(company: &Company) -> Self {
        let domain = company.domain().map(str::to_owned);
        let given = domain.clone().unwrap_or_default();
        Self { given, name: Some(company.name.clone()), domain, derived: true }
    }
}

impl ShownCompany {
    fn of(company: &Company, parent: Option<ShownParent>, confidence: u8) -> Self {
        let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (scheme, id) in company.ids.iter().filter_map(|id| id.split_once(':')) {
            ids.entry(scheme.to_owned()).or_default().push(id.to_owned());
        }
        Self {
            name: company.name.clone(),
            aliases: company.aliases.clone(),
            country: company.seats.iter().map(|seat| Country::alpha2(*seat)).collect(),
            domains: company.sites.iter().map(|site| site.domain.clone()).collect(),
            ids,
            parent,
            confidence,
        }
    }
}

impl Shown for LookedUp {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(company) = &self.company else { return writeln!(out, "nothing found") };
        let mut pairs = Pairs::default().add("name", &company.name);
        for (title, values) in [("aliases", &company.aliases), ("domains", &company.domains)] {
            if !values.is_empty() {
                pairs = pairs.add(title, values.join(", "));
            }
        }
        if !company.country.is_empty() {
            pairs = pairs.add("country", company.country.join(", "));
        }
        for (scheme, ids) in &company.ids {
            pairs = pairs.add(&format!("{scheme} id"), ids.join(", "));
        }
        if let Some(parent) = &company.parent {
            let shown = match (&parent.name, &parent.domain) {
                (Some(name), Some(domain)) => format!("{name} ({domain})"),
                (Some(name), None) => name.clone(),
                (None, _) => format!("{}, which the directory does not have", parent.given),
            };
            let derived = if parent.derived { ", derived from names and domains" } else { "" };
            pairs = pairs.add("parent", format!("{shown}{derived}"));
        }
        pairs.add("confidence", company.confidence).write(out)
    }
}

/// Looks up what `question` asks for. A company is returned with its whole profile.
pub(super) fn find(
    directory: &SqliteDirectory,
    question: &Question,
) -> Result<Option<Found>, Failure> {
    Ok(pollster::block_on(directory.find(question, Projection::Profile))?)
}
