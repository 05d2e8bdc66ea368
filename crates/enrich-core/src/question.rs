//! The questions that endpoints ask the directory.

use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, InvalidCompanyName, PageUrl, PersonName,
    PersonPage, Phone,
};

/// A question for the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Find a company.
    Company(CompanyRef),
    /// Find a person.
    Person(PersonRef),
    /// Find the facts of exactly this host.
    Host(Domain),
    /// Find the facts of this host, or else of its registrable domain.
    Domain(Domain),
}

/// How a caller identifies a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompanyRef {
    /// By one of the company's domains. The host is tried first, then its registrable domain.
    Domain(Domain),
    /// By one of the company's pages.
    Page(PageUrl),
    /// By an email address: the company's own; else that of an employee; else an address at the
    /// company's domain, unless the domain is a public mail host. Each address is tried as given,
    /// then without its `+tag`.
    Email(EmailAddress),
    /// By name.
    Name {
        /// The name.
        name: CompanyName,
        /// If present, only a company with a domain for this country matches
        /// ([`crate::Company::domain_in`]).
        country: Option<Country>,
    },
    /// By a text that is a domain and may also be a name (Booking.com). The domain is tried first,
    /// then the name.
    DomainOrName(Domain, CompanyName),
}

/// How a caller identifies a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonRef {
    /// By an email address. It is tried as given, then without its `+tag`.
    Email(EmailAddress),
    /// By the person's page.
    Page(PersonPage),
    /// By phone number.
    Phone(Phone),
    /// By name and country.
    InCountry {
        /// The name.
        name: PersonName,
        /// The country.
        country: Country,
    },
    /// By name and employer.
    AtCompany {
        /// The name.
        name: PersonName,
        /// The employer.
        company: CompanyRef,
    },
}

/// The parts of a subject that an answer needs, so that the store reads no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// The subject's own attributes, without a company's employees.
    Profile,
    /// A company's employees.
    Employees {
        /// The most employees to read; `None` for all.
        limit: Option<u64>,
    },
}

impl CompanyRef {
    /// Parses a text that may be a domain or a name. A text that is a domain is tried as a name if
    /// no company has the domain.
    ///
    /// # Errors
    ///
    /// Fails when the text is neither.
    pub fn domain_or_name(text: &str) -> Result<Self, InvalidCompanyName> {
        let name = CompanyName::parse(text)?;
        Ok(match Domain::parse(text) {
            Ok(domain) => Self::DomainOrName(domain, name),
            Err(_) => Self::Name { name, country: None },
        })
    }
}

impl Projection {
    /// Returns the projection with at most `most` employees.
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
