//! The interface's document: OpenAPI 3.1, made from the endpoint tables, and the pages that show
//! it.
//!
//! Nothing is listed twice: paths, titles, prices and inputs come from the tables, answers from
//! the shapes in the wire files, refusals are written by the generations themselves, and the
//! examples are the recorded calls.
//!
//! What is not here: HTTP, a list of endpoints, anything that is done when an endpoint is called.

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

/// The document as it is committed and served.
pub const DOCUMENT: &str = include_str!("../../../docs/openapi.json");
