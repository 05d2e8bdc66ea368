//! Lists the candidates of a name for people.

use std::cmp::Reverse;

use enrich_text::{Country, Domain};

use super::asked::AskedName;
use super::why::why;
use super::{ScoredCandidate, rival};
use crate::confidence::Confidence;
use crate::subject::{Candidate, Company, SubjectId};

/// The companies that a name may mean, as a directory has found them.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// The name that was asked for.
    pub asked: &'a AskedName,
    /// The country that was asked for.
    pub country: Option<Country>,
    /// The only company that has exactly this name, with the confidence of the match; `None` if
    /// similar names must be compared.
    pub only: Option<(&'a Company, Confidence)>,
    /// The companies that were compared, the likeliest first.
    pub judged: &'a [ScoredCandidate],
    /// The companies with exactly this name, if nothing else is known about them.
    pub bare: &'a [&'a Company],
}

impl Candidates<'_> {
    /// Returns the companies that the name may mean, the likeliest first, at most
    /// [`Candidate::MOST`]. `trust` returns the confidence of the sources that give a company a
    /// name.
    ///
    /// A company is listed only once. Companies with the same main domain count as one. Companies
    /// that are known only by their name come last. If there are only such companies, the list is
    /// empty, because they say no more than the name itself.
    ///
    /// # Errors
    ///
    /// The error of `trust`.
    pub fn list<E>(
        self,
        trust: impl Fn(SubjectId, &str) -> Result<Confidence, E>,
    ) -> Result<Vec<Candidate>, E> {
        let mut list = Vec::new();
        for (company, name, confidence, why) in self.likely() {
            let confidence = confidence.min(trust(company.id, name)?);
            self.put(&mut list, company, confidence, why);
        }
        list.sort_by_key(|one| Reverse(one.confidence));
        let Some(first) = list.first() else { return Ok(list) };
        let most = rest(first.confidence).min(Confidence::AMBIGUOUS);
        for company in self.bare {
            if !list.iter().any(|known| known.domain.is_none() && known.name == company.name) {
                let confidence = most.min(trust(company.id, &company.name)?);
                self.put(&mut list, company, confidence, ONLY_A_NAME.to_owned());
            }
        }
        list.truncate(Candidate::MOST);
        Ok(list)
    }

    /// Returns the companies that are likely enough to be listed: each with the name that fits
    /// best, the confidence of the match, and the sentence that explains it.
    fn likely(&self) -> impl Iterator<Item = (&Company, &str, Confidence, String)> {
        let Self { asked, only, judged, .. } = *self;
        let most = match (only, rival(judged)) {
            (Some((_, confidence)), _) => rest(confidence),
            (None, Some(_)) => Confidence::AMBIGUOUS,
            (None, None) => Confidence::FULL,
        };
        let only = only.map(|(company, confidence)| {
            let scored = judged.iter().find(|one| one.company.id == company.id);
            let why = scored.map_or_else(|| ONLY_BEARER.to_owned(), |scored| why(asked, scored));
            (company, company.name.as_str(), confidence, why)
        });
        let judged = judged.iter().filter(|one| is_likely(one, judged)).map(move |one| {
            let confidence = one.confidence().min(most);
            (&one.company, one.name.as_str(), confidence, why(asked, one))
        });
        only.into_iter().chain(judged)
    }

    fn put(
        &self,
        list: &mut Vec<Candidate>,
        company: &Company,
        confidence: Confidence,
        why: String,
    ) {
        let has_domain = |known: &Candidate| {
            let sites = &company.sites;
            known.domain.as_ref().is_some_and(|known| sites.iter().any(|it| it.domain == *known))
        };
        if list.iter().any(|known| known.id == company.id || has_domain(known)) {
            return;
        }
        let there = self.country.filter(|country| company.is_in(*country));
        let domain = there.and_then(|there| company.domain_in(there)).or(company.domain());
        list.push(Candidate {
            id: company.id,
            name: company.name.clone(),
            country: there.or_else(|| country_of(company)),
            domain: domain.map(str::to_owned),
            confidence,
            why,
        });
    }
}

/// The sentence for the only company of a name that was not compared with others.
const ONLY_BEARER: &str = "No other company has exactly this name.";
/// The sentence for a company that is known only by its name.
const ONLY_A_NAME: &str = "Its name is exactly this name; nothing else is known of it.";

