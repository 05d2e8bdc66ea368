//! Prints an answer with its explanation.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::super::table::write_table;
use super::super::{Failure, Shown};
use super::explanation::{ByName, Candidate, Explanation, Named, Prominent, Weighed};

/// Maximum number of companies that the text shows.
const MAX_COMPANIES: usize = 5;
/// Maximum number of features of each company that the text shows. The effects of all others are
/// added up in one line.
const MAX_FEATURES: usize = 6;

/// The body of an answer, with its explanation. If the body is an error, there is no explanation.
#[derive(Serialize)]
pub(super) struct Explained {
    body: Box<RawValue>,
    explained: Option<Explanation>,
}

impl Explained {
    /// Combines the body of an answer with its explanation, if there is one.
    pub(super) fn new(body: &[u8], explained: Option<Explanation>) -> Result<Self, Failure> {
        let body = serde_json::from_slice(body).map_err(|error| Failure::impossible(&error))?;
        Ok(Self { body, explained })
    }
}

impl Shown for Explained {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.body.get())?;
        let Some(explained) = &self.explained else { return Ok(()) };
        writeln!(out, "\nRead as: {}", explained.read_as)?;
        if let Some(by_name) = &explained.company_name {
            write_by_name(by_name, out)?;
            if by_name.is_employer {
                writeln!(
                    out,
                    "\nThe person is looked for at all companies that bear the name, or else at \
                     the likeliest."
                )?;
            }
        }
        let reason = &explained.reason;
        match &explained.found {
            Some(found) => {
                writeln!(out, "\nFound: {}: {reason}", described(found))?;
                if !found.ids.is_empty() {
                    writeln!(out, "Its ids: {}", found.ids.join(", "))?;
                }
            }
            None => writeln!(out, "\nNothing found: {reason}")?,
        }
        if explained.found.is_some() && !explained.is_answered {
            writeln!(out, "It holds nothing that this endpoint answers with.")?;
        }
        Ok(())
    }
}

fn write_by_name(by_name: &ByName, out: &mut dyn Write) -> io::Result<()> {
    if let Some(only) = &by_name.only_bearer {
        return writeln!(out, "Exactly one company bears the name: {}", described(only));
    }
    if by_name.candidates.is_empty() {
        return writeln!(out, "No company was there to compare.");
    }
    let shown = &by_name.candidates[..by_name.candidates.len().min(MAX_COMPANIES)];
    match (shown.len(), by_name.candidates.len()) {
        (1, 1) => writeln!(out, "One company was compared:\n")?,
        (few, all) if few == all => writeln!(out, "{all} companies were compared:\n")?,
        (few, all) => writeln!(out, "{all} companies were compared; the {few} likeliest:\n")?,
    }
    let rows = shown.iter().map(|Candidate { confidence, company, name, domain, .. }| {
        let domain = domain.clone().unwrap_or_default();
        vec![confidence.to_string(), company.clone(), name.clone(), domain]
    });
    write_table(&[">CONFIDENCE", "COMPANY", "NAME THAT FITS BEST", "MAIN DOMAIN"], rows, out)?;
    for candidate in shown {
        write_features(candidate, out)?;
    }
    Ok(())
}

/// Writes the features with the largest effects. All other effects are added up in one line.
fn write_features(candidate: &Candidate, out: &mut dyn Write) -> io::Result<()> {
    let Candidate { company, confidence, score, features, .. } = candidate;
    writeln!(out, "\n{company}, {confidence}:")?;
    if let Some(prominence) = &candidate.prominence {
        writeln!(out, "  {}", in_words(prominence))?;
    }
    let (heaviest, others) = features.split_at(features.len().min(MAX_FEATURES));
    let row = |Weighed { feature, value, weight, effect }: &Weighed| {
        let feature = format!("  {feature}");
        vec![feature, format!("{value:.2}"), format!("{weight:.2}"), format!("{effect:+.2}")]
    };
    let sum = |what, effect: f64| vec![what, String::new(), String::new(), format!("{effect:+.2}")];
    let mut rows: Vec<_> = heaviest.iter().map(row).collect();
    if !others.is_empty() {
        let what = format!("  {} others", others.len());
        rows.push(sum(what, others.iter().map(|other| other.effect).sum()));
    }
    rows.push(sum("  together".to_owned(), *score));
    write_table(&["  FEATURE", ">VALUE", ">WEIGHT", ">FOR (+) OR AGAINST (-)"], rows, out)
}

