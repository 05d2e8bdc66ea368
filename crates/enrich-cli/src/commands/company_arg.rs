//! Finds the company that an operator names, and shows it with its records.

use std::str::FromStr;

use enrich_core::resolution::{DecidedRecord, RecordClaims};
use enrich_core::{Company, SubjectId};
use enrich_store::{CompanyKey, CompanyRecords, SqliteImporter};
use enrich_text::{CompanyName, Domain, ExternalId};
use serde::Serialize;

use super::Failure;
use super::table::Row;

/// The text before a company's number on the command line: `company:17`.
const NUMBER: &str = "company:";
/// Maximum number of companies that the message about an ambiguous name lists.
const MAX_NAMED: usize = 10;

/// Maximum number of domains, and of ids, that a table shows for a record.
const MAX_VALUES: usize = 3;

/// A company as the user names it: by a domain, an id in a register or data set, a name, or its
/// number in the look-up data (`company:17`). The look-up data may have no such company.
#[derive(Clone, Debug)]
pub(crate) struct CompanyArg {
    typed: String,
    /// The possible meanings of the text, for example a domain or a name. They are tried in this
    /// order, and the first one that finds a company is used.
    keys: Vec<CompanyKey>,
}

impl FromStr for CompanyArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let typed = text.trim().to_owned();
        let keys = match typed.strip_prefix(NUMBER).map(str::parse) {
            Some(Ok(number)) => vec![CompanyKey::Number(SubjectId(number))],
            Some(Err(_)) => return Err("a number follows `company:`, as in company:17".to_owned()),
            None => keys(&typed)?,
        };
        Ok(Self { typed, keys })
    }
}

fn keys(text: &str) -> Result<Vec<CompanyKey>, String> {
    if ExternalId::is_like(text) {
        let id = ExternalId::from_text(text).map_err(|error| error.to_string())?;
        return Ok(vec![CompanyKey::Id(id)]);
    }
    let name = CompanyName::parse(text).map_err(|error| error.to_string())?;
    let is_one_word = !text.contains(char::is_whitespace);
    let domain = Domain::parse(text).ok().filter(|_| is_one_word);
    Ok(domain.map(CompanyKey::Domain).into_iter().chain([CompanyKey::Name(name)]).collect())
}

/// A company that was found, and the key (a domain, an id, a number or a name) that has found it.
#[derive(Debug)]
pub(crate) struct NamedCompany {
    pub(crate) found: CompanyRecords,
    key: CompanyKey,
}

impl CompanyArg {
    /// Finds the company. Returns an error if there is none, or if the text fits several companies.
    pub(crate) fn find(&self, importer: &SqliteImporter) -> Result<NamedCompany, Failure> {
        for key in &self.keys {
            let mut found = pollster::block_on(importer.companies(key))?;
            prefer(&mut found, key);
            match found.len() {
                0 => {}
                1 => {
                    let key = key.clone();
                    return Ok(NamedCompany { found: found.remove(0), key });
                }
                _ => return Err(Failure::refused(self.ambiguous(&found))),
            }
        }
        Err(Failure::refused(format!("the directory has no company {}", self.typed)))
    }

    fn ambiguous(&self, found: &[CompanyRecords]) -> String {
        let named = found.iter().take(MAX_NAMED).map(|it| {
            let ShownCompany { company, name, domain, .. } = ShownCompany::of(&it.company);
            match domain {
                Some(domain) => format!("{company} ({name}, {domain})"),
                None => format!("{company} ({name})"),
            }
        });
        let named: Vec<String> = named.collect();
        let further = if found.len() > MAX_NAMED { ", …" } else { "" };
        format!(
            "{} companies fit {}; name one by its number: {}{further}",
            found.len(),
            self.typed,
            named.join(", ")
        )
    }
}

/// If some companies have the key as their main domain or their name, removes all other companies.
/// The others have the key only as a further domain or as an alias. For example, `quill.example` is
/// the main domain of one company and a further domain of another. Then only the first company is
/// kept.
fn prefer(found: &mut Vec<CompanyRecords>, key: &CompanyKey) {
    let is_own = |it: &CompanyRecords| match key {
        CompanyKey::Domain(domain) => it.company.domain() == Some(domain.as_str()),
        CompanyKey::Name(name) => {
            CompanyName::parse(&it.company.name).is_ok_and(|own| own.squashed() == name.squashed())
        }
        CompanyKey::Number(_) | CompanyKey::Id(_) => true,
    };
    if found.iter().any(is_own) {
        found.retain(is_own);
    }
}

