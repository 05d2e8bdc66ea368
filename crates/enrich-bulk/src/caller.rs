//! Callers: what answers a row. There is one for a directory, one for the metered service, and one
//! for a remote server.

mod directory;
mod metered;
mod remote;

use std::time::Duration;

use async_trait::async_trait;
use enrich_core::Credits;
use enrich_wire::{ApiVersion, Endpoint};
use serde_json::Value;

use crate::answer::Answers;

pub use directory::DirectoryCaller;
pub(crate) use directory::wire_fields;
pub use metered::MeteredCaller;
pub use remote::{RemoteCaller, RemoteError};

/// An endpoint with its API version.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The API version.
    pub api_version: &'static ApiVersion,
    /// The endpoint.
    pub endpoint: &'static Endpoint,
}

impl Target {
    /// The endpoints of these API versions, in the order of their tables.
    pub fn all(api_versions: &[&'static ApiVersion]) -> impl Iterator<Item = Self> {
        api_versions.iter().flat_map(|api_version| {
            api_version.endpoints.iter().map(|endpoint| Self { api_version, endpoint })
        })
    }
}

/// The fields of one row, by the endpoint's field names.
pub type RowFields = [(&'static str, String)];

/// Sends one row.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Sends the row once. A row that is sent again with the same `idempotency` and fields is not
    /// charged again.
    async fn call(&self, fields: &RowFields, idempotency: &str) -> CallResult;

    /// Whether answers cost credits.
    fn is_metered(&self) -> bool;
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallResult {
    /// Found.
    Found {
        /// The values of the answer's columns.
        values: Vec<Value>,
        /// The charge of the row. For a replay, the charge of the first answer.
        credits: Credits,
    },
    /// Not found, which is free.
    NotFound,
    /// The fields are invalid, for this reason.
    Invalid(String),
    /// The balance is too low; with a message.
    OutOfCredits(String),
    /// Retry later, with the same idempotency key.
    Later {
        /// The time to wait, if the server gave it.
        after: Option<Duration>,
        /// Whether the reason is the rate limit.
        is_rate_limited: bool,
        /// The reason.
        why: String,
    },
    /// Not answered and not charged, for this reason. A retry may help.
    Failed(String),
    /// No row can be answered, for this reason.
    Refused(String),
}

impl CallResult {
    /// A found answer in `body` that cost `credits`.
    pub(crate) fn found(answers: &Answers, body: &[u8], credits: Credits) -> Self {
        match answers.read(body) {
            Some(answer) => Self::Found { values: answers.values(answer), credits },
            None => Self::unreadable(answers),
        }
    }

    /// Retry later, at an unknown time.
    pub(crate) fn later(why: String) -> Self {
        Self::Later { after: None, is_rate_limited: false, why }
    }

    pub(crate) fn unreadable(answers: &Answers) -> Self {
        Self::Refused(format!("the response is not an answer of {}", answers.path()))
    }

    /// The result for a row whose status is not 200.
    pub(crate) fn refused(status: u16, after: Option<Duration>, why: String) -> Self {
        match status {
            400 => Self::OutOfCredits(why),
            413 | 422 => Self::Invalid(why),
            408 | 409 | 425 | 429 | 502 | 503 | 504 => {
                Self::Later { after, is_rate_limited: status == 429, why }
            }
            500.. => Self::Failed(why),
            _ => Self::Refused(why),
        }
    }
}
