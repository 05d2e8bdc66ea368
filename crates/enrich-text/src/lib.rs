//! Parses domains, emails, phone numbers, page URLs, names, countries and ids of organisations.
//!
//! ```
//! use enrich_text::Domain;
//!
//! let domain = Domain::parse("https://www.Quill.example/about")?;
//! assert_eq!(domain.as_str(), "quill.example");
//! # Ok::<(), enrich_text::InvalidDomain>(())
//! ```
//!
//! Each type, such as `Domain`, parses text as people type it, and stores the normal form of the
//! text. Parsing the normal form gives the same value. This crate contains no records of companies,
//! and reads and writes no files at run time. Its tables are data files that are compiled into the
//! program.

mod addition;
mod company_name;
mod contrast;
mod country;
mod domain;
mod email;
mod external_id;
mod fold;
mod host;
mod input;
mod legal_form;
mod letter_countries;
mod letters;
mod mail_host;
mod misspelling;
mod name_form;
mod name_words;
mod network;
mod page_url;
mod person_name;
mod person_page;
mod phone;
mod region;
mod similar;
mod table;
mod web_address;

pub use addition::{
    additions, country_in_addition, is_addition, names_country, without_inner_legal_form,
};
pub use company_name::{CompanyName, InvalidCompanyName};
pub use contrast::{Contrast, Side, contrasting};
pub use country::{Country, InvalidCountry};
pub use domain::{Domain, InvalidDomain};
pub use email::{EmailAddress, InvalidEmailAddress};
pub use external_id::{ExternalId, InvalidExternalId};
pub use fold::fold;
pub use input::MAX_CHARACTERS;
pub use letter_countries::countries_of_letters;
pub use letters::oddity;
pub use mail_host::is_public_mail_host;
pub use misspelling::{dice, is_misspelt};
pub use name_form::NameForm;
pub use name_words::{
    NameWord, common_share, country_of_word, is_municipal, misspelt_root, name_words,
};
pub use network::Network;
pub use page_url::{InvalidPage, PageUrl};
pub use person_name::{InvalidPersonName, PersonName};
pub use person_page::{InvalidPersonPage, PersonPage};
pub use phone::{InvalidPhone, Phone};
pub use region::{Region, region};
pub use similar::{Agreed, Agreement, Rarity, Similarity, similar};
