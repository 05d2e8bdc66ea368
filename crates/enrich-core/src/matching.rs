//! Matches company names: weighs the evidence for and against each candidate, and calculates a
//! probability.
//!
//! A store finds candidates; this module compares them with the requested name. [`Evidence`] holds
//! about a hundred named features; each is a number that a person can check. The weights were
//! trained on real names (see `docs/matching.md`). The model is a choice between all candidates and
//! "none of them" (a conditional logit). So if two candidates have the same evidence, they have the
//! same probability. If no company has the name, the probability of each candidate is low.
//!
//! Calibration then replaces each raw probability by a measured share: how many of the answers with
//! this raw probability were right. This share is the [`Confidence`].

mod asked;
mod candidate;
mod evidence;
mod labels;
mod listing;
mod organisation;
mod prominence;
mod slip;
mod weights;
mod why;
mod words;

pub use asked::AskedName;
pub use evidence::{Evidence, Feature};
pub use listing::Candidates;
pub use prominence::Prominence;
pub use weights::Weights;
pub use why::why;

use rustc_hash::FxHashMap;

use enrich_text::{NameWord, Rarity, common_share};

use crate::confidence::Confidence;
use crate::subject::Company;

/// A candidate with its evidence and probability.
#[derive(Clone, Debug)]
pub struct ScoredCandidate {
    /// The company that is the candidate.
    pub company: Company,
    /// The name of the company that fits the requested name best: its own name or an alias.
    pub name: String,
    /// The evidence for and against the candidate.
    pub evidence: Evidence,
    /// How well known the company is.
    pub prominence: Prominence,
    /// The number of the candidate's organisation. Candidates with the same number are the same
    /// company, from several records.
    pub organisation: usize,
    /// The sum of the weighted evidence: the log-odds of this candidate against "none of them".
    pub score: f64,
    /// The calibrated probability that this company is meant, from 0 to 1.
    pub probability: f64,
}

impl ScoredCandidate {
    /// Returns the probability in percent. It is at most 99, because a match that is not exact is
    /// never certain.
    pub fn confidence(&self) -> Confidence {
        // The value is between 0 and 100, so the cast loses nothing.
        Confidence::clamped(((self.probability * 100.0).round() as u8).min(99))
    }
}

/// Compares companies with the requested name. Returns them as candidates, the most likely first.
/// Several candidates may be the same organisation; then each gets the sum of their probabilities.
/// If a country is requested, some candidates outside this country are left out.
///
/// `page_rank` returns the page rank of a domain. It is called only for the companies whose scores,
/// which are log-odds, are less than 12 below the best score.
pub fn judge(
    asked: &AskedName,
    companies: impl IntoIterator<Item = Company>,
    rarity: &impl Rarity,
    weights: &Weights,
    mut page_rank: impl FnMut(&str) -> Option<f64>,
) -> Vec<ScoredCandidate> {
    let compared = companies.into_iter().map(|company| {
        let compared = candidate::of_company(asked, &company, rarity);
        (weights.score(&compared.evidence), company, compared)
    });
    let compared: Vec<_> = compared.collect();
    let best = compared.iter().map(|(score, ..)| *score).fold(f64::MIN, f64::max);
    let scored = compared.into_iter().map(|(score, company, mut compared)| {
        let prominence = if score > best - WITHIN_REACH {
            Prominence::of(&company, &mut page_rank)
        } else {
            Prominence::default()
        };
        compared.add_prominence(asked, &company, prominence.value());
        let (name, evidence) = (compared.name, compared.evidence);
        let (organisation, probability) = (0, 0.0);
        ScoredCandidate { company, name, evidence, prominence, organisation, score, probability }
    });
    let mut all: Vec<ScoredCandidate> = scored.collect();
    drop_abroad(asked, &mut all);
    weigh(all, weights)
}

/// If a country is requested, removes candidates that have no domain for this country. Candidates
/// with a prominence of at least [`KNOWN_ABROAD`] are kept. But they are removed too if a candidate
/// with a domain for this country has the requested name as its own name, and not as an alias.
fn drop_abroad(asked: &AskedName, all: &mut Vec<ScoredCandidate>) {
    let Some(country) = asked.country else { return };
    let is_there = |one: &ScoredCandidate| one.company.domain_in(country).is_some();
    let is_own = |one: &ScoredCandidate| one.evidence.of(Feature::Alias) == 0.0;
    let has_own = all.iter().any(|one| is_there(one) && is_own(one) && bears_name(one));
    let is_known = |one: &ScoredCandidate| one.prominence.value() >= KNOWN_ABROAD;
    all.retain(|one| is_there(one) || (!has_own && is_known(one)));
}