/// Describes the prominence of a company, and the facts that it is calculated from.
fn in_words(prominence: &Prominent) -> String {
    let Prominent { value, page_rank, is_in_wikidata, kinds_of_ids, countries, networks } =
        prominence;
    let counted = |count: usize, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {more}")),
    };
    let reasons = [
        page_rank.map(|rank| format!("page rank {rank:.2}")),
        is_in_wikidata.then(|| "in Wikidata".to_owned()),
        counted(*kinds_of_ids, "kind of other ids", "kinds of other ids"),
        counted(*countries, "country with a site", "countries with a site"),
        counted(*networks, "network with a page", "networks with a page"),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    format!("prominence {value:.2}: {}", reasons.join(", "))
}

fn described(named: &Named) -> String {
    let mut text = named.name.clone();
    if let Some(domain) = &named.domain {
        text.push_str(&format!(" ({domain})"));
    }
    if let Some(confidence) = named.confidence {
        text.push_str(&format!(", {confidence}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(number: u8, confidence: u8) -> Candidate {
        let feature = |(at, feature): (usize, &'static str)| {
            let (value, weight) = (1.0 - at as f64 / 10.0, if at % 2 == 0 { 3.0 } else { -3.0 });
            Weighed { feature, value, weight, effect: value * weight }
        };
        let names = ["same_folded", "slip", "agreed", "alias", "dice", "jaro", "words", "length"];
        let features: Vec<Weighed> = names.into_iter().enumerate().map(feature).collect();
        Candidate {
            confidence,
            probability: f64::from(confidence) / 100.0,
            score: features.iter().map(|one| one.effect).sum(),
            company: format!("Quill {number} Ltd"),
            name: format!("Quill {number}"),
            domain: (number != 2).then(|| format!("quill-{number}.example")),
            prominence: None,
            features,
        }
    }

    fn text(candidates: Vec<Candidate>, is_employer: bool) -> String {
        let name = "Quil".to_owned();
        let explanation = Explanation {
            read_as: "the company named \"Quil\"".to_owned(),
            min_confidence: 90,
            company_name: Some(ByName {
                name,
                is_employer,
                country: None,
                only_bearer: None,
                candidates,
            }),
            found: None,
            is_answered: false,
            reason: "below the least confidence (90)".to_owned(),
        };
        let mut text = Vec::new();
        let explained = Explained::new(b"{\"url\":\"\"}", Some(explanation)).unwrap();
        explained.write_text(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_company_is_shown_with_its_heaviest_features() {
        insta::assert_snapshot!("one_company", text(vec![candidate(1, 79)], false));
    }

    #[test]
    fn the_likeliest_companies_are_shown() {
        let shares = [(1, 40), (2, 30), (3, 9), (4, 8), (5, 7), (6, 6), (7, 1)];
        let candidates = shares.map(|(number, share)| candidate(number, share)).into();
        let text = text(candidates, true);
        assert_eq!(text.matches(":\n  FEATURE ").count(), MAX_COMPANIES, "{text}");
        // The snapshot leaves out the lines with features of a company, such as `same_folded`. The
        // test `a_company_is_shown_with_its_heaviest_features` checks such lines.
        let is_feature = |line: &&str| {
            let indented = line.strip_prefix("  ");
            indented.is_some_and(|line| line.starts_with(|letter: char| !letter.is_whitespace()))
        };
        let lines = text.lines().filter(|line| !is_feature(line));
        insta::assert_snapshot!("several_companies", lines.collect::<Vec<_>>().join("\n"));
    }
}
