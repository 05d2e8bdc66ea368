//! Merges the facts that several sources give about one company, person or domain. A fact is one
//! value of one attribute.
//!
//! A store saves all facts, and calculates the companies, people and domains of the look-up data
//! from them. When a source is removed, its facts are deleted, and each company, person or domain
//! that had some of these facts is calculated again. Two rules apply:
//!
//! - An attribute with one value gets the value of the fact with the highest confidence. If several
//!   facts have this confidence, the first of them decides.
//! - An attribute with a list of values gets the values of all its facts, in the order of the
//!   facts.
//!
//! If a company has several facts with names, the first rule chooses its name, and the other names
//! become aliases. The facts of a company are first brought into an order that does not depend on
//! the order of imports ([`facts_in_order`]). The facts of a person are used in the order in which
//! they were first imported.

mod order;

use enrich_text::{Country, Network, PageUrl};

use crate::confidence::Confidence;
pub use order::{ClaimedFact, facts_in_order};

use crate::subject::{Company, DomainFacts, Employer, Person, Site, SubjectId};

/// The attribute of a fact: what kind of value the fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attribute {
    /// A company's name.
    Name,
    /// Another name of a company.
    Alias,
    /// The country of a company's head office or of a person, as an ISO 3166 alpha-2 code.
    Country,
    /// A domain of a company. [`Fact::country`] is the country for which the website is made.
    Domain,
    /// A company's page on this network, in the form in which answers contain it:
    /// `linkedin.com/company/quill`.
    Page(Network),
    /// An email address.
    Email,
    /// A phone number.
    Phone,
    /// A company's id in a register or data set: `lei:…`.
    ExternalId,
    /// The organisation that a company belongs to, as the text that [`crate::Parent`] parses.
    Parent,
    /// A person's first name.
    FirstName,
    /// A person's last name.
    LastName,
    /// A person's job title.
    Title,
    /// A person's employer: the company's subject id in decimal digits.
    Employer,
    /// A person's page in the form in which answers contain it: `linkedin.com/in/ada`.
    PersonPage,
    /// A domain's IP address.
    Ip,
    /// A domain's page rank.
    PageRank,
}

/// One value that a source gives for a company, a person or a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The attribute of the value.
    pub attribute: Attribute,
    /// The value, in the normal form of its attribute.
    pub value: String,
    /// For a domain, the country for which its website is made, if the source gives it. `None`
    /// for other attributes.
    pub country: Option<Country>,
    /// The confidence that the source gives to the value.
    pub confidence: Confidence,
}

/// Of all values of an attribute, returns the value with the highest confidence. If several values
/// have this confidence, returns the first of them.
fn best(facts: &[Fact], attribute: Attribute) -> Option<&str> {
    let mut best: Option<&Fact> = None;
    for fact in facts.iter().filter(|fact| fact.attribute == attribute) {
        if best.is_none_or(|best| fact.confidence > best.confidence) {
            best = Some(fact);
        }
    }
    best.map(|fact| fact.value.as_str())
}

/// Returns all values of an attribute, each once, in the order of the facts.
fn all(facts: &[Fact], attribute: Attribute) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for fact in facts.iter().filter(|fact| fact.attribute == attribute) {
        if seen.insert(fact.value.as_str()) {
            values.push(fact.value.clone());
        }
    }
    values
}

fn countries(facts: &[Fact]) -> Vec<Country> {
    let codes = all(facts, Attribute::Country);
    codes.iter().filter_map(|code| Country::from_code(code).ok()).collect()
}

/// Builds a company from `facts`; returns `None` if no fact is a name.
pub fn company_from_facts(id: SubjectId, facts: &[Fact]) -> Option<Company> {
    let name = best(facts, Attribute::Name)?.to_owned();
    let mut aliases: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::from([name.as_str()]);
    let is_name = |fact: &&Fact| matches!(fact.attribute, Attribute::Name | Attribute::Alias);
    for fact in facts.iter().filter(is_name) {
        if seen.insert(fact.value.as_str()) {
            aliases.push(fact.value.clone());
        }
    }
    Some(Company {
        id,
        aliases,
        seats: countries(facts),
        sites: sites(facts),
        pages: pages(facts),
        emails: all(facts, Attribute::Email),
        phones: all(facts, Attribute::Phone),
        ids: all(facts, Attribute::ExternalId),
        parent: best(facts, Attribute::Parent).map(str::to_owned),
        employees: Vec::new(),
        name,
    })
}

