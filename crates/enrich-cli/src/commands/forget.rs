//! `enrich forget`: suppresses values, such as an email address. Look-ups no longer answer with a
//! suppressed value, and imports no longer add it.
//!
//! The values are personal data, so results, errors and logs never repeat them.

mod list;

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use enrich_core::Clock;
use enrich_core::port::importer::{Importer, Removed, Suppressed};
use enrich_snapshot::forget;
use enrich_store::{Secrets, SqliteImporter, Store, SystemClock};
use enrich_store_postgres::CommandPorts;
use enrich_text::{CompanyName, Domain, EmailAddress, PersonPage, Phone, is_public_mail_host};
use serde::Serialize;

use super::table::Pairs;
use super::{Common, Console, Failure, Shown, Verdict};
use crate::settings::StoreUrl;
use list::ListArgs;

/// Printed after values were suppressed on all nodes, if the data folder has no directory (look-up
/// data). In this case another machine imports the records, and its look-up data still contains the
/// values.
const ALSO_ELSEWHERE: &str = "no node answers with the values any more; run the same command on \
                              the machine that imports, which still has them";

/// Maximum number of values that one run of the command accepts.
const MAX_VALUES: usize = 100_000;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich forget ada@quill.example \"+44 20 7946 0123\" linkedin.com/in/ada-example
  enrich forget quill.example --kind domain
  enrich forget - < erasure-requests.txt
  enrich forget --kind missed \"Ada Penn\"
  enrich forget --list drop-download.zip

