//! The results of look-ups: companies, people and facts of domains.
//!
//! All texts are in the normal form that `enrich-text` produced at import. So they are not parsed
//! again when a subject is read.

use enrich_text::{CompanyName, Country, Domain, Network, country_in_addition, names_country};

use crate::confidence::Confidence;
use crate::credits::Price;

/// The id of a company, a person or the facts of a domain in the look-up data. It stays the same
/// when the records are imported again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectId(pub u64);

/// The version number of the look-up data. Every change of the data increases it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryRevision(pub u64);

/// The result of a look-up: what was found, its confidence, and the revision of the look-up data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The company, the candidates, the person or the domain that was found.
    pub subject: Subject,
    /// The confidence that `subject` is what the look-up asked for.
    pub confidence: Confidence,
    /// The revision (version number) of the look-up data from which the subject was read.
    pub revision: DirectoryRevision,
}

impl Found {
    /// Returns the company, if the subject is a company.
    pub fn company(&self) -> Option<&Company> {
        match &self.subject {
            Subject::Company(company) => Some(company),
            _ => None,
        }
    }

    /// Returns the candidates, if the look-up asked for the companies that a name may mean.
    pub fn candidates(&self) -> Option<&[Candidate]> {
        match &self.subject {
            Subject::Candidates(candidates) => Some(candidates),
            _ => None,
        }
    }

    /// Returns the person, if the subject is a person.
    pub fn person(&self) -> Option<&Person> {
        match &self.subject {
            Subject::Person(person) => Some(person),
            _ => None,
        }
    }

    /// Returns the facts of a domain, if the subject is a domain.
    pub fn domain(&self) -> Option<&DomainFacts> {
        match &self.subject {
            Subject::Domain(facts) => Some(facts),
            _ => None,
        }
    }
}

/// What a look-up can find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The subject is a company.
    Company(Company),
    /// The companies that a name may mean, the likeliest first; at least one. No company is in
    /// the list twice.
    Candidates(Vec<Candidate>),
    /// The subject is a person.
    Person(Person),
    /// The subject is a domain.
    Domain(DomainFacts),
}

/// A company that a name may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The company's id.
    pub id: SubjectId,
    /// The company's name, as the source writes it.
    pub name: String,
    /// The requested country, if the company is in it. Otherwise the country of the company's first
    /// head office. If no head office is known, the country of its main domain; `None` if that is
    /// unknown too.
    pub country: Option<Country>,
    /// The company's domain for the requested country. If the company has none for this country,
    /// this is its main domain; `None` if the company has no domain.
    pub domain: Option<String>,
    /// The confidence that the name means this company.
    pub confidence: Confidence,
    /// A sentence that says why the name may mean this company.
    pub why: String,
}

impl Candidate {
    /// Maximum number of candidates that are listed for one name.
    pub const MAX_LISTED: usize = 10;

    /// The price of a list of candidates that is not empty. An empty list is free.
    pub const PRICE: Price = Price::PerAnswer(1);

    /// The text of [`why`](Self::why), if there is no better explanation, or if the real
    /// explanation contains a value that was suppressed (no answer may contain it).
    pub const WHY_WITHOUT_NAMES: &'static str = "One of its names resembles the name.";

    /// The name under which the ledger and the usage counters record lists of candidates.
    pub const PURPOSE: &'static str = "candidates";
}

/// A company. Its values are merged from the records of all sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Company {
    /// The company's id.
    pub id: SubjectId,
    /// The company's name, as the source writes it.
    pub name: String,
    /// The company's other names, as the sources write them.
    /// [`facts_in_order`](crate::facts_in_order) defines their order.
    pub aliases: Vec<String>,
    /// The countries of the company's head offices.
    pub seats: Vec<Country>,
    /// The company's domains; the first is the main one.
    pub sites: Vec<Site>,
    /// The company's pages, such as `linkedin.com/company/quill`. If there are several pages on one
    /// network, such as LinkedIn, answers contain the first.
    pub pages: Vec<(Network, String)>,
    /// The company's own email addresses. Answers contain them in this order.
    pub emails: Vec<String>,
    /// The company's own phone numbers (E.164 with `+`). Answers contain them in this order.
    pub phones: Vec<String>,
    /// The company's ids in registers and data sets, such as `lei:…`.
    /// [`facts_in_order`](crate::facts_in_order) defines their order.
    pub ids: Vec<String>,
    /// The organisation that the company belongs to, as a source names it
    /// ([`crate::Parent::parse`]).
    pub parent: Option<String>,
    /// The company's employees. They are read only if the answer needs them
    /// ([`crate::Projection::Employees`]).
    pub employees: Vec<Employee>,
}

