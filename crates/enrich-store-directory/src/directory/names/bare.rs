//! Finds the company that a name means, if the only company with exactly this name is bare. A bare
//! company is known only by names: it has no domain or phone number, for example.
//!
//! Another company, about which more is known, may be the same company as the bare one. Therefore
//! companies with similar names are searched for: names similar to the requested name, or to
//! another name of the bare company. If one of these companies is probably the same as the bare
//! one, it is the answer. Otherwise, the bare company is the answer.

use enrich_core::matching::{Feature, ScoredCandidate};
use enrich_core::{Company, Confidence};
use enrich_text::{CompanyName, Country};

use super::{Ranked, judged, likeliest_found, only_match, ranked};
use crate::directory::lookup::{Lookup, Stop};

/// A bare company (known only by names) may have other names than the requested one. This is the
/// maximum number of these other names for which companies with similar names are searched for.
const MAX_LENT: usize = 4;

/// If exactly one company has this name, returns the company that the name means, with the
/// confidence of the match. Returns `None` if the caller must compare similar names.
///
/// If the only company with the name is bare (known only by names), another company with a similar
/// name may be the same company. Then there are three cases:
///
/// 1. Another company is probably the same, and its name is similar to `name`. Returns `None`.
/// 2. Another company is probably the same, and its name is similar to another name of the bare
///    company. Returns this other company.
/// 3. There is no such company. Returns the bare company, or `None` if the confidence that `name`
///    means it is below `min_name_confidence`.
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

/// Finds the company that is probably the same as `bare`. `bare` is the only company with exactly
/// the requested name `name`, and is bare (known only by names). Returns the first of these
/// companies:
///
/// 1. One of `candidates`. They are companies whose names are similar to `name`.
/// 2. A company whose name is similar to another name of `bare`.
/// 3. `bare` itself, or `None` if the confidence that `name` means `bare` is below
///    `min_name_confidence`.
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

/// Returns the likeliest candidate, if it is probably the same company as the bare company (known
/// only by names). Two conditions must be met:
///
/// - The candidate has at least the confidence [`Confidence::MIN_BY_NAME`], even if
///   `min_name_confidence` is lower.
/// - The candidate's name and the name that was searched for are strong evidence ([`is_firm`]).
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

/// Whether the candidate's name and the name that was searched for are strong evidence that the
/// candidate is meant. At least one of these conditions must be met:
///
/// - A word matches in the two names, and it is neither a general word, such as `university`, nor a
///   place.
/// - The two names are equal, apart from legal forms and spaces.
fn is_firm(one: &ScoredCandidate) -> bool {
    one.evidence.of(Feature::NoSpecific) == 0.0 || one.evidence.of(Feature::SameSquashed) > 0.0
}