A person's page removes the whole person; a domain removes everything at it and at its subdomains.
Also name the person's email addresses and phone numbers: otherwise an import of a source that has
them without the page brings them back. The kind of a value is detected from its text, unless --kind
names it. Forgotten values are never printed or logged. A running server stops answering with them
at once, also in repeated requests (Idempotency-Key); within seconds, it removes the rows that
contain them from the lists of the account page. JSON: {\"forgotten\",\"values\",\"subjects\"}: the
numbers of suppressed values, removed values and removed subjects.

--list loads a suppression list of any length: an archive of DROP with its answers, hashes of email
addresses, or values. The format is detected, unless --format names it. All lines are checked before
anything is changed. If a run was interrupted, run the same command again. JSON: {\"entries\",\"new\",
\"taken_back\",\"values\",\"subjects\",\"answers\"}: the numbers of entries read, of entries that no
earlier list had, of entries that are no longer in force, of removed values and removed subjects;
and the answer files as {\"file\",\"deleted\",\"not_found\"}. For a list of values, the JSON is that
of values.

Exit status: 0 when it is done; 1 if an answer file exists already; 2 if a value or a list cannot be
used: nothing was changed.")]
pub(crate) struct Forget {
    /// Email addresses, phone numbers, person pages or domains; `-` reads them from standard input,
    /// one per line
    #[arg(value_name = "VALUE", required_unless_present = "list")]
    values: Vec<String>,
    /// Kind of all the values [default: detected from each value]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    #[command(flatten)]
    list: ListArgs,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Email address: ada@quill.example
    Email,
    /// Phone number: +44 20 7946 0123
    Phone,
    /// Page of a person: linkedin.com/in/ada-example
    Page,
    /// Domain: quill.example
    Domain,
    /// Text that a call sent as a company's name: removes its count from `enrich stats --misses`,
    /// and suppresses nothing
    Missed,
}

#[derive(Serialize)]
struct Forgotten {
    forgotten: u64,
    values: u64,
    subjects: u64,
}

impl Forget {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        if let Some(path) = &self.list.list {
            return self.list.run(path, self.kind, &self.common, console);
        }
        // All values are parsed before the first one is suppressed, so that an invalid value
        // changes nothing.
        let texts = all_of(self.values, &mut io::stdin().lock())?;
        if self.kind == Some(Kind::Missed) {
            return forget_missed(&texts, &self.common, console);
        }
        let read = |(place, text): (usize, &String)| {
            read(text, self.kind).map_err(|fault| {
                Failure::Impossible(format!(
                    "value {} of {} cannot be used, and nothing was forgotten: {fault}",
                    place + 1,
                    texts.len()
                ))
            })
        };
        let suppressed = texts.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        let from = ForgetFrom::open(&self.common)?;
        let forgotten = from.forget(&suppressed)?;
        from.note_what_remains(console);
        self.common.show(&forgotten, console)
    }
}

/// Everything from which `enrich forget` removes values.
struct ForgetFrom {
    nodes: Option<Nodes>,
    /// The look-up data; `None` if the data folder contains none, because another machine imports
    /// the records.
    importer: Option<Arc<SqliteImporter>>,
    /// The data folder, if it contains the counts of company names that look-ups did not find. Such
    /// a name may be a value that must be forgotten. `None` if `nodes` share the counts in
    /// PostgreSQL.
    whole: Option<Store>,
}

impl ForgetFrom {
    fn open(common: &Common) -> Result<Self, Failure> {
        let Some(url) = common.data.store()? else {
            let store = Store::open(common.data.path())?;
            let importer = Some(Arc::clone(&store.importer));
            return Ok(Self { nodes: None, importer, whole: Some(store) });
        };
        let nodes = Some(Nodes::open(&url, common)?);
        let importer = common.data.find_directory()?.map(|directory| directory.importer);
        Ok(Self { nodes, importer, whole: None })
    }

    /// Suppresses values, first on all nodes and then in the directory (the look-up data) of this
    /// data folder.
    fn forget(&self, suppressed: &[Suppressed]) -> Result<Forgotten, Failure> {
        if let Some(nodes) = &self.nodes {
            nodes.forget(suppressed)?;
        }
        let mut removed = Removed::default();
        if let Some(importer) = &self.importer {
            let forgetting = importer.forget(suppressed, SystemClock.now());
            removed =
                pollster::block_on(forgetting).map_err(|error| Failure::impossible(&error))?;
        }
        if let Some(store) = &self.whole {
            for name in suppressed.iter().filter_map(missed_name) {
                store.forget_missed(&name)?;
            }
        }
        let Removed { values, subjects } = removed;
        Ok(Forgotten { forgotten: suppressed.len() as u64, values, subjects })
    }

    /// If the data folder has no directory (look-up data), prints what the user must still do: run
    /// the same command on the machine that imports.
    fn note_what_remains(&self, console: &mut Console<'_>) {
        if self.importer.is_none() {
            console.note(ALSO_ELSEWHERE);
        }
    }
}

impl Shown for Forgotten {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("forgotten", self.forgotten)
            .add("values removed", self.values)
            .add("subjects removed", self.subjects)
            .write(out)
    }
}

/// The nodes: servers that share a PostgreSQL database.
struct Nodes {
    ports: CommandPorts,
    secrets: Secrets,
}

impl Nodes {
    fn open(url: &StoreUrl, common: &Common) -> Result<Self, Failure> {
        let secrets = common.data.secrets()?;
        Ok(Self { ports: CommandPorts::open(url.expose(), &secrets)?, secrets })
    }

    /// Suppresses values on all nodes. Does not remove them from the look-up data in this data
    /// folder; [`ForgetFrom::forget`] does this.
    fn forget(&self, what: &[Suppressed]) -> Result<(), Failure> {
        forget(&*self.ports.snapshots, &self.secrets, what, SystemClock.now())?;
        for name in what.iter().filter_map(missed_name) {
            pollster::block_on(self.ports.missed_names.forget(&name))?;
        }
        Ok(())
    }
}

/// Returns the company name whose count must also be removed if this value is forgotten. Company
/// names that look-ups did not find are counted. If a request contained a domain in place of a
/// company name, the domain may be one of these names. Returns `None` if the value is not a domain.
fn missed_name(what: &Suppressed) -> Option<CompanyName> {
    match what {
        Suppressed::Domain(domain) => CompanyName::parse(domain.as_str()).ok(),
        _ => None,
    }
}

/// Removes names from the counts of company names that look-ups did not find.
fn forget_missed(
    texts: &[String],
    common: &Common,
    console: &mut Console<'_>,
) -> Result<Verdict, Failure> {
    let name = |(place, text): (usize, &String)| {
        CompanyName::parse(text).map_err(|error| {
            Failure::Impossible(format!("value {} cannot be used: {error}", place + 1))
        })
    };
    let names = texts.iter().enumerate().map(name).collect::<Result<Vec<_>, _>>()?;
    let missed_names = common.open_missed_names()?;
    let mut values = 0;
    for name in &names {
        values += missed_names.forget(name)?;
    }
    let forgotten = names.len() as u64;
    common.show(&Forgotten { forgotten, values, subjects: 0 }, console)
}

/// Returns the values that the user has given. The value `-` is replaced by the lines of `input`.
fn all_of(typed: Vec<String>, input: &mut dyn BufRead) -> Result<Vec<String>, Failure> {
    let mut values = Vec::new();
    for value in typed {
        if value != "-" {
            values.push(value);
            continue;
        }
        for line in (&mut *input).lines() {
            let line = line.map_err(|error| {
                Failure::Impossible(format!("standard input cannot be read: {error}"))
            })?;
            if !line.trim().is_empty() {
                values.push(line);
            }
            if values.len() > MAX_VALUES {
                return Err(Failure::Impossible(format!(
                    "one run forgets at most {MAX_VALUES} values; split the list"
                )));
            }
        }
    }
    Ok(values)
}

/// Parses a value. If this fails, the error does not contain the value.
fn read(text: &str, kind: Option<Kind>) -> Result<Suppressed, String> {
    let fault = |error: &dyn std::error::Error| error.to_string();
    match kind.unwrap_or_else(|| kind_of(text)) {
        Kind::Email => EmailAddress::parse(text).map(Suppressed::Email).map_err(|e| fault(&e)),
        Kind::Phone => Phone::parse(text).map(Suppressed::Phone).map_err(|e| fault(&e)),
        Kind::Page => PersonPage::parse(text).map(Suppressed::PersonPage).map_err(|e| fault(&e)),
        Kind::Domain => {
            let domain = Domain::parse(text).map_err(|e| fault(&e))?;
            if kind.is_none() && is_public_mail_host(&domain) {
                return Err("this is a mail host that many people have their address at; \
                            `--kind domain` forgets all of them"
                    .to_owned());
            }
            Ok(Suppressed::Domain(domain))
        }
        Kind::Missed => Err("a name that was missed is not suppressed".to_owned()),
    }
}

/// Guesses the kind of a value from its text.
fn kind_of(text: &str) -> Kind {
    let text = text.trim().to_lowercase();
    let is_page = text.contains("linkedin.com/");
    let is_number = text.starts_with('+') || !text.chars().any(char::is_alphabetic);
    match () {
        () if is_page => Kind::Page,
        () if text.contains('@') => Kind::Email,
        () if is_number => Kind::Phone,
        () => Kind::Domain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_shows_from_the_text() {
        for (text, kind) in [
            ("ada@quill.example", Kind::Email),
            ("Ada <Ada@Quill.example>", Kind::Email),
            ("+44 20 7946 0123", Kind::Phone),
            ("0044 20 7946 0123", Kind::Phone),
            ("https://www.LinkedIn.com/in/ada-example", Kind::Page),
            ("quill.example", Kind::Domain),
            ("https://quill.example/about", Kind::Domain),
            ("пример.example", Kind::Domain),
        ] {
            assert_eq!(kind_of(text), kind, "{text}");
            assert!(read(text, None).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_fault_does_not_repeat_the_value() {
        for text in ["ada@", "+12", "linkedin.com/company/secretive", "secretive", "x@secretive"] {
            let fault = read(text, None).unwrap_err();
            assert!(!fault.contains("secretive"), "{fault}");
        }
    }

    #[test]
    fn a_public_mail_host_is_forgotten_only_if_that_is_said() {
        assert!(read("gmail.com", None).is_err());
        assert!(read("gmail.com", Some(Kind::Domain)).is_ok());
    }

    #[test]
    fn a_dash_stands_for_the_lines_of_standard_input() {
        let typed = vec!["a.example".to_owned(), "-".to_owned()];
        let values = all_of(typed, &mut "b.example\n\n c.example \r\n".as_bytes()).unwrap();
        assert_eq!(values, ["a.example", "b.example", " c.example "]);
    }
}
