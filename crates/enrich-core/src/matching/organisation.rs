//! Finds candidates that are really one company. The directory may contain a company several times,
//! from different records. Such candidates must not make the answer ambiguous, so they do not count
//! as rivals of each other.

use std::cell::OnceCell;

use enrich_text::{CompanyName, Domain, NameForm, additions};

use super::ScoredCandidate;
use super::feature::Feature;

/// Maximum number of domains of each company that are compared with the domains of another
/// company.
const MAX_SITES: usize = 16;
/// A candidate is compared with the other candidates only if its raw (not yet calibrated)
/// probability is at least this value. A less likely candidate needs no comparison: even if it is
/// the same company as another candidate, it adds nearly nothing to the probability of that
/// candidate.
const MIN_CHANCE: f64 = 0.001;

/// A company's own name (its current name, not an alias), in the form in which it is compared with
/// the own names of other candidates.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnName {
    /// The words of the name, in the form in which words are compared (their roots). Places and
    /// other additions at the end of the name are left out.
    words: Vec<String>,
    /// Whether the name ends with a country in parentheses.
    names_country: bool,
}

impl OwnName {
    /// Prepares a company's own name. `form` must be `NameForm::of(name)`.
    pub(super) fn of(name: &CompanyName, form: NameForm) -> Self {
        let mut words = form.words;
        words.truncate(words.len() - additions(&words));
        Self {
            words: words.into_iter().map(|word| word.root).collect(),
            names_country: name.country().is_some(),
        }
    }
}

/// The properties of a candidate by which [`Traits::is_same`] recognises that two candidates are
/// one company.
struct Traits<'a> {
    candidate: &'a ScoredCandidate,
    bears_name: bool,
    is_prominent: bool,
    registrable: OnceCell<Vec<(Domain, String)>>,
}

impl<'a> Traits<'a> {
    fn of(candidate: &'a ScoredCandidate) -> Self {
        let of = |feature| candidate.evidence.of(feature) > 0.0;
        Self {
            candidate,
            bears_name: of(Feature::SameStripped) || of(Feature::SameSquashed),
            is_prominent: candidate.prominence.value() > 0.0,
            registrable: OnceCell::new(),
        }
    }

    fn words(&self) -> &'a [String] {
        &self.candidate.own_name.words
    }

    /// Returns the registrable domains of the company, each with its label without hyphens: `quill`
    /// for `quill.de`.
    fn registrable(&self) -> &[(Domain, String)] {
        self.registrable.get_or_init(|| {
            let sites = self.candidate.company.sites.iter().take(MAX_SITES);
            let registrable = sites.filter_map(|site| {
                let domain = Domain::parse(&site.domain).ok()?.registrable();
                let label = domain.label().replace('-', "");
                Some((domain, label))
            });
            registrable.collect()
        })
    }

    /// Compares the own names of two companies; aliases are not compared. Returns whether all words
    /// of the shorter name are also in the longer name.
    fn has_name_like(&self, other: &Self) -> bool {
        let (few, many) = match self.words().len() <= other.words().len() {
            true => (self.words(), other.words()),
            false => (other.words(), self.words()),
        };
        !few.is_empty() && few.iter().all(|word| many.contains(word))
    }

    /// Whether two candidates are one company. At least one of these conditions must be true:
    ///
    /// - They have the same main domain or a common id.
    /// - They have a common registrable domain, and their names agree.
    /// - They have domains with the same label, such as `quill.de` and `quill.fr`, and their
    ///   names agree. At least one candidate is prominent.
    /// - Both have the requested name, and their own names are equal apart from additions, such
    ///   as places. At least one own name ends with a country in parentheses. At least one
    ///   candidate is prominent.
    ///
    /// The names agree in two cases:
    ///
    /// - Both candidates have the requested name, and all words of one own name are also in the
    ///   other.
    /// - Their own names are equal apart from additions, and at least one candidate is prominent.
    ///
    /// A candidate has the requested name if its own name or an alias equals this name, apart from
    /// differences such as legal forms. Its own name is its current name, never an alias.
    ///
    /// Prominence (being well known) is required because unknown companies in two countries often
    /// have the same name.
    fn is_same(&self, other: &Self) -> bool {
        let (company, with) = (&self.candidate.company, &other.candidate.company);
        if company.domain().is_some() && company.domain() == with.domain() {
            return true;
        }
        if company.ids.iter().any(|id| with.ids.contains(id)) {
            return true;
        }
        let is_prominent = self.is_prominent || other.is_prominent;
        let both_bear = self.bears_name && other.bears_name;
        let are_equal = is_prominent && !self.words().is_empty() && self.words() == other.words();
        let names_country = |one: &Self| one.candidate.own_name.names_country;
        if are_equal && both_bear && (names_country(self) || names_country(other)) {
            return true;
        }
        let do_names_say_so = are_equal || (both_bear && self.has_name_like(other));
        do_names_say_so
            && self.registrable().iter().any(|(domain, label)| {
                let mut others = other.registrable().iter();
                others.any(|(of, with)| domain == of || (is_prominent && label == with))
            })
    }
}

/// Finds the candidates that are really the same company. Returns a number for each candidate: the
/// index of the first candidate that is the same company. `chances` contains the raw (not yet
/// calibrated) probability of each candidate. A candidate whose probability is below [`MIN_CHANCE`]
/// is not compared with others; its number is its own index.
pub(super) fn organisations(candidates: &[ScoredCandidate], chances: &[f64]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..candidates.len()).collect();
    let likely = candidates.iter().zip(chances).enumerate();
    let likely = likely.filter(|(_, (_, chance))| **chance >= MIN_CHANCE);
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
