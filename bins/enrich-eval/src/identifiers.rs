//! Checks that a company is found by every spelling of its social-media pages and further domains,
//! and by email addresses at its domains.

mod asked;
mod chosen;
mod forms;
mod mail;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::Path;

use enrich_core::CompanyRef;
use enrich_store::Store;
use enrich_text::{Domain, Network, PageUrl};
use serde_json::{Value, json};

use crate::catalogue::{self, Row};
use crate::half::Half;
use crate::queries;
use asked::{REQUIRED, Tally, ask};
use chosen::{AliasRow, FurtherDomain, HeldPage, PageRow, normal};

/// The data to import, and the values to look up.
struct Plan {
    records: Vec<Value>,
    pages: Vec<HeldPage>,
    further: Vec<FurtherDomain>,
    /// Maps every domain of a company, main or further, to the company's main domain.
    known: HashMap<String, String>,
    /// Maps each social-media page to the companies that have it. The key is [`PageUrl::key`],
    /// which is the same for all spellings of one page. The value has a pair for each company: the
    /// page's handle as the evaluation set writes it, and the company's main domain.
    owners: HashMap<String, Vec<(String, String)>>,
}

/// Imports the catalogue together with the social-media pages and the further domains (domains
/// besides the main one) of the evaluation set. Then looks up these pages, these domains and email
/// addresses, and reports how many answers are right.
pub(crate) fn report(
    set: &Path,
    half: &Half,
    folder: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let files = ["social", "domain_aliases", "email_phone"];
    if files.iter().all(|file| half.file(file).is_none()) {
        let (files, half) = (files.join(", "), &half.name);
        writeln!(out, "the set has none of {files} of the half {half}: no identifiers are asked")?;
        return Ok(());
    }
    let plan = plan(catalogue::companies(set)?, half, out)?;
    let (store, report) = catalogue::imported(folder, &plan.records)?;
    writeln!(
        out,
        "identifiers: imported {} records to {}; {} values could not be read",
        report.read,
        folder.display(),
        report.dropped
    )?;
    for dropped in &report.dropped_values {
        writeln!(out, "  {} of {}: {}", dropped.count, dropped.field, dropped.reason)?;
    }
    let mut short = Vec::new();
    ask_pages(&store, &plan, &mut short, out)?;
    ask_further(&store, &plan, &mut short, out)?;
    match half.file("email_phone") {
        Some(path) => {
            mail::report(&store, &queries::rows(&path)?, &plan.known, &mut short, out)?;
        }
        None => tell_missing(half, "email_phone", out)?,
    }
    mail::report_listed(&store, set, &plan.known, out)?;
    if short.is_empty() {
        writeln!(
            out,
            "identifiers: at least {REQUIRED} of each kind asked are right, as is required"
        )?;
    } else {
        let short = short.join(", ");
        writeln!(out, "identifiers: less than the required {REQUIRED} are right of: {short}")?;
    }
    Ok(())
}

fn tell_missing(half: &Half, file: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    Ok(writeln!(out, "the set has no {file}_{}.csv: it is left out", half.name)?)
}

fn plan(companies: Vec<Row>, half: &Half, out: &mut dyn Write) -> anyhow::Result<Plan> {
    let page_rows: Vec<PageRow> = match half.file("social") {
        Some(path) => queries::rows(&path)?,
        None => {
            tell_missing(half, "social", out)?;
            Vec::new()
        }
    };
    let alias_rows: Vec<AliasRow> = match half.file("domain_aliases") {
        Some(path) => queries::rows(&path)?,
        None => {
            tell_missing(half, "domain_aliases", out)?;
            Vec::new()
        }
    };
    let on_linkedin = companies.iter().filter(|row| !row.linkedin.is_empty());
    let held: Vec<_> = on_linkedin
        .map(|row| (Network::LinkedIn, row.linkedin.as_str(), row.domain.as_str()))
        .collect();
    let pages = chosen::pages(&page_rows, &held);
    let main = companies.iter().map(|row| normal(&row.domain));
    let main: HashSet<String> =
        main.chain(pages.all.iter().map(|page| page.domain.clone())).collect();
    let further = chosen::further_domains(&alias_rows, &main);
    writeln!(
        out,
        "identifiers: {} pages and {} further domains name one company; {} and {} name two, or are \
         another's main domain, and are left out",
        pages.all.len(),
        further.all.len(),
        pages.ambiguous,
        further.ambiguous
    )?;
    let mut owners: HashMap<String, Vec<(String, String)>> = HashMap::new();
    let of_set = pages.all.iter().map(|page| (page.network, &*page.handle, &*page.domain));
    for (network, handle, domain) in held.into_iter().chain(of_set) {
        if let Ok(page) = PageUrl::parse(network, handle) {
            let owner = (handle.to_owned(), normal(domain));
            owners.entry(page.key().to_owned()).or_default().push(owner);
        }
    }
    let (records, known) = records(&companies, &pages.all, &further.all);
    Ok(Plan { records, pages: pages.all, further: further.all, known, owners })
}

