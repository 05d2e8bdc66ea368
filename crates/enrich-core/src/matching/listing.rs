//! Makes the list of the companies that a name may mean, for people who choose among them.

use std::cmp::Reverse;

use enrich_text::{CompanyName, Country, Domain};
use rustc_hash::FxHashSet;

use super::asked::AskedName;
use super::why::why;
use super::{ScoredCandidate, rival};
use crate::confidence::Confidence;
use crate::subject::{Candidate, Company, SubjectId};

/// The companies that a name may mean, before they are made into a list for people.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// The requested name, prepared for comparison.
    pub asked: &'a AskedName,
    /// The country that was requested with the name.
    pub country: Option<Country>,
    /// The only company that has this name, with the confidence that it is meant. Case, accents,
    /// punctuation and legal forms are ignored. `None` if no company or several companies have the
    /// name, or if the name alone does not show which company is meant, for example because it is a
    /// single word.
    pub only: Option<(&'a Company, Confidence)>,
    /// The companies whose names were compared with the requested name, the likeliest first.
    pub judged: &'a [ScoredCandidate],
    /// The bare companies that have the requested name. Case, accents, punctuation and legal forms
    /// are ignored. A bare company is known only by its name: no head office, domain, page on a
    /// social network, email address or phone number of it is known.
    pub bare: &'a [&'a Company],
}

