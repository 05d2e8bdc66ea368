//! Finds the company that is meant if the only company with exactly the requested name is bare
//! (known only by names). Another company, about which more is known, may be the same company as
//! the bare one. It is searched for by the requested name, and by the other names of the bare
//! company. If it is found, it is the answer. Otherwise, the bare company is the answer.

use enrich_core::matching::{Feature, ScoredCandidate};
use enrich_core::{Company, Confidence};
use enrich_text::{CompanyName, Country};

use super::{Ranked, judged, likeliest_found, only_match, ranked};
use crate::directory::lookup::{Lookup, Stop};

/// Maximum number of further names of a bare company (known only by names) by which other companies
/// are searched for. A company that is found by one of these names is probably the same company.
const MAX_LENT: usize = 4;

/// Finds the only company with exactly this name, and the confidence of the match. Returns `None`
/// when similar names must be compared.
///
/// If the only company is bare (known only by names), companies with similar names are searched for
/// here, because one of them may be the same company:
///
/// - If a company has a name similar to `name`, returns `None`.
/// - Otherwise, if a company has a name similar to another name of the bare company, returns that
///   company.
/// - If there is no such company, returns the bare company.
pub(crate) fn find_only_match(
    lookup: Lookup<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> Result<Option<(Company, Confidence)>, Stop> {
    let ranked = ranked(lookup.view, name, country)?.unwrap_or_default();
    match only_match(name, country, &ranked) {
        Some(bare) if bare.is_bare => {
            let judged = judged(lookup.view, name, country)?;
            match likeliest_firm(lookup, &judged)? {
                Some(_) => Ok(None),
                None => found(lookup, name, country, bare, &[]),
            }
        }
        only => Ok(only.map(|only| (only.company.clone(), only.fit.confidence()))),
    }
}

/// Finds the company that is probably the same as `bare`, a bare company with the requested name.
/// First looks among `candidates`, which were found for `name`, and then searches for the other
/// names of `bare`. If there is no such company, returns `bare` itself; but if the confidence that
/// `name` means `bare` is below `min_name_confidence`, returns `None`.
pub(super) fn found(
    lookup: Lookup<'_>,
    name: &CompanyName,
    country: Option<Country>,
    bare: &Ranked,
    candidates: &[ScoredCandidate],
) -> Result<Option<(Company, Confidence)>, Stop> {
    if let Some(found) = likeliest_firm(lookup, candidates)? {
        return Ok(Some(found));
    }
    let names = std::iter::once(&bare.company.name).chain(&bare.company.aliases);
    let names = names.filter_map(|other| CompanyName::parse(other).ok());
    for other in names.filter(|other| other.stripped() != name.stripped()).take(MAX_LENT) {
        let judged = judged(lookup.view, &other, country)?;
        if let Some(found) = likeliest_firm(lookup, &judged)? {
            return Ok(Some(found));
        }
    }
    let is_enough = bare.fit.confidence() >= lookup.min_name_confidence;
    Ok(is_enough.then(|| (bare.company.clone(), bare.confidence())))
}

/// Returns the likeliest candidate, if it is likely enough to be the same company as the bare one.
/// Two conditions must be met:
///
/// - The candidate has at least the confidence [`Confidence::MIN_BY_NAME`], even if
///   `min_name_confidence` is lower.
/// - Its name agrees firmly ([`is_firm`]) with the name that was searched for.
fn likeliest_firm(
    lookup: Lookup<'_>,
    candidates: &[ScoredCandidate],
) -> Result<Option<(Company, Confidence)>, Stop> {
    match candidates.first() {
        Some(first) if is_firm(first) => {
            let min_name_confidence = lookup.min_name_confidence.max(Confidence::MIN_BY_NAME);
            likeliest_found(Lookup { min_name_confidence, ..lookup }, candidates)
        }
        _ => Ok(None),
    }
}

/// Whether the names are strong evidence for the candidate: its name and the name that was searched
/// for are equal without spaces, or agree in more than initials and general words.
fn is_firm(one: &ScoredCandidate) -> bool {
    one.evidence.of(Feature::NoSpecific) == 0.0 || one.evidence.of(Feature::SameSquashed) > 0.0
}
