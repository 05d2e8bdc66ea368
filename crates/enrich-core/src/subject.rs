//! The results of look-ups: companies, people and facts of domains.
//!
//! Texts are in the normal form that `enrich-text` produced at import. They are not parsed again
//! when read.

use enrich_text::{CompanyName, Country, Domain, Network};

use crate::confidence::Confidence;

/// The id of a subject in a directory. It does not change when the subject's records are imported
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectId(pub u64);

/// A number for the state of the directory. It grows with every change of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryRevision(pub u64);

/// The result of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The subject.
    pub subject: Subject,
    /// The confidence that this is the requested subject.
    pub confidence: Confidence,
    /// The directory revision that the subject was read from.
    pub revision: DirectoryRevision,
}

impl Found {
    /// The company, if the subject is one.
    pub fn company(&self) -> Option<&Company> {
        match &self.subject {
            Subject::Company(company) => Some(company),
            Subject::Person(_) | Subject::Domain(_) => None,
        }
    }

    /// The person, if the subject is one.
    pub fn person(&self) -> Option<&Person> {
        match &self.subject {
            Subject::Person(person) => Some(person),
            Subject::Company(_) | Subject::Domain(_) => None,
        }
    }

    /// The facts of a domain, if the subject is one.
    pub fn domain(&self) -> Option<&DomainFacts> {
        match &self.subject {
            Subject::Domain(facts) => Some(facts),
            Subject::Company(_) | Subject::Person(_) => None,
        }
    }
}

/// A subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A company.
    Company(Company),
    /// A person.
    Person(Person),
    /// Facts of a domain.
    Domain(DomainFacts),
}

/// A company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// The company's id.
    pub id: SubjectId,
    /// The company's name, as written by the source.
    pub name: String,
    /// The company's other names, as written, first seen first.
    pub aliases: Vec<String>,
    /// The countries of the company's seats.
    pub seats: Vec<Country>,
    /// The company's domains; the first is the main one.
    pub sites: Vec<Site>,
    /// The company's pages in display form; answers contain the first of each network.
    pub pages: Vec<(Network, String)>,
    /// The company's own email addresses, in stored order.
    pub emails: Vec<String>,
    /// The company's own phone numbers (E.164 with `+`), in stored order.
    pub phones: Vec<String>,
    /// The company's employees; read only on request ([`crate::Projection::Employees`]).
    pub employees: Vec<Employee>,
}

/// A domain of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The domain.
    pub domain: String,
    /// The country of the site, if a record states one.
    pub country: Option<Country>,
}

/// An employee of a company.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Employee {
    /// First and last name.
    pub name: String,
    /// Job title.
    pub title: Option<String>,
    /// The employee's own page, in display form.
    pub page: Option<String>,
}

impl Company {
    /// Creates a company of which only the name is known.
    pub fn named(id: SubjectId, name: String) -> Self {
        Self {
            id,
            name,
            aliases: Vec::new(),
            seats: Vec::new(),
            sites: Vec::new(),
            pages: Vec::new(),
            emails: Vec::new(),
            phones: Vec::new(),
            employees: Vec::new(),
        }
    }

    /// Whether the company has a seat in a country, a domain marked for the country, or a domain
    /// under the country's top-level domain.
    pub fn is_in(&self, country: Country) -> bool {
        self.seats.contains(&country)
            || self.sites.iter().any(|site| {
                site.country == Some(country)
                    || Domain::parse(&site.domain)
                        .is_ok_and(|domain| domain.country() == Some(country))
            })
    }

