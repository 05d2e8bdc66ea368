//! Finds the person that a look-up request is about.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use enrich_core::{Confidence, Person, PersonRef, SubjectId};
use enrich_text::{Country, EmailAddress, PersonName};

use super::codes::IdentifierKind;
use super::companies;
use super::lookup::{Lookup, Stop};
use super::names::CandidateMatch;
use super::view::View;

/// Maximum number of people with the requested name that are compared, in all scopes together
/// ([`NameScope`]: an employer or a country). If there are more, the name alone cannot tell which
/// person is meant, so nobody is found.
const MAX_NAMESAKES: usize = 64;

/// Minimum lead of the best match over the second best, in percentage points. With a smaller lead,
/// there is no answer: for example, if the two best names differ only in their spelling, such as
/// `Müller` and `Mueller`.
const CLEAR_LEAD: u8 = 4;

/// The confidence of a match by a person's name, among the people of one employer or of one
/// country. The values are estimates for the case that only one person's name agrees with the
/// requested name.
///
/// `same` is the percentage for equal names. Every other value is a factor, in percent, for one
/// kind of difference between the names. With two differences, both factors are applied.
///
/// Within a company, few people share a name, so the only match is mostly right. Within a country,
/// many people are missing from the directory, so the only match may be wrong.
struct NameConfidence {
    /// The confidence for equal names. This is below 100 percent, because another person may have
    /// the same name, and because some records give the wrong employer or country.
    same: u8,
    /// The factor for the confidence, in percent, if one of the two names has the family name
    /// first, as in Hungary, Vietnam and lists of names. `Lovelace Ada` and `Ada Lovelace` are
    /// mostly the same person. Two people seldom have such names, because few words are both a
    /// given name and a family name, as in `Paul Martin` and `Martin Paul`.
    order: u8,
    /// The factor for the confidence, in percent, if one given name is only an initial, such as
    /// "A. Lovelace". Within a company, one in five such matches is another person with the same
    /// initial.
    initial: u8,
    /// The factor for the confidence, in percent, if one name is in Latin letters and the other is
    /// in a script that writes few vowels, such as Arabic. Then only their consonants are compared.
    /// The match may be wrong, because some different names differ only in their vowels. But these
    /// are few, because each compared word must have at least three consonants.
    script: u8,
    /// The factor for the confidence, in percent, if one of the two names has only a part of the
    /// family name. People often leave a part out, such as García for García Márquez. But in a
    /// country, many people share one part of the family name.
    family_part: u8,
    /// The factor for the confidence, in percent, if one given name is a short form of the other.
    /// The match may be wrong, because some short forms stand for several names: Alex for Alexander
    /// and Alexandra. Within a company, this is rare: two colleagues seldom have the same family
    /// name and such given names.
    short_form: u8,
    /// The factor for the confidence, in percent, if only one of the two names has a suffix, such
    /// as Jr. Many sources leave suffixes out, but a suffix can also distinguish two people, such
    /// as father and son.
    name_suffix: u8,
    /// The factor for the confidence, in percent, if only one of the two names has middle names.
    /// Most sources leave middle names out.
    middle_name: u8,
    /// The factor for the confidence, in percent, if only one of the two names has a particle, such
    /// as "van den". Particles are seldom left out: Berg and van den Berg are two families.
    particle: u8,
    /// The factor for the confidence, in percent, if the two names are equal under spelling rules,
    /// like `Müller` and `Mueller`. Most likely they are the same name.
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

/// Returns the identifier in a person reference. Returns `None` if the reference has no identifier,
/// or if the look-up tries several forms of the identifier. For example, it tries an email address
/// with and without its `+tag`.
pub(crate) fn one_identifier(person: &PersonRef) -> Option<(IdentifierKind, &str)> {
    match person {
        PersonRef::Page(page) => Some((IdentifierKind::PersonPage, page.key())),
        PersonRef::Phone(phone) => Some((IdentifierKind::PersonPhone, phone.as_str())),
        // An email address with a `+tag` is tried in two forms, so it is not one identifier.
        PersonRef::Email(_) | PersonRef::InCountry { .. } | PersonRef::AtCompany { .. } => None,
    }
}

/// Finds the person that `person` refers to.
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

/// Returns the look-up key of a person's name in a scope, such as `17|ada|lovelace`. The scope is a
/// country's code or a company's id.
pub(crate) fn name_in(scope: &str, name_key: &str) -> String {
    format!("{scope}|{name_key}")
}

/// An employer or a country within which a person's name is looked up. `key` is the company's id or
/// the country's code. `match_confidence` is the confidence that the request means this employer or
/// country. `source_confidence` is the confidence of the sources that give the employer its name.
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

/// Finds the person with this name in one of the `scopes`, which are employers or countries. If the
/// name fits several people, returns the person whom it fits clearly best. Returns `None` if nobody
/// has the name, or if it fits no person clearly best.
///
/// Each person is stored under several keys of the name. Two names that agree have a common key.
/// The keys of the requested name are tried in steps: a later step is tried only if the earlier
/// steps found nobody.
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
            if confidence < lookup.min_name_confidence {
                return Ok(None);
            }
            return Ok(Some((view.with_employer(person)?, confidence.min(source_confidence))));
        }
    }
    Ok(None)
}

/// Finds the people who have any of the name keys in any of the scopes (employers or countries).
/// Each person comes with two confidences: the confidence that the request means this employer or
/// country, and the confidence of the sources. Returns `None` when there are too many people to
/// compare.
fn namesakes(
    view: View<'_>,
    kind: IdentifierKind,
    scopes: &[NameScope],
    keys: &[String],
) -> rusqlite::Result<Option<Namesakes>> {
    let mut namesakes = Namesakes::new();
    for scope in scopes {
        for key in keys {
            let holders = view.holders(kind, &name_in(&scope.key, key), MAX_NAMESAKES + 1)?;
            for holder in holders {
                let found =
                    (scope.match_confidence, holder.confidence.min(scope.source_confidence));
                let known = namesakes.entry(holder.subject).or_insert(found);
                *known = found.max(*known);
            }
            if namesakes.len() > MAX_NAMESAKES {
                return Ok(None);
            }
        }
    }
    Ok(Some(namesakes))
}

/// Returns the best match among the people whose names agree with the requested name, with the
/// confidence of the match and the confidence of the sources. Returns `None` if the second best
/// match is less than [`CLEAR_LEAD`] percentage points behind the best. If `agreeing` has several
/// people, the returned confidence of the match is at most [`Confidence::AMBIGUOUS`].
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

/// Returns the confidence that `name` means `person`; `None` if it cannot mean this person.
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
