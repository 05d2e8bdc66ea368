//! Which company a name means: evidence for and against each candidate, weighed to a probability.
//!
//! A store finds candidates; here they are compared with the name that was asked for. What speaks
//! for or against a candidate is [`Evidence`]: some ninety features with names, each a number that
//! a person can check. Their weights were trained on real names (`docs/matching.md` says how), as
//! a choice between all candidates and "none of them" (a conditional logit): so candidates that
//! look alike share what is sure between them, and a name that nobody bears is sure of nothing.
//! The outcome is brought to the share of such answers that were right, which is what a
//! [`Confidence`] means.

mod asked;
mod candidate;
mod evidence;
mod labels;
mod slip;
mod weights;
mod words;

pub use asked::AskedName;
pub use evidence::{Evidence, Feature};
pub use weights::Weights;

use rustc_hash::FxHashMap;

use enrich_text::{NameWord, Rarity, common_share};

use crate::confidence::Confidence;
use crate::subject::Company;

/// A company that a name may mean, and what speaks for it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The company.
    pub company: Company,
    /// Those of its names that fits best.
    pub name: String,
    /// What speaks for and against it.
    pub evidence: Evidence,
    /// The weighed evidence, in log-odds against "none of them".
    pub score: f64,
    /// How likely it is meant, 0 to 1, calibrated.
    pub probability: f64,
}

impl Judged {
    /// The probability in percent, at most 99: what had to be compared is never certain.
    pub fn confidence(&self) -> Confidence {
        // Between 0 and 100: nothing is lost.
        Confidence::clamped(((self.probability * 100.0).round() as u8).min(99))
    }
}

/// Weighs candidates against each other, the likeliest first. Records of one company, which have
/// one main domain, count together.
pub fn judge(
    asked: &AskedName,
    companies: impl IntoIterator<Item = Company>,
    rarity: &impl Rarity,
    weights: &Weights,
) -> Vec<Judged> {
    let mut all: Vec<Judged> = companies
        .into_iter()
        .map(|company| {
            let (name, evidence) = candidate::of_company(asked, &company, rarity);
            let score = weights.score(&evidence);
            Judged { company, name, evidence, score, probability: 0.0 }
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
    let by_probability = |one: &Judged, other: &Judged| {
        let order = other.probability.total_cmp(&one.probability);
        order.then(other.score.total_cmp(&one.score)).then(one.company.id.cmp(&other.company.id))
    };
    all.sort_by(by_probability);
    all
}

/// The candidate that is meant and how sure that is; `None` when another is as likely, where any
/// answer would be the toss of a coin.
///
/// Where another is nearly as likely, the first is [`Confidence::AMBIGUOUS`] at most.
pub fn likeliest(judged: &[Judged]) -> Option<(&Judged, Confidence)> {
    let first = judged.first()?;
    let most = match rival(judged) {
        Some(rival) if first.score - rival.score < SAME => return None,
        Some(_) => Confidence::AMBIGUOUS,
        None => Confidence::FULL,
    };
    Some((first, first.confidence().min(most)))
}

/// The candidate of another company that is nearly as likely as the first, or bears the name as well
/// with nothing in it to tell them apart.
pub fn rival(judged: &[Judged]) -> Option<&Judged> {
    let first = judged.first()?;
    judged.iter().skip(1).find(|next| {
        let is_other =
            next.company.domain() != first.company.domain() || first.company.domain().is_none();
        let is_near = first.score - next.score < TIED;
        is_other && (is_near || (bear_one_name(first, next) && !is_told_apart(first, next)))
    })
}

fn bear_one_name(first: &Judged, next: &Judged) -> bool {
    [first, next].iter().all(|one| one.evidence.of(Feature::SameStripped) > 0.0)
}

/// Whether the name says a place that the first is in and the other is not.
fn is_told_apart(first: &Judged, next: &Judged) -> bool {
    const PLACES: [Feature; 5] = [
        Feature::CountryAgrees,
        Feature::RegionHere,
        Feature::RegionBehind,
        Feature::AsideAgrees,
        Feature::AsideInDomain,
    ];
    PLACES.iter().any(|place| first.evidence.of(*place) > next.evidence.of(*place))
}

/// Candidates whose log-odds are no further apart are as likely as each other.
const SAME: f64 = 0.02;
/// One whose log-odds are no further behind is at least a quarter as likely.
const TIED: f64 = 1.386;

/// How rare words are in a directory, by how many of its companies have them; words that it cannot
/// tell about are as rare as among the names of organisations at large.
#[derive(Clone, Debug, Default)]
pub struct DirectoryRarity {
    companies: f64,
    /// How rare the words are that were learnt.
    known: FxHashMap<String, f64>,
}

impl DirectoryRarity {
    /// How many names at large weigh as much as those of the directory. A directory of ten
    /// companies says little about how common a word is.
    const AT_LARGE: f64 = 20_000.0;
    /// The share of names at large that hold a word which is not known to be common.
    const SHARE_OF_OTHERS: f64 = 0.000_004;
    /// Rarer words are no rarer: what happens once, happens by chance.
    const MOST: f64 = 12.0;

    /// The rarity in a directory of so many companies.
    pub fn among(companies: u64) -> Self {
        Self { companies: companies as f64, known: FxHashMap::default() }
    }

    /// Learns how many companies have a word.
    pub fn learn(&mut self, root: &str, companies: u64) {
        self.known.insert(root.to_owned(), self.rarity(root, companies as f64));
    }

    /// How rare a word is that so many companies have, in nats.
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
            // As many as at large.
            None => {
                let share = common_share(&word.root).unwrap_or(Self::SHARE_OF_OTHERS);
                self.rarity(&word.root, share * self.companies)
            }
        }
    }
}
