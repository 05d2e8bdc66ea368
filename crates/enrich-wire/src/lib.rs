//! The parts that both API versions use. They parse bodies, describe endpoints as rows of a table,
//! and turn the bytes of a request into the bytes of a response.
//!
//! An API version is a table of [`Endpoint`] rows, and a function that writes refusals
//! ([`ApiVersion`]). [`respond`] handles a request; any HTTP server can call it.
//!
//! What is not here: a web framework, a store, and the fields of any answer.

mod body;
mod endpoint;
mod field;
mod input;
mod json;
mod kind;
mod refusal;
mod respond;
mod unknown;

pub use body::{MAX_BODY_BYTES, MAX_DEPTH, MAX_FIELDS, Undecodable, decode};
pub use endpoint::{ApiVersion, Endpoint, KeyPlace, Wire};
pub use field::Field;
pub use input::{Fields, Input, Value};
pub use json::{BalanceHere, FieldFaults, written};
pub use kind::Kind;
pub use refusal::RequestRefusal;
pub use respond::{CallOutcome, CallRecord, Request, Response, refuse, respond};
