//! Version 2 of the API: 3 endpoints under `/v2/services/`. The API key is in a header, and answers
//! are in an envelope.
//!
//! What is not here: HTTP, the order of checks (`enrich-core`), the parsing of bodies
//! (`enrich-wire`), and version 1.

mod envelope;
mod refusal;

// The wire files: one for each endpoint, named after the last part of the endpoint's path.
mod domain_to_name;
mod name_to_domain;
mod name_to_linkedin;

use enrich_core::Price::{self, PerAnswer};
use enrich_wire::{ApiVersion, Endpoint, KeyPlace, Wire};
use schemars::JsonSchema;

/// The table of endpoints. A row has the endpoint's path, price and title, and its [`Wire`]: the
/// inputs, the answer, and the functions that read and write them.
pub static ENDPOINTS: [Endpoint; 3] = [
    row(
        "/v2/services/name_to_linkedin",
        PerAnswer(1),
        "Company to LinkedIn page",
        name_to_linkedin::WIRE,
    ),
    row(
        "/v2/services/domain_to_name",
        PerAnswer(1),
        "Company domain to name",
        domain_to_name::WIRE,
    ),
    row(
        "/v2/services/name_to_domain",
        PerAnswer(1),
        "Company name to domain",
        name_to_domain::WIRE,
    ),
];

/// Describes version 2 to a server: its endpoints, where a caller sends the API key, and how
/// answers and refusals are written. All refusals for paths under `/v2/` have the format of this
/// version, even if a path is unknown.
pub static API_VERSION: ApiVersion = ApiVersion {
    number: 2,
    prefix: "/v2/",
    endpoints: &ENDPOINTS,
    key_place: KeyPlace::Header,
    answer: envelope::shape,
    refuse: refusal::write,
    refusal: refusal::Body::json_schema,
};

const fn row(path: &'static str, price: Price, title: &'static str, wire: Wire) -> Endpoint {
    Endpoint { path, price, title, wire }
}
