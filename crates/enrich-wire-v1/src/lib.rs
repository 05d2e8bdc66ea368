//! Version 1 of the API: 26 endpoints under `/v1/`. The API key is a field of the request's body,
//! and answers are flat JSON objects.
//!
//! The table [`ENDPOINTS`] defines the interface. Each endpoint has a wire file: it contains the
//! shape of the answer, parses the request, and writes the answer.
//!
//! What is not here: HTTP, the order of checks (`enrich-core`), the parsing of bodies
//! (`enrich-wire`), and version 2.

mod refusal;

// The wire files, one for each endpoint. The name of a wire file is the last part of the endpoint's
// path: `cuf` for `/v1/cuf`.
mod company_enrichment;
mod cone;
mod cuf;
mod dtc;
mod dte;
mod dtl;
mod dtp;
mod dtpp;
mod dtpr;
mod etc;
mod etl;
mod etn;
mod ftd;
mod itd;
mod itm;
mod lcuf;
mod lcuf_employee;
mod lpuf;
mod ltd;
mod lti;
mod mti;
mod nte;
mod ntp;
mod pite;
mod ttd;
mod ytd;

use enrich_core::Found;
use enrich_core::Price::{self, PerAnswer};
use enrich_wire::{ApiVersion, Endpoint, KeyPlace, Wire};
use schemars::JsonSchema;
use serde::Serialize;

/// The price of a list: one credit for each 5 items.
const PER_5_ITEMS: Price = Price::per_items::<5>();

/// The table of endpoints. A row has the path, the price, the title, and the content of the wire
/// file, which parses the request and writes the answer.
pub static ENDPOINTS: [Endpoint; 26] = [
    row("/v1/cuf", PerAnswer(1), "Company name to website domain", cuf::WIRE),
    row("/v1/lcuf", PerAnswer(1), "Company name to LinkedIn page", lcuf::WIRE),
    row("/v1/dtc", PerAnswer(1), "Company domain to company name", dtc::WIRE),
    row("/v1/dte", PER_5_ITEMS, "Company domain to emails", dte::WIRE),
    row("/v1/dtl", PerAnswer(1), "Company domain to LinkedIn page", dtl::WIRE),
    row("/v1/dtp", PerAnswer(1), "Domain to IP address", dtp::WIRE),
    row("/v1/dtpp", PER_5_ITEMS, "Company domain to phones", dtpp::WIRE),
    row("/v1/dtpr", PerAnswer(1), "Domain to page rank", dtpr::WIRE),
    row("/v1/etc", PerAnswer(1), "Company email to company name", etc::WIRE),
    row("/v1/etl", PerAnswer(1), "Business email to LinkedIn profile", etl::WIRE),
    row("/v1/etn", PerAnswer(1), "Business email to person name", etn::WIRE),
    row("/v1/ftd", PerAnswer(1), "Facebook page to website domain", ftd::WIRE),
    row("/v1/itd", PerAnswer(1), "Instagram page to website domain", itd::WIRE),
    row("/v1/itm", PerAnswer(1), "Person name in a country to mobile phone", itm::WIRE),
    row("/v1/lcuf_employee", PER_5_ITEMS, "Company name to employees", lcuf_employee::WIRE),
    row("/v1/lpuf", PerAnswer(1), "Person name at a company to LinkedIn profile", lpuf::WIRE),
    row("/v1/ltd", PerAnswer(1), "LinkedIn page to website domain", ltd::WIRE),
    row("/v1/lti", PerAnswer(1), "LinkedIn profile to person", lti::WIRE),
    row("/v1/mti", PerAnswer(1), "Phone number to person name and country", mti::WIRE),
    row("/v1/nte", PER_5_ITEMS, "Company name to emails", nte::WIRE),
    row("/v1/ntp", PER_5_ITEMS, "Company name to phones", ntp::WIRE),
    row("/v1/pite", PerAnswer(1), "Person name at a company to business email", pite::WIRE),
    row("/v1/ttd", PerAnswer(1), "Twitter page to website domain", ttd::WIRE),
    row("/v1/ytd", PerAnswer(1), "YouTube page to website domain", ytd::WIRE),
    row("/v1/cone", PerAnswer(3), "LinkedIn profile to contact data", cone::WIRE),
    row(
        "/v1/company_enrichment",
        PerAnswer(3),
        "Company name to profile",
        company_enrichment::WIRE,
    ),
];

/// Describes version 1 to a server: its endpoints, where a caller sends the key, and how refusals
/// are written.
pub static API_VERSION: ApiVersion = ApiVersion {
    number: 1,
    prefix: "/v1/",
    endpoints: &ENDPOINTS,
    key_place: KeyPlace::Body,
    answer: |_, answer| answer,
    refuse: refusal::write,
    refusal: refusal::Body::json_schema,
};

const fn row(path: &'static str, price: Price, title: &'static str, wire: Wire) -> Endpoint {
    Endpoint { path, price, title, wire }
}

/// The confidence, from 1 to 100, that the answer is about the company or person of the request; 0
/// if nothing was found. A confidence above 80 means that no other company or person fits equally.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ConfidenceLevel(#[schemars(range(max = 100))] u8);

fn confidence(found: Option<&Found>) -> ConfidenceLevel {
    ConfidenceLevel(found.map_or(0, |found| found.confidence.percent()))
}
