//! Reads and writes profiles. A profile is the data of a company or a person that answers need, as
//! JSON with short field names. It is stored in one row, so that a look-up reads only this row.
//!
//! A person's profile contains only the id of the employer. The name and the domains of the
//! employer are read from the employer's own profile, so that they are always current.

use enrich_core::{Company, Employee, Employer, Person, Site, SubjectId};
use enrich_text::{Country, Network, PageUrl, PersonPage};
use serde::{Deserialize, Serialize};

use super::codes::{COMPANY, IdentifierKind, PERSON};
use super::stored_page;
use super::text_or_pair::TextOrPair;

/// Why a profile cannot be read. This program never writes an unreadable profile, so the database
/// file is damaged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadProfile {
    /// The JSON is invalid. Only the position is reported, because the parser's message may quote a
    /// value.
    #[error("a profile is not the JSON it should be, from line {line}, column {column}")]
    Json { line: usize, column: usize },
    #[error("a profile names a country that there is not")]
    Country(#[from] enrich_text::InvalidCountry),
    #[error("a profile names a network that there is not")]
    Network,
}

impl From<serde_json::Error> for BadProfile {
    fn from(error: serde_json::Error) -> Self {
        Self::Json { line: error.line(), column: error.column() }
    }
}

/// A kind of subject: [`Company`] or [`Person`]. This trait defines how a profile of this kind is
/// read.
pub(crate) trait Profiled: Sized {
    /// The number that the column `kind` of the table `subject` contains for this kind.
    const KIND: i64;

    /// Reads the subject of a profile, like [`read_company`] and [`read_person`].
    fn read(id: SubjectId, profile: &str) -> Result<Self, BadProfile>;

    /// Whether the profile shows that this company or person has the identifier. With a wrong
    /// `true`, a look-up would return the wrong company or person. With a wrong `false`, the
    /// look-up is only slower.
    fn has(&self, kind: IdentifierKind, key: &str) -> bool;
}

#[derive(Serialize, Deserialize)]
struct CompanyRow<'a> {
    #[serde(rename = "n")]
    name: String,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty", borrow)]
    seats: Vec<&'a str>,
    /// The company's domains. A domain whose website has a known country is a pair of the domain
    /// and the country. Earlier versions wrote a pair for each domain.
    #[serde(rename = "d", default, skip_serializing_if = "Vec::is_empty", borrow)]
    sites: Vec<TextOrPair<'a>>,
    /// The company's pages, in their stored form ([`stored_page`]). Earlier versions wrote pairs of
    /// the network's name and the page.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty", borrow)]
    pages: Vec<TextOrPair<'a>>,
    #[serde(rename = "e", default, skip_serializing_if = "Vec::is_empty")]
    emails: Vec<String>,
    #[serde(rename = "t", default, skip_serializing_if = "Vec::is_empty")]
    phones: Vec<String>,
    #[serde(rename = "i", default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<String>,
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct PersonRow<'a> {
    #[serde(rename = "f")]
    first_name: String,
    #[serde(rename = "l")]
    last_name: String,
    #[serde(rename = "j", default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    employer: Option<u64>,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    country: Option<&'a str>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    #[serde(rename = "e", default, skip_serializing_if = "Vec::is_empty")]
    emails: Vec<String>,
    #[serde(rename = "t", default, skip_serializing_if = "Vec::is_empty")]
    phones: Vec<String>,
}

/// Writes a company's profile. Employees are not part of the profile.
pub(crate) fn write_company(company: Company) -> Result<String, BadProfile> {
    Ok(serde_json::to_string(&CompanyRow {
        name: company.name,
        aliases: company.aliases,
        seats: company.seats.iter().map(|seat| seat.alpha2()).collect(),
        sites: company.sites.into_iter().map(stored_site).collect(),
        pages: company.pages.into_iter().map(stored_page_of).collect(),
        emails: company.emails,
        phones: company.phones,
        ids: company.ids,
        parent: company.parent,
    })?)
}

