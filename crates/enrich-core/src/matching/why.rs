//! Writes the sentence that explains why a requested name may mean a candidate.

use enrich_text::{Agreement, CompanyName, NameForm, NameWord, Similarity, similar};

use super::ScoredCandidate;
use super::asked::AskedName;
use super::feature::Feature;
use crate::subject::Candidate;

/// Maximum number of words of each kind that the explanation of a candidate lists. The kinds are
/// shared, similar, missing and additional words.
const MAX_WORDS: usize = 4;

/// Returns a sentence in plain English with the evidence for and against the candidate, such as
/// `Its name shares "quill"; it lacks "nibs".` The same evidence always gives the same sentence.
pub fn why(asked: &AskedName, candidate: &ScoredCandidate) -> String {
    let mut clauses = of_names(asked, candidate);
    clauses.extend(of_places(asked, candidate));
    let text = clauses.join("; ");
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => Candidate::WHY_WITHOUT_NAMES.to_owned(),
    }
}

fn of_names(asked: &AskedName, candidate: &ScoredCandidate) -> Vec<String> {
    let has = |feature| candidate.evidence.of(feature) > 0.0;
    let its = if has(Feature::Alias) {
        format!("its other name {}", quoted(&candidate.name))
    } else {
        "its name".to_owned()
    };
    let whole = if has(Feature::SameFolded) {
        Some(format!("{its} is exactly this name"))
    } else if has(Feature::SameStripped) {
        Some(format!("{its} is the same without legal form and article"))
    } else if has(Feature::SameSquashed) {
        Some(format!("{its} is the same without spaces"))
    } else if has(Feature::SameSorted) {
        Some(format!("{its} has the same words, in another order or language"))
    } else if has(Feature::IsInitials) {
        Some(format!("this name is the initials of {its}"))
    } else if has(Feature::HasInitials) {
        Some(format!("{its} is the initials of this name"))
    } else {
        None
    };
    let mut clauses = match whole {
        Some(whole) => vec![whole],
        None => of_words(asked, candidate, &its),
    };
    if has(Feature::LabelIsNameLong) || has(Feature::LabelIsNameGeneral) {
        clauses.push("its domain is this name".to_owned());
    } else if has(Feature::LabelHoldsName) {
        clauses.push("its domain contains this name".to_owned());
    }
    if has(Feature::FormDiffers) {
        clauses.push("the legal forms differ".to_owned());
    }
    if has(Feature::Contrast) || has(Feature::ContrastKind) {
        clauses.push("the words that differ contradict each other".to_owned());
    }
    clauses
}

/// Compares the words of the two names, and returns the result as parts of the explanation: which
/// words the names share, which words are similar, and which words only one of the names has.
fn of_words(asked: &AskedName, candidate: &ScoredCandidate, its: &str) -> Vec<String> {
    let Ok(name) = CompanyName::parse(&candidate.name) else { return Vec::new() };
    let (asked, held) = (&asked.form, NameForm::of(&name));
    // Which words match does not depend on their rarities. So every word gets the same rarity here.
    let likeness = similar(asked, &held, &|_: &NameWord| 1.0);
    let equal = |how| !matches!(how, Agreement::Misspelt);
    let mut shared: Vec<usize> =
        likeness.agreed.iter().filter(|one| equal(one.how)).map(|one| one.left).collect();
    shared.sort_unstable();
    shared.dedup();
    let mut clauses = Vec::new();
    if !shared.is_empty() {
        clauses.push(format!("{its} shares {}", listed(&asked.words, shared)));
    }
    for one in likeness.agreed.iter().filter(|one| !equal(one.how)).take(MAX_WORDS) {
        let (typed, meant) = (&asked.words[one.left].text, &held.words[one.right].text);
        let (typed, meant) = (quoted(typed), quoted(meant));
        clauses.push(match clauses.is_empty() {
            true => format!("{its} has {meant}, which resembles {typed}"),
            false => format!("it has {meant}, which resembles {typed}"),
        });
    }
    if clauses.is_empty() {
        return vec![format!("{its} resembles this name")];
    }
    let Similarity { only_left, only_right, .. } = likeness;
    let places = |only: Vec<(usize, f64)>| only.into_iter().map(|(at, _)| at).collect::<Vec<_>>();
    if !only_left.is_empty() {
        clauses.push(format!("it lacks {}", listed(&asked.words, places(only_left))));
    }
    if !only_right.is_empty() {
        clauses.push(format!("it also has {}", listed(&held.words, places(only_right))));
    }
    clauses
}