impl NamedCompany {
    /// Whether this record has the domain, the id or the name that the user has typed. Always
    /// `true` if the user has typed the company's number.
    ///
    /// Two organisations may have become one company by mistake. Then the result is `true` only for
    /// the records of the organisation that the user means.
    pub(crate) fn is_named_by(&self, record: &RecordClaims) -> bool {
        match &self.key {
            CompanyKey::Number(_) => true,
            CompanyKey::Id(id) => record.ids().any(|it| it == id.as_str()),
            CompanyKey::Domain(domain) => record.hosts().any(|it| it == domain.as_str()),
            CompanyKey::Name(name) => record.names().any(|it| it == name.squashed()),
        }
    }

    pub(crate) fn company(&self) -> &Company {
        &self.found.company
    }

    pub(crate) fn records(&self) -> &[RecordClaims] {
        &self.found.records
    }
}

/// A company in the output of a command.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ShownCompany {
    /// The number, as commands accept it: `company:17`.
    pub(crate) company: String,
    pub(crate) name: String,
    /// The main domain.
    pub(crate) domain: Option<String>,
    pub(crate) ids: Vec<String>,
}

impl ShownCompany {
    pub(crate) fn of(company: &Company) -> Self {
        Self {
            company: format!("{NUMBER}{}", company.id.0),
            name: company.name.clone(),
            domain: company.domain().map(str::to_owned),
            ids: company.ids.clone(),
        }
    }
}

/// A record in the output of a command.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ShownRecord {
    /// The number of the company that has the record: `company:17`.
    company: String,
    pub(crate) source: String,
    /// The id that the source gives the record.
    pub(crate) id: Option<String>,
    name: String,
    domains: Vec<String>,
    ids: Vec<String>,
}

impl ShownRecord {
    fn of(company: &Company, record: &RecordClaims) -> Self {
        let DecidedRecord { source, id, name, .. } = DecidedRecord::of(record);
        Self {
            company: ShownCompany::of(company).company,
            source,
            id,
            name,
            domains: record.hosts().map(str::to_owned).collect(),
            ids: record.ids().map(str::to_owned).collect(),
        }
    }

    /// Returns the records of a company, sorted by source and id.
    pub(crate) fn all(company: &CompanyRecords) -> Vec<Self> {
        let shown = company.records.iter().map(|record| Self::of(&company.company, record));
        let mut shown: Vec<Self> = shown.collect();
        shown.sort_by(|a, b| (&a.source, &a.id, &a.name).cmp(&(&b.source, &b.id, &b.name)));
        shown
    }

    /// Whether a text that the user has typed names the record. The text may be the record's
    /// source, its source and id (`source:id`), an id in a register, a domain, or its name.
    pub(crate) fn is_named(company: &Company, record: &RecordClaims, text: &str) -> bool {
        let Self { source, id, name, domains, ids, .. } = Self::of(company, record);
        let with_id = id.map(|id| format!("{source}:{id}"));
        let texts = domains.iter().chain(&ids).chain([&source, &name]).chain(&with_id);
        texts.into_iter().any(|it| it == text)
    }
}

impl Row for ShownRecord {
    const TITLES: &'static [&'static str] =
        &["COMPANY", "SOURCE", "RECORD", "NAME", "DOMAINS", "IDS"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.company.clone(),
            self.source.clone(),
            self.id.clone().unwrap_or_default(),
            self.name.clone(),
            some(&self.domains),
            some(&self.ids),
        ]
    }
}

/// Joins values to one text. If there are more than [`MAX_VALUES`], only the first are named, and
/// the others are counted: `a, b, c and 2 more`.
fn some(values: &[String]) -> String {
    match values.len().saturating_sub(MAX_VALUES) {
        0 => values.join(", "),
        more => format!("{} and {more} more", values[..MAX_VALUES].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_company_is_named_by_number_id_domain_or_name() {
        let keys = |text: &str| CompanyArg::from_str(text).unwrap().keys;
        assert_eq!(keys("company:17"), [CompanyKey::Number(SubjectId(17))]);
        assert!(matches!(keys("wikidata:Q42")[..], [CompanyKey::Id(_)]));
        let as_domain = keys("quill.example");
        assert!(matches!(as_domain[..], [CompanyKey::Domain(_), CompanyKey::Name(_)]));
        assert!(matches!(keys("Quill Ltd")[..], [CompanyKey::Name(_)]));
        for wrong in ["company:x", "lei:1", ""] {
            assert!(CompanyArg::from_str(wrong).is_err(), "{wrong}");
        }
    }
}
