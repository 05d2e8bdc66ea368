//! What an import brings: records with every value parsed, before they meet those already held.

use std::net::IpAddr;

use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, PageUrl, PersonName, PersonPage, Phone,
};

use crate::confidence::Confidence;

/// The name of a source of records: 1 to 200 characters, no control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceName(String);

impl SourceName {
    /// A source's name, trimmed; `None` when it is empty, too long or holds control characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.chars().count() <= 200;
        (fits && !text.chars().any(char::is_control)).then(|| Self(text.to_owned()))
    }

    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where a record comes from, within its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The source's own id for the record.
    pub id: Option<String>,
    /// How far the source is trusted with it.
    pub confidence: Confidence,
    /// A hash of the record as it was given: equal for equal records of a source, so that
    /// importing one twice is noticed before anything is compared.
    pub content: [u8; 16],
}

impl Origin {
    /// The origin of a record that reads `record`, trusted fully and without an id of its own.
    pub fn of(record: &[u8]) -> Self {
        let mut content = [0; 16];
        blake3::Hasher::new().update(record).finalize_xof().fill(&mut content);
        Self { id: None, confidence: Confidence::FULL, content }
    }
}

/// A record of the native format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A company.
    Company(CompanyRecord),
    /// A person.
    Person(PersonRecord),
    /// Facts of a domain.
    Domain(DomainRecord),
}

impl Record {
    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Company(record) => &record.origin,
            Self::Person(record) => &record.origin,
            Self::Domain(record) => &record.origin,
        }
    }
}

/// A company's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanyRecord {
    /// Where it comes from.
    pub origin: Origin,
    /// The name that is returned.
    pub name: CompanyName,
    /// Other names.
    pub aliases: Vec<CompanyName>,
    /// Seats.
    pub seats: Vec<Country>,
    /// Domains, the main one first, each with the country it is for.
    pub sites: Vec<(Domain, Option<Country>)>,
    /// Pages; the first of a network is the one that is returned.
    pub pages: Vec<PageUrl>,
    /// Addresses, in order.
    pub emails: Vec<EmailAddress>,
    /// Numbers, in order.
    pub phones: Vec<Phone>,
    /// Address of the main domain.
    pub ip: Option<IpAddr>,
    /// Rank of the main domain, as given.
    pub page_rank: Option<String>,
}

impl CompanyRecord {
    /// A company of which only the name is known.
    pub fn named(name: CompanyName, origin: Origin) -> Self {
        Self {
            origin,
            name,
            aliases: Vec::new(),
            seats: Vec::new(),
            sites: Vec::new(),
            pages: Vec::new(),
            emails: Vec::new(),
            phones: Vec::new(),
            ip: None,
            page_rank: None,
        }
    }
}

/// A person's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonRecord {
    /// Where it comes from.
    pub origin: Origin,
    /// First name, as written.
    pub first_name: String,
    /// Last name, as written.
    pub last_name: String,
    /// Both, to compare.
    pub name: PersonName,
    /// Job title.
    pub title: Option<String>,
    /// Where they work.
    pub employer: Option<EmployerRecord>,
    /// The country they are in.
    pub country: Option<Country>,
    /// Page of their own.
    pub page: Option<PersonPage>,
    /// Addresses, in order.
    pub emails: Vec<EmailAddress>,
    /// Numbers, in order.
    pub phones: Vec<Phone>,
}

/// What a person's record says of the employer; the domain wins over the name. At least one is
/// given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmployerRecord {
    /// Its name.
    pub name: Option<CompanyName>,
    /// Its domain.
    pub domain: Option<Domain>,
}

/// Facts of a domain, whoever owns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainRecord {
    /// Where it comes from.
    pub origin: Origin,
    /// The domain.
    pub domain: Domain,
    /// Its address.
    pub ip: Option<IpAddr>,
    /// Its rank, as given.
    pub page_rank: Option<String>,
}
