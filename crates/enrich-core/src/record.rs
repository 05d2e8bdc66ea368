//! Parsed records of the native import format (`docs/reference/import-format.md`). An import
//! merges them with the stored companies, people and domains.

use std::net::IpAddr;

use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, ExternalId, PageUrl, PersonName, PersonPage, Phone,
};

use crate::confidence::Confidence;
use crate::parent::Parent;

/// The name of a source of records: 1 to 200 characters without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceName(String);

impl SourceName {
    /// Parses the name of a source, and removes white space around it. Returns `None` if the name
    /// is empty, too long, or contains control characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.chars().count() <= 200;
        (fits && !text.chars().any(char::is_control)).then(|| Self(text.to_owned()))
    }

    /// Returns the text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The origin of a record: the id and the confidence that the source gives to the record, and a
/// hash of the record's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The id that the source gives to the record; `None` if it gives none.
    pub id: Option<String>,
    /// The confidence that the source gives to the record.
    pub confidence: Confidence,
    /// A hash of the record's text, as the source gives it. The hash of an unchanged record is the
    /// same in a later import. So the import detects the unchanged record without comparing its
    /// values.
    pub content: [u8; 16],
}

impl Origin {
    /// Creates the origin of a record whose source gives neither an id nor a confidence. `record`
    /// is the text of the record; its hash is BLAKE3, cut to 16 bytes. The confidence is 100.
    pub fn of(record: &[u8]) -> Self {
        let mut content = [0; 16];
        blake3::Hasher::new().update(record).finalize_xof().fill(&mut content);
        Self { id: None, confidence: Confidence::FULL, content }
    }
}

/// A parsed record of the native import format: what a source says about one company, person or
/// domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The record describes a company.
    Company(CompanyRecord),
    /// The record describes a person.
    Person(PersonRecord),
    /// The record describes a domain.
    Domain(DomainRecord),
}

impl Record {
    /// Returns the origin of the record.
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Company(record) => &record.origin,
            Self::Person(record) => &record.origin,
            Self::Domain(record) => &record.origin,
        }
    }
}

/// What a source says about a company, in one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanyRecord {
    /// The id and the confidence of the record, and the hash of its content.
    pub origin: Origin,
    /// The company's name. [`aliases`](Self::aliases) contains its other names.
    pub name: CompanyName,
    /// Other names of the company.
    pub aliases: Vec<CompanyName>,
    /// The countries of the company's head offices.
    pub seats: Vec<Country>,
    /// The company's domains; the first is the main domain. Each has the country for which its
    /// website is made, or `None` if the record gives no country.
    pub sites: Vec<(Domain, Option<Country>)>,
    /// The company's pages on social networks. Answers contain the first page on each network.
    pub pages: Vec<PageUrl>,
    /// The company's email addresses, in the record's order.
    pub emails: Vec<EmailAddress>,
    /// The company's phone numbers, in the record's order.
    pub phones: Vec<Phone>,
    /// The IP address of the main domain.
    pub ip: Option<IpAddr>,
    /// The page rank of the main domain, as the source gives it.
    pub page_rank: Option<String>,
    /// The company's ids in registers and data sets.
    pub ids: Vec<ExternalId>,
    /// The organisation that the company belongs to.
    pub parent: Option<Box<Parent>>,
}

impl CompanyRecord {
    /// Creates the record of a company with only a name.
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
            ids: Vec::new(),
            parent: None,
        }
    }
}

/// What a source says about a person, in one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonRecord {
    /// The id and the confidence of the record, and the hash of its content.
    pub origin: Origin,
    /// First name, as the source writes it.
    pub first_name: String,
    /// Last name, as the source writes it.
    pub last_name: String,
    /// The person's first and last name, in the form in which names are compared.
    pub name: PersonName,
    /// Job title.
    pub title: Option<String>,
    /// The company that the person works at.
    pub employer: Option<EmployerRecord>,
    /// The person's country.
    pub country: Option<Country>,
    /// The person's own LinkedIn page.
    pub page: Option<PersonPage>,
    /// The person's email addresses, in the record's order.
    pub emails: Vec<EmailAddress>,
    /// The person's phone numbers, in the record's order.
    pub phones: Vec<Phone>,
}

/// The employer in a person's record: a name, a domain or both. If there are both, the domain
/// decides which company is the employer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmployerRecord {
    /// The employer's name.
    pub name: Option<CompanyName>,
    /// The employer's domain.
    pub domain: Option<Domain>,
}

/// What a source says about a domain itself (not about its owner), in one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainRecord {
    /// The id and the confidence of the record, and the hash of its content.
    pub origin: Origin,
    /// The domain that the record describes.
    pub domain: Domain,
    /// The domain's IP address.
    pub ip: Option<IpAddr>,
    /// The domain's page rank, as the source gives it.
    pub page_rank: Option<String>,
}