impl Candidates<'_> {
    /// Returns the companies that the name may mean, the likeliest first, at most
    /// [`Candidate::MAX_LISTED`]. `trust` returns the confidence that the data sources give to a
    /// name of a company. The confidence of a candidate is never higher than this.
    ///
    /// If several candidates are really one company, for example because they have the same main
    /// domain, only one of them is listed. Bare companies, of which only the name is known, come
    /// last. If only bare companies were found, the list is empty, because they tell people nothing
    /// more than the name itself.
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
        let Some((first, last)) = list.first().zip(list.last()) else { return Ok(list) };
        let most = rest(first.confidence).min(last.confidence);
        for company in self.bare {
            if !list.iter().any(|known| known.domain.is_none() && known.name == company.name) {
                let confidence = most.min(trust(company.id, &company.name)?);
                self.put(&mut list, company, confidence, self.only_a_name(company));
            }
        }
        list.truncate(Candidate::MAX_LISTED);
        Ok(list)
    }

    /// Returns the companies that are likely enough to be listed. Each comes with its name that
    /// fits best, the confidence that it is meant, and a sentence that explains why.
    fn likely(&self) -> impl Iterator<Item = (&Company, &str, Confidence, String)> {
        let Self { asked, only, judged, .. } = *self;
        let mut organisations = FxHashSet::default();
        let mut likely: Vec<&ScoredCandidate> = judged
            .iter()
            .filter(|one| one.probability >= LIKELY && organisations.insert(one.organisation))
            .collect();
        if likely.iter().map(|one| one.probability).sum::<f64>() < MIN_TOGETHER {
            likely.clear();
        }
        let judged = if likely.is_empty() { &[] } else { judged };
        let of_only = |(company, _): (&Company, _)| {
            judged.iter().find(|one| one.company.id == company.id).map(|one| one.organisation)
        };
        let listed_first = only.and_then(of_only);
        likely.retain(|one| Some(one.organisation) != listed_first);
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
        let judged = likely.into_iter().map(move |one| {
            let confidence = one.confidence().min(most);
            (&one.company, one.name.as_str(), confidence, why(asked, one))
        });
        only.into_iter().chain(judged)
    }

    /// Returns the sentence that explains why a bare company is listed. Nothing but its name is
    /// known of a bare company.
    fn only_a_name(&self, company: &Company) -> String {
        let name = CompanyName::parse(&company.name);
        let is_equal = name.is_ok_and(|name| name.folded() == self.asked.name.folded());
        let how = if is_equal { "exactly this name" } else { "the same without legal form" };
        format!("Its name is {how}; nothing else is known of it.")
    }

    fn put(
        &self,
        list: &mut Vec<Candidate>,
        company: &Company,
        confidence: Confidence,
        why: String,
    ) {
        if list.iter().any(|known| is_same(known, company)) {
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

/// The explanation for the only company with the requested name, if the comparison of names has no
/// explanation for this company.
const ONLY_BEARER: &str = "No other company has exactly this name.";
/// Minimum (calibrated) probability of a listed candidate. If no country is requested, a directory
/// compares at most 20 companies. Even if all 20 have the same name and are equally likely, each is
/// likely enough: its raw probability is slightly below 5 %, but its calibrated probability is
/// about 9 %.
const LIKELY: f64 = 0.05;
/// Minimum sum of the probabilities of the listed candidates. With a lower sum, the directory
/// most likely does not contain the company that is meant, and no candidate is listed.
const MIN_TOGETHER: f64 = 0.15;

/// Whether `company` would look like a repetition of the listed company `known`. This is so if
/// `company` has the domain that is listed for `known`, or if the two companies have the same name
/// and the same registrable domain.
fn is_same(known: &Candidate, company: &Company) -> bool {
    if known.id == company.id {
        return true;
    }
    let Some(domain) = &known.domain else { return false };
    let registrable = |text: &str| Domain::parse(text).map(|domain| domain.registrable());
    company.sites.iter().any(|site| {
        site.domain == *domain
            || (known.name == company.name
                && registrable(&site.domain).is_ok_and(|it| registrable(domain) == Ok(it)))
    })
}

/// Returns the maximum confidence of every other company, if one company has `confidence`: 100
/// minus `confidence`, but at least 1.
fn rest(confidence: Confidence) -> Confidence {
    Confidence::clamped(100_u8.saturating_sub(confidence.percent()))
}

/// Returns the country of the company's first head office. If no head office is known, returns the
/// country of its main domain; `None` if that country is unknown too.
fn country_of(company: &Company) -> Option<Country> {
    company.seats.first().copied().or_else(|| {
        let site = company.sites.first()?;
        site.country.or_else(|| Domain::parse(&site.domain).ok()?.country())
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

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

    /// Returns the ids and the confidences of the candidates that are listed for "Quill Pens".
    /// `only` is the id of the only company with this name, if there is one.
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
            company(6, "Quill Pens", Some("en.b.example")),
        ];
        let bare = [company(4, "Quill Pens", None), company(5, "Quill Pens", None)];
        let list = listed(None, &companies, &[&bare[0], &bare[1]]);
        let ids: Vec<u64> = list.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [1, 3, 4]);
        assert!(list.iter().all(|(_, confidence)| *confidence <= 80), "{list:?}");
        assert_eq!(listed(None, &[], &[&bare[0]]), []);
    }

    #[test]
    fn an_organisation_is_listed_once_although_it_is_held_twice() {
        let with_id = |company| Company { ids: vec!["x:1".to_owned()], ..company };
        let companies = [
            with_id(company(1, "Quill Pens", Some("a.example"))),
            with_id(company(2, "Quill Pens", Some("c.example"))),
            company(3, "Quill Pens Europe", Some("b.example")),
        ];
        for only in [None, Some(1)] {
            let list = listed(only, &companies, &[]);
            let of_organisation = list.iter().filter(|(id, _)| *id < 3).count();
            assert_eq!(of_organisation, 1, "{list:?}");
        }
    }

    #[test]
    fn namesakes_are_listed_although_each_is_unlikely_and_strangers_are_not() {
        let domain = |id: u64| format!("a{id}.example");
        let namesakes: Vec<Company> =
            (0..32).map(|id| company(id, "Quill Pens", Some(&domain(id)))).collect();
        assert_eq!(listed(None, &namesakes, &[]).len(), Candidate::MAX_LISTED);
        // This company only shares a frequent word (`Pens`) with the requested name, so its
        // probability is below 15 %.
        let stranger = company(1, "Feather Pens Of Swindon", Some("feather.example"));
        assert_eq!(listed(None, &[stranger], &[]), []);
    }
}
