//! Matches company names. A candidate is a company that a requested name may mean. For each
//! candidate, this module calculates the probability that the name means this company.
//!
//! A store finds the candidates. This module compares them with the requested name, and collects
//! the [`Evidence`]: the values of about a hundred named features, which a person can check. The
//! weights of the features were trained on real names (see `docs/matching.md`). The model is a
//! conditional logit: a choice between all candidates and "none of them". So candidates with the
//! same evidence have the same probability. If no company fits the name well, every candidate has a
//! low probability.
//!
//! Then calibration replaces each raw probability by a measured share: of all answers with this raw
//! probability, how many were right. In percent, this share is the [`Confidence`].

mod asked;
mod candidate;
mod evidence;
mod feature;
mod labels;
mod listing;
mod organisation;
mod prominence;
mod slip;
mod sums;
mod weights;
mod why;
mod words;

pub use asked::AskedName;
pub use evidence::Evidence;
pub use feature::Feature;
pub use listing::Candidates;
pub use prominence::Prominence;
pub use weights::Weights;
pub use why::why;

use self::organisation::OwnName;

use rustc_hash::FxHashMap;

use enrich_text::{NameWord, Rarity, common_share};

use crate::confidence::Confidence;
use crate::subject::Company;

/// A candidate with its evidence and probability.
#[derive(Clone, Debug)]
pub struct ScoredCandidate {
    /// The company.
    pub company: Company,
    /// The company's name that fits the requested name best: its own name or an alias.
    pub name: String,
    /// The evidence for and against the candidate.
    pub evidence: Evidence,
    /// How well known the company is.
    pub prominence: Prominence,
    own_name: OwnName,
    /// Shows which candidates are really one company: all of them have the same number here. The
    /// directory may have one company several times, from different records.
    pub organisation: usize,
    /// The sum of the weighted evidence: the logarithm of the odds that this candidate is meant,
    /// against "none of the candidates".
    pub score: f64,
    /// The probability that this company is meant, from 0 to 1. It is calibrated: it is the
    /// measured share of right answers among answers with the same raw probability.
    pub probability: f64,
}

impl ScoredCandidate {
    /// Returns the probability in percent, at most 99, because a comparison of names is never
    /// certain.
    pub fn confidence(&self) -> Confidence {
        // The value is between 0 and 100, so the cast loses nothing.
        Confidence::clamped(((self.probability * 100.0).round() as u8).min(99))
    }
}

/// Compares companies with the requested name. Returns them as candidates, the most likely first.
/// If several candidates are really one company, each of them gets the sum of their
/// probabilities. If a country is requested, companies without a domain for this country are left
/// out, except well-known ones.
///
/// `page_rank` returns the page rank of a domain. It is called only for companies whose score
/// ([`ScoredCandidate::score`]) is less than 12 below the best score.
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
        ScoredCandidate {
            company,
            name: compared.name,
            evidence: compared.evidence,
            prominence,
            own_name: compared.own_name,
            organisation: 0,
            score,
            probability: 0.0,
        }
    });
    let mut all: Vec<ScoredCandidate> = scored.collect();
    drop_abroad(asked, &mut all);
    weigh(all, weights)
}

/// Removes the candidates that have no domain for the requested country. Does nothing if no country
/// is requested.
///
/// A well-known candidate (with a prominence of at least [`KNOWN_ABROAD`]) stays, except in one
/// case: another candidate has both a domain for this country and the requested name as its own
/// name (not as an alias).
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

/// Returns the calibrated probability of a candidate: the share of right answers that was measured
/// for this raw probability. The measurement used only companies that are not prominent (well
/// known). So the calibration is used completely if the prominence is 0, and not at all if the
/// prominence is [`CALIBRATED_FROM`] or higher. Between these values, the result is interpolated.
fn calibrated(raw: f64, prominence: f64, weights: &Weights) -> f64 {
    let share = (prominence / CALIBRATED_FROM).min(1.0);
    share * raw + (1.0 - share) * weights.calibrated(raw)
}

/// If a candidate with a domain has the requested name, removes all candidates without a domain.
/// Most often, the removed candidates are other records of the same company.
fn drop_without_site(all: &mut Vec<ScoredCandidate>) {
    let has_site = |one: &ScoredCandidate| one.company.domain().is_some();
    if all.iter().any(|one| has_site(one) && bears_name(one)) {
        all.retain(has_site);
    }
}

/// Returns the most likely candidate and its confidence. Returns `None` if there is no candidate,
/// or if a [`rival`] (another company that may be meant instead) is equally likely. If there is a
/// less likely rival, the confidence is at most [`Confidence::AMBIGUOUS`].
pub fn likeliest(judged: &[ScoredCandidate]) -> Option<(&ScoredCandidate, Confidence)> {
    let first = judged.first()?;
    let most = match rival(judged) {
        Some(rival) if first.score - rival.score < SAME => return None,
        Some(_) => Confidence::AMBIGUOUS,
        None => Confidence::FULL,
    };
    Some((first, first.confidence().min(most)))
}

