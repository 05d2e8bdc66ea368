//! Generated companies and people. Requests and their expected answers are made from these records.

use anyhow::Context;
use enrich_testkit::generate::Generator;
use serde::Deserialize;
use serde_json::Value;

/// The seed of the generated records. It is fixed, so that measurements can be compared.
const SEED: u64 = 20_261_121;

/// Maximum number of people, even for a very large number of companies.
const MAX_PEOPLE: u64 = 100_000;

/// Generated companies, and the people who work at them. For every ten companies there is one
/// person, up to [`MAX_PEOPLE`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generated {
    generator: Generator,
    pub(crate) companies: u64,
    pub(crate) people: u64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Company {
    pub(crate) name: String,
    domains: Vec<Value>,
    pub(crate) linkedin: Option<String>,
    pub(crate) facebook: Option<String>,
    pub(crate) twitter: Option<String>,
    pub(crate) instagram: Option<String>,
    pub(crate) youtube: Option<String>,
    #[serde(default)]
    pub(crate) emails: Vec<String>,
    #[serde(default)]
    pub(crate) phones: Vec<String>,
    pub(crate) ip: Option<String>,
    pub(crate) page_rank: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Person {
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) title: String,
    pub(crate) company_domain: String,
    pub(crate) country: String,
    pub(crate) linkedin: Option<String>,
    #[serde(default)]
    pub(crate) emails: Vec<String>,
    #[serde(default)]
    pub(crate) phones: Vec<String>,
}

impl Generated {
    pub(crate) const fn new(companies: u64) -> Self {
        let tenth = companies / 10;
        let people = if tenth < MAX_PEOPLE { tenth } else { MAX_PEOPLE };
        Self { generator: Generator::new(SEED), companies, people }
    }

    /// Returns all records as lines in the native format of `enrich import`, companies first.
    pub(crate) fn lines(self) -> impl Iterator<Item = String> {
        let companies = (0..self.companies).map(move |index| self.generator.company(index));
        let people =
            (0..self.people).map(move |index| self.generator.person(index, self.companies));
        companies.chain(people)
    }

    pub(crate) fn company(&self, index: u64) -> anyhow::Result<Company> {
        let line = self.generator.company(index);
        serde_json::from_str(&line).with_context(|| format!("no company: {line}"))
    }

    pub(crate) fn person(&self, index: u64) -> anyhow::Result<Person> {
        let line = self.generator.person(index, self.companies);
        serde_json::from_str(&line).with_context(|| format!("no person: {line}"))
    }

    /// Returns the company that a person works at. The company's index is at the end of the first
    /// label of the company's domain: the company with index 17 has a domain such as
    /// `amberbank17.example`.
    pub(crate) fn employer(&self, person: &Person) -> anyhow::Result<Company> {
        let label = person.company_domain.trim_end_matches(".example");
        let number = label.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let index = number.parse().with_context(|| format!("no number in `{label}`"))?;
        self.company(index)
    }

    /// Returns a random company. All companies are equally likely.
    pub(crate) fn any_company(&self, chance: &mut fastrand::Rng) -> anyhow::Result<Company> {
        self.company(chance.u64(..self.companies.max(1)))
    }
}

impl Company {
    pub(crate) fn domain(&self) -> &str {
        self.domains.first().and_then(Value::as_str).unwrap_or_default()
    }
}

impl Person {
    pub(crate) fn full_name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_reads_as_what_it_is() {
        let generated = Generated::new(200);
        for index in 0..200 {
            let company = generated.company(index).unwrap();
            assert!(company.domain().ends_with(&format!("{index}.example")), "{company:?}");
        }
        for index in 0..20 {
            let person = generated.person(index).unwrap();
            let employer = generated.employer(&person).unwrap();
            assert_eq!(employer.domain(), person.company_domain);
        }
        assert_eq!(generated.lines().count(), 220);
    }

    #[test]
    fn people_are_a_tenth_up_to_their_most() {
        assert_eq!(Generated::new(10_000).people, 1000);
        assert_eq!(Generated::new(10_000_000).people, 100_000);
    }
}
