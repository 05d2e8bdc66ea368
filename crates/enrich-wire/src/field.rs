//! An input of an endpoint, as its table says it.

use crate::kind::Kind;

/// An input of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds, which decides how it is read.
    pub kind: Kind,
    /// What it is to the endpoint, in words.
    pub meaning: &'static str,
    /// Whether a request without it is refused.
    pub is_required: bool,
    /// The required input that may be missing where this one is there.
    pub instead_of: Option<&'static str>,
}

impl Field {
    /// An input that has to be there.
    pub const fn required(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, meaning, is_required: true, instead_of: None }
    }

    /// An input that may be missing.
    pub const fn optional(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, meaning, is_required: false, instead_of: None }
    }

    /// The same field, which is read where the required input `other` is missing, and only there.
    pub const fn instead_of(self, other: &'static str) -> Self {
        Self { instead_of: Some(other), ..self }
    }

    /// The `limit` of list endpoints.
    pub const LIMIT: Self =
        Self::optional("limit", Kind::Limit, "the most items to return and be charged for");
}
