//! Which person a question means.

use std::collections::BTreeMap;

use enrich_core::{Confidence, Person, PersonRef, SubjectId};
use enrich_text::{Country, EmailAddress, PersonName};

use super::codes::IdentifierKind;
use super::companies;
use super::view::View;

/// The most people of one name in one place who are compared. Where there are more, the name does
/// not tell them apart.
const MOST_NAMESAKES: usize = 64;

/// How sure a match by name is when all parts of both names are equal.
const SAME_NAME: Confidence = Confidence::clamped(97);
/// How sure it is when one has a part that the other lacks, or writes it out.
const AGREEING_NAME: Confidence = Confidence::clamped(90);

/// The person that `person` names.
pub(crate) fn find(
    view: View<'_>,
    person: &PersonRef,
) -> rusqlite::Result<Option<(Person, Confidence)>> {
    match person {
        PersonRef::Email(email) => by_email(view, email),
        PersonRef::Page(page) => by(view, IdentifierKind::PersonPage, page.key()),
        PersonRef::Phone(phone) => by(view, IdentifierKind::PersonPhone, phone.as_str()),
        PersonRef::InCountry { name, country } => {
            by_name(view, IdentifierKind::PersonInCountry, &[in_country(*country)], name)
        }
        PersonRef::AtCompany { name, company } => {
            let employers = companies::find_all(view, company)?;
            let places: Vec<_> =
                employers.iter().map(|&(id, sure)| Place { key: id.0.to_string(), sure }).collect();
            by_name(view, IdentifierKind::PersonAtCompany, &places, name)
        }
    }
}

/// The key of someone in a place (a country's code, a company's id) by a key of their name.
pub(crate) fn name_in(place: &str, name_key: &str) -> String {
    format!("{place}|{name_key}")
}

/// Where someone of a name is looked for, and how sure it is that the place is meant.
struct Place {
    key: String,
    sure: Confidence,
}

fn in_country(country: Country) -> Place {
    Place { key: country.alpha2().to_owned(), sure: Confidence::FULL }
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
    let Some((person, confidence)) = view.person_with(kind, key)? else { return Ok(None) };
    Ok(Some((view.with_employer(person)?, confidence)))
}

/// The one person of this name in these places; `None` when there are several.
fn by_name(
    view: View<'_>,
    kind: IdentifierKind,
    places: &[Place],
    name: &PersonName,
) -> rusqlite::Result<Option<(Person, Confidence)>> {
    let mut namesakes: BTreeMap<SubjectId, Confidence> = BTreeMap::new();
    // Whoever agrees with the name has one of its keys: a few, whatever was sent.
    let keys = name.keys();
    for place in places {
        for key in &keys {
            let holders = view.holders(kind, &name_in(&place.key, key), MOST_NAMESAKES + 1)?;
            for holder in holders {
                let confidence = holder.confidence.min(place.sure);
                let known = namesakes.entry(holder.subject).or_insert(confidence);
                *known = confidence.max(*known);
            }
            if namesakes.len() > MOST_NAMESAKES {
                return Ok(None);
            }
        }
    }
    let mut only = None;
    for (id, confidence) in namesakes {
        let Some(person) = view.person_alone(id)? else { continue };
        let Some(sure) = agreement(name, &person) else { continue };
        if only.is_some() {
            return Ok(None);
        }
        only = Some((person, sure.min(confidence)));
    }
    let Some((person, sure)) = only else { return Ok(None) };
    Ok(Some((view.with_employer(person)?, sure)))
}

/// How sure it is that a person is meant by this name; `None` when they cannot be.
fn agreement(name: &PersonName, person: &Person) -> Option<Confidence> {
    let theirs = PersonName::from_parts(&person.first_name, &person.last_name).ok()?;
    if theirs == *name {
        return Some(SAME_NAME);
    }
    name.agrees_with(&theirs).then_some(AGREEING_NAME)
}