/// A domain of a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The domain, which is a registrable domain or a host below one.
    pub domain: String,
    /// The country for which the website at this domain is made; `None` if no record gives a
    /// country.
    pub country: Option<Country>,
}

/// An employee of a company.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Employee {
    /// First and last name.
    pub name: String,
    /// Job title.
    pub title: Option<String>,
    /// The employee's LinkedIn profile, such as `linkedin.com/in/ada`.
    pub page: Option<String>,
}

impl Company {
    /// Creates a company with only a name.
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
            ids: Vec::new(),
            parent: None,
            employees: Vec::new(),
        }
    }

    /// Whether the company is in `country`. One of these facts shows it: a head office in the
    /// country, a domain for which a record gives the country, or a domain under the country's
    /// top-level domain.
    pub fn is_in(&self, country: Country) -> bool {
        self.countries().any(|known| known == country)
    }

    /// Returns the countries in which the company is: those of its head offices, and those of its
    /// domains. A country can be in the result several times.
    pub fn countries(&self) -> impl Iterator<Item = Country> + '_ {
        let of_domain = |site: &Site| Domain::parse(&site.domain).ok()?.country();
        // The iterator is lazy: a domain is parsed only if the caller asks for a further country.
        let of_sites = self.sites.iter().flat_map(move |site| {
            site.country.into_iter().chain(std::iter::once_with(move || of_domain(site)).flatten())
        });
        self.seats.iter().copied().chain(of_sites)
    }

    /// Returns the aliases that are compared with `name`: the first `most` aliases, and then at
    /// most `most` later aliases that contain all words of `name`. The number is limited, because
    /// some companies have thousands of aliases.
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

    /// Returns the company's name, as the source writes it. It is always `Some`. The type is
    /// `Option`, so that [`Service::look_up`](crate::Service::look_up) can use this method.
    pub fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    /// Returns the company's main domain; `None` if it has no domain.
    pub fn domain(&self) -> Option<&str> {
        self.sites.first().map(|site| site.domain.as_str())
    }

    /// Returns the company's first page on `network`, which is the one that answers contain.
    pub fn page_on(&self, network: Network) -> Option<&str> {
        self.pages.iter().find(|(on, _)| *on == network).map(|(_, page)| page.as_str())
    }

    /// Whether a country of the company is known: from a head office, from a record that gives a
    /// country for the main domain, or from the top-level domain of the main domain.
    pub fn has_country(&self) -> bool {
        let main = self.sites.first();
        !self.seats.is_empty()
            || main.is_some_and(|main| {
                let under_tld = || Domain::parse(&main.domain).ok()?.country();
                main.country.or_else(under_tld).is_some()
            })
    }

    /// Returns the domain that a look-up by the name `asked` returns: the company's domain for the
    /// requested country, or else its main domain.
    ///
    /// If `country` is `None`, the country at the end of `asked` is used. So `Quill (Deutschland)`
    /// and `Quill Deutschland` return Quill's domain for Germany. Exception: a country without
    /// parentheses is ignored if the company's own name contains it too, because it is then a part
    /// of the name.
    pub fn domain_near(&self, asked: &CompanyName, country: Option<Country>) -> Option<&str> {
        let in_name = || {
            let country = country_in_addition(asked)?;
            let own = CompanyName::parse(&self.name).ok()?;
            (!names_country(&own, country)).then_some(country)
        };
        let country = country.or_else(|| asked.country()).or_else(in_name);
        country.and_then(|country| self.domain_in(country)).or_else(|| self.domain())
    }

    /// Returns the company's domain for `country`: the first of these domains that exists, or
    /// else `None`.
    ///
    /// 1. A domain for which a record gives this country.
    /// 2. A domain under the country's top-level domain for which no record gives a country.
    /// 3. The main domain, if the company has a head office in the country.
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

