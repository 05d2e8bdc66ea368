//! Finds the person that a question means.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use enrich_core::{Confidence, Person, PersonRef, SubjectId};
use enrich_text::{Country, EmailAddress, PersonName};

use super::codes::IdentifierKind;
use super::companies;
use super::lookup::{Lookup, Stop};
use super::names::CandidateMatch;
use super::view::View;

/// The most people of one name and scope that are compared. More people cannot be distinguished by
/// their name.
const MOST_NAMESAKES: usize = 64;

/// The points by which the best match must exceed the next, so that their order is clear. Names
/// that differ only in spelling are closer than that.
const CLEAR_LEAD: u8 = 4;

/// The confidence that a person whose name agrees is meant, for one kind of scope: an employer or a
/// country.
///
/// `same` is of a hundred people with the same whole name. The others are the percentage of that
/// which is left when the names differ in this way; for two differences both apply. They are
/// estimates, given that no other person in the scope agrees. At a company few people share a name,
/// so the only match is mostly right. In a country many people are not in the directory.
struct NameConfidence {
    /// The rest are other people of the same name, in the place or recorded there by mistake.
    same: u8,
    /// Hungary, Vietnam and lists of names use this order. Few names can be read both ways, and two
    /// such people seldom work at one company.
    order: u8,
    /// At a company, one in five is another person with the same initial.
    initial: u8,
    /// Only the consonants were compared. Different names with three or more consonants seldom have
    /// the same ones, but some such names differ only in their vowels.
    script: u8,
    /// One of two family names is often used alone, but in a country it is a common one.
    family_part: u8,
    /// Most people called Bob are Robert. Some short forms stand for several names, and two
    /// colleagues seldom use the short and the full form.
    short_form: u8,
    /// Many sources leave out the suffix. But it can also distinguish two people, such as father and
    /// son.
    name_suffix: u8,
    /// Most sources leave middle names out.
    middle_name: u8,
    /// A particle is seldom left out: Berg and van den Berg are two different families.
    particle: u8,
    /// The spelling rules make the names equal, as `Müller` and `Mueller`, so they are most likely
    /// the same name.
    spelling: u8,
}

const AT_COMPANY: NameConfidence = NameConfidence {
    same: 97,
    order: 94,
    initial: 80,
    script: 88,
    family_part: 88,
    short_form: 94,
    name_suffix: 90,
    middle_name: 95,
    particle: 95,
    spelling: 98,
};

const IN_COUNTRY: NameConfidence = NameConfidence {
    same: 92,
    order: 65,
    initial: 45,
    script: 65,
    family_part: 65,
    short_form: 80,
    name_suffix: 75,
    middle_name: 88,
    particle: 80,
    spelling: 98,
};

/// The identifier of a person reference that has exactly one.
pub(crate) fn one_identifier(person: &PersonRef) -> Option<(IdentifierKind, &str)> {
    match person {
        PersonRef::Page(page) => Some((IdentifierKind::PersonPage, page.key())),
        PersonRef::Phone(phone) => Some((IdentifierKind::PersonPhone, phone.as_str())),
        // The same mailbox has several addresses.
        PersonRef::Email(_) | PersonRef::InCountry { .. } | PersonRef::AtCompany { .. } => None,
    }
}

/// The person that `person` names.
pub(crate) fn find(
    lookup: Lookup<'_>,
    person: &PersonRef,
) -> Result<Option<(Person, Confidence)>, Stop> {
    let view = lookup.view;
    let found = match person {
        PersonRef::Email(email) => by_email(view, email)?,
        PersonRef::Page(page) => by(view, IdentifierKind::PersonPage, page.key())?,
        PersonRef::Phone(phone) => by(view, IdentifierKind::PersonPhone, phone.as_str())?,
        PersonRef::InCountry { name, country } => {
            by_name(lookup, IdentifierKind::PersonInCountry, &[in_country(*country)], name)?
        }
        PersonRef::AtCompany { name, company } => {
            let employers = companies::find_all(lookup, company)?;
            let scopes: Vec<_> = employers.iter().map(NameScope::at).collect();
            by_name(lookup, IdentifierKind::PersonAtCompany, &scopes, name)?
        }
    };
    Ok(found)
}

/// The key of a name in a scope (a country's code, a company's id).
pub(crate) fn name_in(scope: &str, name_key: &str) -> String {
    format!("{scope}|{name_key}")
}

/// The scope of a name: its key, the confidence that it is meant, and the trust in the sources of
/// its name.
struct NameScope {
    key: String,
    match_confidence: Confidence,
    source_confidence: Confidence,
}

impl NameScope {
    fn at(employer: &CandidateMatch) -> Self {
        let &CandidateMatch { company, match_confidence, source_confidence } = employer;
        Self { key: company.0.to_string(), match_confidence, source_confidence }
    }
}

fn in_country(country: Country) -> NameScope {
    let key = country.alpha2().to_owned();
    NameScope { key, match_confidence: Confidence::FULL, source_confidence: Confidence::FULL }
}

