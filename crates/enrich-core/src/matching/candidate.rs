//! Compares a candidate's names, domains and countries with the requested name.

use enrich_text::{CompanyName, Domain, NameForm, Rarity, Region, is_misspelt};

use super::asked::AskedName;
use super::evidence::Evidence;
use super::feature::Feature;
use super::labels::Labels;
use super::organisation::OwnName;
use super::sums::Shape;
use super::words::{self, Pair};
use crate::subject::Company;

/// Maximum length of each of two lists of a company's aliases. Both lists are compared with the
/// requested name ([`Company::aliases_near`]):
///
/// - the company's first aliases;
/// - later aliases that contain all words of the requested name.
///
/// Few companies have more aliases than this number.
const MAX_ALIASES: usize = 64;

/// If the requested name is treated as a misspelling of a well-known company's name, both names
/// must have at least this number of letters. Too many shorter names differ by one letter, such as
/// `Visa` and `Visma`.
const MIN_SLIP_LETTERS: usize = 5;

pub(super) struct Compared {
    /// The company's name that fits the requested name best: its own name or an alias.
    pub(super) name: String,
    pub(super) evidence: Evidence,
    pub(super) own_name: OwnName,
    /// The comparison of the requested name with `name`. `None` if no name of the company can be
    /// parsed.
    pair: Option<Pair>,
    labels: Labels,
    /// Whether the company's own name equals the requested name, and the label of its main domain
    /// (`quill` of `quill.example`) equals it too.
    is_own_label: bool,
}

/// Compares a company with the requested name. The result does not yet contain the features that
/// depend on the company's prominence (how well known it is); [`Compared::add_prominence`] adds
/// them.
pub(super) fn of_company(asked: &AskedName, company: &Company, rarity: &impl Rarity) -> Compared {
    let there: Vec<usize> = asked
        .countries
        .iter()
        .filter(|(_, country)| company.is_in(*country))
        .filter_map(|(word, _)| *word)
        .collect();
    let mut own_name = OwnName::default();
    let own = std::iter::once((&company.name, false));
    let others = company.aliases_near(&asked.name, MAX_ALIASES).map(|alias| (alias, true));
    let pairs = own.chain(others).filter_map(|(name, is_alias)| {
        let name = CompanyName::parse(name).ok()?;
        let form = NameForm::of(&name);
        let pair = words::compare(asked, &name, &form, is_alias, &there, rarity);
        if !is_alias {
            own_name = OwnName::of(&name, form);
        }
        Some(pair)
    });
    let Some(mut best) = pairs.reduce(|best, next| if next.fit > best.fit { next } else { best })
    else {
        let (name, evidence, labels) =
            (company.name.clone(), Evidence::default(), Labels::default());
        return Compared { name, evidence, own_name, pair: None, labels, is_own_label: false };
    };
    let mut evidence = std::mem::take(&mut best.evidence);
    evidence.flag(Feature::Bias, true);
    let labels = Labels::of(asked, company, rarity);
    of_labels(&mut evidence, asked, &best, &labels);
    of_places(&mut evidence, asked, company);
    let domain = asked.domain.as_ref().map(Domain::as_str);
    let is_other =
        domain.is_some_and(|domain| company.sites.iter().all(|site| site.domain != domain));
    evidence.flag(Feature::OtherDomain, is_other);
    let (words, letters) = (&asked.form.words, asked.form.squashed.len() as f64);
    evidence.flag(Feature::SingleWord, words.len() == 1);
    let all: f64 = words.iter().map(|word| rarity.of(word)).sum();
    evidence.add(Feature::RarityOfAll, (all / 10.0).min(4.0));
    evidence.add(Feature::Words, (words.len() as f64 / 5.0).min(2.0));
    evidence.add(Feature::Length, (letters / 10.0).min(3.0));
    let is_own_label = best.is_same && !best.is_alias && is_main_label(asked, company);
    let name = best.name.clone();
    Compared { name, evidence, own_name, pair: Some(best), labels, is_own_label }
}

fn is_main_label(asked: &AskedName, company: &Company) -> bool {
    let main = company.domain().and_then(|domain| Domain::parse(domain).ok());
    main.is_some_and(|main| asked.squashed.contains(&main.label().replace('-', "")))
}

