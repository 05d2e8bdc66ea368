//! Shows the companies that a name may mean, for operators.

use std::io::{self, Write};

use enrich_core::{Candidate, Found, Question};
use enrich_store::SqliteDirectory;
use enrich_text::{CompanyName, Country};
use serde::Serialize;

use super::super::table::{Row, write_table};
use super::super::{Failure, Shown};
use super::company::find;

/// The companies that a name may mean, the likeliest first.
#[derive(Debug, Serialize)]
pub(super) struct Candidates {
    candidates: Vec<ShownCandidate>,
}

#[derive(Debug, Serialize)]
struct ShownCandidate {
    name: String,
    country: Option<&'static str>,
    domain: Option<String>,
    /// The confidence that this company is meant, in percent.
    confidence: u8,
    why: String,
}

impl Candidates {
    /// Finds at most `most` companies that a name may mean.
    pub(super) fn of(
        directory: &SqliteDirectory,
        name: &CompanyName,
        country: Option<Country>,
        most: usize,
    ) -> Result<Self, Failure> {
        let question = Question::Candidates { name: name.clone(), country };
        let found = find(directory, &question)?;
        let list = found.as_ref().and_then(Found::candidates).unwrap_or_default();
        Ok(Self { candidates: list.iter().take(most).map(ShownCandidate::from).collect() })
    }
}

impl From<&Candidate> for ShownCandidate {
    fn from(candidate: &Candidate) -> Self {
        Self {
            name: candidate.name.clone(),
            country: candidate.country.map(Country::alpha2),
            domain: candidate.domain.clone(),
            confidence: candidate.confidence.percent(),
            why: candidate.why.clone(),
        }
    }
}

impl Row for ShownCandidate {
    const TITLES: &'static [&'static str] = &[">confidence", "name", "country", "domain", "why"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.confidence.to_string(),
            self.name.clone(),
            self.country.unwrap_or_default().to_owned(),
            self.domain.clone().unwrap_or_default(),
            self.why.clone(),
        ]
    }
}

impl Shown for Candidates {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.candidates.is_empty() {
            return writeln!(out, "nothing found");
        }
        write_table(ShownCandidate::TITLES, self.candidates.iter().map(Row::cells), out)
    }
}