/// A candidate is listed if it is at least this likely.
const LIKELY: f64 = 0.05;
/// A less likely candidate is also listed if its probability is at least this share of the first
/// candidate's probability. This is usual for the many companies with a frequent name.
const SHARE_OF_FIRST: f64 = 0.25;
/// If the probabilities of all candidates add up to less than this, the directory most likely does
/// not have the company. Then no less likely candidates are listed.
const LEAST_TOGETHER: f64 = 0.1;

fn is_likely(one: &ScoredCandidate, judged: &[ScoredCandidate]) -> bool {
    let together: f64 = judged.iter().map(|one| one.probability).sum();
    let first = judged.first().map_or(0.0, |first| first.probability);
    one.probability >= LIKELY
        || (together >= LEAST_TOGETHER && one.probability >= SHARE_OF_FIRST * first)
}

/// Returns the confidence that remains for all other companies if one company is meant with
/// `confidence`.
fn rest(confidence: Confidence) -> Confidence {
    Confidence::clamped(100_u8.saturating_sub(confidence.percent()))
}

/// Returns the country of the first head office; if no head office is known, the country of the
/// main domain.
fn country_of(company: &Company) -> Option<Country> {
    company.seats.first().copied().or_else(|| {
        let site = company.sites.first()?;
        site.country.or_else(|| Domain::parse(&site.domain).ok()?.country())
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use enrich_text::CompanyName;

    use super::super::{DirectoryRarity, Weights, judge};
    use super::*;
    use crate::subject::Site;

    fn company(id: u64, name: &str, domain: Option<&str>) -> Company {
        let site = |domain: &str| Site { domain: domain.to_owned(), country: None };
        Company {
            sites: domain.map(site).into_iter().collect(),
            ..Company::named(SubjectId(id), name.to_owned())
        }
    }

    /// Returns the ids and the confidences of the candidates for "Quill Pens".
    fn listed(only: Option<u64>, companies: &[Company], bare: &[&Company]) -> Vec<(u64, u8)> {
        let asked = AskedName::new(&CompanyName::parse("Quill Pens").unwrap());
        let rarity = DirectoryRarity::among(1_000);
        let judged =
            judge(&asked, companies.iter().cloned(), &rarity, Weights::trained(), |_| None);
        let only = companies.iter().find(|one| Some(one.id.0) == only);
        let only = only.map(|only| (only, Confidence::clamped(98)));
        let candidates = Candidates { asked: &asked, country: None, only, judged: &judged, bare };
        let list = candidates.list(|_, _| Ok::<_, Infallible>(Confidence::FULL)).unwrap();
        list.iter().map(|one| (one.id.0, one.confidence.percent())).collect()
    }

    #[test]
    fn the_only_bearer_comes_first_and_leaves_the_rest_to_others() {
        let companies = [
            company(1, "Quill Pens Ltd", Some("a.example")),
            company(2, "Quill Pens", Some("b.example")),
        ];
        assert_eq!(listed(Some(1), &companies, &[]), [(1, 98), (2, 2)]);
    }

    #[test]
    fn one_domain_is_listed_once_and_bare_names_come_last() {
        let companies = [
            company(1, "Quill Pens", Some("a.example")),
            company(2, "Quill Pens", Some("a.example")),
            company(3, "Quill Pens", Some("b.example")),
        ];
        let bare = [company(4, "Quill Pens", None), company(5, "Quill Pens", None)];
        let list = listed(None, &companies, &[&bare[0], &bare[1]]);
        let ids: Vec<u64> = list.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [1, 3, 4]);
        assert!(list.iter().all(|(_, confidence)| *confidence <= 80), "{list:?}");
        assert_eq!(listed(None, &[], &[&bare[0]]), []);
    }

    #[test]
    fn namesakes_are_listed_although_each_is_unlikely_and_strangers_are_not() {
        let domain = |id: u64| format!("a{id}.example");
        let namesakes: Vec<Company> =
            (0..200).map(|id| company(id, "Quill Pens", Some(&domain(id)))).collect();
        assert_eq!(listed(None, &namesakes, &[]).len(), Candidate::MOST);
        let stranger = company(1, "Zebra Logistics", Some("feather.example"));
        assert_eq!(listed(None, &[stranger], &[]), []);
    }
}