/// Calculates the scores and probabilities of candidates from their evidence, and returns them the
/// most likely first.
pub fn weigh(mut all: Vec<ScoredCandidate>, weights: &Weights) -> Vec<ScoredCandidate> {
    for one in &mut all {
        one.score = weights.score(&one.evidence);
    }
    drop_without_site(&mut all);
    let chances = weights.chances(all.iter().map(|one| one.score));
    let organisations = organisation::organisations(&all, &chances);
    let prominences: Vec<f64> = all.iter().map(|one| one.prominence.value()).collect();
    for (one, organisation) in all.iter_mut().zip(&organisations) {
        let of_organisation =
            (0..organisations.len()).filter(|at| organisations[*at] == *organisation);
        let (mut together, mut prominence) = (0.0, 0.0);
        for at in of_organisation {
            together += chances[at];
            prominence = f64::max(prominence, prominences[at]);
        }
        one.organisation = *organisation;
        one.probability = calibrated(together, prominence, weights);
    }
    let by_probability = |one: &ScoredCandidate, other: &ScoredCandidate| {
        let order = other.probability.total_cmp(&one.probability);
        order.then(other.score.total_cmp(&one.score)).then(one.company.id.cmp(&other.company.id))
    };
    all.sort_by(by_probability);
    all
}

/// Returns the calibrated probability of a candidate. The calibration was measured with companies
/// that are not prominent. So it is used completely if the prominence is 0, and not at all from a
/// prominence of [`CALIBRATED_FROM`] on. For a prominence between these values, the result is
/// interpolated.
fn calibrated(raw: f64, prominence: f64, weights: &Weights) -> f64 {
    let share = (prominence / CALIBRATED_FROM).min(1.0);
    share * raw + (1.0 - share) * weights.calibrated(raw)
}

/// If a candidate with a domain has the requested name, removes all candidates without a domain. In
/// this case, a candidate without a domain is most often another record of the same company.
fn drop_without_site(all: &mut Vec<ScoredCandidate>) {
    let has_site = |one: &ScoredCandidate| one.company.domain().is_some();
    if all.iter().any(|one| has_site(one) && bears_name(one)) {
        all.retain(has_site);
    }
}

/// Returns the most likely candidate and its confidence. Returns `None` if there is no candidate,
/// or if a [`rival`] is equally likely.
///
/// If there is a rival that is less likely, the confidence is at most [`Confidence::AMBIGUOUS`].
pub fn likeliest(judged: &[ScoredCandidate]) -> Option<(&ScoredCandidate, Confidence)> {
    let first = judged.first()?;
    let most = match rival(judged) {
        Some(rival) if first.score - rival.score < SAME => return None,
        Some(_) => Confidence::AMBIGUOUS,
        None => Confidence::FULL,
    };
    Some((first, first.confidence().min(most)))
}

/// Finds a rival of the first candidate: a candidate of another organisation that may be meant
/// instead. A candidate is a rival in each of these cases:
///
/// - It is nearly as likely as the first candidate.
/// - Both candidates have the requested name, apart from legal forms, and nothing distinguishes the
///   first candidate: neither a place in the requested name nor a higher prominence.
pub fn rival(judged: &[ScoredCandidate]) -> Option<&ScoredCandidate> {
    let first = judged.first()?;
    judged.iter().skip(1).find(|next| {
        let is_other = next.organisation != first.organisation;
        let is_near = first.score - next.score < TIED;
        is_other && (is_near || (bear_one_name(first, next) && !is_distinguishable(first, next)))
    })
}

fn bear_one_name(first: &ScoredCandidate, next: &ScoredCandidate) -> bool {
    bears_name(first) && bears_name(next)
}

/// Whether a candidate has the requested name, apart from legal forms.
fn bears_name(one: &ScoredCandidate) -> bool {
    one.evidence.of(Feature::SameStripped) > 0.0
}

