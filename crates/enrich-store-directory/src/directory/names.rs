//! Finds companies by name.
//!
//! Most names are found exactly. One look-up key finds all names that are equal without case,
//! accents, punctuation, legal forms and spaces. These names are then compared with the requested
//! name. If exactly one company fits best, it is the answer. In four cases, similar names are
//! searched for and judged instead (`names/search.rs`, `enrich_core::matching`): several companies
//! have the name; no company has it; the company is not in the country that the name contains; or
//! the name is a single word, and neither a domain label of the company nor the country in the
//! request confirms the match. Such a search takes a hundred times as long as an exact match.
//!
//! A bare company is known only by names: people gave it as their employer, or a register has
//! nothing else. It is an answer only if it has exactly the requested name, and no other company
//! has the same or a similar name (`names/bare.rs`).

mod approximate;
mod bare;
mod candidates;
mod fit;
pub(crate) mod search;

pub(crate) use approximate::judged;
pub(crate) use bare::find_only_match;
pub(crate) use candidates::candidates;
pub(crate) use fit::{Fit, fit};

use enrich_core::matching::{ScoredCandidate, likeliest};
use enrich_core::{Company, Confidence, SubjectId};
use enrich_text::{CompanyName, Country, Domain};

use super::codes::IdentifierKind;
use super::holder::Holder;
use super::lookup::{Lookup, Stop};
use super::view::{BARE_TIER, View};

/// Maximum number of companies with the same look-up key that are compared. If more companies have
/// the key, the name alone cannot tell which one is meant, so none is returned. Bare companies
/// (known only by names) and companies outside the requested country are not counted.
const MAX_CANDIDATES: usize = 64;
/// Maximum number of companies with the same look-up key that are read if the request gives a
/// country. Of these companies, only those in the country are compared.
const MAX_SEARCHED: usize = 1024;
/// Maximum number of bare companies (known only by names) with the same look-up key that are
/// compared with a name.
const MAX_BARE: usize = 64;
/// Maximum number of companies with similar names that may be the employer in the request, if no
/// company has exactly the employer's name.
const MAX_EMPLOYERS: usize = 4;
/// Minimum confidence of a company with a similar name that may be the employer in the request.
const MIN_EMPLOYER: Confidence = Confidence::clamped(20);
/// Maximum number of companies with the same name that are read on the caller's thread. If there
/// are more, the look-up runs on another thread instead.
const FEW: usize = 8;

/// A company that the name of an employer may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CandidateMatch {
    pub(crate) company: SubjectId,
    /// The confidence that this company is meant.
    pub(crate) match_confidence: Confidence,
    /// The confidence of the sources that give the company its name.
    pub(crate) source_confidence: Confidence,
}

/// A company, and how well the requested name fits it.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    /// Whether the company is bare: it has no seat, domain, page, email or phone.
    pub(crate) is_bare: bool,
    /// How the requested name fits the company.
    pub(crate) fit: Fit,
    pub(crate) company: Company,
    /// The confidence of the sources that give the company its name.
    pub(crate) source_confidence: Confidence,
}

impl Ranked {
    /// Returns the confidence that the name means this company. Other companies are not considered.
    /// The result is at most the confidence of the sources.
    pub(crate) fn confidence(&self) -> Confidence {
        self.fit.confidence().min(self.source_confidence)
    }

    pub(crate) fn id(&self) -> SubjectId {
        self.company.id
    }
}