fn by_email(
    view: View<'_>,
    email: &EmailAddress,
) -> rusqlite::Result<Option<(Person, Confidence)>> {
    if let Some(found) = by(view, IdentifierKind::PersonEmail, email.as_str())? {
        return Ok(Some(found));
    }
    match email.without_tag() {
        Some(email) => by(view, IdentifierKind::PersonEmail, email.as_str()),
        None => Ok(None),
    }
}

fn by(
    view: View<'_>,
    kind: IdentifierKind,
    key: &str,
) -> rusqlite::Result<Option<(Person, Confidence)>> {
    let Some((person, confidence)) = view.first_with(kind, key)? else { return Ok(None) };
    Ok(Some((view.with_employer(person)?, confidence)))
}

type Namesakes = BTreeMap<SubjectId, (Confidence, Confidence)>;

/// The only person of this name in these scopes; `None` when there are several.
///
/// Every person whose name agrees has one of a few keys. The keys of a later step are read only if
/// the earlier steps found no person.
fn by_name(
    lookup: Lookup<'_>,
    kind: IdentifierKind,
    scopes: &[NameScope],
    name: &PersonName,
) -> rusqlite::Result<Option<(Person, Confidence)>> {
    let view = lookup.view;
    for keys in name.keys_to_look_up() {
        let Some(namesakes) = namesakes(view, kind, scopes, &keys)? else { return Ok(None) };
        let mut agreeing = Vec::new();
        for (id, (scope, source_confidence)) in namesakes {
            let Some(person) = view.person_alone(id)? else { continue };
            if let Some(confidence) = name_confidence(kind, name, &person) {
                agreeing.push((confidence.min(scope), source_confidence, person));
            }
        }
        if !agreeing.is_empty() {
            let Some((person, confidence, source_confidence)) = clearly_best(agreeing) else {
                return Ok(None);
            };
            if confidence < lookup.least_by_name {
                return Ok(None);
            }
            return Ok(Some((view.with_employer(person)?, confidence.min(source_confidence))));
        }
    }
    Ok(None)
}

/// The people with any of the keys, with the confidence in the scope and the trust in the sources;
/// `None` when there are too many to compare.
fn namesakes(
    view: View<'_>,
    kind: IdentifierKind,
    scopes: &[NameScope],
    keys: &[String],
) -> rusqlite::Result<Option<Namesakes>> {
    let mut namesakes = Namesakes::new();
    for scope in scopes {
        for key in keys {
            let holders = view.holders(kind, &name_in(&scope.key, key), MOST_NAMESAKES + 1)?;
            for holder in holders {
                let found =
                    (scope.match_confidence, holder.confidence.min(scope.source_confidence));
                let known = namesakes.entry(holder.subject).or_insert(found);
                *known = found.max(*known);
            }
            if namesakes.len() > MOST_NAMESAKES {
                return Ok(None);
            }
        }
    }
    Ok(Some(namesakes))
}

/// The person whose name agrees best, if no other agrees about as well, with the trust in the
/// sources. If there is another, the confidence is at most [`Confidence::AMBIGUOUS`].
fn clearly_best(
    mut agreeing: Vec<(Confidence, Confidence, Person)>,
) -> Option<(Person, Confidence, Confidence)> {
    agreeing.sort_by_key(|(confidence, ..)| Reverse(*confidence));
    let next = agreeing.get(1).map(|(confidence, ..)| confidence.percent());
    let (confidence, source_confidence, person) = agreeing.into_iter().next()?;
    let most = match next {
        Some(next) if confidence.percent() < next.saturating_add(CLEAR_LEAD) => return None,
        Some(_) => Confidence::AMBIGUOUS,
        None => Confidence::FULL,
    };
    Some((person, confidence.min(most), source_confidence))
}

/// The confidence that a person is meant by this name; `None` when that is impossible.
fn name_confidence(kind: IdentifierKind, name: &PersonName, person: &Person) -> Option<Confidence> {
    let theirs = PersonName::from_parts(&person.first_name, &person.last_name).ok()?;
    let differences = name.agreement(&theirs)?;
    let of = match kind {
        IdentifierKind::PersonInCountry => IN_COUNTRY,
        _ => AT_COMPANY,
    };
    let shares = [
        (differences.order, of.order),
        (differences.initial, of.initial),
        (differences.script, of.script),
        (differences.family_part, of.family_part),
        (differences.short_form, of.short_form),
        (differences.name_suffix, of.name_suffix),
        (differences.middle_name, of.middle_name),
        (differences.particle, of.particle),
        (differences.spelling, of.spelling),
    ];
    let shares = shares.into_iter().filter(|&(is_there, _)| is_there);
    let percent =
        shares.fold(u16::from(of.same), |percent, (_, share)| percent * u16::from(share) / 100);
    Some(Confidence::clamped(u8::try_from(percent).unwrap_or(of.same)))
}
