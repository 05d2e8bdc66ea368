//! The OpenAPI 3.1 document of the HTTP interface, and the pages that show this document. The
//! document is made from the tables of endpoints.
//!
//! Paths, titles, prices and inputs come from the tables. The schemas of answers come from types in
//! the wire files: each endpoint has a wire file, the source file with its inputs and its answer.
//! The refusals come from the functions that write them in each API version, and the examples come
//! from the recorded calls.
//!
//! This crate does not use HTTP, has no list of endpoints of its own, and runs no code when an
//! endpoint is called.

mod calls;
mod document;
mod headers;
mod inputs;
mod operation;
mod pages;
mod refusals;
mod site;

pub use calls::{Call, Calls, UnreadableCall};
pub use document::document;
pub use site::{SITE, SiteFile};

/// The text of the OpenAPI document, which the server sends: the file `docs/openapi.json`.
pub const DOCUMENT: &str = include_str!("../../../docs/openapi.json");
