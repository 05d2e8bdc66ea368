//! The definition of an endpoint's input.

use crate::kind::Kind;

/// An input of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name of the input.
    pub name: &'static str,
    /// The kind of content, which decides how it is parsed.
    pub kind: Kind,
    /// The meaning of the input for the endpoint, in words.
    pub meaning: &'static str,
    /// Whether a request without the input is refused.
    pub is_required: bool,
    /// The required input that may be missing if this one is present.
    pub instead_of: Option<&'static str>,
}

impl Field {
    /// Defines a required input.
    pub const fn required(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, meaning, is_required: true, instead_of: None }
    }

    /// Defines an optional input.
    pub const fn optional(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, meaning, is_required: false, instead_of: None }
    }

    /// Returns this field as a substitute: it is used only if the required input `other` is
    /// missing.
    pub const fn instead_of(self, other: &'static str) -> Self {
        Self { instead_of: Some(other), ..self }
    }

    /// The `limit` input of list endpoints.
    pub const LIMIT: Self =
        Self::optional("limit", Kind::Limit, "the most items to return and be charged for");
}