/// Reads the company of a profile. The list of its employees stays empty.
pub(crate) fn read_company(id: SubjectId, profile: &str) -> Result<Company, BadProfile> {
    let row: CompanyRow<'_> = serde_json::from_str(profile)?;
    let seats = row.seats.iter().map(|code| Country::from_code(code)).collect::<Result<_, _>>()?;
    Ok(Company {
        id,
        name: row.name,
        aliases: row.aliases,
        seats,
        sites: row.sites.into_iter().map(site_of).collect::<Result<_, _>>()?,
        pages: row.pages.into_iter().map(page_of).collect::<Result<_, _>>()?,
        emails: row.emails,
        phones: row.phones,
        ids: row.ids,
        parent: row.parent,
        employees: Vec::new(),
    })
}

/// Writes a person's profile. Of the employer, the profile contains only the id.
pub(crate) fn write_person(person: Person) -> Result<String, BadProfile> {
    Ok(serde_json::to_string(&PersonRow {
        first_name: person.first_name,
        last_name: person.last_name,
        title: person.title,
        employer: person.employer.map(|employer| employer.id.0),
        country: person.country.map(|country| country.alpha2()),
        page: person.page,
        emails: person.emails,
        phones: person.phones,
    })?)
}

/// Reads the person of a profile. The person's employer gets only its id: its name and domains are
/// not in this profile.
pub(crate) fn read_person(id: SubjectId, profile: &str) -> Result<Person, BadProfile> {
    let row: PersonRow<'_> = serde_json::from_str(profile)?;
    Ok(Person {
        id,
        first_name: row.first_name,
        last_name: row.last_name,
        title: row.title,
        employer: row.employer.map(|id| employer_to_be_read(SubjectId(id))),
        country: row.country.map(Country::from_code).transpose()?,
        page: row.page,
        emails: row.emails,
        phones: row.phones,
    })
}

/// Reads a person's profile and returns the person as an employee: name, title and page.
pub(crate) fn read_employee(profile: &str) -> Result<Employee, BadProfile> {
    let row: PersonRow<'_> = serde_json::from_str(profile)?;
    let name = format!("{} {}", row.first_name, row.last_name);
    Ok(Employee { name, title: row.title, page: row.page })
}

/// Creates an employer that has only an id. The caller reads its name and domains later.
pub(crate) fn employer_to_be_read(id: SubjectId) -> Employer {
    Employer { id, name: String::new(), domains: Vec::new() }
}

fn stored_site(site: Site) -> TextOrPair<'static> {
    match site.country {
        None => TextOrPair::Text(site.domain.into()),
        Some(country) => TextOrPair::Pair(site.domain, Some(country.alpha2().to_owned())),
    }
}

fn site_of(stored: TextOrPair<'_>) -> Result<Site, BadProfile> {
    let (domain, country) = match stored {
        TextOrPair::Text(domain) => (domain.into_owned(), None),
        TextOrPair::Pair(domain, country) => (domain, country),
    };
    let country = country.as_deref().map(Country::from_code).transpose()?;
    Ok(Site { domain, country })
}

fn stored_page_of((network, page): (Network, String)) -> TextOrPair<'static> {
    match stored_page::short(network, &page) {
        Some(short) => TextOrPair::Text(short.into()),
        None => TextOrPair::Pair(network.as_str().to_owned(), Some(page)),
    }
}

fn page_of(stored: TextOrPair<'_>) -> Result<(Network, String), BadProfile> {
    match stored {
        TextOrPair::Text(short) => stored_page::read_short(&short).ok_or(BadProfile::Network),
        TextOrPair::Pair(network, page) => {
            Ok((network_of(&network)?, page.ok_or(BadProfile::Network)?))
        }
    }
}

fn network_of(name: &str) -> Result<Network, BadProfile> {
    let known = Network::ALL.into_iter().find(|network| network.as_str() == name);
    known.ok_or(BadProfile::Network)
}

impl Profiled for Company {
    const KIND: i64 = COMPANY;

    fn read(id: SubjectId, profile: &str) -> Result<Self, BadProfile> {
        read_company(id, profile)
    }

    fn has(&self, kind: IdentifierKind, key: &str) -> bool {
        match kind {
            IdentifierKind::CompanyDomain => self.sites.iter().any(|site| site.domain == key),
            IdentifierKind::CompanyEmail => self.emails.iter().any(|email| email == key),
            IdentifierKind::CompanyPage => self.pages.iter().any(|(network, page)| {
                // The key of a company's page begins with the social network: `linkedin:quill`. So
                // only pages on the same network are parsed.
                key.starts_with(network.as_str())
                    && PageUrl::parse(*network, page).is_ok_and(|page| page.key() == key)
            }),
            _ => false,
        }
    }
}

