//! The OpenAPI 3.1 document of the interface, which is made from the endpoint tables, and the pages
//! that show it.
//!
//! Paths, titles, prices and inputs are from the tables, and answers from the types in the wire
//! files. The refusals are those that the API versions write, and the examples are the recorded
//! calls.
//!
//! What is not here: HTTP, a list of endpoints, and any code that runs when an endpoint is called.

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

/// The OpenAPI document, as it is in the repository and as the server sends it.
pub const DOCUMENT: &str = include_str!("../../../docs/openapi.json");
