//! What can be asked: the questions that every endpoint is made of.

use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, InvalidCompanyName, PageUrl, PersonName,
    PersonPage, Phone,
};

/// A question for the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Which company?
    Company(CompanyRef),
    /// Which person?
    Person(PersonRef),
    /// What is known of this very host?
    Host(Domain),
    /// What is known of this host, or else of its registrable domain?
    Domain(Domain),
}

/// How a company is named by a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompanyRef {
    /// By a domain of its own: the host, then its registrable domain.
    Domain(Domain),
    /// By a page of its own on a network.
    Page(PageUrl),
    /// By an address: its own, else that of a person it employs, else one at its domain, never
    /// one at a public mail host. The address as given, then without its `+tag`.
    Email(EmailAddress),
    /// By name.
    Name {
        /// The name.
        name: CompanyName,
        /// Only a company with a domain of this country answers ([`crate::Company::domain_in`]).
        country: Option<Country>,
    },
    /// By a text that is a domain and may as well be a name (Booking.com): the domain, then the
    /// name.
    DomainOrName(Domain, CompanyName),
}

/// How a person is named by a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonRef {
    /// By an address: as given, then without its `+tag`.
    Email(EmailAddress),
    /// By the page of their own.
    Page(PersonPage),
    /// By phone number.
    Phone(Phone),
    /// By name, in a country.
    InCountry {
        /// The name.
        name: PersonName,
        /// The country.
        country: Country,
    },
    /// By name, employed at a company.
    AtCompany {
        /// The name.
        name: PersonName,
        /// The employer.
        company: CompanyRef,
    },
}

/// How much of the subject an answer needs, so that a store reads no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// What stands in the subject's own record.
    Profile,
    /// A company's employees, at most so many of them.
    Employees {
        /// The most that are wanted; `None` for all.
        limit: Option<u64>,
    },
}

impl CompanyRef {
    /// Reads a text that may be a domain or a name: a domain is tried first, and as a name where
    /// no company has it.
    ///
    /// # Errors
    ///
    /// When it is neither.
    pub fn domain_or_name(text: &str) -> Result<Self, InvalidCompanyName> {
        let name = CompanyName::parse(text)?;
        Ok(match Domain::parse(text) {
            Ok(domain) => Self::DomainOrName(domain, name),
            Err(_) => Self::Name { name, country: None },
        })
    }
}

impl Projection {
    /// The same, but no list longer than `most` items.
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