impl Profiled for Person {
    const KIND: i64 = PERSON;

    fn read(id: SubjectId, profile: &str) -> Result<Self, BadProfile> {
        read_person(id, profile)
    }

    /// See [`Profiled::has`]. A person may have several pages on LinkedIn, but the stored profile
    /// contains only one of them. For any other page, this returns `false`. The look-up must then
    /// also read the table `identifier`, so it is slower.
    fn has(&self, kind: IdentifierKind, key: &str) -> bool {
        match kind {
            IdentifierKind::PersonEmail => self.emails.iter().any(|email| email == key),
            IdentifierKind::PersonPhone => self.phones.iter().any(|phone| phone == key),
            IdentifierKind::PersonPage => {
                let page = self.page.as_deref().and_then(|page| PersonPage::parse(page).ok());
                page.is_some_and(|page| page.key() == key)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_company_reads_back_as_it_was_written() {
        let france = Country::from_code("FR").unwrap();
        let company = Company {
            id: SubjectId(7),
            name: "Quill".into(),
            aliases: vec!["Quill Ltd".into()],
            seats: vec![france],
            sites: vec![
                Site { domain: "quill.example".into(), country: None },
                Site { domain: "quill.fr.example".into(), country: Some(france) },
            ],
            pages: vec![
                (Network::Twitter, "twitter.com/quill".into()),
                (Network::LinkedIn, "linkedin.com/school/quill".into()),
            ],
            emails: vec!["post@quill.example".into()],
            phones: vec!["+12025550123".into()],
            ids: vec!["wikidata:Q42".into()],
            parent: Some("quill-group.example".into()),
            employees: Vec::new(),
        };
        let profile = write_company(company.clone()).unwrap();
        assert_eq!(read_company(SubjectId(7), &profile).unwrap(), company);
    }

    #[test]
    fn sites_and_pages_take_little_more_than_their_texts() {
        let company = Company {
            sites: vec![Site { domain: "quill.example".into(), country: None }],
            pages: vec![(Network::LinkedIn, "linkedin.com/company/quill".into())],
            ..read_company(SubjectId(7), r#"{"n":"Quill"}"#).unwrap()
        };
        let profile = write_company(company.clone()).unwrap();
        assert_eq!(profile, r#"{"n":"Quill","d":["quill.example"],"p":["lquill"]}"#);
        // The form in which earlier versions stored the same profile.
        let before = r#"{"n":"Quill","d":[["quill.example",null]],
            "p":[["linkedin","linkedin.com/company/quill"]]}"#;
        assert_eq!(read_company(SubjectId(7), before).unwrap(), company);
    }

    #[test]
    fn a_person_reads_back_with_the_employer_by_id() {
        let person = Person {
            id: SubjectId(8),
            first_name: "Ada".into(),
            last_name: "Byte".into(),
            title: None,
            employer: Some(employer_to_be_read(SubjectId(7))),
            country: None,
            page: Some("linkedin.com/in/ada-byte".into()),
            emails: Vec::new(),
            phones: Vec::new(),
        };
        let profile = write_person(person.clone()).unwrap();
        assert_eq!(read_person(SubjectId(8), &profile).unwrap(), person);
    }

    #[test]
    fn an_error_does_not_repeat_what_the_profile_holds() {
        let error = read_person(SubjectId(1), r#"{"f":"Ada","l":"Byte","e":"ada@x.example"}"#);
        let error: Box<dyn std::error::Error> = error.unwrap_err().into();
        let mut text = format!("{error} {error:?}");
        let mut source = error.source();
        while let Some(error) = source {
            text += &format!("{error} {error:?}");
            source = error.source();
        }
        assert!(text.contains("line 1") && !text.contains("ada@"), "{text}");
    }

    #[test]
    fn what_is_no_profile_is_an_error() {
        assert!(read_company(SubjectId(1), "{").is_err());
        assert!(read_company(SubjectId(1), r#"{"n":"Quill","p":[["myspace","x"]]}"#).is_err());
        assert!(read_company(SubjectId(1), r#"{"n":"Quill","c":["QQ"]}"#).is_err());
    }
}