impl Compared {
    /// Adds the features that depend on the company's prominence (how well known it is, from 0 to
    /// 1). Which of these features are added depends on how well the names match. If the prominence
    /// is 0, adds none.
    pub(super) fn add_prominence(&mut self, asked: &AskedName, company: &Company, prominence: f64) {
        let Some(pair) = self.pair.as_ref().filter(|_| prominence > 0.0) else { return };
        let (evidence, labels, value) = (&mut self.evidence, &self.labels, prominence);
        let is_initials = evidence.of(Feature::IsInitials) > 0.0;
        let is_whole_slip = || is_misspelt(&asked.form.squashed, &pair.squashed);
        let are_words_alike = pair.shape == Shape::All && pair.is_firm;
        let letters = asked.form.squashed.chars().count().min(pair.squashed.chars().count());
        let is_slip =
            !pair.is_same && letters >= MIN_SLIP_LETTERS && (are_words_alike || is_whole_slip());
        let has_shape =
            |shapes: [Shape; 2]| !is_slip && !pair.is_same && shapes.contains(&pair.shape);
        let is_more = has_shape([Shape::MoreGeneral, Shape::More]);
        let is_longer = has_shape([Shape::LessGeneral, Shape::Less]);
        let is_both = has_shape([Shape::BothGeneral, Shape::Both]);
        let is_complete = is_more || pair.is_same;
        let is_acronym = asked.is_acronym && (is_initials || (pair.is_same && pair.is_alias));
        let is_equal = pair.is_same && !pair.is_sorted;
        evidence.add_if(is_equal && !pair.is_alias, Feature::ProminentName, value);
        evidence.add_if(is_equal && pair.is_alias, Feature::ProminentAlias, value);
        evidence.add_if(self.is_own_label, Feature::ProminentOwnLabel, value);
        evidence.add(Feature::ProminentLabel, value * labels.is_name);
        evidence.add_if(is_acronym, Feature::ProminentAcronym, value);
        evidence.add_if(is_slip, Feature::ProminentSlip, value);
        evidence.add_if(is_slip, Feature::ProminentSlipLabel, value * labels.like);
        let known = words::slip_known(evidence);
        evidence.add_if(is_slip, Feature::ProminentSlipKnown, value * known);
        evidence.add_if(is_complete && pair.is_addition, Feature::ProminentAddition, value);
        evidence.add_if(is_more && !pair.is_addition, Feature::ProminentMore, value);
        evidence.add_if(is_longer, Feature::ProminentLonger, value);
        evidence.add_if(is_longer, Feature::ProminentLongerLabel, value * labels.is_name);
        evidence.add_if(is_both, Feature::ProminentBoth, value);
        if asked.country.is_some_and(|country| company.domain_in(country).is_none()) {
            let is_elsewhere = company.has_country();
            evidence.flag(Feature::CountryElsewhere, is_elsewhere);
            evidence.flag(Feature::CountryUnknown, !is_elsewhere);
        }
    }
}

fn of_labels(evidence: &mut Evidence, asked: &AskedName, pair: &Pair, labels: &Labels) {
    evidence.add(Feature::LabelIsBeginning, labels.is_beginning);
    evidence.add(Feature::LabelHoldsName, labels.holds_name);
    evidence.add(Feature::NameHoldsLabel, labels.name_holds);
    evidence.add(Feature::LabelLikeName, labels.like);
    evidence.add(Feature::LabelIsInitials, labels.is_initials);
    evidence.add(Feature::LabelOfParts, labels.parts);
    evidence.add(Feature::LabelOfPartsFull, labels.parts_full);
    evidence.add(Feature::WordIsLabel, labels.word_is);
    evidence.add(Feature::WordBeginsLabel, labels.begins);
    evidence.flag(Feature::IsHost, labels.is_host);
    let letters = asked.form.squashed.len() as f64;
    let is_general = evidence.of(Feature::NoSpecific);
    evidence.add(Feature::LabelIsNameGeneral, labels.is_name * is_general);
    evidence.add(Feature::LabelIsNameLong, labels.is_name * (letters / 10.0).min(2.0));
    let fit = labels.is_name.max(labels.parts_full).max(labels.holds_name).max(labels.like);
    let (shape, with_label) = match pair.shape {
        Shape::Nothing => (None, None),
        Shape::All => (Some(Feature::ShapeAll), Some(Feature::ShapeAllLabel)),
        Shape::MoreGeneral => {
            (Some(Feature::ShapeMoreGeneral), Some(Feature::ShapeMoreGeneralLabel))
        }
        Shape::More => (Some(Feature::ShapeMore), Some(Feature::ShapeMoreLabel)),
        Shape::LessGeneral => {
            (Some(Feature::ShapeLessGeneral), Some(Feature::ShapeLessGeneralLabel))
        }
        Shape::Less => (Some(Feature::ShapeLess), Some(Feature::ShapeLessLabel)),
        Shape::BothGeneral => {
            (Some(Feature::ShapeBothGeneral), Some(Feature::ShapeBothGeneralLabel))
        }
        Shape::Both => (Some(Feature::ShapeBoth), Some(Feature::ShapeBothLabel)),
    };
    if let (Some(shape), Some(with_label)) = (shape, with_label) {
        evidence.flag(shape, true);
        evidence.add(with_label, fit);
    }
    let is_only_municipality = evidence.of(Feature::OnlyMunicipality);
    evidence.add(Feature::OnlyMunicipalityLabel, is_only_municipality * fit);
    let is_initials = evidence.of(Feature::IsInitials);
    if asked.is_acronym {
        evidence.flag(Feature::Acronym, true);
        evidence.add(Feature::AcronymLabel, labels.is_name);
        evidence.add(Feature::AcronymInitials, is_initials);
    }
    evidence.add(Feature::InitialsAndLabel, is_initials * labels.is_name);
    let slip = evidence.of(Feature::Slip);
    evidence.add(Feature::SlipAndLabel, slip * labels.like);
}