/// Returns a company's domains in the order of the facts. If several facts give a country for the
/// same domain, the country comes from the fact with the highest confidence.
fn sites(facts: &[Fact]) -> Vec<Site> {
    let mut sites: Vec<(Site, Option<Confidence>)> = Vec::new();
    let mut indexes = std::collections::HashMap::new();
    for fact in facts.iter().filter(|fact| fact.attribute == Attribute::Domain) {
        let index = *indexes.entry(fact.value.as_str()).or_insert_with(|| {
            sites.push((Site { domain: fact.value.clone(), country: None }, None));
            sites.len() - 1
        });
        let (site, country_confidence) = &mut sites[index];
        if fact.country.is_some() && country_confidence.is_none_or(|known| fact.confidence > known)
        {
            site.country = fact.country;
            *country_confidence = Some(fact.confidence);
        }
    }
    sites.into_iter().map(|(site, _)| site).collect()
}

/// Returns a company's pages in social networks, in the order of the facts. If several facts spell
/// the same page differently, such as `…/Quill` and `…/quill`, only the first spelling is returned.
fn pages(facts: &[Fact]) -> Vec<(Network, String)> {
    let mut seen = std::collections::HashSet::new();
    let mut pages = Vec::new();
    for fact in facts {
        let Attribute::Page(network) = fact.attribute else { continue };
        let of_network = |other: &&Fact| other.attribute == fact.attribute;
        let is_only = facts.iter().filter(of_network).nth(1).is_none();
        let key = || PageUrl::parse(network, &fact.value).map(|page| page.key().to_owned());
        if is_only || seen.insert((network, key().unwrap_or_else(|_| fact.value.clone()))) {
            pages.push((network, fact.value.clone()));
        }
    }
    pages
}

/// Builds a person from `facts`; returns `None` if the first name or the last name is missing. An
/// employer fact contains only the id of a company; `employer` returns the company with this id.
pub fn person_from_facts(
    id: SubjectId,
    facts: &[Fact],
    employer: impl FnOnce(SubjectId) -> Option<Employer>,
) -> Option<Person> {
    let employer_id = best(facts, Attribute::Employer).and_then(|id| id.parse().ok());
    Some(Person {
        id,
        first_name: best(facts, Attribute::FirstName)?.to_owned(),
        last_name: best(facts, Attribute::LastName)?.to_owned(),
        title: best(facts, Attribute::Title).map(str::to_owned),
        employer: employer_id.and_then(|id| employer(SubjectId(id))),
        country: best(facts, Attribute::Country).and_then(|code| Country::from_code(code).ok()),
        page: best(facts, Attribute::PersonPage).map(str::to_owned),
        emails: all(facts, Attribute::Email),
        phones: all(facts, Attribute::Phone),
    })
}

/// Builds the [`DomainFacts`] of a domain; returns `None` if `facts` contains neither an IP
/// address nor a page rank.
pub fn domain_facts_from_facts(domain: &str, facts: &[Fact]) -> Option<DomainFacts> {
    let known = DomainFacts {
        domain: domain.to_owned(),
        ip: best(facts, Attribute::Ip).map(str::to_owned),
        page_rank: best(facts, Attribute::PageRank).map(str::to_owned),
    };
    (known.ip.is_some() || known.page_rank.is_some()).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(attribute: Attribute, value: &str, percent: u8) -> Fact {
        let confidence = Confidence::new(percent).unwrap();
        Fact { attribute, value: value.into(), country: None, confidence }
    }

    #[test]
    fn a_single_value_stays_unless_the_newcomer_is_trusted_more() {
        let mut facts =
            vec![fact(Attribute::Name, "Quill", 90), fact(Attribute::Name, "QUILL", 90)];
        assert_eq!(company_from_facts(SubjectId(1), &facts).unwrap().name, "Quill");
        facts.push(fact(Attribute::Name, "Quill Ltd", 91));
        let company = company_from_facts(SubjectId(1), &facts).unwrap();
        assert_eq!(company.name, "Quill Ltd");
        assert_eq!(company.aliases, ["Quill", "QUILL"]);
    }

    #[test]
    fn lists_are_united_in_first_seen_order() {
        let values = ["b@x.example", "a@x.example", "b@x.example"];
        let mut facts = vec![fact(Attribute::Name, "Quill", 100)];
        facts.extend(values.map(|value| fact(Attribute::Email, value, 100)));
        let company = company_from_facts(SubjectId(1), &facts).unwrap();
        assert_eq!(company.emails, ["b@x.example", "a@x.example"]);
    }

    #[test]
    fn another_spelling_of_a_page_is_not_another_page() {
        let on = Attribute::Page(Network::LinkedIn);
        let facts = [
            fact(Attribute::Name, "Quill", 100),
            fact(on, "linkedin.com/company/Quill", 100),
            fact(on, "linkedin.com/company/quill", 100),
        ];
        let company = company_from_facts(SubjectId(1), &facts).unwrap();
        let pages = [(Network::LinkedIn, "linkedin.com/company/Quill".to_owned())];
        assert_eq!(company.pages, pages);
    }

    #[test]
    fn without_a_name_there_is_no_company() {
        let facts = [fact(Attribute::Email, "b@x.example", 100)];
        assert_eq!(company_from_facts(SubjectId(1), &facts), None);
    }
}