/// Whether the requested name contains a place that fits `first` better than `next`. Also returns
/// `true` if `first` is well known and much more likely than `next`.
fn is_distinguishable(first: &ScoredCandidate, next: &ScoredCandidate) -> bool {
    const PLACES: [Feature; 5] = [
        Feature::CountryAgrees,
        Feature::RegionHere,
        Feature::RegionBehind,
        Feature::AsideAgrees,
        Feature::AsideInDomain,
    ];
    let is_known = first.prominence.value() >= KNOWN;
    (is_known && first.score - next.score >= UNRIVALLED)
        || PLACES.iter().any(|place| first.evidence.of(*place) > next.evidence.of(*place))
}

/// Two candidates whose scores differ by less than this are equally likely. Scores are log-odds.
const SAME: f64 = 0.02;
/// A candidate is nearly as likely as the first candidate if their scores differ by less than this.
/// The value is ln 4: such a candidate is at least a quarter as likely as the first.
const TIED: f64 = 1.386;
/// Minimum prominence of a candidate that has no rival, although another company has the same name.
/// The candidate must also be much more likely: see [`UNRIVALLED`]. A company that has only pages
/// on a few networks does not reach this value.
const KNOWN: f64 = 0.15;
/// Minimum prominence of a company outside the requested country that may still be meant.
const KNOWN_ABROAD: f64 = 0.25;
/// From this prominence on, the raw probability is used without calibration.
const CALIBRATED_FROM: f64 = 0.3;
/// The prominence of a company is calculated only if the company's score is less than this below
/// the best score. Otherwise the company cannot be the answer, even if it is well known.
const WITHIN_REACH: f64 = 12.0;
/// If two companies have the same name, the likelier company has no rival if its score is higher by
/// at least this, and its prominence is at least [`KNOWN`]. The value is ln 7.4: the company is at
/// least 7.4 times as likely as the other.
const UNRIVALLED: f64 = 2.0;

/// The highest rarity of a word, in nats. A higher rarity is lowered to this value, because among
/// such rare words, a difference in rarity is accidental.
const MOST_RARITY: f64 = 12.0;

/// The rarity of words in one directory: the fewer companies have a word in their names, the higher
/// is its rarity. If the number of these companies is unknown, the word's share of all organisation
/// names gives an estimate.
#[derive(Clone, Debug, Default)]
pub struct DirectoryRarity {
    companies: f64,
    /// The rarity of each word for which [`DirectoryRarity::learn`] was called.
    known: FxHashMap<String, f64>,
}

impl DirectoryRarity {
    /// The general frequency of a word counts as much as this number of additional companies in the
    /// directory. A small directory alone does not show how common a word is.
    const AT_LARGE: f64 = 20_000.0;
    /// The assumed share of organisation names that contain a word, if the word is not in the list
    /// of common words.
    const SHARE_OF_OTHERS: f64 = 0.000_004;

    /// Creates the rarities for a directory with this number of companies. [`Self::learn`] adds the
    /// words.
    pub fn among(companies: u64) -> Self {
        Self { companies: companies as f64, known: FxHashMap::default() }
    }

    /// Stores the rarity of a word. `companies` is the number of companies that have the word in a
    /// name.
    pub fn learn(&mut self, root: &str, companies: u64) {
        self.known.insert(root.to_owned(), self.rarity(root, companies as f64));
    }

    /// Returns the rarity of a word, in nats. `companies` is the number of companies that have the
    /// word in a name.
    pub fn of_count(&self, root: &str, companies: u64) -> f64 {
        self.rarity(root, companies as f64)
    }

    fn rarity(&self, root: &str, held: f64) -> f64 {
        let share = common_share(root).unwrap_or(Self::SHARE_OF_OTHERS);
        let all = self.companies + Self::AT_LARGE;
        (all / (held + share * Self::AT_LARGE)).ln().clamp(0.1, MOST_RARITY)
    }
}

impl Rarity for DirectoryRarity {
    fn of(&self, word: &NameWord) -> f64 {
        match self.known.get(&word.root) {
            Some(rarity) => *rarity,
            // The number of companies with this word is unknown. The word's share of all
            // organisation names gives an estimate.
            None => {
                let share = common_share(&word.root).unwrap_or(Self::SHARE_OF_OTHERS);
                self.rarity(&word.root, share * self.companies)
            }
        }
    }
}
