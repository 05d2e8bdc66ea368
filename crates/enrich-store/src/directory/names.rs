//! Finding companies by name: candidates from the index, ranked by how their names fit.
//!
//! This is the one place that decides about names. The index gives the candidates: all names that
//! are equal when folded, or without their legal forms, are equal when squashed too, so that one
//! key finds them all. How well each fits is then compared here. Approximate matching is another
//! source of candidates and more ranks below [`Fit::Squashed`].
//!
//! What decides between several:
//!
//! - The best rank wins. Two companies at the best rank cannot be told apart, and no answer is
//!   better than a coin toss.
//! - A company's own name wins over the same name as an alias, but then another one fits as well,
//!   and the answer is sure to [`Confidence::AMBIGUOUS`] at most.
//! - A company of which nothing but the name is held (somebody named it as an employer) answers
//!   only where no other fits: it could not say more than its name anyway.

use enrich_core::{Company, CompanyRef, Confidence, PersonRef, Question, SubjectId};
use enrich_text::{CompanyName, Country};

use super::codes::IdentifierKind;
use super::view::{BARE_TIER, Holder, View};

/// The most companies with names of one key that are compared. Where there are more, a name does
/// not tell them apart. Those that are asked for in another country do not count, nor do those of
/// which nothing but the name is held.
const MOST_CANDIDATES: usize = 64;
/// The most companies among which those of a country are searched.
const MOST_SEARCHED: usize = 1024;
/// The most companies that are compared of which nothing but a name is held.
const MOST_BARE: usize = 64;
/// The most other names of a company that are compared. Behind them it is known only that one of
/// the others has the key.
const MOST_ALIASES: usize = 128;
/// How many companies of a name are read where they are asked for; more take longer.
const FEW: usize = 8;

/// A company that a name may mean.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The company.
    pub(crate) company: Company,
    /// How far the sources that say its name are trusted.
    pub(crate) confidence: Confidence,
}

/// How a name fits a company, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It is the company's name but for case, accents and punctuation.
    Name,
    /// It is an alias of it, likewise.
    Alias,
    /// It is the company's name without legal forms.
    StrippedName,
    /// It is an alias of it without legal forms.
    StrippedAlias,
    /// It is a name of it without legal forms and spaces.
    Squashed,
}

/// A company and how the name fits it.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// Whether nothing but the name is held of it.
    pub(crate) is_bare: bool,
    /// How the name fits.
    pub(crate) fit: Fit,
    /// Which company.
    pub(crate) candidate: Candidate,
}

impl Fit {
    /// How sure a match of this kind is: what such matches are worth when the source is right.
    const fn confidence(self) -> Confidence {
        Confidence::clamped(match self {
            Self::Name => 97,
            Self::Alias => 95,
            Self::StrippedName => 93,
            Self::StrippedAlias => 91,
            Self::Squashed => 85,
        })
    }

    /// Which step of comparing it comes from; names and aliases of one step compete.
    const fn step(self) -> u8 {
        match self {
            Self::Name | Self::Alias => 0,
            Self::StrippedName | Self::StrippedAlias => 1,
            Self::Squashed => 2,
        }
    }
}

impl Ranked {
    /// How sure it is that the name means this company, if it means no other.
    pub(crate) fn confidence(&self) -> Confidence {
        self.fit.confidence().min(self.candidate.confidence)
    }

    /// The company's id.
    pub(crate) fn id(&self) -> SubjectId {
        self.candidate.company.id
    }
}