    /// Returns the aliases to compare with a name: the first `most` aliases, and at most `most`
    /// others that contain all words of the name. Some sources give thousands of aliases.
    pub fn aliases_near<'a>(
        &'a self,
        name: &'a CompanyName,
        most: usize,
    ) -> impl Iterator<Item = &'a String> {
        let (first, others) = self.aliases.split_at(most.min(self.aliases.len()));
        let holds_all = move |alias: &&String| {
            let alias = alias.to_lowercase();
            name.stripped().split(' ').all(|word| alias.contains(word))
        };
        first.iter().chain(others.iter().filter(holds_all).take(most))
    }

    /// The name, as written by the source.
    pub fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    /// The main domain.
    pub fn domain(&self) -> Option<&str> {
        self.sites.first().map(|site| site.domain.as_str())
    }

    /// The first page on `network`, which answers contain.
    pub fn page(&self, network: Network) -> Option<&str> {
        self.pages.iter().find(|(on, _)| *on == network).map(|(_, page)| page.as_str())
    }

    /// Returns the domain for `country`: a domain marked for the country; else an unmarked domain
    /// under the country's top-level domain; else the main domain, if the company has a seat in the
    /// country (see the decisions on `country_code`).
    pub fn domain_in(&self, country: Country) -> Option<&str> {
        let marked = self.sites.iter().find(|site| site.country == Some(country));
        let under_its_tld = || {
            self.sites.iter().filter(|site| site.country.is_none()).find(|site| {
                Domain::parse(&site.domain).is_ok_and(|domain| domain.country() == Some(country))
            })
        };
        let main_at_its_seat = || {
            let main = self.sites.first()?;
            self.seats.contains(&country).then_some(main)
        };
        let site = marked.or_else(under_its_tld).or_else(main_at_its_seat)?;
        Some(&site.domain)
    }
}

/// A person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The person's id.
    pub id: SubjectId,
    /// First name, as written.
    pub first_name: String,
    /// Last name, as written.
    pub last_name: String,
    /// Job title.
    pub title: Option<String>,
    /// The employer.
    pub employer: Option<Employer>,
    /// The person's country.
    pub country: Option<Country>,
    /// The person's own page, in display form.
    pub page: Option<String>,
    /// Email addresses, in stored order.
    pub emails: Vec<String>,
    /// Phone numbers (E.164 with `+`), in stored order.
    pub phones: Vec<String>,
}

/// The employer in a person's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Employer {
    /// The company's id.
    pub id: SubjectId,
    /// The company's name.
    pub name: String,
    /// The company's domains, the main one first.
    pub domains: Vec<String>,
}

impl Person {
    /// First and last name, with a space between them.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }

    /// First name, as written.
    pub fn first_name(&self) -> Option<&str> {
        Some(&self.first_name)
    }

    /// Last name, as written.
    pub fn last_name(&self) -> Option<&str> {
        Some(&self.last_name)
    }

    /// The employer's name.
    pub fn employer_name(&self) -> Option<&str> {
        self.employer.as_ref().map(|employer| employer.name.as_str())
    }

    /// The employer's main domain.
    pub fn domain(&self) -> Option<&str> {
        self.employer.as_ref()?.domains.first().map(String::as_str)
    }

    /// Returns the email address at the requested domain (the host, else its registrable domain);
    /// else an address at a domain of the employer; else the first address.
    pub fn business_email(&self, asked: Option<&Domain>) -> Option<&str> {
        let at = |domain: &str| {
            self.emails.iter().find(|email| email.rsplit('@').next() == Some(domain))
        };
        let employer = self.employer.iter().flat_map(|employer| &employer.domains);
        asked
            .and_then(|asked| at(asked.as_str()).or_else(|| at(asked.registrable().as_str())))
            .or_else(|| employer.map(String::as_str).find_map(at))
            .or(self.emails.first())
            .map(String::as_str)
    }

    /// Returns the first mobile number, else the first number.
    pub fn mobile(&self) -> Option<&str> {
        let is_mobile = |number: &&String| {
            enrich_text::Phone::parse(number).is_ok_and(|phone| phone.is_mobile())
        };
        self.phones.iter().find(is_mobile).or(self.phones.first()).map(String::as_str)
    }
}

/// The facts of a domain, independent of its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainFacts {
    /// The domain to which the facts belong.
    pub domain: String,
    /// The IPv4 or IPv6 address of the domain.
    pub ip: Option<String>,
    /// The page rank of the domain, as given by the source.
    pub page_rank: Option<String>,
}