/// Returns the companies that `name` may mean, the best first. Returns `None` when there are too
/// many. If a country is given, returns only companies with a domain for that country.
pub(crate) fn ranked(
    view: View<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> rusqlite::Result<Option<Vec<Ranked>>> {
    let (most, max_bare) = max_compared(country);
    let holders = name_holders(view, name, most + max_bare + 1)?;
    rank_holders(view, name, country, holders)
}

/// Finds the company that a name means. Returns `None` if no match has at least the confidence
/// `min_name_confidence`. If the only company with the name is bare (known only by names),
/// companies with similar names are searched for too. The bare company is the answer only if none
/// of them is probably the same company.
pub(crate) fn find(
    lookup: Lookup<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> Result<Option<(Company, Confidence)>, Stop> {
    let Some(ranked) = ranked_in(lookup, name, country)? else { return Ok(None) };
    let only = only_match(name, country, &ranked);
    if let Some(only) = only.filter(|only| !only.is_bare) {
        let is_enough = only.fit.confidence() >= lookup.min_name_confidence;
        return Ok(is_enough.then(|| (only.company.clone(), only.confidence())));
    }
    lookup.needs_search()?;
    let judged = judged(lookup.view, name, country)?;
    match only {
        Some(bare) => bare::found(lookup, name, country, bare, &judged),
        None => likeliest_found(lookup, &judged),
    }
}

/// Returns the likeliest candidate, if its confidence is at least `min_name_confidence`.
fn likeliest_found(
    lookup: Lookup<'_>,
    judged: &[ScoredCandidate],
) -> Result<Option<(Company, Confidence)>, Stop> {
    let Some((first, match_confidence)) = likeliest(judged) else { return Ok(None) };
    if match_confidence < lookup.min_name_confidence {
        return Ok(None);
    }
    let source_confidence = trust(lookup.view, first.company.id, &first.name)?;
    Ok(Some((first.company.clone(), match_confidence.min(source_confidence))))
}

/// Makes one search in advance. Afterwards, the data that every search needs is in memory.
pub(crate) fn prepare(view: View<'_>) {
    if let Ok(name) = CompanyName::parse("Prepared") {
        // The result is not needed. If the search fails, later look-ups report the error.
        let _ = judged(view, &name, None);
    }
}

/// Finds every company that a name may mean, with its confidence. These are the companies with the
/// name, or else the likeliest companies. A look-up of an employee needs all of them, because it
/// then looks up the employee at each company.
pub(crate) fn find_all(
    lookup: Lookup<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> Result<Vec<CandidateMatch>, Stop> {
    let Some(ranked) = ranked_in(lookup, name, country)? else { return Ok(Vec::new()) };
    if ranked.first().is_some_and(|best| best.fit < Fit::WithoutSpaces) {
        let all = all_best(ranked);
        let candidate_match = |one: &Ranked| CandidateMatch {
            company: one.id(),
            match_confidence: one.fit.confidence(),
            source_confidence: one.source_confidence,
        };
        return Ok(all.iter().map(candidate_match).collect());
    }
    lookup.needs_search()?;
    let judged = judged(lookup.view, name, country)?;
    let likely = judged.iter().take(MAX_EMPLOYERS).filter(|one| one.confidence() >= MIN_EMPLOYER);
    let candidate_match = |one: &ScoredCandidate| {
        let (company, match_confidence) = (one.company.id, one.confidence());
        let source_confidence = trust(lookup.view, company, &one.name)?;
        Ok(CandidateMatch { company, match_confidence, source_confidence })
    };
    likely.map(candidate_match).collect()
}

/// Like [`ranked`]. But if [`Lookup::may_search`] is `false` and more than [`FEW`] companies have
/// the name, reads none of these companies and returns [`Stop::NeedsSearch`].
fn ranked_in(
    lookup: Lookup<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> Result<Option<Vec<Ranked>>, Stop> {
    if lookup.may_search {
        return Ok(ranked(lookup.view, name, country)?);
    }
    let holders = name_holders(lookup.view, name, FEW + 1)?;
    if holders.len() > FEW {
        return Err(Stop::NeedsSearch);
    }
    Ok(rank_holders(lookup.view, name, country, holders)?)
}

/// Returns the first `most` companies with a name.
fn name_holders(view: View<'_>, name: &CompanyName, most: usize) -> rusqlite::Result<Vec<Holder>> {
    view.holders(IdentifierKind::CompanyName, name.squashed(), most)
}

/// Returns the company that has this name, if no other company fits the name as well. Legal forms
/// may differ: `Quill Pens` may mean `Quill Pens Ltd`. Returns `None` if:
///
/// - No company has the name.
/// - Another company fits the name as well.
/// - The name contains a country, as in `Quill Pens (France)`, and the company is not in it.
/// - The name is a single word. This is too little, because other names may contain the word too.
///   But it is enough in three cases: the company is bare; the word is a label of one of its
///   domains; or `country` is given, and the word is the company's own name, not only an alias.
fn only_match<'a>(
    name: &CompanyName,
    country: Option<Country>,
    ranked: &'a [Ranked],
) -> Option<&'a Ranked> {
    let best = ranked.first().filter(|best| best.fit < Fit::WithoutSpaces)?;
    // A rival is another company that `name` may mean too: a company that `name` fits at the same
    // step. If `name` is only an alias of the best company, a company whose own name equals `name`
    // except for legal forms is also a rival. For example, `Quill` is an alias of Inkwell, but it
    // may also mean the company `Quill Ltd`.
    let is_rival = |next: &Ranked| {
        let is_own = next.fit == Fit::StrippedName && !best.fit.is_own();
        next.is_bare == best.is_bare && (next.fit.step() == best.fit.step() || is_own)
    };
    let has_rival = ranked[1..].iter().any(is_rival);
    let company = &best.company;
    let is_there = name.country().is_none_or(|said| company.is_in(said));
    let says_enough = (country.is_some() && best.fit.is_own())
        || best.is_bare
        || name.stripped().contains(' ')
        || company.sites.iter().any(|site| is_label(name, &site.domain));
    (!has_rival && is_there && says_enough).then_some(best)
}

fn is_label(name: &CompanyName, domain: &str) -> bool {
    let label = domain.split('.').next().unwrap_or_default();
    let is = |label: &str| label == name.squashed() || label == name.folded();
    // Only a registrable domain counts: in `quill.university.example`, `quill` is not a company,
    // but a part of the university.
    let is_own = || Domain::parse(domain).is_ok_and(|domain| domain.is_registrable());
    ((is(label) || (label.contains('-') && is(&label.replace('-', "")))) && is_own())
        || Domain::parse(name.display()).is_ok_and(|asked| asked.as_str() == domain)
}

/// Returns the highest confidence of the sources that give a company this name.
fn trust(view: View<'_>, company: SubjectId, name: &str) -> rusqlite::Result<Confidence> {
    let Ok(name) = CompanyName::parse(name) else { return Ok(Confidence::FULL) };
    let trust = view.confidence_of(IdentifierKind::CompanyName, name.squashed(), company)?;
    Ok(trust.unwrap_or(Confidence::FULL))
}

/// Keeps only the companies that the name fits as well as the first one. Bare companies (known only
/// by names) are last in the list, even if the name fits them better. So a bare company is kept if
/// the name fits it at least as well as the first one.
fn all_best(mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    let Some(best) = ranked.first().map(|best| best.fit) else { return ranked };
    ranked.retain(|one| one.fit == best || (one.is_bare && one.fit < best));
    ranked
}

/// Returns the stored company that the name of an employer means. Returns `None` if the name fits
/// several companies equally well, or fits only without legal forms and spaces.
pub(crate) fn employer(ranked: &[Ranked]) -> Option<SubjectId> {
    let best = ranked.first().filter(|best| best.fit < Fit::WithoutSpaces)?;
    let is_shared =
        ranked.get(1).is_some_and(|next| next.fit == best.fit && next.is_bare == best.is_bare);
    (!is_shared).then(|| best.id())
}

/// Reads the companies with a name and ranks them. Returns `None` when there are too many
/// companies. If a country is given, bare companies are left out, because they have no domain.
fn rank_holders(
    view: View<'_>,
    name: &CompanyName,
    country: Option<Country>,
    mut holders: Vec<Holder>,
) -> rusqlite::Result<Option<Vec<Ranked>>> {
    let (most, max_bare) = max_compared(country);
    // `holders` is sorted by tier, and bare companies have the tier with the highest number,
    // `BARE_TIER`. So they are at the end.
    let known = holders.partition_point(|holder| holder.tier < BARE_TIER);
    if known > most {
        return Ok(None);
    }
    holders.truncate(known + max_bare);
    let mut candidates = Vec::new();
    for Holder { subject, confidence, .. } in holders {
        let Some(company) = view.company(subject)? else { continue };
        if is_in(&company, country) {
            candidates.push((company, confidence));
        }
        if candidates.len() > MAX_CANDIDATES + max_bare {
            return Ok(None);
        }
    }
    Ok(Some(rank(name, country, candidates)))
}

/// Returns two limits: how many companies are read that are not bare, and how many bare companies
/// (known only by names) are read.
fn max_compared(country: Option<Country>) -> (usize, usize) {
    match country {
        None => (MAX_CANDIDATES, MAX_BARE),
        Some(_) => (MAX_SEARCHED, 0),
    }
}

fn is_in(company: &Company, country: Option<Country>) -> bool {
    country.is_none_or(|country| company.domain_in(country).is_some())
}

fn rank(
    name: &CompanyName,
    country: Option<Country>,
    candidates: Vec<(Company, Confidence)>,
) -> Vec<Ranked> {
    let candidates = candidates.into_iter().filter(|(company, _)| is_in(company, country));
    let ranked = candidates.filter_map(|(company, source_confidence)| {
        let fit = fit(name, &company)?;
        Some(Ranked { is_bare: is_bare(&company), fit, company, source_confidence })
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_by_key(|one| (one.is_bare, one.fit, one.id()));
    ranked
}

/// Whether a company is bare: it has no seat, domain, page, email or phone.
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

    fn company(id: u64, name: &str, aliases: &[&str], domains: &[&str]) -> (Company, Confidence) {
        let site = |domain: &&str| Site { domain: (*domain).into(), country: None };
        let company = Company {
            aliases: aliases.iter().map(|&alias| alias.into()).collect(),
            sites: domains.iter().map(site).collect(),
            ..Company::named(SubjectId(id), name.into())
        };
        (company, Confidence::FULL)
    }

    fn asked(name: &str, candidates: Vec<(Company, Confidence)>) -> Option<(u64, u8)> {
        asked_in(name, None, candidates)
    }

    /// Looks up `name` without a search for similar names. Returns the id and the confidence, in
    /// percent.
    fn asked_in(
        name: &str,
        country: Option<&str>,
        candidates: Vec<(Company, Confidence)>,
    ) -> Option<(u64, u8)> {
        let country = country.map(|code| Country::from_code(code).unwrap());
        let name = CompanyName::parse(name).unwrap();
        let ranked = rank(&name, country, candidates);
        only_match(&name, country, &ranked).map(|one| (one.id().0, one.confidence().percent()))
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
        assert_eq!(asked("quill ink", candidates()), Some((1, 99)));
        assert_eq!(asked("Quill Ink Limited", candidates()[2..].to_vec()), Some((3, 98)));
        assert_eq!(asked("Quillink", candidates()[2..].to_vec()), None);
    }

    #[test]
    fn an_alias_answers_with_less() {
        let candidates = || vec![company(1, "Inkwell", &["Quill Pens Ltd"], &["a.example"])];
        assert_eq!(asked("Quill Pens Ltd.", candidates()), Some((1, 98)));
        assert_eq!(asked("Quill Pens", candidates()), Some((1, 96)));
    }

    #[test]
    fn a_word_alone_is_enough_where_a_domain_says_it() {
        assert_eq!(asked("Quill", vec![company(1, "Quill", &[], &["a.example"])]), None);
        for domain in ["quill.example", "qui-ll.example"] {
            let known = vec![company(1, "Quill", &[], &["a.example", domain])];
            assert_eq!(asked("Quill", known), Some((1, 99)), "{domain}");
        }
        let part = vec![company(1, "Quill", &[], &["quill.inkwell.example"])];
        assert_eq!(asked("Quill", part), None, "a part of Inkwell");
        let swiss = vec![company(1, "Quill", &[], &["inkwell.ch"])];
        assert_eq!(asked_in("Quill", Some("CH"), swiss), Some((1, 99)));
    }

    #[test]
    fn a_country_in_parentheses_has_to_be_the_companys() {
        let mut candidate = company(1, "Quill Pens", &[], &["quill.example"]);
        candidate.0.seats = vec![Country::from_code("FR").unwrap()];
        assert_eq!(asked("Quill Pens (France)", vec![candidate.clone()]), Some((1, 98)));
        assert_eq!(asked("Quill Pens (Deutschland)", vec![candidate]), None);
    }

    #[test]
    fn where_two_bear_a_name_it_has_to_be_searched_for() {
        let namesakes = vec![
            company(1, "Quill Pens", &[], &["a.example"]),
            company(2, "QUILL PENS", &[], &["b.example"]),
        ];
        assert_eq!(asked("Quill Pens", namesakes), None);
        let alias_of_another = vec![
            company(1, "Inkwell", &["Quill Pens"], &["a.example"]),
            company(2, "Quill Pens", &[], &["b.example"]),
        ];
        assert_eq!(asked("Quill Pens", alias_of_another), None);
    }

    #[test]
    fn a_weaker_match_beside_it_takes_nothing_away() {
        let candidates = vec![
            company(1, "Quill Pens", &[], &["a.example"]),
            company(2, "Quill Pens GmbH", &[], &["b.example"]),
        ];
        assert_eq!(asked("Quill Pens", candidates), Some((1, 99)));
    }

    #[test]
    fn a_bare_name_answers_only_where_no_other_fits() {
        let bare = company(1, "Quill Pens", &[], &[]);
        let known = company(2, "Quill Pens Ltd", &[], &["b.example"]);
        assert_eq!(asked("Quill Pens", vec![bare.clone(), known]), Some((2, 98)));
        assert_eq!(asked("Quill Pens", vec![bare]), Some((1, 99)));
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
        assert_eq!(asked_in("Quill", Some("CH"), candidates()), Some((2, 99)));
        assert_eq!(asked_in("Quill", Some("DE"), candidates()), None);
    }

    #[test]
    fn an_answer_is_never_surer_than_its_source() {
        let mut candidate = company(1, "Quill Pens", &[], &["a.example"]);
        candidate.1 = Confidence::clamped(60);
        assert_eq!(asked("Quill Pens", vec![candidate]), Some((1, 60)));
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
