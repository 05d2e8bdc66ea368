//! What look-ups ask for ([`Question`]), and which attributes the answer needs ([`Projection`]).

use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, ExternalId, InvalidCompanyName, PageUrl,
    PersonName, PersonPage, Phone,
};

/// What a look-up asks for: a company, a list of companies, a person, or the facts of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Find a company, by one of its identifiers or by its name.
    Company(CompanyRef),
    /// Find the companies that a name may mean, the likeliest first, at most
    /// [`Candidate::MAX_LISTED`](crate::Candidate::MAX_LISTED).
    Candidates {
        /// The requested name.
        name: CompanyName,
        /// If present, companies without a domain for this country are left out, except well-known
        /// companies ([`CompanyRef::Name`]).
        country: Option<Country>,
    },
    /// Find a person, by an identifier, or by a name together with a country or an employer.
    Person(PersonRef),
    /// Find the facts (IP address and page rank) that are stored for exactly this host, such as
    /// `shop.quill.example`.
    Host(Domain),
    /// Find the facts (IP address and page rank) that are stored for this host. If there are
    /// none, find those of its registrable domain: `quill.example` for `shop.quill.example`.
    Domain(Domain),
}

/// How a caller identifies a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompanyRef {
    /// One of the company's domains. The look-up tries exactly this host first, then its
    /// registrable domain: `quill.example` for `shop.quill.example`.
    Domain(Domain),
    /// One of the company's pages on social networks, such as `linkedin.com/company/quill`.
    Page(PageUrl),
    /// One of the company's ids in registers and data sets. No endpoint has an input for ids.
    /// They are used to find the [parent](crate::Parent) of a company, and to look up a company
    /// on the command line.
    Id(ExternalId),
    /// An email address. The look-up returns the first of these companies that exists:
    ///
    /// - the company with this address;
    /// - the employer of the person with this address;
    /// - the company with the address's domain, unless the domain belongs to a public mail host.
    ///
    /// An address with a `+tag` is tried with the tag first, then without it.
    Email(EmailAddress),
    /// A name, possibly with a country.
    Name {
        /// The requested name.
        name: CompanyName,
        /// If present, the company must have a domain for this country
        /// ([`crate::Company::domain_in`]). Exception: a well-known company may be found without
        /// such a domain.
        country: Option<Country>,
    },
    /// A text that has the form of a domain, but may also be a company's name, such as
    /// `Booking.com`. The look-up tries it as a domain first, then as a name.
    DomainOrName(Domain, CompanyName),
}

/// How a caller identifies a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonRef {
    /// An email address. If it has a `+tag`, it is tried with the tag first, then without it.
    Email(EmailAddress),
    /// The LinkedIn page of the person, such as `linkedin.com/in/ada`.
    Page(PersonPage),
    /// A phone number of the person.
    Phone(Phone),
    /// The name of the person, and the country where the person lives.
    InCountry {
        /// The name of the person.
        name: PersonName,
        /// The country of the person.
        country: Country,
    },
    /// The name of the person, and the employer.
    AtCompany {
        /// The name of the person.
        name: PersonName,
        /// The company that the person works at.
        company: CompanyRef,
    },
}

/// The parts of a company, person or domain that an answer needs. The store may leave out all
/// other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// All attributes, except the employees of a company.
    Profile,
    /// All attributes of a company, and its employees.
    Employees {
        /// Maximum number of employees to read; `None` for all.
        limit: Option<u64>,
    },
}

impl Question {
    /// If this question asks for one company by its name, returns a new question, which asks for
    /// all companies that the name may mean. Returns `None` for every other question.
    pub fn candidates(&self) -> Option<Self> {
        let (name, country) = match self {
            Self::Company(CompanyRef::Name { name, country }) => (name, *country),
            Self::Company(CompanyRef::DomainOrName(_, name)) => (name, None),
            _ => return None,
        };
        Some(Self::Candidates { name: name.clone(), country })
    }
}

impl CompanyRef {
    /// Creates a reference to a company from a text that may be a domain or a name. If no company
    /// has the text as its domain, the look-up uses the text as a name.
    ///
    /// # Errors
    ///
    /// When the text cannot be a company's name, for example because it is empty.
    pub fn domain_or_name(text: &str) -> Result<Self, InvalidCompanyName> {
        let name = CompanyName::parse(text)?;
        Ok(match Domain::parse(text) {
            Ok(domain) => Self::DomainOrName(domain, name),
            Err(_) => Self::Name { name, country: None },
        })
    }
}

impl Projection {
    /// Limits the number of employees that are read to `most`. [`Self::Profile`] reads none, so it
    /// stays the same.
    pub fn at_most(self, most: u64) -> Self {
        match self {
            Self::Profile => Self::Profile,
            Self::Employees { limit } => {
                Self::Employees { limit: Some(limit.map_or(most, |limit| limit.min(most))) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_company_asked_for_by_name_may_be_one_of_several() {
        let candidates = |company| Question::Company(company).candidates();
        let read = CompanyRef::domain_or_name("Booking.com").unwrap();
        assert!(matches!(candidates(read), Some(Question::Candidates { name, country: None })
                if name.display() == "Booking.com"));
        let domain = Domain::parse("quill.example").unwrap();
        assert_eq!(candidates(CompanyRef::Domain(domain.clone())), None);
        assert_eq!(Question::Host(domain).candidates(), None);
    }

    #[test]
    fn a_text_with_the_shape_of_a_domain_stays_a_name_as_well() {
        let read = CompanyRef::domain_or_name("Booking.com").unwrap();
        assert!(
            matches!(&read, CompanyRef::DomainOrName(domain, name)
                if domain.as_str() == "booking.com" && name.display() == "Booking.com"),
            "{read:?}"
        );
        let read = CompanyRef::domain_or_name("Quill & Sons").unwrap();
        assert!(matches!(read, CompanyRef::Name { country: None, .. }));
        assert!(CompanyRef::domain_or_name(" ").is_err());
    }
}