fn of_places(asked: &AskedName, candidate: &ScoredCandidate) -> Vec<String> {
    let mut clauses = Vec::new();
    let company = &candidate.company;
    for (_, country) in &asked.countries {
        let is = if company.is_in(*country) { "it is in" } else { "it is not known to be in" };
        let clause = format!("{is} {}", country.name());
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }
    let has = |feature| candidate.evidence.of(feature) > 0.0;
    if has(Feature::RegionHere) || has(Feature::RegionBehind) {
        clauses.push("its domain names the region".to_owned());
    }
    if has(Feature::OtherDomain) {
        clauses.push("the domain in this name is not one of its domains".to_owned());
    }
    clauses
}

/// Returns the words with the indexes `places`, in quotation marks: `"quill", "ink" and "pen"`. Of
/// more than [`MAX_WORDS`] words, only the first are named, and the others are counted:
/// `and 2 more`.
fn listed(words: &[NameWord], places: Vec<usize>) -> String {
    let all = places.len();
    let mut texts: Vec<String> =
        places.into_iter().take(MAX_WORDS).map(|at| quoted(&words[at].text)).collect();
    if all > MAX_WORDS {
        texts.push(format!("{} more", all - MAX_WORDS));
    }
    match texts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// Puts a text in straight quotation marks. [`crate::holds_suppressed`] searches answers for
/// suppressed values (values that no answer may contain). It reads a text between such marks as one
/// value, so it also finds a suppressed value in an explanation.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'"))
}

#[cfg(test)]
mod tests {
    use super::super::{DirectoryRarity, Weights, judge};
    use super::*;
    use crate::subject::{Company, Site, SubjectId};

    fn said(asked: &str, name: &str, aliases: &[&str]) -> String {
        let asked = AskedName::new(&CompanyName::parse(asked).unwrap());
        let company = Company {
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
            sites: vec![Site { domain: "feather.ch".to_owned(), country: None }],
            ..Company::named(SubjectId(1), name.to_owned())
        };
        let rarity = DirectoryRarity::among(1_000);
        why(&asked, &judge(&asked, [company], &rarity, Weights::trained(), |_| None)[0])
    }

    #[test]
    fn a_sentence_says_what_agrees_and_what_each_name_lacks() {
        for (asked, name, sentence) in [
            ("Quill Pens", "QUILL PENS", "Its name is exactly this name."),
            (
                "Quill Pens GmbH",
                "Quill Pens AG",
                "Its name is the same without legal form and article; the legal forms differ.",
            ),
            ("Quill Pens", "QuillPens", "Its name is the same without spaces."),
            (
                "Pens Quill",
                "Quill Pens",
                "Its name has the same words, in another order or language.",
            ),
            ("QPI", "Quill Pen Ink", "This name is the initials of its name."),
            ("Quill Pen Ink", "QPI", "Its name is the initials of this name."),
            (
                "Quil Nibs",
                "Quill Nibs Paper",
                "Its name shares \"nibs\"; it has \"quill\", which resembles \"quil\"; \
                 it also has \"paper\".",
            ),
            (
                "Quill Nibs Swindon",
                "Quill",
                "Its name shares \"quill\"; it lacks \"nibs\" and \"swindon\".",
            ),
            ("Feather", "Quill", "Its name resembles this name; its domain is this name."),
        ] {
            assert_eq!(said(asked, name, &[]), sentence, "{asked} / {name}");
        }
    }

    #[test]
    fn another_name_is_quoted() {
        assert_eq!(
            said("Quill Nibs Ink", "Feathermark", &["Quill Nibs"]),
            "Its other name \"Quill Nibs\" shares \"quill\" and \"nibs\"; it lacks \"ink\"."
        );
        let said = said("Quill Nibs", "Feathermark", &["The \"Quill\" Nibs"]);
        assert!(said.starts_with("Its other name \"The 'Quill' Nibs\" is"), "{said}");
    }

    #[test]
    fn a_country_in_the_name_is_compared() {
        let sentence = said("Quill Nibs (Switzerland)", "Quill Nibs", &[]);
        assert!(sentence.ends_with("; it is in Switzerland."), "{sentence}");
        let sentence = said("Quill Nibs Norway", "Quill Nibs", &[]);
        assert!(sentence.ends_with("; it is not known to be in Norway."), "{sentence}");
    }

    #[test]
    fn a_sentence_names_few_words() {
        let sentence = said("Quill", "Quill Nib Ink Paper Desk Lamp Chair", &[]);
        assert!(sentence.contains("\"desk\" and 2 more"), "{sentence}");
    }
}