/// A person. The values are merged from the records of all sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The person's id.
    pub id: SubjectId,
    /// First name, as the source writes it.
    pub first_name: String,
    /// Last name, as the source writes it.
    pub last_name: String,
    /// Job title.
    pub title: Option<String>,
    /// The company that the person works at.
    pub employer: Option<Employer>,
    /// The person's country.
    pub country: Option<Country>,
    /// The person's LinkedIn profile, such as `linkedin.com/in/ada`.
    pub page: Option<String>,
    /// Email addresses. Answers contain them in this order.
    pub emails: Vec<String>,
    /// Phone numbers (E.164 with `+`). Answers contain them in this order.
    pub phones: Vec<String>,
}

/// The employer of a person.
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
    /// Returns the first and the last name, with a space between them.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }

    /// Returns the first name, as the source writes it. It is always `Some`. The type is
    /// `Option`, so that [`Service::look_up`](crate::Service::look_up) can use this method.
    pub fn first_name(&self) -> Option<&str> {
        Some(&self.first_name)
    }

    /// Returns the last name, as the source writes it. It is always `Some`. The type is `Option`,
    /// so that [`Service::look_up`](crate::Service::look_up) can use this method.
    pub fn last_name(&self) -> Option<&str> {
        Some(&self.last_name)
    }

    /// Returns the name of the employer.
    pub fn employer_name(&self) -> Option<&str> {
        self.employer.as_ref().map(|employer| employer.name.as_str())
    }

    /// Returns the main domain of the employer.
    pub fn domain(&self) -> Option<&str> {
        self.employer.as_ref()?.domains.first().map(String::as_str)
    }

    /// Returns an email address of the person: the first of these that exists.
    ///
    /// 1. An address at the host `asked`.
    /// 2. An address at the registrable domain of `asked`.
    /// 3. An address at a domain of the employer.
    /// 4. The first address.
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

    /// Returns the first mobile number; if the person has none, the first phone number.
    pub fn mobile(&self) -> Option<&str> {
        let is_mobile = |number: &&String| {
            enrich_text::Phone::parse(number).is_ok_and(|phone| phone.is_mobile())
        };
        self.phones.iter().find(is_mobile).or(self.phones.first()).map(String::as_str)
    }
}

/// What is known about a domain itself, not about its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainFacts {
    /// The domain.
    pub domain: String,
    /// The IPv4 or IPv6 address of the domain.
    pub ip: Option<String>,
    /// The page rank of the domain, as the source gives it.
    pub page_rank: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_at_the_end_of_a_name_chooses_the_domain() {
        let site = |domain: &str| Site { domain: domain.to_owned(), country: None };
        let named = |name: &str| Company {
            sites: vec![site("quill.com"), site("quill.de"), site("quill.ch")],
            ..Company::named(SubjectId(1), name.to_owned())
        };
        let quill = named("Quill");
        for (asked, domain) in [
            ("Quill", "quill.com"),
            ("Quill Deutschland", "quill.de"),
            ("Quill (Germany)", "quill.de"),
            ("Quill France", "quill.com"),
        ] {
            let asked = CompanyName::parse(asked).unwrap();
            assert_eq!(quill.domain_near(&asked, None), Some(domain), "{asked}");
        }
        let asked = CompanyName::parse("Quill Deutschland").unwrap();
        assert_eq!(named("Quill Deutschland").domain_near(&asked, None), Some("quill.com"));
        let switzerland = Country::from_code("CH").ok();
        assert_eq!(quill.domain_near(&asked, switzerland), Some("quill.ch"));
    }
}