/// Finds a rival of the first candidate: another company that may be meant instead; `None` if there
/// is none. A candidate is a rival in either of these cases:
///
/// - It is nearly as likely as the first candidate.
/// - Both candidates have the requested name, apart from legal forms, and nothing shows that the
///   first is meant. Two things can show this: a place in the requested name fits the first better,
///   or the first is well known and much more likely.
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

/// Whether it is clear that `first` is meant, and not `next`, although both have the requested
/// name. It is clear if a place in the requested name fits `first` better, or if `first` is well
/// known and much more likely.
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

/// Two candidates are treated as equally likely if their scores differ by less than this. Scores
/// are log-odds.
const SAME: f64 = 0.02;
/// If the score of a candidate is below the best score by less than this value, the candidate is
/// treated as nearly as likely as the best one. The value is ln 4: the odds of the candidate are
/// more than a quarter of the best odds.
const TIED: f64 = 1.386;
/// A company is preferred to another company with the same name only if its prominence (how well
/// known it is, from 0 to 1) is at least this value. Its score must also be higher by at least
/// [`UNRIVALLED`]. A company that is known only by pages on a few social networks does not reach
/// this prominence.
const KNOWN: f64 = 0.15;
/// A company without a domain for the requested country stays a candidate only if its prominence
/// (how well known it is, from 0 to 1) is at least this value.
const KNOWN_ABROAD: f64 = 0.25;
/// If the prominence of a company (how well known it is, from 0 to 1) is at least this value, its
/// raw probability is used without calibration. The calibration was measured with companies that
/// are not well known, so it does not fit well-known companies.
const CALIBRATED_FROM: f64 = 0.3;
/// Prominence (how well known a company is) is calculated only for companies whose score is below
/// the best score by less than this value. A company with a lower score cannot become the answer,
/// even if it is very well known.
const WITHIN_REACH: f64 = 12.0;
/// A company is preferred to another company with the same name if its score is higher by at least
/// this value, and it is well known (its prominence is at least [`KNOWN`]). The value is ln 7.4:
/// the company is at least 7.4 times as likely as the other.
const UNRIVALLED: f64 = 2.0;

/// The highest rarity of a word (how rare it is in names), in nats. A higher rarity is lowered to
/// this value, because differences between very rare words are only chance.
const MAX_RARITY: f64 = 12.0;

/// How rare words are in the company names of one directory, in nats:
///
/// `rarity = ln((companies + AT_LARGE) / (companies with the word + share × AT_LARGE))`
///
/// `companies` is the number of companies in the directory. `AT_LARGE` is a fixed number of further
/// companies that are assumed to exist. `share` is the share of organisation names in general that
/// contain the word. If the number of companies with the word is unknown, it is estimated as
/// `share × companies`.
#[derive(Clone, Debug, Default)]
pub struct DirectoryRarity {
    companies: f64,
    /// The rarities, in nats, of the words for which [`DirectoryRarity::learn`] was called. The
    /// keys are the words in the form in which they are compared (their roots).
    known: FxHashMap<String, f64>,
}

impl DirectoryRarity {
    /// The number of additional companies that are assumed to be in the directory. These companies
    /// have each word as often as organisation names in general. Without them, the rarity in a
    /// small directory would depend on few names.
    const AT_LARGE: f64 = 20_000.0;
    /// The assumed share of organisation names that contain a certain word, if this word is not
    /// in the list of common words.
    const SHARE_OF_OTHERS: f64 = 0.000_004;

    /// Prepares the rarities of words (how rare they are in names) for a directory (look-up data)
    /// with this number of companies. [`Self::learn`] adds the words.
    pub fn among(companies: u64) -> Self {
        Self { companies: companies as f64, known: FxHashMap::default() }
    }

    /// Calculates and stores the rarity of a word. `root` is the word's root, by which it is
    /// compared with other words. `companies` is the number of companies that have the word in a
    /// name.
    pub fn learn(&mut self, root: &str, companies: u64) {
        self.known.insert(root.to_owned(), self.rarity(root, companies as f64));
    }

    /// Returns the rarity of a word, in nats. `root` is the word's root, by which it is compared
    /// with other words. `companies` is the number of companies that have the word in a name.
    pub fn of_count(&self, root: &str, companies: u64) -> f64 {
        self.rarity(root, companies as f64)
    }

    fn rarity(&self, root: &str, held: f64) -> f64 {
        let share = common_share(root).unwrap_or(Self::SHARE_OF_OTHERS);
        let all = self.companies + Self::AT_LARGE;
        (all / (held + share * Self::AT_LARGE)).ln().clamp(0.1, MAX_RARITY)
    }
}

impl Rarity for DirectoryRarity {
    fn of(&self, word: &NameWord) -> f64 {
        match self.known.get(&word.root) {
            Some(rarity) => *rarity,
            // The number of companies with this word is unknown. It is estimated from the word's
            // share of all organisation names.
            None => {
                let share = common_share(&word.root).unwrap_or(Self::SHARE_OF_OTHERS);
                self.rarity(&word.root, share * self.companies)
            }
        }
    }
}
