//! Reads the queries of an evaluation set.

use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::half::Half;

/// A name, and the domains that are correct answers. If there are no such domains, the only
/// correct answer is "not found".
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Query {
    pub(crate) qid: String,
    pub(crate) query: String,
    pub(crate) country: String,
    pub(crate) expected: String,
    pub(crate) kind: String,
    pub(crate) entity_kind: String,
    pub(crate) stratum: String,
    /// A name of the company that the query is about. All queries about one company are in the
    /// same part of the cross-validation.
    pub(crate) group: String,
}

impl Query {
    /// Whether a domain is a correct answer: an expected domain, or a host below an expected
    /// domain.
    pub(crate) fn is_right(&self, domain: &str) -> bool {
        let domain = in_unicode(domain);
        self.expected.split('|').filter(|expected| !expected.is_empty()).any(|expected| {
            domain == expected
                || domain.strip_suffix(expected).is_some_and(|rest| rest.ends_with('.'))
        })
    }
}

/// Converts a domain of an answer (`xn--mnchen-3ya.example`) to the form that the evaluation set
/// has (`münchen.example`).
pub(crate) fn in_unicode(domain: &str) -> String {
    idna::domain_to_unicode(domain).0
}

/// Reads a query file of one half of the evaluation set. `half` is `dev` or `test`, and `name` is
/// `observed`, `negatives`, `synth`, `country` or `hardextra`.
pub(crate) fn read(set: &Path, half: &str, name: &str) -> anyhow::Result<Vec<Query>> {
    of_half(&Half::find(set, Some(half))?, name)
}

pub(crate) fn of_half(half: &Half, name: &str) -> anyhow::Result<Vec<Query>> {
    let path = half
        .file(name)
        .with_context(|| format!("the set has no {name}_{}.csv; unpack all of it", half.name))?;
    rows(&path)
}

/// Reads the rows of a CSV file with a header.
pub(crate) fn rows<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let mut reader = csv::Reader::from_path(path)
        .with_context(|| format!("{} can't be read", path.display()))?;
    let rows = reader.deserialize().collect::<Result<_, _>>();
    rows.with_context(|| format!("{} is not of the set's form", path.display()))
}

/// Returns a hash (FNV-1a) of a text that identifies a company. The hash determines the part of
/// the cross-validation to which the queries about the company belong.
pub(crate) fn number_of(group: &str) -> u64 {
    let hash = group.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash >> 20
}
