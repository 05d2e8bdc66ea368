//! Derives the look-up data of a subject (a company or a person) from its facts: its profile and
//! its identifiers.

use std::collections::BTreeMap;

use enrich_core::resolution::is_linkable_by_name;
use enrich_core::{
    Attribute, Company, Confidence, Fact, Person, SubjectId, company_from_facts, person_from_facts,
};
use enrich_text::{CompanyName, Domain, NameForm, Network, PageUrl, PersonName, PersonPage};

use super::subject_facts::{Kind, MergedFacts, SubjectFacts};
use super::words::Words;
use crate::directory::codes::IdentifierKind;
use crate::directory::names::search::{MAX_WORDS, domain_labels, index_words};
use crate::directory::people::name_in;
use crate::directory::profile::{self, BadProfile, employer_to_be_read};
use crate::directory::{names, view::BARE_TIER};

/// The version of the derivation rules. If a change of the rules requires that existing directories
/// are derived again, this version must be increased.
pub(crate) const DERIVED_BY: i64 = 4;

/// Maximum number of words under which one company is found. Even a company with a hundred names
/// has fewer words. Without the limit, a company with thousands of names would take a large part of
/// the index.
const MAX_WORDS_IN_ALL: usize = 1024;
/// Maximum number of words in a name for which the identifier [`IdentifierKind::CompanySorted`] is
/// stored (the words of the name in alphabetical order).
const MAX_SORTED: usize = 16;

/// The data that was derived from the facts of one company or person; empty if the facts contain no
/// name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Derived {
    /// The profile as it is stored; `None` if the facts contain no name.
    pub(crate) profile: Option<String>,
    /// The identifiers by which look-ups find the company or person.
    pub(crate) identifiers: BTreeMap<Identifier, Strength>,
    /// The words of the names; empty for a person.
    pub(crate) words: Words,
    /// The person's employer; `None` for a company, and for a person without an employer.
    pub(crate) employer: Option<SubjectId>,
}

/// The data that is derived from the facts of one company or person, before and after a change.
#[derive(Debug)]
pub(crate) struct DerivedChange {
    pub(crate) before: Derived,
    pub(crate) now: Derived,
}

impl DerivedChange {
    /// Derives the look-up data of a company or person twice: from the facts that were read from
    /// the database, and from the facts after the changes.
    pub(crate) fn of(subject_facts: &SubjectFacts) -> Result<Self, BadProfile> {
        let derived = |merged| Derived::from(subject_facts.subject, subject_facts.kind, &merged);
        Ok(Self {
            before: derived(subject_facts.merged_before())?,
            now: derived(subject_facts.merged())?,
        })
    }
}

pub(crate) type Identifier = (IdentifierKind, String);

/// How strongly an identifier belongs to its company or person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strength {
    /// The tier; tier 0 is the strongest. See [`IdentifierKind`].
    pub(crate) tier: u8,
    /// The confidence of the source that gives the subject this identifier. If several sources give
    /// it, this is the highest confidence of these sources.
    pub(crate) confidence: Confidence,
}

impl Derived {
    /// Derives the look-up data of a subject from its facts.
    pub(crate) fn from(
        subject: SubjectId,
        kind: Kind,
        merged: &MergedFacts,
    ) -> Result<Self, BadProfile> {
        let facts = &merged.facts;
        let derived = match kind {
            Kind::Company => company_from_facts(subject, facts).map(|it| of_company(it, merged)),
            Kind::Person => person_from_facts(subject, facts, |id| Some(employer_to_be_read(id)))
                .map(|it| of_person(it, facts)),
        };
        derived.unwrap_or_else(|| Ok(Self::default()))
    }

    fn add(&mut self, kind: IdentifierKind, key: String, tier: u8, confidence: Confidence) {
        let strength = self.identifiers.entry((kind, key)).or_insert(Strength { tier, confidence });
        strength.tier = strength.tier.min(tier);
        strength.confidence = strength.confidence.max(confidence);
    }
}

fn of_company(company: Company, merged: &MergedFacts) -> Result<Derived, BadProfile> {
    let mut derived = Derived::default();
    let is_bare = names::is_bare(&company);
    let (mut names, mut domains) = (Vec::new(), Vec::new());
    for fact in &merged.facts {
        let (value, confidence) = (fact.value.as_str(), fact.confidence);
        match fact.attribute {
            Attribute::Name | Attribute::Alias => {
                let Ok(name) = CompanyName::parse(value) else { continue };
                let form = NameForm::of(&name);
                let tier = u8::from(value != company.name);
                let key = name.squashed().to_owned();
                let name_tier = if is_bare { BARE_TIER } else { tier };
                derived.add(IdentifierKind::CompanyName, key, name_tier, confidence);
                names.push(OwnName { name, form, tier, confidence });
            }
            Attribute::Domain => {
                let tier = u8::from(company.domain() != Some(value));
                derived.add(IdentifierKind::CompanyDomain, value.to_owned(), tier, confidence);
                domains.extend(Domain::parse(value).map(|domain| (domain, confidence)).ok());
            }
            Attribute::Page(network) => {
                let tier = u8::from(company.page_on(network) != Some(value));
                if let Some(key) = page_key(network, value) {
                    derived.add(IdentifierKind::CompanyPage, key, tier, confidence);
                }
            }
            Attribute::Email => {
                derived.add(IdentifierKind::CompanyEmail, value.to_owned(), 0, confidence);
            }
            Attribute::Phone => {
                derived.add(IdentifierKind::CompanyPhone, value.to_owned(), 0, confidence);
            }
            Attribute::ExternalId => {
                derived.add(IdentifierKind::CompanyId, value.to_owned(), 0, confidence);
            }
            Attribute::Parent => {
                let tier = u8::from(company.parent.as_deref() != Some(value));
                derived.add(IdentifierKind::CompanyParent, value.to_owned(), tier, confidence);
            }
            _ => {}
        }
    }
    let is_linkable = merged.has_name_alone
        || is_linkable_by_name(
            names.iter().map(|name| (&name.name, &name.form)),
            domains.iter().map(|(domain, _)| domain),
        );
    for name in names.iter().filter(|_| is_linkable) {
        let key = name.name.squashed().to_owned();
        derived.add(IdentifierKind::CompanyLinkableName, key, 0, name.confidence);
    }
    // A bare company (known only by names) is found only by its exact name.
    if !is_bare {
        add_words(&mut derived, &names, &domains);
    }
    derived.profile = Some(profile::write_company(company)?);
    Ok(derived)
}

