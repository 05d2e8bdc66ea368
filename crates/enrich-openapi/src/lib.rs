//! The OpenAPI 3.1 document of the interface, which is made from the endpoint tables, and the pages
//! that show it.
//!
//! Paths, titles, prices and inputs come from the tables. The schemas of answers come from the
//! types in the wire files. The refusals come from the functions that write them in each API
//! version, and the examples come from the recorded calls.
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
