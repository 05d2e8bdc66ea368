//! Candidates: for a row whose company was not found by its name, the companies that the name may
//! mean.

use enrich_core::Candidate;
use enrich_wire::{Endpoint, Kind};
use serde_json::Value;

/// The columns of each candidate, without the prefix `candidate_1_`.
const COLUMNS: [&str; 5] = ["name", "country", "domain", "confidence", "why"];

/// Whether the endpoint finds companies by their name. Only the rows of such an endpoint can have
/// candidates. Returns `false` for an endpoint that finds persons.
pub fn can_have_candidates(endpoint: &Endpoint) -> bool {
    let has = |kinds: &[Kind]| endpoint.wire.inputs.iter().any(|it| kinds.contains(&it.kind));
    has(&[Kind::CompanyName, Kind::CompanyNameOrDomain])
        && !has(&[Kind::PersonName, Kind::NamePart])
}

/// Returns the names of the columns for `most` candidates.
pub(crate) fn columns(most: usize) -> impl Iterator<Item = String> {
    (1..=most).flat_map(|at| COLUMNS.map(|column| format!("candidate_{at}_{column}")))
}

/// Returns the values of the columns for the first `most` candidates.
pub(crate) fn values(candidates: &[Candidate], most: usize) -> Vec<Value> {
    let values = candidates.iter().take(most).flat_map(|one| {
        [
            one.name.as_str().into(),
            one.country.map(|country| country.alpha2()).into(),
            one.domain.as_deref().into(),
            one.confidence.percent().into(),
            one.why.as_str().into(),
        ]
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use enrich_core::{Confidence, SubjectId};

    use super::*;

    fn endpoint(path: &str) -> &'static Endpoint {
        let tables = [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];
        tables.iter().find_map(|table| table.endpoint(path)).unwrap()
    }

    #[test]
    fn endpoints_by_a_companys_name_have_candidates() {
        for (path, can) in [
            ("/v1/cuf", true),
            ("/v2/services/name_to_domain", true),
            ("/v1/dtc", false),
            ("/v1/pite", false),
            ("/v1/etn", false),
        ] {
            assert_eq!(can_have_candidates(endpoint(path)), can, "{path}");
        }
    }

    #[test]
    fn each_candidate_fills_its_own_columns() {
        let candidate = Candidate {
            id: SubjectId(1),
            name: "Quill".to_owned(),
            country: None,
            domain: Some("quill.example".to_owned()),
            confidence: Confidence::AMBIGUOUS,
            why: "Its name is exactly this name.".to_owned(),
        };
        let columns: Vec<String> = columns(2).collect();
        assert_eq!((columns.len(), columns[5].as_str()), (10, "candidate_2_name"));
        let values = serde_json::json!(values(&vec![candidate; 3], 1));
        let why = "Its name is exactly this name.";
        assert_eq!(values, serde_json::json!(["Quill", null, "quill.example", 80, why]));
    }
}
