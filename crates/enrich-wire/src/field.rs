//! An input of an endpoint: its name, its kind, its meaning, and whether it is required.

use crate::kind::Kind;

/// An input of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name of the input.
    pub name: &'static str,
    /// The kind of the input, which says how it is parsed.
    pub kind: Kind,
    /// A short text that describes the input to callers.
    pub meaning: &'static str,
    /// Whether a request without this input is refused.
    pub is_required: bool,
    /// The name of the required input that may be missing if this input is sent.
    pub instead_of: Option<&'static str>,
}

impl Field {
    /// Creates a required input.
    pub const fn required(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, meaning, is_required: true, instead_of: None }
    }

    /// Creates an optional input.
    pub const fn optional(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, meaning, is_required: false, instead_of: None }
    }

    /// Makes this input a substitute for the required input `other`. The endpoint uses this input
    /// only if `other` is missing.
    pub const fn instead_of(self, other: &'static str) -> Self {
        Self { instead_of: Some(other), ..self }
    }

    /// The input `limit`, which endpoints with a list as answer have.
    pub const LIMIT: Self =
        Self::optional("limit", Kind::Limit, "the most items to return and be charged for");
}
