//! What a look-up finds: companies, people and facts of domains, as the directory lays them out.
//!
//! Values are texts in the normal form that `enrich-text` gave them when they were imported;
//! reading them back does not parse them again.

use enrich_text::{CompanyName, Country, Domain, Network};

use crate::confidence::Confidence;

/// A subject's id in its directory. It survives re-imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectId(pub u64);

/// The number of the directory's state; it grows with every change of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryRevision(pub u64);

/// What answers a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Who or what it is.
    pub subject: Subject,
    /// How sure that is.
    pub confidence: Confidence,
    /// The state of the directory it was read from.
    pub revision: DirectoryRevision,
}

impl Found {
    /// The company found.
    pub fn company(&self) -> Option<&Company> {
        match &self.subject {
            Subject::Company(company) => Some(company),
            Subject::Person(_) | Subject::Domain(_) => None,
        }
    }

    /// The person found.
    pub fn person(&self) -> Option<&Person> {
        match &self.subject {
            Subject::Person(person) => Some(person),
            Subject::Company(_) | Subject::Domain(_) => None,
        }
    }

    /// The facts of a domain found.
    pub fn domain(&self) -> Option<&DomainFacts> {
        match &self.subject {
            Subject::Domain(facts) => Some(facts),
            Subject::Company(_) | Subject::Person(_) => None,
        }
    }
}

/// Who or what was found.
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
    /// Its id.
    pub id: SubjectId,
    /// Its name, as written by the source.
    pub name: String,
    /// Its other names, as written, first seen first.
    pub aliases: Vec<String>,
    /// The countries it is seated in.
    pub seats: Vec<Country>,
    /// Its domains; the first is the main one.
    pub sites: Vec<Site>,
    /// Its pages in display form; the first of a network is the one that is returned.
    pub pages: Vec<(Network, String)>,
    /// Its own addresses, in stored order.
    pub emails: Vec<String>,
    /// Its own numbers (E.164 with `+`), in stored order.
    pub phones: Vec<String>,
    /// Those who work there; read only when asked for ([`crate::Projection::Employees`]).
    pub employees: Vec<Employee>,
}

/// A domain of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The domain.
    pub domain: String,
    /// The country its record marks it for.
    pub country: Option<Country>,
}

/// Someone who works at a company.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Employee {
    /// First and last name.
    pub name: String,
    /// Job title.
    pub title: Option<String>,
    /// Page of their own, in display form.
    pub page: Option<String>,
}

impl Company {
    /// A company of which only the name is known.
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

    /// Whether it has a seat in a country, or a domain that is marked for it or under its own
    /// top-level domain.
    pub fn is_in(&self, country: Country) -> bool {
        self.seats.contains(&country)
            || self.sites.iter().any(|site| {
                site.country == Some(country)
                    || Domain::parse(&site.domain)
                        .is_ok_and(|domain| domain.country() == Some(country))
            })
    }

    /// The aliases to compare a name with: the first `most`, and of the others as many as hold all
    /// of its words. Some sources know thousands.
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

    /// The page on `network` that is returned.
    pub fn page(&self, network: Network) -> Option<&str> {
        self.pages.iter().find(|(on, _)| *on == network).map(|(_, page)| page.as_str())
    }

    /// The domain of `country`: one its record marks so; else one under the country's own
    /// top-level domain; else the main domain of a company that is seated there and has no site
    /// marked for that country (decisions on `country_code`).
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
    /// Their id.
    pub id: SubjectId,
    /// First name, as written.
    pub first_name: String,
    /// Last name, as written.
    pub last_name: String,
    /// Job title.
    pub title: Option<String>,
    /// Where they work.
    pub employer: Option<Employer>,
    /// The country they are in.
    pub country: Option<Country>,
    /// Page of their own, in display form.
    pub page: Option<String>,
    /// Their addresses, in stored order.
    pub emails: Vec<String>,
    /// Their numbers (E.164 with `+`), in stored order.
    pub phones: Vec<String>,
}

/// What a person's record says of where they work.
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

    /// The address at the domain that was asked for (the host, else its registrable domain), else
    /// at a domain of the employer's, else the first.
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

    /// The first mobile number, else the first.
    pub fn mobile(&self) -> Option<&str> {
        let is_mobile = |number: &&String| {
            enrich_text::Phone::parse(number).is_ok_and(|phone| phone.is_mobile())
        };
        self.phones.iter().find(is_mobile).or(self.phones.first()).map(String::as_str)
    }
}

/// What is known of a domain, whoever owns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainFacts {
    /// The domain the facts belong to.
    pub domain: String,
    /// Its IPv4 or IPv6 address.
    pub ip: Option<String>,
    /// Its rank, as the source gave it.
    pub page_rank: Option<String>,
}
