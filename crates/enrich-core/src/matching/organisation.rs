//! Finds candidates that are the same organisation. A source may have several records of one
//! organisation. The candidates from these records must not count as rivals.

use enrich_text::{CompanyName, Domain, NameForm, additions};

use super::ScoredCandidate;
use super::evidence::Feature;

/// Maximum number of domains of one company that are compared with the domains of another company.
const MOST_SITES: usize = 16;
/// Minimum raw (not yet calibrated) probability of a candidate that is compared with others. A less
/// likely candidate would add nearly nothing to the probability of its organisation.
const LEAST_CHANCE: f64 = 0.001;

/// The properties of a candidate by which [`Traits::is_same`] recognises one organisation.
struct Traits<'a> {
    main: Option<&'a str>,
    ids: &'a [String],
    /// The registrable domains of the company, each with its label without hyphens: `quill` for
    /// `quill.de`.
    registrable: Vec<(Domain, String)>,
    bears_name: bool,
    /// The words of the company's own name, without places and other additions at its end.
    words: Vec<String>,
    /// Whether the company's own name ends with a country in parentheses.
    names_country: bool,
    is_prominent: bool,
}

impl<'a> Traits<'a> {
    fn of(candidate: &'a ScoredCandidate) -> Self {
        let sites = candidate.company.sites.iter().take(MOST_SITES);
        let registrable = sites.filter_map(|site| {
            let domain = Domain::parse(&site.domain).ok()?.registrable();
            let label = domain.label().replace('-', "");
            Some((domain, label))
        });
        let name = CompanyName::parse(&candidate.company.name).ok();
        let of = |feature| candidate.evidence.of(feature) > 0.0;
        Self {
            main: candidate.company.domain(),
            ids: &candidate.company.ids,
            registrable: registrable.collect(),
            bears_name: of(Feature::SameStripped) || of(Feature::SameSquashed),
            names_country: name.as_ref().is_some_and(|name| name.country().is_some()),
            words: name.map_or_else(Vec::new, |name| own_words(&name)),
            is_prominent: candidate.prominence.value() > 0.0,
        }
    }

    /// Whether all words of the shorter own name are also in the longer own name.
    fn has_name_like(&self, other: &Self) -> bool {
        let (few, many) = match self.words.len() <= other.words.len() {
            true => (&self.words, &other.words),
            false => (&other.words, &self.words),
        };
        !few.is_empty() && few.iter().all(|word| many.contains(word))
    }

    /// Whether two candidates are the same organisation. This is the case if one of these
    /// conditions is met:
    ///
    /// - They have the same main domain or a common id.
    /// - Their own names are equal apart from additions, such as places. Both have the requested
    ///   name, at least one own name ends with a country in parentheses, and at least one candidate
    ///   is prominent.
    /// - They have a common registrable domain, and their names agree.
    /// - They have domains with the same label, such as `quill.de` and `quill.fr`. Their names
    ///   agree, and at least one candidate is prominent.
    ///
    /// The names agree if both candidates have the requested name, and the own name of one contains
    /// all words of the other. The names also agree if the own names are equal apart from
    /// additions, and at least one candidate is prominent. Prominence is required because unknown
    /// companies in two countries often have the same name.
    fn is_same(&self, other: &Self) -> bool {
        if self.main.is_some() && self.main == other.main {
            return true;
        }
        if self.ids.iter().any(|id| other.ids.contains(id)) {
            return true;
        }
        let is_prominent = self.is_prominent || other.is_prominent;
        let both_bear = self.bears_name && other.bears_name;
        let are_equal = is_prominent && !self.words.is_empty() && self.words == other.words;
        if are_equal && both_bear && (self.names_country || other.names_country) {
            return true;
        }
        let do_names_say_so = are_equal || (both_bear && self.has_name_like(other));
        do_names_say_so
            && self.registrable.iter().any(|(domain, label)| {
                let mut others = other.registrable.iter();
                others.any(|(of, with)| domain == of || (is_prominent && label == with))
            })
    }
}

fn own_words(name: &CompanyName) -> Vec<String> {
    let mut words = NameForm::of(name).words;
    words.truncate(words.len() - additions(&words));
    words.into_iter().map(|word| word.root).collect()
}

/// Returns for each candidate the index of the first candidate that is the same organisation.
/// `chances` contains the raw probability of each candidate. A candidate with less than
/// [`LEAST_CHANCE`] is not compared, and counts as an organisation of its own.
pub(super) fn organisations(candidates: &[ScoredCandidate], chances: &[f64]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..candidates.len()).collect();
    let likely = candidates.iter().zip(chances).enumerate();
    let likely = likely.filter(|(_, (_, chance))| **chance >= LEAST_CHANCE);
    let traits: Vec<(usize, Traits<'_>)> =
        likely.map(|(at, (candidate, _))| (at, Traits::of(candidate))).collect();
    for (index, (at, candidate)) in traits.iter().enumerate() {
        for (before, other) in &traits[..index] {
            if first[*before] != first[*at] && candidate.is_same(other) {
                let (a, b) = (first[*before], first[*at]);
                let (kept, joined) = (a.min(b), a.max(b));
                first.iter_mut().filter(|one| **one == joined).for_each(|one| *one = kept);
            }
        }
    }
    first
}
