//! The parent of a company: the organisation that the company belongs to, as a record names it.

use std::fmt;

use enrich_text::{CompanyName, Domain, ExternalId, InvalidCompanyName, InvalidExternalId};

use crate::question::CompanyRef;

/// The organisation that a company belongs to, as a record names it.
///
/// The parent is stored as a text, and not as the id of a stored company, because the
/// organisation may be imported later than the record. The parent does not influence with which
/// other records the record is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// The organisation with this id in a register or data set.
    Id(ExternalId),
    /// The organisation with this domain. If no company has the domain, the text is taken as a
    /// name: `Booking.com` is then the organisation with the name `Booking.com`.
    Domain(Domain),
    /// The organisation with this name.
    Name(CompanyName),
}

/// Why a text cannot name a parent organisation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidParent {
    /// The text begins with the name of a register, such as `lei:`, but contains no valid id of
    /// this register.
    #[error(transparent)]
    Id(#[from] InvalidExternalId),
    /// The text is not a valid company name.
    #[error(transparent)]
    Name(#[from] InvalidCompanyName),
}

impl Parent {
    /// Parses an id with its scheme (`lei:213800D1EI4B9WTWWD28`), a domain or a name. Also parses a
    /// text that [`as_str`](Self::as_str) has returned; the result is then the same parent.
    ///
    /// # Errors
    ///
    /// When the text is not a valid id, domain or name.
    pub fn parse(text: &str) -> Result<Self, InvalidParent> {
        if ExternalId::is_like(text) {
            return Ok(Self::Id(ExternalId::from_text(text)?));
        }
        let name = CompanyName::parse(text)?;
        let is_one_word = !name.display().contains(char::is_whitespace);
        match Domain::parse(text) {
            Ok(domain) if is_one_word => Ok(Self::Domain(domain)),
            _ => Ok(Self::Name(name)),
        }
    }

    /// Returns the text that a store saves for the parent.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Id(id) => id.as_str(),
            Self::Domain(domain) => domain.as_str(),
            Self::Name(name) => name.display(),
        }
    }

    /// Returns the reference by which the parent organisation is looked up in the directory (the
    /// look-up data).
    pub fn company_ref(&self) -> CompanyRef {
        match self {
            Self::Id(id) => CompanyRef::Id(id.clone()),
            Self::Domain(domain) => match CompanyName::parse(domain.as_str()) {
                Ok(name) => CompanyRef::DomainOrName(domain.clone(), name),
                Err(_) => CompanyRef::Domain(domain.clone()),
            },
            Self::Name(name) => CompanyRef::Name { name: name.clone(), country: None },
        }
    }
}

impl fmt::Display for Parent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_an_id_a_domain_or_a_name() {
        for (text, stored) in [
            ("wikidata:q42", "wikidata:Q42"),
            ("ipeds:100654", "ipeds:100654"),
            ("https://www.Quill.example/about", "quill.example"),
            ("Quill & Sons", "Quill & Sons"),
            ("Re:Store", "Re:Store"),
            ("Quill Inc.", "Quill Inc."),
        ] {
            let parent = Parent::parse(text).unwrap();
            assert_eq!(parent.as_str(), stored);
            assert_eq!(Parent::parse(parent.as_str()), Ok(parent), "{text}");
        }
        assert!(matches!(Parent::parse("Quill Inc."), Ok(Parent::Name(_))));
        assert!(matches!(Parent::parse("Booking.com"), Ok(Parent::Domain(_))));
    }

    #[test]
    fn a_bad_id_is_no_name() {
        let error = Parent::parse("lei:213800").unwrap_err();
        assert!(matches!(error, InvalidParent::Id(_)), "{error:?}");
        assert!(Parent::parse(" ").is_err());
    }
}