/// Where a domain contains the code of a state or province, such as `wi` for Wisconsin. Dots and
/// hyphens separate the parts of the domain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RegionCodePosition {
    /// A part between the first part and the top-level domain is the code of the state or province:
    /// `wi` in `jackson.wi.us`.
    OtherLabel,
    /// The first part ends with the code of the state or province: `wi` in `jacksonwi.gov`.
    FirstLabelEnd,
    Nothing,
}

fn find_region_code(domain: &str, Region { code, country }: Region) -> RegionCodePosition {
    let Ok(domain) = Domain::parse(domain) else { return RegionCodePosition::Nothing };
    // Under the top-level domain of another country, the letters of the code do not mean this state
    // or province: `ca` in `quill.ca.fr` is not California.
    if domain.country().is_some_and(|under| under != country) {
        return RegionCodePosition::Nothing;
    }
    let mut labels = domain.as_str().split(['.', '-']);
    let first = labels.next().unwrap_or_default();
    // The top-level domain itself is left out: `.ca` is Canada, not California.
    let _top = labels.next_back();
    if labels.any(|label| label == code) {
        return RegionCodePosition::OtherLabel;
    }
    let is_at_end = first.len() > code.len() + 2 && first.ends_with(code);
    if is_at_end { RegionCodePosition::FirstLabelEnd } else { RegionCodePosition::Nothing }
}

fn of_places(evidence: &mut Evidence, asked: &AskedName, company: &Company) {
    let domains = || company.sites.iter().map(|site| site.domain.as_str());
    let is_in_domain = asked.form.aside.iter().any(|word| {
        let text = word.text.as_str();
        domains().any(|domain| match text.len() {
            0..=2 => false,
            3 => domain.split('.').any(|label| label == text),
            _ => domain.contains(text),
        })
    });
    evidence.flag(Feature::AsideInDomain, is_in_domain);
    if let Some(region) = asked.region {
        let positions: Vec<RegionCodePosition> =
            domains().map(|domain| find_region_code(domain, region)).collect();
        evidence.flag(Feature::RegionHere, positions.contains(&RegionCodePosition::OtherLabel));
        evidence
            .flag(Feature::RegionBehind, positions.contains(&RegionCodePosition::FirstLabelEnd));
    }
    let agrees = asked.countries.iter().any(|(_, country)| company.is_in(*country));
    let differs = !company.seats.is_empty()
        && asked.countries.iter().any(|(_, country)| !company.is_in(*country));
    evidence.flag(Feature::CountryAgrees, agrees);
    evidence.flag(Feature::CountryDiffers, differs);
    evidence.flag(Feature::CountryAsideDiffers, differs && asked.name.country().is_some());
    if !asked.letter_countries.is_empty() {
        let agree = company.countries().any(|country| asked.letter_countries.contains(&country));
        evidence.flag(Feature::LettersAgree, agree);
        evidence.flag(Feature::LettersDiffer, !agree && company.has_country());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_features_have_one_name() {
        let names: HashSet<_> = Feature::ALL.iter().map(|feature| feature.name()).collect();
        assert_eq!(names.len(), Feature::ALL.len());
    }
}