/// Returns the records to import: one for each company in `companies` (the catalogue), and one for
/// each other company that has a social-media page in `pages` or a domain in `further`. Each record
/// contains the company's pages and further domains. Also returns a map from every domain, main or
/// further, to the company's main domain.
fn records(
    companies: &[Row],
    pages: &[HeldPage],
    further: &[FurtherDomain],
) -> (Vec<Value>, HashMap<String, String>) {
    let mut records: Vec<Value> = companies.iter().map(Row::record).collect();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, row) in companies.iter().enumerate() {
        places.entry(normal(&row.domain)).or_insert(place);
    }
    let mut place_of = |records: &mut Vec<Value>, domain: &str, name: &str| {
        *places.entry(domain.to_owned()).or_insert_with(|| {
            let name = if name.is_empty() { domain } else { name };
            records.push(json!({
                "type": "company", "id": format!("set-{domain}"), "name": name,
                "domains": [domain],
            }));
            records.len() - 1
        })
    };
    for page in pages {
        let place = place_of(&mut records, &page.domain, &page.name);
        add(&mut records[place][page.network.as_str()], &page.handle);
    }
    for one in further {
        let place = place_of(&mut records, &one.domain, &one.name);
        add(&mut records[place]["domains"], &one.text);
    }
    let main = places.into_keys().map(|domain| (domain.clone(), domain));
    let more = further.iter().map(|one| (normal(&one.text), one.domain.clone()));
    (records, main.chain(more).collect())
}

fn add(list: &mut Value, value: &str) {
    match list {
        Value::Array(values) => values.push(json!(value)),
        _ => *list = json!([value]),
    }
}

fn ask_pages(
    store: &Store,
    plan: &Plan,
    short: &mut Vec<String>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut tallies: BTreeMap<Network, Tally> = BTreeMap::new();
    for page in &plan.pages {
        let tally = tallies.entry(page.network).or_default();
        tally.begin(&page.handle);
        for (form, text) in forms::of_page(page.network, &page.handle) {
            let read = PageUrl::parse(page.network, &text);
            let key = read.as_ref().map(|page| page.key().to_owned()).unwrap_or_default();
            let company = read.map(CompanyRef::Page).map_err(|error| error.to_string());
            let outcome = ask(store, company, Some(&page.domain))?;
            let outcome = outcome.map_err(|reason| {
                let others = plan.owners.get(&key).into_iter().flatten();
                let other = others.into_iter().find(|(_, domain)| *domain != page.domain);
                match other {
                    Some((handle, domain)) => {
                        format!("{reason}; {handle} of {domain} is compared as the same page")
                    }
                    None => reason,
                }
            });
            tally.note(form, &text, outcome);
        }
    }
    for (network, tally) in tallies {
        tally.tell(network.as_str(), "pages", out)?;
        tally.hold_to_required(network.as_str(), short);
    }
    Ok(())
}

fn ask_further(
    store: &Store,
    plan: &Plan,
    short: &mut Vec<String>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if plan.further.is_empty() {
        return Ok(());
    }
    let mut tally = Tally::default();
    for one in &plan.further {
        tally.begin(&one.text);
        for (form, text) in forms::of_domain(&one.text) {
            let read = Domain::parse(&text).map_err(|error| error.to_string());
            let outcome = ask(store, read.map(CompanyRef::Domain), Some(&one.domain))?;
            tally.note(form, &text, outcome);
        }
    }
    tally.hold_to_required("further domains", short);
    tally.tell("further domains", "domains", out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_domains_go_to_their_company_and_others_get_a_record() {
        let companies: Vec<Row> = serde_json::from_value(json!([
            {"id": "1", "name": "Quill Press", "domain": "quill.example", "country": "CH",
             "linkedin": "quill-press"},
            {"id": "2", "name": "Quill", "domain": "quill.example", "country": "", "linkedin": ""},
        ]))
        .unwrap();
        let page = |network, handle: &str, domain: &str| HeldPage {
            network,
            handle: handle.to_owned(),
            domain: domain.to_owned(),
            name: "Somebody".to_owned(),
        };
        let pages = [
            page(Network::LinkedIn, "quill", "quill.example"),
            page(Network::Twitter, "quill", "quill.example"),
            page(Network::Twitter, "inkwell", "inkwell.example"),
            HeldPage {
                name: String::new(),
                ..page(Network::Twitter, "nameless", "nameless.example")
            },
        ];
        let further = [FurtherDomain {
            text: "Quills.example".to_owned(),
            domain: "quill.example".to_owned(),
            name: "Somebody".to_owned(),
        }];
        let (records, known) = records(&companies, &pages, &further);
        assert_eq!(records.len(), 4);
        assert_eq!(records[0]["linkedin"], json!(["quill-press", "quill"]));
        assert_eq!(records[0]["twitter"], json!(["quill"]));
        assert_eq!(records[0]["domains"], json!(["quill.example", "Quills.example"]));
        assert_eq!(records[1].get("twitter"), None);
        assert_eq!(records[2]["name"], "Somebody");
        assert_eq!(records[2]["twitter"], json!(["inkwell"]));
        assert_eq!(known.get("quills.example").map(String::as_str), Some("quill.example"));
        assert_eq!(records[3]["name"], "nameless.example");
        assert_eq!(known.len(), 4);
    }
}
