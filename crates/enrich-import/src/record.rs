//! Parses the fields of a record into types such as [`Domain`] and [`Country`].

use enrich_core::{
    CompanyRecord, Confidence, DomainRecord, EmployerRecord, Origin, Parent, PersonRecord, Record,
};
use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, Network, PageUrl, PersonName, PersonPage, Phone,
};

use crate::raw::{Fields, Item};
use crate::rejection::{BadValue, Rejection};
use crate::report::Notes;
use crate::value::{Values, confidence, ip_address, plain_text};
use enrich_mapping::{Field, RecordType};

/// The version of this parser. It is a part of the hash of every record. Increase it when a change
/// of the parser gives the same bytes another meaning. Then every record has a new hash, and the
/// next import of an old file imports all its records again.
const READING: u8 = 4;

const PAGES: [(Field, Network); 5] = [
    (Field::LinkedIn, Network::LinkedIn),
    (Field::Facebook, Network::Facebook),
    (Field::Instagram, Network::Instagram),
    (Field::Twitter, Network::Twitter),
    (Field::Youtube, Network::Youtube),
];

/// Parses the fields of a record.
///
/// Parses the required fields first. If one of them can't be read, the record is rejected, and its
/// other values are not counted as dropped.
///
/// # Errors
///
/// When a required field is missing or can't be read.
pub(crate) fn read(
    kind: RecordType,
    fields: &mut Fields<'_>,
    content: [u8; 16],
    line: u64,
    notes: &mut Notes,
) -> Result<Record, Rejection> {
    match kind {
        RecordType::Company => fields.move_to_singular(Field::Domain, Field::Domains),
        RecordType::Domain if fields.get(Field::Domain).is_none() => {
            fields.move_to_singular(Field::Domains, Field::Domain);
        }
        RecordType::Domain | RecordType::Person => {}
    }
    let not_its_own = Field::native().filter(|field| !field.belongs_to(kind));
    for field in not_its_own.filter(|&field| fields.get(field).is_some()) {
        notes.ignore_field(field.name());
        for text in fields.get(field).iter().flat_map(|given| given.list()).filter_map(Item::text) {
            notes.note_unused(field.name(), &text);
        }
    }
    let mut values = Values { fields, line, notes };
    match kind {
        RecordType::Company => company(&mut values, content).map(Record::Company),
        RecordType::Person => person(&mut values, content).map(Record::Person),
        RecordType::Domain => domain_facts(&mut values, content).map(Record::Domain),
    }
}

/// Whether a record has no identifier but its name ([`enrich_mapping::is_name_only`]). Only values
/// that could be read count.
pub(crate) fn is_name_only(record: &Record) -> bool {
    match record {
        Record::Company(company) => enrich_mapping::is_name_only(RecordType::Company, |field| {
            has_of_company(company, field)
        }),
        Record::Person(person) => {
            enrich_mapping::is_name_only(RecordType::Person, |field| has_of_person(person, field))
        }
        Record::Domain(_) => false,
    }
}

/// Whether a company has an identifier in this field. For a page field, such as `linkedin`, a page
/// on any network counts. This is exact enough for [`is_name_only`], which only asks whether there
/// is any identifier.
fn has_of_company(company: &CompanyRecord, field: Field) -> bool {
    match field {
        Field::Domains => !company.sites.is_empty(),
        Field::Emails => !company.emails.is_empty(),
        Field::Phones => !company.phones.is_empty(),
        Field::Ids => !company.ids.is_empty(),
        _ => PAGES.iter().any(|(of_page, _)| *of_page == field) && !company.pages.is_empty(),
    }
}

fn has_of_person(person: &PersonRecord, field: Field) -> bool {
    match field {
        Field::Company | Field::CompanyDomain => person.employer.is_some(),
        Field::LinkedIn => person.page.is_some(),
        Field::Emails => !person.emails.is_empty(),
        Field::Phones => !person.phones.is_empty(),
        _ => false,
    }
}

/// Returns the hash of a record's texts as they are in the file. The length of each text is
/// hashed before the text, so that the texts `ab` and `c` do not have the hash of `a` and `bc`.
pub(crate) fn content_hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[READING]);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut hash = [0; 16];
    hasher.finalize_xof().fill(&mut hash);
    hash
}

fn company(values: &mut Values<'_, '_>, content: [u8; 16]) -> Result<CompanyRecord, Rejection> {
    let name = values.required(Field::Name, CompanyName::parse)?;
    let sites = values.sites();
    let mut ip = values.one(Field::Ip, ip_address);
    let mut page_rank = values.one(Field::PageRank, plain_text);
    if !sites.has_main {
        // The IP address and the page rank are facts about the main domain. Without a main domain
        // they are dropped, because they must not be given to another domain.
        values.drop_read(Field::Ip, ip.take(), BadValue::NoMainDomain);
        values.drop_read(Field::PageRank, page_rank.take(), BadValue::NoMainDomain);
    }
    let mut pages = Vec::new();
    for (field, network) in PAGES {
        pages.extend(values.list(field, |text| PageUrl::parse(network, text)));
    }
    Ok(CompanyRecord {
        origin: origin(values, content),
        name,
        aliases: values.list(Field::Aliases, CompanyName::parse),
        seats: values.list(Field::Country, Country::parse),
        sites: sites.sites,
        pages,
        emails: values.list(Field::Emails, EmailAddress::parse),
        phones: values.list(Field::Phones, Phone::parse_with_code),
        ip,
        page_rank,
        ids: values.ids(),
        parent: values.one(Field::Parent, Parent::parse).map(Box::new),
    })
}

