//! Shows the company that has an external id, for operators.

use std::collections::BTreeMap;
use std::io::{self, Write};

use enrich_core::port::directory::Directory;
use enrich_core::{Company, CompanyRef, Found, Parent, Projection, Question};
use enrich_store::SqliteDirectory;
use enrich_text::{Country, ExternalId};
use serde::Serialize;

use super::super::table::Pairs;
use super::super::{Failure, Shown};

/// The company that was found; `None` if no company has the id.
#[derive(Debug, Serialize)]
pub(super) struct LookedUp {
    company: Option<ShownCompany>,
}

#[derive(Debug, Serialize)]
struct ShownCompany {
    name: String,
    aliases: Vec<String>,
    /// The alpha-2 codes of the seats.
    country: Vec<&'static str>,
    domains: Vec<String>,
    /// The ids by scheme.
    ids: BTreeMap<String, Vec<String>>,
    parent: Option<ShownParent>,
    /// The confidence in percent. It is at most 80 if another company also has the id.
    confidence: u8,
}

/// The organisation that a company belongs to.
#[derive(Debug, Serialize)]
struct ShownParent {
    /// The id, domain or name that a source gives.
    given: String,
    /// The name of the company that `given` refers to; `None` if the directory has no such company.
    name: Option<String>,
    domain: Option<String>,
}

impl LookedUp {
    /// Finds the company with an id, and the organisation that the company belongs to.
    pub(super) fn of(directory: &SqliteDirectory, id: &ExternalId) -> Result<Self, Failure> {
        let Some(found) = find(directory, CompanyRef::Id(id.clone()))? else {
            return Ok(Self { company: None });
        };
        let confidence = found.confidence.percent();
        let Some(company) = found.company() else { return Ok(Self { company: None }) };
        let parent = match company.parent.as_deref() {
            Some(text) => Some(ShownParent::of(directory, text)?),
            None => None,
        };
        Ok(Self { company: Some(ShownCompany::of(company, parent, confidence)) })
    }
}

impl ShownParent {
    fn of(directory: &SqliteDirectory, text: &str) -> Result<Self, Failure> {
        let found = match Parent::parse(text) {
            Ok(parent) => find(directory, parent.company_ref())?,
            Err(_) => None,
        };
        let company = found.as_ref().and_then(Found::company);
        Ok(Self {
            given: text.to_owned(),
            name: company.map(|company| company.name.clone()),
            domain: company.and_then(Company::domain).map(str::to_owned),
        })
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
            pairs = pairs.add("parent", shown);
        }
        pairs.add("confidence", company.confidence).write(out)
    }
}

fn find(directory: &SqliteDirectory, company: CompanyRef) -> Result<Option<Found>, Failure> {
    let question = Question::Company(company);
    Ok(pollster::block_on(directory.find(&question, Projection::Profile))?)
}
