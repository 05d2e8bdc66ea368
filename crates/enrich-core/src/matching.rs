//! Matches company names: weighs the evidence for and against each candidate, and calculates a
//! probability.
//!
//! A store finds candidates; this module compares them with the requested name. [`Evidence`] holds
//! about ninety named features; each is a number that a person can check. The weights were trained
//! on real names (see `docs/matching.md`), as a choice between all candidates and "none of them" (a
//! conditional logit). So if two candidates have the same evidence, each has half of the
//! probability. If no company has the name, the probability of each candidate is low. Calibration
//! then replaces each raw probability by a measured share: how many of the answers with this raw
//! probability were right. This share is the [`Confidence`].

mod asked;
mod candidate;
mod evidence;
mod labels;
mod listing;
mod slip;
mod weights;
mod why;
mod words;

pub use asked::AskedName;
pub use evidence::{Evidence, Feature};
pub use listing::Candidates;
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
    /// The name of the company that fits the requested name best.
    pub name: String,
    /// The evidence for and against the candidate.
    pub evidence: Evidence,
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

/// Compares companies with the requested name, and returns them as candidates, the most likely
/// first. Companies with the same main domain count as one company.
pub fn judge(
    asked: &AskedName,
    companies: impl IntoIterator<Item = Company>,
    rarity: &impl Rarity,
    weights: &Weights,
) -> Vec<ScoredCandidate> {
    let mut all: Vec<ScoredCandidate> = companies
        .into_iter()
        .map(|company| {
            let (name, evidence) = candidate::of_company(asked, &company, rarity);
            let score = weights.score(&evidence);
            ScoredCandidate { company, name, evidence, score, probability: 0.0 }
        })
        .collect();
    let chances = weights.chances(all.iter().map(|one| one.score));
    for at in 0..all.len() {
        let domain = all[at].company.domain();
        let together = all
            .iter()
            .zip(&chances)
            .filter(|(other, _)| domain.is_some() && other.company.domain() == domain);
        let together: f64 = together.map(|(_, chance)| chance).sum();
        all[at].probability = weights.calibrated(together.max(chances[at]));
    }
    let by_probability = |one: &ScoredCandidate, other: &ScoredCandidate| {
        let order = other.probability.total_cmp(&one.probability);
        order.then(other.score.total_cmp(&one.score)).then(one.company.id.cmp(&other.company.id))
    };
    all.sort_by(by_probability);
    all
}

/// Returns the most likely candidate and its confidence. Returns `None` if there is no candidate,
/// or if another candidate is equally likely.
///
/// If another candidate is nearly as likely, the confidence is at most [`Confidence::AMBIGUOUS`].
pub fn likeliest(judged: &[ScoredCandidate]) -> Option<(&ScoredCandidate, Confidence)> {
    let first = judged.first()?;
    let most = match rival(judged) {
        Some(rival) if first.score - rival.score < SAME => return None,
        Some(_) => Confidence::AMBIGUOUS,
        None => Confidence::FULL,
    };
    Some((first, first.confidence().min(most)))
}

/// Finds another company that may be meant instead of the first candidate. There are two kinds of
/// such companies. The first kind is nearly as likely as the first candidate. The second kind and
/// the first candidate both have the requested name, without legal forms, and no place in the
/// requested name shows that the first candidate is meant.
pub fn rival(judged: &[ScoredCandidate]) -> Option<&ScoredCandidate> {
    let first = judged.first()?;
    judged.iter().skip(1).find(|next| {
        let is_other =
            next.company.domain() != first.company.domain() || first.company.domain().is_none();
        let is_near = first.score - next.score < TIED;
        is_other && (is_near || (bear_one_name(first, next) && !is_distinguishable(first, next)))
    })
}

fn bear_one_name(first: &ScoredCandidate, next: &ScoredCandidate) -> bool {
    [first, next].iter().all(|one| one.evidence.of(Feature::SameStripped) > 0.0)
}

/// Whether the requested name contains a place that fits `first` better than `next`.
fn is_distinguishable(first: &ScoredCandidate, next: &ScoredCandidate) -> bool {
    const PLACES: [Feature; 5] = [
        Feature::CountryAgrees,
        Feature::RegionHere,
        Feature::RegionBehind,
        Feature::AsideAgrees,
        Feature::AsideInDomain,
    ];
    PLACES.iter().any(|place| first.evidence.of(*place) > next.evidence.of(*place))
}

/// Two candidates whose scores differ by less than this count as equally likely.
const SAME: f64 = 0.02;
/// If the score of a candidate is less than this below the score of the first candidate, the two
/// are nearly equally likely. The value is ln 4: the candidate is at least a quarter as likely as
/// the first.
const TIED: f64 = 1.386;

/// The rarity of words in one directory: the fewer companies have a word in their names, the higher
/// is its rarity. If the number of these companies is unknown, the word's share of all organisation
/// names gives an estimate.
#[derive(Clone, Debug, Default)]
pub struct DirectoryRarity {
    companies: f64,
    /// The rarity of each word whose number of companies is known.
    known: FxHashMap<String, f64>,
}

impl DirectoryRarity {
    /// The general frequency of a word counts like this many additional companies. A small
    /// directory alone says little about how common a word is.
    const AT_LARGE: f64 = 20_000.0;
    /// If a word is not in the list of common words, the word is assumed to be in this share of all
    /// organisation names.
    const SHARE_OF_OTHERS: f64 = 0.000_004;
    /// The highest rarity of a word, in nats (a natural logarithm). A higher rarity is lowered to
    /// this value, because differences between such rare words are accidental.
    const MOST: f64 = 12.0;

    /// Creates the rarities for a directory with this many companies. The number of companies is
    /// not yet known for any word.
    pub fn among(companies: u64) -> Self {
        Self { companies: companies as f64, known: FxHashMap::default() }
    }

    /// Stores the rarity of a word that this many companies have.
    pub fn learn(&mut self, root: &str, companies: u64) {
        self.known.insert(root.to_owned(), self.rarity(root, companies as f64));
    }

    /// Returns the rarity, in nats, of a word that this many companies in the directory have.
    pub fn of_count(&self, root: &str, companies: u64) -> f64 {
        self.rarity(root, companies as f64)
    }

    fn rarity(&self, root: &str, held: f64) -> f64 {
        let share = common_share(root).unwrap_or(Self::SHARE_OF_OTHERS);
        let all = self.companies + Self::AT_LARGE;
        (all / (held + share * Self::AT_LARGE)).ln().clamp(0.1, Self::MOST)
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
