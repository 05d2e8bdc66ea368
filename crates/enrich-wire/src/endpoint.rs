//! The row of the endpoint table, and what a generation is beside its table.

use enrich_core::{Ask, Draft, Found, InvalidFields, Price, Refusal};

use crate::input::Fields;

/// An endpoint: one row of a generation's table.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// Its path, unique over both generations.
    pub path: &'static str,
    /// What an answer costs.
    pub price: Price,
    /// What it does, in a line.
    pub title: &'static str,
    /// Its shape, and the functions that read and write it.
    pub wire: Wire,
}

/// What a wire file defines.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// The inputs, in the order they are documented.
    pub inputs: &'static [Field],
    /// The fields of the answer, in order.
    pub answer: &'static [&'static str],
    /// Turns the fields of a request into a question.
    pub read: fn(&Fields) -> Result<Ask, InvalidFields>,
    /// Picks the attribute from what was found and writes the answer, or the shape that says
    /// nothing was found.
    pub write: fn(&Ask, Option<&Found>) -> Draft,
}

/// An input of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds, in words.
    pub meaning: &'static str,
    /// Whether a request without it is refused.
    pub is_required: bool,
}

impl Field {
    /// An input that has to be there.
    pub const fn required(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, is_required: true }
    }

    /// An input that may be missing.
    pub const fn optional(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, is_required: false }
    }

    /// The `limit` of list endpoints.
    pub const LIMIT: Self = Self::optional("limit", "the most items to return and be charged for");
}

/// Where a key is looked for first; the other place is looked at when it is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// The field `apiKey`.
    Body,
    /// The header `x-api-key`.
    Header,
}

/// A generation of the interface.
#[derive(Clone, Copy, Debug)]
pub struct Generation {
    /// Its number.
    pub number: u8,
    /// What the paths that answer in its form begin with.
    pub prefix: &'static str,
    /// Its endpoints.
    pub endpoints: &'static [Endpoint],
    /// Where its callers put the key.
    pub key_place: KeyPlace,
    /// The status and body of a refusal.
    pub refuse: fn(&Refusal) -> (u16, Vec<u8>),
}

impl Generation {
    /// The endpoint at `path`.
    pub fn endpoint(&self, path: &str) -> Option<&'static Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.path == path)
    }
}
