//! Makes the look-up that a question describes.

use enrich_core::{Confidence, Found, Projection, Question, Subject};
use enrich_text::Domain;
use rusqlite::Connection;

use super::hash_index::HashIndex;
use super::lookup::{Lookup, Stop};
use super::view::{KnownDomain, View};
use super::{companies, names, people};

/// Makes the look-up that `question` describes. All its reads see one state of the directory.
pub(crate) fn find(
    connection: &Connection,
    index: Option<&HashIndex>,
    question: &Question,
    projection: Projection,
    min_name_confidence: Confidence,
    may_search: bool,
) -> Result<Option<Found>, Stop> {
    View::of(connection).of_one_state(index, |view, revision| {
        let lookup = Lookup { view, min_name_confidence, may_search };
        let found = subject(lookup, question, projection)?;
        Ok(found.map(|(subject, confidence)| Found { subject, confidence, revision }))
    })
}

fn subject(
    lookup: Lookup<'_>,
    question: &Question,
    projection: Projection,
) -> Result<Option<(Subject, Confidence)>, Stop> {
    let view = lookup.view;
    match question {
        Question::Company(company) => {
            let Some((mut company, confidence)) = companies::find(lookup, company)? else {
                return Ok(None);
            };
            if let Projection::Employees { limit } = projection {
                company.employees = view.employees(company.id, limit)?;
            }
            Ok(Some((Subject::Company(company), confidence)))
        }
        Question::Candidates { name, country } => {
            let found = names::candidates(lookup, name, *country)?;
            Ok(found.map(|(list, confidence)| (Subject::Candidates(list), confidence)))
        }
        Question::Person(person) => {
            let found = people::find(lookup, person)?;
            Ok(found.map(|(person, confidence)| (Subject::Person(person), confidence)))
        }
        Question::Host(host) => {
            let found = view.domain(host.as_str())?;
            Ok(found.and_then(|known| {
                let confidence = known.ip_confidence.or(known.rank_confidence)?;
                Some((Subject::Domain(known.facts), confidence))
            }))
        }
        Question::Domain(domain) => {
            let found = ranked_domain(view, domain)?;
            Ok(found.and_then(|known| {
                let confidence = known.rank_confidence.or(known.ip_confidence)?;
                Some((Subject::Domain(known.facts), confidence))
            }))
        }
    }
}

/// Returns the facts of `domain`. But if only its registrable domain has a page rank
/// (`quill.example` for `shop.quill.example`), returns the facts of the registrable domain, because
/// its page rank also applies to its subdomains.
fn ranked_domain(view: View<'_>, domain: &Domain) -> rusqlite::Result<Option<KnownDomain>> {
    let host = view.domain(domain.as_str())?;
    if host.as_ref().is_some_and(|known| known.rank_confidence.is_some()) {
        return Ok(host);
    }
    let registrable = domain.registrable();
    if registrable == *domain {
        return Ok(host);
    }
    let above = view.domain(registrable.as_str())?;
    Ok(above.filter(|known| known.rank_confidence.is_some()).or(host))
}
