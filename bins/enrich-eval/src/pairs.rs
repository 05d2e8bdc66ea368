//! Compares pairs of company names as Enrich's matching does. Each pair has a label, which says
//! whether both names mean the same organisation. Counts how often the matching agrees with the
//! label, and groups the other pairs by the reason of the difference.

mod reason;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use enrich_core::matching::{AskedName, DirectoryRarity, Weights, judge, likeliest};
use enrich_core::{Company, Confidence, SubjectId};
use enrich_text::CompanyName;
use serde::Deserialize;

use crate::queries;
use reason::Reason;

/// Minimum confidence, in percent, with which two names count as the same.
const MIN_PERCENT: u8 = 50;
/// Maximum number of examples that are shown for a reason.
const MAX_SHOWN: usize = 5;
/// The values of `schema` in pairs of company names. The pairs with other values are names of
/// people or ships.
const COMPANIES: [&str; 3] = ["Company", "Organization", "LegalEntity"];

/// A pair of names. The label `is_match` says whether both names mean the same organisation.
#[derive(Deserialize)]
struct Row {
    case_group: String,
    schema: String,
    name1: String,
    name2: String,
    is_match: bool,
    category: String,
}

struct Pair {
    row: Row,
    percent: u8,
    reason: Reason,
}

impl Pair {
    fn is_same(&self) -> bool {
        self.percent >= MIN_PERCENT
    }

    fn agrees(&self) -> bool {
        self.is_same() == self.row.is_match
    }
}

/// Judges the name pairs in the file `name_pairs/cases.csv`. The folder `name_pairs` is beside the
/// folder `set`. Reports in how many pairs the matching agrees with the label. Groups the other
/// pairs by reason, with a few examples.
pub(crate) fn report(set: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let path = set.join("..").join("name_pairs").join("cases.csv");
    if !path.is_file() {
        writeln!(out, "{} is not there: no name pairs are judged", path.display())?;
        return Ok(());
    }
    let all: Vec<Row> = queries::rows(&path)?;
    let count = all.len();
    let mut pairs = Vec::new();
    for row in all.into_iter().filter(|row| COMPANIES.contains(&row.schema.as_str())) {
        pairs.extend(judged(row));
    }
    writeln!(
        out,
        "name pairs: {} of {count} are names of companies; {} of people and ships are left out",
        pairs.len(),
        count - pairs.len()
    )?;
    tell_categories(&pairs, out)?;
    tell_differences(&pairs, out)
}

/// Judges a pair: compares the first name with a single candidate, a company whose only name is
/// the second name. Returns `None` if [`CompanyName::parse`] refuses one of the names, for example
/// an empty text.
fn judged(row: Row) -> Option<Pair> {
    let asked = CompanyName::parse(&row.name1).ok()?;
    let held = CompanyName::parse(&row.name2).ok()?;
    let company = Company::named(SubjectId(1), row.name2.clone());
    let rarity = DirectoryRarity::among(0);
    let judged = judge(&AskedName::new(&asked), [company], &rarity, Weights::trained(), |_| None);
    let percent = likeliest(&judged).map_or(0, |(_, confidence)| confidence.percent());
    Some(Pair { reason: Reason::of(&asked, &held), percent, row })
}

fn tell_categories(pairs: &[Pair], out: &mut dyn Write) -> anyhow::Result<()> {
    let mut categories: BTreeMap<(&str, &str, bool), (usize, usize)> = BTreeMap::new();
    for pair in pairs {
        let key = (&*pair.row.case_group, &*pair.row.category, pair.row.is_match);
        let (agreed, all) = categories.entry(key).or_default();
        *agreed += usize::from(pair.agrees());
        *all += 1;
    }
    for ((group, category, is_match), (agreed, all)) in categories {
        let said = if is_match { "the same" } else { "others" };
        let category = if category.is_empty() { "no category" } else { category };
        writeln!(out, "  {group}, {category}, said to be {said}: {agreed} of {all} agree")?;
    }
    let agreed = pairs.iter().filter(|pair| pair.agrees()).count();
    let share = agreed as f64 / pairs.len().max(1) as f64;
    writeln!(out, "name pairs: {agreed} of {} agree in all, {share:.3}", pairs.len())?;
    Ok(())
}

fn tell_differences(pairs: &[Pair], out: &mut dyn Write) -> anyhow::Result<()> {
    let mut groups: BTreeMap<(Reason, bool), Vec<&Pair>> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| !pair.agrees()) {
        groups.entry((pair.reason, pair.is_same())).or_default().push(pair);
    }
    let differ: usize = groups.values().map(Vec::len).sum();
    let of_policy = groups.iter().filter(|((reason, _), _)| reason.is_policy());
    let of_policy: usize = of_policy.map(|(_, pairs)| pairs.len()).sum();
    writeln!(
        out,
        "name pairs: {differ} differ, {of_policy} of them by what is a company of its own: legal \
         forms, sister companies, numbers of a series"
    )?;
    let least = Confidence::MIN_BY_NAME.percent();
    let too_sure: Vec<u8> = pairs
        .iter()
        .filter(|pair| pair.is_same() && !pair.row.is_match)
        .map(|one| one.percent)
        .collect();
    writeln!(
        out,
        "name pairs: {} are the same here and others there, {} of them at {least} % and more, as \
         sure as an answer has to be unless the operator says otherwise",
        too_sure.len(),
        too_sure.iter().filter(|percent| **percent >= least).count()
    )?;
    for ((reason, is_same), pairs) in groups {
        let (here, there) = if is_same { ("the same", "others") } else { ("others", "the same") };
        let count = pairs.len();
        writeln!(out, "  {}, here {here}, there {there}: {count}", reason.sentence())?;
        for pair in pairs.iter().take(MAX_SHOWN) {
            writeln!(out, "    {} | {} ({} %)", pair.row.name1, pair.row.name2, pair.percent)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name1: &str, name2: &str, is_match: bool) -> Row {
        Row {
            case_group: "invented".to_owned(),
            schema: "Company".to_owned(),
            name1: name1.to_owned(),
            name2: name2.to_owned(),
            is_match,
            category: String::new(),
        }
    }

    #[test]
    fn a_pair_agrees_when_both_say_the_same() {
        let same = judged(row("Vosslund Turbines", "Vosslund Turbines GmbH", true)).unwrap();
        assert!(same.is_same() && same.agrees(), "{} %", same.percent);
        let other = judged(row("Vosslund Turbines", "Quillmark Press", true)).unwrap();
        assert!(!other.is_same() && !other.agrees(), "{} %", other.percent);
    }

    #[test]
    fn differences_are_told_by_their_reason() {
        let said_other = row("Vosslund Turbines AG", "Vosslund Turbines GmbH", false);
        let pairs = [judged(said_other).unwrap()];
        let mut told = Vec::new();
        tell_differences(&pairs, &mut told).unwrap();
        let told = String::from_utf8(told).unwrap();
        assert!(told.starts_with("name pairs: 1 differ, 1 of them by what"), "{told}");
        assert!(told.contains("the legal form alone, here the same, there others: 1"), "{told}");
        assert!(told.contains("Vosslund Turbines AG | Vosslund Turbines GmbH ("), "{told}");
    }
}
