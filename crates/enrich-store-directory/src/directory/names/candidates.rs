//! Finds the companies that a name may mean, for people who choose among them.

use enrich_core::matching::{AskedName, Candidates};
use enrich_core::{Candidate, Company, Confidence};
use enrich_text::{CompanyName, Country};

use super::{Fit, Ranked, judged, only_match, ranked, trust};
use crate::directory::lookup::{Lookup, Stop};

/// Returns the companies that a name may mean, the likeliest first, and the confidence of the
/// first. If a country is given, returns the companies with a domain for that country, and
/// well-known companies of other countries ([`judged`]).
pub(crate) fn candidates(
    lookup: Lookup<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> Result<Option<(Vec<Candidate>, Confidence)>, Stop> {
    lookup.needs_search()?;
    let view = lookup.view;
    let ranked = ranked(view, name, country)?.unwrap_or_default();
    let judged = judged(view, name, country)?;
    let only = only_match(name, country, &ranked).filter(|only| !only.is_bare);
    let is_bare = |one: &&Ranked| one.is_bare && one.fit < Fit::WithoutSpaces;
    let bare: Vec<&Company> = ranked.iter().filter(is_bare).map(|one| &one.company).collect();
    let candidates = Candidates {
        asked: &AskedName::new(name),
        country,
        only: only.map(|only| (&only.company, only.fit.confidence())),
        judged: &judged,
        bare: &bare,
    };
    let list = candidates.list(|company, name| trust(view, company, name))?;
    let first = list.first().map(|first| first.confidence);
    Ok(first.map(|confidence| (list, confidence)))
}
