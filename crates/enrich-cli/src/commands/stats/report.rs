//! The report of `enrich stats`, as JSON and as text. The format of the JSON is documented and does
//! not change.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use enrich_core::Timestamp;
use enrich_core::port::importer::Importer;
use enrich_core::port::suppression_lists::{ListCounts, SuppressionLists};
use enrich_store::{DatabaseSize, DuplicateSearch, KindStatistics, Outcomes, Sizes, Store};
use serde::Serialize;

use super::super::duplicates::ShownCount;
use super::super::table::{Pairs, write_table};
use super::super::{Failure, Shown, named};
use super::{MAX_ACCOUNTS, date};

/// Maximum number of countries, of accounts, and of days that the text shows. The JSON contains
/// all.
const MAX_SHOWN: usize = 10;

#[derive(Serialize)]
pub(super) struct Report {
    at: Timestamp,
    subjects: Subjects,
    /// How many companies, people and domains have each attribute.
    coverage: Coverage,
    /// The countries; the one with the most companies is first.
    countries: Vec<Country>,
    sources: Vec<Source>,
    /// How many companies have values from one source, from two sources, and so on.
    company_sources: Vec<BySources>,
    shared_names: SharedNames,
    /// How many companies look alike but are not one company. There is one count for each kind of
    /// resemblance, for example the same host.
    unmerged: Vec<ShownCount>,
    suppression: Suppression,
    usage: Usage,
    databases: BTreeMap<&'static str, Database>,
}

#[derive(Serialize)]
struct Subjects {
    companies: u64,
    people: u64,
    domains: u64,
}

