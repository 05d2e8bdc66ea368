//! Looks up every query of an evaluation set, as the service looks up the name in a request.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use enrich_core::port::directory::Directory;
use enrich_core::{CompanyRef, Projection, Question};
use enrich_store::Store;
use enrich_text::{CompanyName, Country};

use crate::half::Half;
use crate::queries::{self, Query};

/// The query files of an evaluation set, in the order of the look-ups.
pub(crate) const FILES: [&str; 5] = ["observed", "negatives", "synth", "country", "hardextra"];

pub(crate) struct Answered {
    pub(crate) file: &'static str,
    pub(crate) query: Query,
    /// The domain that was found, and its confidence; `None` if nothing was found.
    pub(crate) answer: Option<(String, u8)>,
}

/// The durations of the queries in each file.
pub(crate) type Times = BTreeMap<&'static str, Vec<Duration>>;

/// Returns the answers and durations of all queries.
pub(crate) fn all(store: &Store, half: &Half) -> anyhow::Result<(Vec<Answered>, Times)> {
    let mut answered = Vec::new();
    let mut times = Times::new();
    for file in FILES {
        for query in queries::of_half(half, file)? {
            // Only the queries in the file `country` are looked up together with their country.
            let country = Country::from_code(&query.country).ok().filter(|_| file == "country");
            let begun = Instant::now();
            let answer = match CompanyName::parse(&query.query) {
                Ok(name) => ask(store, name, country)?,
                Err(_) => None,
            };
            times.entry(file).or_default().push(begun.elapsed());
            answered.push(Answered { file, query, answer });
        }
    }
    Ok((answered, times))
}

fn ask(
    store: &Store,
    name: CompanyName,
    country: Option<Country>,
) -> anyhow::Result<Option<(String, u8)>> {
    let question = Question::Company(CompanyRef::Name { name: name.clone(), country });
    let found = pollster::block_on(store.directory.find(&question, Projection::Profile))?;
    Ok(found.and_then(|found| {
        let company = found.company()?;
        let domain = company.domain_near(&name, country)?;
        Some((domain.to_owned(), found.confidence.percent()))
    }))
}