/// A name of a company.
struct OwnName {
    name: CompanyName,
    form: NameForm,
    /// 0 for the company's main name, which answers contain; 1 for an alias.
    tier: u8,
    confidence: Confidence,
}

/// Adds the words and identifiers by which a look-up finds the company without its exact name: the
/// words of its names, the same words in alphabetical order, their initials, and the labels of the
/// company's domains.
fn add_words(derived: &mut Derived, names: &[OwnName], domains: &[(Domain, Confidence)]) {
    for OwnName { name, form, tier, confidence } in names {
        let length = u8::try_from(form.words.len()).unwrap_or(u8::MAX);
        for word in index_words(form).take(MAX_WORDS) {
            if derived.words.len() >= MAX_WORDS_IN_ALL && !derived.words.contains_key(&word) {
                continue;
            }
            let fewest = derived.words.entry(word).or_insert(length);
            *fewest = length.min(*fewest);
        }
        if form.sorted != name.squashed() && form.words.len() <= MAX_SORTED {
            let sorted = form.sorted.clone();
            derived.add(IdentifierKind::CompanySorted, sorted, *tier, *confidence);
        }
        for initials in [&form.initials, &form.all_initials] {
            if (3..=8).contains(&initials.chars().count()) {
                let initials = initials.clone();
                derived.add(IdentifierKind::CompanyInitials, initials, *tier, *confidence);
            }
        }
    }
    for (domain, confidence) in domains {
        for label in domain_labels(domain) {
            let key = (IdentifierKind::CompanyName, label);
            if !derived.identifiers.contains_key(&key) {
                derived.add(IdentifierKind::CompanyLabel, key.1.clone(), 0, *confidence);
            }
            derived.words.entry(key.1).or_insert(1);
        }
    }
}

fn of_person(person: Person, facts: &[Fact]) -> Result<Derived, BadProfile> {
    let mut derived = Derived::default();
    for fact in facts {
        let (value, confidence) = (fact.value.as_str(), fact.confidence);
        match fact.attribute {
            Attribute::Email => {
                derived.add(IdentifierKind::PersonEmail, value.to_owned(), 0, confidence);
            }
            Attribute::Phone => {
                derived.add(IdentifierKind::PersonPhone, value.to_owned(), 0, confidence);
            }
            Attribute::PersonPage => {
                if let Ok(page) = PersonPage::parse(value) {
                    derived.add(IdentifierKind::PersonPage, page.key().to_owned(), 0, confidence);
                }
            }
            _ => {}
        }
    }
    derived.employer = person.employer.as_ref().map(|employer| employer.id);
    add_names(&mut derived, &person, facts);
    derived.profile = Some(profile::write_person(person)?);
    Ok(derived)
}

/// Adds the look-up keys of a person's name in the person's country and at the employer. The
/// confidence of a key is the lowest confidence of its three parts: first name, last name, and
/// country or employer.
fn add_names(derived: &mut Derived, person: &Person, facts: &[Fact]) {
    let Ok(name) = PersonName::from_parts(&person.first_name, &person.last_name) else { return };
    let confidence = |attributes: [Attribute; 3]| {
        let confidences =
            attributes.into_iter().map(|attribute| highest_confidence(facts, attribute));
        confidences.min().unwrap_or(Confidence::FULL)
    };
    let confidence_in =
        |scope: Attribute| confidence([Attribute::FirstName, Attribute::LastName, scope]);
    for key in name.keys() {
        if let Some(country) = person.country {
            let key = name_in(country.alpha2(), &key);
            derived.add(IdentifierKind::PersonInCountry, key, 0, confidence_in(Attribute::Country));
        }
        if let Some(employer) = derived.employer {
            let key = name_in(&employer.0.to_string(), &key);
            derived.add(
                IdentifierKind::PersonAtCompany,
                key,
                0,
                confidence_in(Attribute::Employer),
            );
        }
    }
}

/// Returns the highest confidence of all facts of an attribute, such as the last name. A company or
/// person gets the value of the fact with this confidence.
fn highest_confidence(facts: &[Fact], attribute: Attribute) -> Confidence {
    let confidences = facts.iter().filter(|fact| fact.attribute == attribute);
    confidences.map(|fact| fact.confidence).max().unwrap_or(Confidence::FULL)
}

fn page_key(network: Network, page: &str) -> Option<String> {
    PageUrl::parse(network, page).ok().map(|page| page.key().to_owned())
}
