//! Short constructors of invented records. A test sets only the fields that matter to it. All other
//! fields come from a constructor: `CompanyRecord { sites: sites(&["quill.example"]),
//! ..company("Quill") }`.

use std::hash::{DefaultHasher, Hash, Hasher};

use enrich_core::{
    CompanyRecord, Confidence, DomainRecord, EmployerRecord, Origin, PersonRecord, Record,
};
use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, ExternalId, Network, PageUrl, PersonName,
    PersonPage, Phone,
};

/// Returns a company that has only a name.
pub fn company(name: &str) -> CompanyRecord {
    CompanyRecord {
        origin: trusted(100),
        name: company_name(name),
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

/// Returns a person who has only a name.
pub fn person(first_name: &str, last_name: &str) -> PersonRecord {
    PersonRecord {
        origin: trusted(100),
        first_name: first_name.to_owned(),
        last_name: last_name.to_owned(),
        name: PersonName::from_parts(first_name, last_name).expect("a person's name"),
        title: None,
        employer: None,
        country: None,
        page: None,
        emails: Vec::new(),
        phones: Vec::new(),
    }
}

/// Returns a record about a domain, without an IP address and a page rank.
pub fn domain_record(text: &str) -> DomainRecord {
    DomainRecord { origin: trusted(100), domain: domain(text), ip: None, page_rank: None }
}

/// Returns the [`Origin`] of a record to which its source gives the confidence `percent`, and no
/// id.
pub fn trusted(percent: u8) -> Origin {
    let confidence = Confidence::new(percent).expect("a confidence");
    Origin { id: None, confidence, content: [0; 16] }
}

/// Returns the [`Origin`] of a record to which its source gives the id `id` and a confidence of
/// 100 %.
pub fn with_id(id: &str) -> Origin {
    Origin { id: Some(id.to_owned()), ..trusted(100) }
}

/// Returns an employer of which a person's record gives only the name.
pub fn employed_by_name(name: &str) -> Option<EmployerRecord> {
    Some(EmployerRecord { name: Some(company_name(name)), domain: None })
}

/// Returns an employer of which a person's record gives only the domain.
pub fn employed_at(text: &str) -> Option<EmployerRecord> {
    Some(EmployerRecord { name: None, domain: Some(domain(text)) })
}

/// Returns the domains of a company, without countries. The first one is the main domain.
pub fn sites(domains: &[&str]) -> Vec<(Domain, Option<Country>)> {
    domains.iter().map(|text| (domain(text), None)).collect()
}

/// Returns aliases: other names of a company.
pub fn aliases(names: &[&str]) -> Vec<CompanyName> {
    names.iter().map(|name| company_name(name)).collect()
}

/// Returns the countries with these codes. Panics if one of the codes belongs to no country.
pub fn countries(codes: &[&str]) -> Vec<Country> {
    codes.iter().map(|code| country(code)).collect()
}

/// Parses ids with their schemes, such as `lei:…`. Panics if one is invalid.
pub fn ids(texts: &[&str]) -> Vec<ExternalId> {
    texts.iter().map(|text| external_id(text)).collect()
}

/// Parses email addresses. Panics if one is invalid.
pub fn emails(texts: &[&str]) -> Vec<EmailAddress> {
    texts.iter().map(|text| email(text)).collect()
}

/// Parses phone numbers. Panics if one is invalid.
pub fn phones(texts: &[&str]) -> Vec<Phone> {
    texts.iter().map(|text| phone(text)).collect()
}

/// Parses a company's name. Panics if it is invalid.
pub fn company_name(text: &str) -> CompanyName {
    CompanyName::parse(text).expect("a company's name")
}

/// Parses a domain. Panics if it is invalid.
pub fn domain(text: &str) -> Domain {
    Domain::parse(text).expect("a domain")
}

/// Parses an id with its scheme. Panics if it is invalid.
pub fn external_id(text: &str) -> ExternalId {
    ExternalId::from_text(text).expect("an id")
}

/// Returns the country with this code. Panics if no country has the code.
pub fn country(code: &str) -> Country {
    Country::from_code(code).expect("a country's code")
}

/// Parses the URL or the handle of a company's page on a social network. Panics if the text is
/// invalid.
pub fn page_url(network: Network, text: &str) -> PageUrl {
    PageUrl::parse(network, text).expect("a page")
}

/// Parses the URL or the handle of a person's LinkedIn profile. Panics if the text is invalid.
pub fn person_page(handle: &str) -> PersonPage {
    PersonPage::parse(handle).expect("a person's page")
}

/// Parses an email address. Panics if it is invalid.
pub fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).expect("an address")
}

/// Parses a phone number. Panics if it is invalid.
pub fn phone(text: &str) -> Phone {
    Phone::parse(text).expect("a number")
}

/// Returns the record with a hash of its content in [`Origin::content`]. Records with equal content
/// get equal hashes. By this hash, an import recognises a record that has not changed.
pub fn hashed(record: impl Into<AnyRecord>) -> Record {
    let AnyRecord(mut record) = record.into();
    let text = format!("{record:?}");
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, &text).hash(&mut hasher);
        hasher.finish().to_le_bytes()
    };
    let origin = match &mut record {
        Record::Company(record) => &mut record.origin,
        Record::Person(record) => &mut record.origin,
        Record::Domain(record) => &mut record.origin,
    };
    origin.content[..8].copy_from_slice(&half(0));
    origin.content[8..].copy_from_slice(&half(1));
    record
}

/// A record of any kind. With this type, [`hashed`] takes a [`CompanyRecord`], a [`PersonRecord`]
/// or a [`DomainRecord`].
pub struct AnyRecord(Record);

impl From<CompanyRecord> for AnyRecord {
    fn from(record: CompanyRecord) -> Self {
        Self(Record::Company(record))
    }
}

impl From<PersonRecord> for AnyRecord {
    fn from(record: PersonRecord) -> Self {
        Self(Record::Person(record))
    }
}

impl From<DomainRecord> for AnyRecord {
    fn from(record: DomainRecord) -> Self {
        Self(Record::Domain(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_records_have_equal_hashes_and_others_do_not() {
        assert_eq!(hashed(company("Quill")), hashed(company("Quill")));
        let (one, other) = (hashed(company("Quill")), hashed(company("Inkwell")));
        assert_ne!(one.origin().content, other.origin().content);
    }
}