/// The companies that `name` may mean, the best first. Empty where there are too many to tell
/// apart. With a country, only companies with a domain of it count.
pub(crate) fn ranked(
    view: View<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> rusqlite::Result<Vec<Ranked>> {
    Ok(rank(name, country, candidates(view, name, country)?))
}

/// Whether a question names a company by a name that many have: then reading takes long.
pub(crate) fn has_many(view: View<'_>, question: &Question) -> rusqlite::Result<bool> {
    let company = match question {
        Question::Company(company) | Question::Person(PersonRef::AtCompany { company, .. }) => {
            company
        }
        Question::Person(_) | Question::Host(_) | Question::Domain(_) => return Ok(false),
    };
    let name = match company {
        CompanyRef::Name { name, .. } | CompanyRef::DomainOrName(_, name) => name,
        CompanyRef::Domain(_) | CompanyRef::Page(_) | CompanyRef::Email(_) => return Ok(false),
    };
    let holders = view.holders(IdentifierKind::CompanyName, name.squashed(), FEW + 1)?;
    Ok(holders.len() > FEW)
}

/// The one company that a name means, if one fits better than the others.
pub(crate) fn best(ranked: Vec<Ranked>) -> Option<(Company, Confidence)> {
    let mut ranked = ranked.into_iter();
    let best = ranked.next()?;
    let mut confidence = best.confidence();
    // Those behind come in order, so that the next one is the best of them.
    if let Some(next) = ranked.next().filter(|next| next.is_bare == best.is_bare) {
        if next.fit == best.fit {
            return None;
        }
        if next.fit.step() == best.fit.step() {
            confidence = confidence.min(Confidence::AMBIGUOUS);
        }
    }
    Some((best.candidate.company, confidence))
}

/// All companies that a name fits as well as the best, for questions that can tell them apart by
/// something else. Those of which only the name is held are among them.
pub(crate) fn all_best(mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    let Some(best) = ranked.first().map(|best| best.fit) else { return ranked };
    ranked.retain(|one| one.fit == best || (one.is_bare && one.fit < best));
    ranked
}

/// The company that a name of an employer means, if it is one that is held: the one it would find,
/// but that names which are equal only without their spaces are too far apart to tie somebody to.
pub(crate) fn employer(ranked: &[Ranked]) -> Option<SubjectId> {
    let best = ranked.first().filter(|best| best.fit < Fit::Squashed)?;
    let is_shared =
        ranked.get(1).is_some_and(|next| next.fit == best.fit && next.is_bare == best.is_bare);
    (!is_shared).then(|| best.id())
}

/// The companies to compare; none where there are too many. Those of a bare name have no domain of
/// any country.
fn candidates(
    view: View<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> rusqlite::Result<Vec<Candidate>> {
    let (most, most_bare) = match country {
        None => (MOST_CANDIDATES, MOST_BARE),
        Some(_) => (MOST_SEARCHED, 0),
    };
    let kind = IdentifierKind::CompanyName;
    let mut holders = view.holders(kind, name.squashed(), most + most_bare + 1)?;
    // Bare names are of the last tier.
    let known = holders.partition_point(|holder| holder.tier < BARE_TIER);
    if known > most {
        return Ok(Vec::new());
    }
    holders.truncate(known + most_bare);
    let mut candidates = Vec::new();
    for Holder { subject, confidence, .. } in holders {
        let Some(company) = view.company(subject)? else { continue };
        if is_in(&company, country) {
            candidates.push(Candidate { company, confidence });
        }
        if candidates.len() > MOST_CANDIDATES + most_bare {
            return Ok(Vec::new());
        }
    }
    Ok(candidates)
}

fn is_in(company: &Company, country: Option<Country>) -> bool {
    country.is_none_or(|country| company.domain_in(country).is_some())
}

fn rank(name: &CompanyName, country: Option<Country>, candidates: Vec<Candidate>) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = candidates
        .into_iter()
        .filter(|candidate| is_in(&candidate.company, country))
        .filter_map(|candidate| {
            let fit = fit(name, &candidate.company)?;
            Some(Ranked { is_bare: is_bare(&candidate.company), fit, candidate })
        })
        .collect();
    ranked.sort_by_key(|one| (one.is_bare, one.fit, one.id()));
    ranked
}

/// How `name` fits a company that was found by its key; `None` when it does not.
///
/// Of very many aliases only the first are looked at, since each has to be folded. Where none of
/// them fits, one of the rest has the key.
pub(crate) fn fit(name: &CompanyName, company: &Company) -> Option<Fit> {
    let own = step(name, &company.name).map(|step| match step {
        0 => Fit::Name,
        1 => Fit::StrippedName,
        _ => Fit::Squashed,
    });
    let aliases = company.aliases.iter().take(MOST_ALIASES).filter_map(|alias| step(name, alias));
    let alias = aliases.min().map(|step| match step {
        0 => Fit::Alias,
        1 => Fit::StrippedAlias,
        _ => Fit::Squashed,
    });
    let beyond = (company.aliases.len() > MOST_ALIASES).then_some(Fit::Squashed);
    own.into_iter().chain(alias).chain(beyond).min()
}

/// The step of comparing at which two names are equal: 0 folded, 1 without legal forms, 2 squashed.
fn step(name: &CompanyName, other: &str) -> Option<u8> {
    let other = CompanyName::parse(other).ok()?;
    if name.folded() == other.folded() {
        return Some(0);
    }
    if name.stripped() == other.stripped() {
        return Some(1);
    }
    (name.squashed() == other.squashed()).then_some(2)
}

/// Whether nothing but names is held of a company.
pub(crate) fn is_bare(company: &Company) -> bool {
    company.seats.is_empty()
        && company.sites.is_empty()
        && company.pages.is_empty()
        && company.emails.is_empty()
        && company.phones.is_empty()
}

#[cfg(test)]
mod tests {
    use enrich_core::Site;

    use super::*;

    fn company(id: u64, name: &str, aliases: &[&str], domains: &[&str]) -> Candidate {
        let site = |domain: &&str| Site { domain: (*domain).into(), country: None };
        let company = Company {
            id: SubjectId(id),
            name: name.into(),
            aliases: aliases.iter().map(|&alias| alias.into()).collect(),
            seats: Vec::new(),
            sites: domains.iter().map(site).collect(),
            pages: Vec::new(),
            emails: Vec::new(),
            phones: Vec::new(),
            employees: Vec::new(),
        };
        Candidate { company, confidence: Confidence::FULL }
    }

    fn asked(name: &str, candidates: Vec<Candidate>) -> Option<(u64, u8)> {
        asked_in(name, None, candidates)
    }

    fn asked_in(
        name: &str,
        country: Option<&str>,
        candidates: Vec<Candidate>,
    ) -> Option<(u64, u8)> {
        let country = country.map(|code| Country::from_code(code).unwrap());
        let ranked = rank(&CompanyName::parse(name).unwrap(), country, candidates);
        best(ranked).map(|(company, confidence)| (company.id.0, confidence.percent()))
    }

    #[test]
    fn the_closer_name_wins() {
        let candidates = || {
            vec![
                company(1, "Quill Ink", &[], &["a.example"]),
                company(2, "QuillInk", &[], &["b.example"]),
                company(3, "Quill Ink Ltd", &[], &["c.example"]),
            ]
        };
        assert_eq!(asked("quill ink", candidates()), Some((1, 97)));
        assert_eq!(asked("Quill Ink Limited", candidates()[2..].to_vec()), Some((3, 93)));
        assert_eq!(asked("Quillink", candidates()[2..].to_vec()), Some((3, 85)));
    }

    #[test]
    fn an_alias_answers_with_less() {
        let candidates = || vec![company(1, "Inkwell Group", &["Quill Ltd"], &["a.example"])];
        assert_eq!(asked("Quill Ltd.", candidates()), Some((1, 95)));
        assert_eq!(asked("Quill", candidates()), Some((1, 91)));
    }

    #[test]
    fn two_of_the_same_name_cannot_be_told_apart() {
        let candidates = vec![
            company(1, "Quill", &[], &["a.example"]),
            company(2, "QUILL", &[], &["b.example"]),
        ];
        assert_eq!(asked("Quill", candidates), None);
    }

    #[test]
    fn a_name_wins_over_the_same_alias_but_is_not_sure() {
        let candidates = vec![
            company(1, "Inkwell", &["Quill"], &["a.example"]),
            company(2, "Quill", &[], &["b.example"]),
            company(3, "Feather", &["Quill"], &["c.example"]),
        ];
        assert_eq!(asked("Quill", candidates), Some((2, 80)));
    }

    #[test]
    fn two_aliases_without_a_name_cannot_be_told_apart() {
        let candidates = vec![
            company(1, "Inkwell", &["Quill"], &["a.example"]),
            company(3, "Feather", &["Quill"], &["c.example"]),
        ];
        assert_eq!(asked("Quill", candidates), None);
    }

    #[test]
    fn a_weaker_match_beside_it_takes_nothing_away() {
        let candidates = vec![
            company(1, "Quill", &[], &["a.example"]),
            company(2, "Quill GmbH", &[], &["b.example"]),
        ];
        assert_eq!(asked("Quill", candidates), Some((1, 97)));
    }

    #[test]
    fn a_bare_name_answers_only_where_no_other_fits() {
        let bare = company(1, "Quill", &[], &[]);
        let known = company(2, "Quill Ltd", &[], &["b.example"]);
        assert_eq!(asked("Quill", vec![bare.clone(), known]), Some((2, 93)));
        assert_eq!(asked("Quill", vec![bare]), Some((1, 97)));
    }

    #[test]
    fn with_a_country_only_its_companies_count() {
        let candidates = || {
            vec![
                company(1, "Quill", &[], &["quill.example"]),
                company(2, "Quill", &[], &["quill.ch"]),
                company(3, "Quill", &[], &["quill.fr"]),
            ]
        };
        assert_eq!(asked_in("Quill", Some("CH"), candidates()), Some((2, 97)));
        assert_eq!(asked_in("Quill", Some("DE"), candidates()), None);
    }

    #[test]
    fn an_answer_is_never_surer_than_its_source() {
        let mut candidate = company(1, "Quill", &[], &["a.example"]);
        candidate.confidence = Confidence::clamped(60);
        assert_eq!(asked("Quill", vec![candidate]), Some((1, 60)));
    }

    #[test]
    fn all_that_fit_best_include_bare_ones_that_fit_better() {
        let ranked = rank(
            &CompanyName::parse("Quill").unwrap(),
            None,
            vec![
                company(1, "Quill", &[], &[]),
                company(2, "Quill Ltd", &[], &["b.example"]),
                company(3, "Quill GmbH", &[], &["c.example"]),
                company(4, "Inkwell", &["Quill AG"], &["d.example"]),
            ],
        );
        let ids: Vec<u64> = all_best(ranked).iter().map(|one| one.id().0).collect();
        assert_eq!(ids, [2, 3, 1]);
    }
}
