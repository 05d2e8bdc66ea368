//! Who is asked, one row at a time: a directory, the metered service, or a server.

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

/// An endpoint and the generation it is of.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The generation.
    pub api_version: &'static ApiVersion,
    /// The endpoint.
    pub endpoint: &'static Endpoint,
}

/// The fields of one row, named as the endpoint has them.
pub type RowFields = [(&'static str, String)];

/// Asks one row.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Asks, once. The same `idempotency` with the same fields is never charged twice.
    async fn call(&self, fields: &RowFields, idempotency: &str) -> Called;

    /// Whether answers cost credits.
    fn is_metered(&self) -> bool;
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq)]
pub enum Called {
    /// Something was found.
    Found {
        /// The values of the answer's columns.
        values: Vec<Value>,
        /// What it cost; of an answer told once more, what it had cost.
        credits: Credits,
    },
    /// Nothing was found, which is free.
    NotFound,
    /// The fields can't be used, and why.
    Invalid(String),
    /// The credits don't suffice, and what that means.
    OutOfCredits(String),
    /// Not now: it may be asked again, under the same idempotency key.
    Later {
        /// How long to wait, where that was said.
        after: Option<Duration>,
        /// Whether it is the rate limit that the row waits for.
        is_rate_limited: bool,
        /// Why.
        why: String,
    },
    /// Nothing was charged, and the row can't be answered now; why. Asking again may help.
    Failed(String),
    /// No row can be answered, and why.
    Refused(String),
}

impl Called {
    /// The answer in `body`, where something was found and cost `credits`.
    pub(crate) fn found(answers: &Answers, body: &[u8], credits: Credits) -> Self {
        match answers.read(body) {
            Some(answer) => Self::Found { values: answers.values(answer), credits },
            None => Self::unreadable(answers),
        }
    }

    pub(crate) fn unreadable(answers: &Answers) -> Self {
        Self::Refused(format!("the response is not an answer of {}", answers.path()))
    }

    /// What a status other than 200 means for a row.
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