#[derive(Serialize)]
struct Coverage {
    companies: BTreeMap<&'static str, u64>,
    people: BTreeMap<&'static str, u64>,
    domains: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct Country {
    country: String,
    companies: u64,
    people: u64,
}

#[derive(Serialize)]
struct Source {
    source: String,
    records: u64,
    values: u64,
}

#[derive(Serialize)]
struct BySources {
    sources: usize,
    companies: u64,
}

/// How many names belong to more than one company, and how many companies have such a name.
#[derive(Serialize)]
struct SharedNames {
    names: u64,
    companies: u64,
}

#[derive(Serialize)]
struct Suppression {
    lists: u64,
    entries: u64,
    values: u64,
}

#[derive(Serialize)]
struct Usage {
    first_day: String,
    last_day: String,
    #[serde(flatten)]
    all: Counts,
    endpoints: Vec<OfEndpoint>,
    accounts: Vec<OfAccount>,
    /// The number of accounts that had calls but are not listed, because there are more than
    /// [`MAX_ACCOUNTS`].
    further_accounts: u64,
    days: Vec<OfDay>,
}

#[derive(Serialize)]
struct Counts {
    calls: u64,
    found: u64,
    not_found: u64,
    replayed: u64,
    refused: u64,
    credits: u64,
    hit_rate: Option<f64>,
}

#[derive(Serialize)]
struct OfEndpoint {
    endpoint: String,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct OfAccount {
    account: String,
    name: String,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct OfDay {
    day: String,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct Database {
    bytes: u64,
    free_bytes: u64,
}

impl Report {
    /// Creates the report. It adds up the usage of the days from `first` to `last`, in days since
    /// 1970-01-01.
    pub(super) fn gather(
        store: &Store,
        now: Timestamp,
        first: i64,
        last: i64,
    ) -> Result<Self, Failure> {
        let directory = store.directory_store().statistics()?;
        let used = store.use_statistics(first, last, MAX_ACCOUNTS)?;
        let sources = pollster::block_on(store.importer.sources())?;
        let ListCounts { lists, entries, values } = pollster::block_on(store.importer.counts())?;
        let Sizes { directory: directory_size, ledger: ledger_size } = store.sizes()?;
        let subjects = Subjects {
            companies: directory.companies.subjects,
            people: directory.people.subjects,
            domains: directory.domains,
        };
        let countries = countries(&directory.companies, &directory.people);
        let by_sources = directory.companies_by_sources.into_iter();
        let company_sources =
            by_sources.map(|(sources, companies)| BySources { sources, companies }).collect();
        let enrich_store::SharedNames { names, companies } = directory.shared_names;
        let shared_names = SharedNames { names, companies };
        let duplicates = store.directory_store().duplicates(&DuplicateSearch::default())?;
        let unmerged = duplicates.counts.into_iter();
        let unmerged = unmerged.map(|(kind, count)| ShownCount::of(kind, count)).collect();
        let mut companies = directory.companies.with_attribute;
        companies.insert("employees", directory.employers);
        let domains = BTreeMap::from([
            ("ip", directory.domains_with_ip),
            ("page_rank", directory.domains_with_page_rank),
        ]);
        let people = directory.people.with_attribute;
        let source = |info: enrich_core::port::importer::SourceInfo| Source {
            source: info.name.as_str().to_owned(),
            records: info.records,
            values: info.values,
        };
        Ok(Self {
            at: now,
            subjects,
            coverage: Coverage { companies, people, domains },
            countries,
            sources: sources.into_iter().map(source).collect(),
            company_sources,
            shared_names,
            unmerged,
            suppression: Suppression { lists, entries, values },
            usage: usage(used, first, last),
            databases: BTreeMap::from([
                ("directory", directory_size.into()),
                ("ledger", ledger_size.into()),
            ]),
        })
    }
}

/// Returns all countries that have a company or a person. The country with the most companies is
/// first.
fn countries(companies: &KindStatistics, people: &KindStatistics) -> Vec<Country> {
    let names = companies.in_country.keys().chain(people.in_country.keys());
    let country = |name: &&str| {
        let [companies, people] =
            [companies, people].map(|kind| kind.in_country.get(*name).copied().unwrap_or_default());
        Country { country: (*name).to_owned(), companies, people }
    };
    let mut countries: Vec<Country> =
        names.collect::<BTreeSet<_>>().into_iter().map(country).collect();
    countries.sort_by_key(|it| std::cmp::Reverse((it.companies, it.people)));
    countries
}

fn usage(used: enrich_store::UseStatistics, first: i64, last: i64) -> Usage {
    let endpoints = used.by_endpoint.into_iter();
    let accounts = used.by_account.into_iter();
    let days = used.by_day.into_iter();
    Usage {
        first_day: date(first),
        last_day: date(last),
        all: used.all.into(),
        endpoints: endpoints
            .map(|(endpoint, counts)| OfEndpoint { endpoint, counts: counts.into() })
            .collect(),
        accounts: accounts
            .map(|it| OfAccount {
                account: it.account.to_string(),
                name: it.name,
                counts: it.outcomes.into(),
            })
            .collect(),
        further_accounts: used.further_accounts,
        days: days.map(|(day, counts)| OfDay { day: date(day), counts: counts.into() }).collect(),
    }
}

impl From<Outcomes> for Counts {
    fn from(outcomes: Outcomes) -> Self {
        const PLACES: f64 = 10_000.0;
        let (calls, hit_rate) = (outcomes.calls(), outcomes.hit_rate());
        let Outcomes { found, not_found, replayed, refused, credits } = outcomes;
        let hit_rate = hit_rate.map(|rate| (rate * PLACES).round() / PLACES);
        Self { calls, found, not_found, replayed, refused, credits, hit_rate }
    }
}

impl From<DatabaseSize> for Database {
    fn from(size: DatabaseSize) -> Self {
        Self { bytes: size.bytes, free_bytes: size.free_bytes }
    }
}

/// Returns a share in percent with one decimal, such as `93.4 %`; `-` if `all` is 0.
fn percent(part: u64, all: u64) -> String {
    if all == 0 {
        return "-".to_owned();
    }
    let thousandths = (u128::from(part) * 1000 + u128::from(all) / 2) / u128::from(all);
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

impl Counts {
    fn hits(&self) -> String {
        percent(self.found, self.found.saturating_add(self.not_found))
    }

    fn cells(&self, name: String) -> Vec<String> {
        let numbers = [self.calls, self.found, self.not_found, self.replayed, self.refused];
        let numbers = numbers.iter().map(u64::to_string);
        let last = [self.hits(), self.credits.to_string()];
        [name].into_iter().chain(numbers).chain(last).collect()
    }
}

impl Shown for Report {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_contents(out)?;
        self.write_use(out)?;
        writeln!(out)?;
        let mut sizes = Pairs::default();
        for (name, it) in &self.databases {
            let (all, free) = (named::size(it.bytes), named::size(it.free_bytes));
            sizes = sizes.add(name, format!("{all}, {free} of it free"));
        }
        sizes.write(out)
    }
}

impl Report {
    fn write_contents(&self, out: &mut dyn Write) -> io::Result<()> {
        let kinds = [
            ("companies", self.subjects.companies, &self.coverage.companies),
            ("people", self.subjects.people, &self.coverage.people),
            ("domains", self.subjects.domains, &self.coverage.domains),
        ];
        let mut rows = Vec::new();
        for (kind, all, coverage) in kinds {
            rows.push(vec![kind.to_owned(), all.to_string(), String::new()]);
            for (attribute, count) in coverage {
                rows.push(vec![format!("  {attribute}"), count.to_string(), percent(*count, all)]);
            }
        }
        write_table(&["SUBJECTS", ">NUMBER", ">COVERED"], rows, out)?;
        if !self.countries.is_empty() {
            writeln!(out)?;
            let shown = self.countries.iter().take(MAX_SHOWN);
            let rows = shown.map(|it| {
                vec![it.country.clone(), it.companies.to_string(), it.people.to_string()]
            });
            write_table(&["COUNTRY", ">COMPANIES", ">PEOPLE"], rows, out)?;
            tell_of_more(self.countries.len(), "countries", out)?;
        }
        if !self.sources.is_empty() {
            writeln!(out)?;
            let rows = self
                .sources
                .iter()
                .map(|it| vec![it.source.clone(), it.records.to_string(), it.values.to_string()]);
            write_table(&["SOURCE", ">RECORDS", ">VALUES"], rows, out)?;
        }
        if self.company_sources.len() > 1 {
            writeln!(out)?;
            let cells = |it: &BySources| vec![it.sources.to_string(), it.companies.to_string()];
            let rows = self.company_sources.iter().map(cells);
            write_table(&[">FROM SOURCES", ">COMPANIES"], rows, out)?;
        }
        let SharedNames { names, companies } = self.shared_names;
        if names > 0 {
            writeln!(out, "\nNames of several companies: {names}, of {companies} companies")?;
        }
        if self.unmerged.iter().any(|count| count.pairs > 0) {
            writeln!(out)?;
            ShownCount::write_all(&self.unmerged, out)?;
        }
        let Suppression { lists, entries, values } = self.suppression;
        if lists + values > 0 {
            writeln!(out, "\nSuppressed: {values} values, {entries} entries of {lists} lists")?;
        }
        Ok(())
    }

    fn write_use(&self, out: &mut dyn Write) -> io::Result<()> {
        let Usage { first_day, last_day, all, endpoints, accounts, days, .. } = &self.usage;
        writeln!(out, "\nUse from {first_day} to {last_day} (UTC):")?;
        if all.calls == 0 {
            return writeln!(out, "no calls");
        }
        let of_endpoints = endpoints.iter().map(|it| it.counts.cells(it.endpoint.clone()));
        write_counts("ENDPOINT", of_endpoints.chain([all.cells("together".to_owned())]), out)?;
        writeln!(out)?;
        let of_accounts = accounts.iter().take(MAX_SHOWN);
        let cells = of_accounts.map(|it| it.counts.cells(format!("{} {}", it.account, it.name)));
        write_counts("ACCOUNT", cells, out)?;
        let further = usize::try_from(self.usage.further_accounts).unwrap_or(usize::MAX);
        tell_of_more(accounts.len().saturating_add(further), "accounts", out)?;
        writeln!(out)?;
        let newest = days.len().saturating_sub(MAX_SHOWN);
        let cells = days.iter().skip(newest).map(|it| it.counts.cells(it.day.clone()));
        write_counts("DAY", cells, out)?;
        tell_of_more(days.len(), "days", out)
    }
}

/// Writes the number of rows that the text does not show, because there are more than
/// [`MAX_SHOWN`].
fn tell_of_more(all: usize, what: &str, out: &mut dyn Write) -> io::Result<()> {
    match all.saturating_sub(MAX_SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "and {more} more {what}; --json has them"),
    }
}

fn write_counts(
    title: &'static str,
    rows: impl Iterator<Item = Vec<String>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let titles =
        [title, ">CALLS", ">FOUND", ">NOT FOUND", ">REPLAYED", ">REFUSED", ">HIT RATE", ">CREDITS"];
    write_table(&titles, rows, out)
}