fn person(values: &mut Values<'_, '_>, content: [u8; 16]) -> Result<PersonRecord, Rejection> {
    let first_name = values.required(Field::FirstName, plain_text)?;
    let last_name = values.required(Field::LastName, plain_text)?;
    let name = PersonName::from_parts(&first_name, &last_name).map_err(|reason| {
        Rejection::Unreadable { field: "first_name and last_name", reason: reason.into() }
    })?;
    let company = values.one(Field::Company, CompanyName::parse);
    let domain = values.one(Field::CompanyDomain, Domain::parse);
    let is_employed = company.is_some() || domain.is_some();
    Ok(PersonRecord {
        origin: origin(values, content),
        first_name,
        last_name,
        name,
        title: values.one(Field::Title, plain_text),
        employer: is_employed.then_some(EmployerRecord { name: company, domain }),
        country: values.one(Field::Country, Country::parse),
        page: values.one(Field::LinkedIn, PersonPage::parse),
        emails: values.list(Field::Emails, EmailAddress::parse),
        phones: values.list(Field::Phones, Phone::parse_with_code),
    })
}

fn domain_facts(values: &mut Values<'_, '_>, content: [u8; 16]) -> Result<DomainRecord, Rejection> {
    let domain = values.required(Field::Domain, Domain::parse)?;
    Ok(DomainRecord {
        origin: origin(values, content),
        domain,
        ip: values.one(Field::Ip, ip_address),
        page_rank: values.one(Field::PageRank, plain_text),
    })
}

fn origin(values: &mut Values<'_, '_>, content: [u8; 16]) -> Origin {
    Origin { id: values.one(Field::Id, plain_text), confidence: trust(values), content }
}

/// Returns the confidence of a record. A record without a confidence gets 100. If the confidence
/// can't be read, returns the lowest confidence, so that a typing error never makes a record more
/// trusted than others.
fn trust(values: &mut Values<'_, '_>) -> Confidence {
    let given = values.fields.get(Field::Confidence);
    let says_something = given.is_some_and(|raw| !matches!(raw.one(), Ok(None)));
    let otherwise = if says_something { Confidence::MIN } else { Confidence::FULL };
    values.one(Field::Confidence, confidence).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use enrich_mapping::name_only;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::jsonl;
    use crate::lines::Line;

    #[test]
    fn the_same_fields_identify_a_record_before_and_after_its_values_are_parsed() {
        let values = json!({
            "domains": "quill.example", "domain": "quill.example",
            "linkedin": "linkedin.com/company/quill", "facebook": "facebook.com/quill",
            "instagram": "instagram.com/quill", "twitter": "x.com/quill",
            "youtube": "youtube.com/@quill", "emails": "ada@quill.example",
            "phones": "+49 30 23125 001", "ids": {"ipeds": "100654"}, "company": "Quill",
            "company_domain": "quill.example",
        });
        let company = json!({"type": "company", "name": "Quill", "country": "DE", "aliases": "Q"});
        let person = json!({
            "type": "person", "first_name": "Ada", "last_name": "Byte", "title": "Engineer",
        });
        for (of_kind, kind) in [(company, RecordType::Company), (person, RecordType::Person)] {
            let (mut found, mut record) = (0, of_kind.as_object().unwrap().clone());
            assert!(name_only(&record) && is_name_only(&parsed(&record)));
            for field in Field::native().filter(|field| field.belongs_to(kind)) {
                let Some(value) = values.get(field.name()) else { continue };
                record.insert(field.name().to_owned(), value.clone());
                if kind == RecordType::Person && field == Field::LinkedIn {
                    record.insert(field.name().to_owned(), json!("linkedin.com/in/ada-byte"));
                }
                assert!(!name_only(&record) && !is_name_only(&parsed(&record)), "{field}");
                record.remove(field.name());
                found += 1;
            }
            assert_eq!(found, if kind == RecordType::Company { 10 } else { 5 });
        }
        let unread = json!({"type": "company", "name": "Quill", "emails": "none at all"});
        let unread = unread.as_object().unwrap();
        assert!(!name_only(unread) && is_name_only(&parsed(unread)));
    }

    fn parsed(record: &Map<String, Value>) -> Record {
        let bytes = Value::Object(record.clone()).to_string().into_bytes();
        let line = Line { number: 1, bytes, is_too_long: false, had_return: false };
        jsonl::read(&line, &mut Notes::default()).unwrap()
    }
}
