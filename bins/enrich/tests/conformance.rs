//! Compares a running server with the rules of the HTTP interface, such as the order of checks in
//! docs/api-design.md.
//!
//! Each test covers one group of rules with its own server, and reports all differences at its end.
//! The expected answers come from these rules and the fixtures, not from the code.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here fails a test, helpers of the tests included"
)]

#[path = "conformance/credits.rs"]
mod credits;
#[path = "conformance/endpoints.rs"]
mod endpoints;
#[path = "conformance/errors.rs"]
mod errors;
#[path = "conformance/fields.rs"]
mod fields;
#[path = "conformance/headers.rs"]
mod headers;
#[path = "conformance/idempotency.rs"]
mod idempotency;
#[path = "conformance/keys.rs"]
mod keys;
#[path = "conformance/kinds.rs"]
mod kinds;
#[path = "conformance/matching.rs"]
mod matching;
#[path = "conformance/order.rs"]
mod order;
#[path = "conformance/pages.rs"]
mod pages;
#[path = "conformance/rate.rs"]
mod rate;
#[path = "conformance/reading.rs"]
mod reading;
#[path = "support/server.rs"]
#[allow(dead_code, reason = "no server is killed here")]
mod server;
#[path = "conformance/shapes.rs"]
mod shapes;
#[path = "conformance/world.rs"]
mod world;
