//! Looks up email addresses of companies. The look-up data does not contain these addresses,
//! because the companies are imported without them. So only the domain after the `@` can find the
//! company.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use enrich_core::CompanyRef;
use enrich_store::Store;
use enrich_text::{Domain, EmailAddress, is_public_mail_host};
use serde::Deserialize;

use super::asked::{Tally, ask};

/// A row of the evaluation set's file `email_phone`.
#[derive(Deserialize)]
pub(crate) struct MailRow {
    email: String,
    /// How the domain of the address relates to the company's domain: `same`, `other`, or `free`
    /// for a public mail host.
    email_domain_relation: String,
}

/// The expected answer for an address.
#[derive(Debug, PartialEq, Eq)]
enum Expected<'a> {
    /// The imported company with this main domain must be found.
    Company(&'a str),
    /// The look-up must find nothing, because anybody can get an address at this domain.
    PublicHost,
    /// The look-up must find nothing, because no company with this domain was imported.
    Unknown,
}

/// Looks up every address and reports the answers.
pub(crate) fn report(
    store: &Store,
    rows: &[MailRow],
    known: &HashMap<String, String>,
    short: &mut Vec<String>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let [mut at_company, mut at_public, mut at_unknown] = [(); 3].map(|()| Tally::default());
    for row in rows {
        let (tally, domain) = match expected(row, known) {
            Expected::Company(domain) => (&mut at_company, Some(domain)),
            Expected::PublicHost => (&mut at_public, None),
            Expected::Unknown => (&mut at_unknown, None),
        };
        // The part before `@` may name a person. So the report shows only the part after it.
        let at_host = format!("…@{}", host(row));
        tally.begin(&row.email);
        let outcome = ask(store, read(&row.email), domain)?;
        let is_public = Domain::parse(host(row)).is_ok_and(|host| is_public_mail_host(&host));
        let outcome = outcome.map_err(|reason| match is_public {
            true => format!("{reason}, since anyone can have an address there"),
            false => reason,
        });
        tally.note("address", &at_host, outcome);
    }
    let kinds = [
        (at_company, "addresses at an imported company's domain, which find it"),
        (at_unknown, "addresses at domains of nobody, which find nobody"),
        (at_public, "addresses at public mail hosts, which find nobody"),
    ];
    for (tally, title) in kinds {
        tally.hold_to_required(title, short);
        tally.tell(title, "addresses", out)?;
    }
    Ok(())
}

/// Checks public mail hosts whose domain is also a domain of an imported company. Anybody can get
/// an address at such a host, so an address there must not find the company. Reports the hosts at
/// which an address finds the company.
pub(crate) fn report_listed(
    store: &Store,
    set: &Path,
    known: &HashMap<String, String>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let list = set.join("..").join("sources").join("free_email_domains.json");
    if !list.is_file() {
        writeln!(out, "{} is not there: no list of public mail hosts is asked", list.display())?;
        return Ok(());
    }
    let text =
        fs::read_to_string(&list).with_context(|| format!("{} can't be read", list.display()))?;
    let hosts: Vec<String> = serde_json::from_str(&text)
        .with_context(|| format!("{} is no list of hosts", list.display()))?;
    let mut everywhere = Tally::default();
    for host in hosts.iter().filter(|host| known.contains_key(host.as_str())) {
        let address = format!("somebody@{host}");
        everywhere.begin(host);
        everywhere.note("address", &address, ask(store, read(&address), None)?);
    }
    let title = "domains of imported companies that are listed as public mail hosts elsewhere, where \
                 addresses find nobody";
    everywhere.tell(title, "hosts", out)
}

fn read(address: &str) -> Result<CompanyRef, String> {
    EmailAddress::parse(address).map(CompanyRef::Email).map_err(|error| error.to_string())
}

fn host(row: &MailRow) -> &str {
    row.email.rsplit('@').next().unwrap_or_default()
}

fn expected<'a>(row: &MailRow, known: &'a HashMap<String, String>) -> Expected<'a> {
    if row.email_domain_relation == "free" {
        return Expected::PublicHost;
    }
    let Ok(domain) = Domain::parse(host(row)) else { return Expected::Unknown };
    let found = known.get(domain.as_str()).or_else(|| known.get(domain.registrable().as_str()));
    found.map_or(Expected::Unknown, |main| Expected::Company(main))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_to_find_the_company_at_its_domain() {
        let pairs = [("quill.example", "quill.example"), ("quills.example", "quill.example")];
        let known = pairs.map(|(domain, main)| (domain.to_owned(), main.to_owned())).into();
        let expected = |email: &str, relation: &str| {
            let (email, email_domain_relation) = (email.to_owned(), relation.to_owned());
            match super::expected(&MailRow { email, email_domain_relation }, &known) {
                Expected::Company(domain) => domain.to_owned(),
                other => format!("{other:?}"),
            }
        };
        assert_eq!(expected("ada@quill.example", "same"), "quill.example");
        assert_eq!(expected("Ada@Mail.Quills.example", "other"), "quill.example");
        assert_eq!(expected("ada@inkwell.example", "other"), "Unknown");
        assert_eq!(expected("ada@quill.example", "free"), "PublicHost");
    }
}
