//! Callers: each answers the rows of a bulk list (a file of rows to look up). One caller reads the
//! look-up data directly, one calls the metered service in this process, and one calls a remote
//! server.

mod directory;
mod metered;
mod remote;

use std::time::Duration;

use async_trait::async_trait;
use enrich_core::{Candidate, Credits, Question};
use enrich_wire::{ApiVersion, Endpoint};
use serde_json::Value;

use crate::answer::Answers;
use crate::candidates;

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
    /// Returns all endpoints of the first API version, then those of the second, and so on. The
    /// endpoints of a version are in the order of [`ApiVersion::endpoints`].
    pub fn all(api_versions: &[&'static ApiVersion]) -> impl Iterator<Item = Self> {
        api_versions.iter().flat_map(|api_version| {
            api_version.endpoints.iter().map(|endpoint| Self { api_version, endpoint })
        })
    }
}

/// The fields of one row: each pair is an endpoint's field name and its value.
pub type RowFields = [(&'static str, String)];

/// Answers the rows of a bulk list, one row for each call. For rows that have no answer, finds
/// candidates: companies that the row's company name may mean.
#[async_trait]
pub trait Caller: Send + Sync {
    /// Sends the row once. `idempotency` is the idempotency key: if the row is sent again with the
    /// same key and the same fields, it is not charged again.
    async fn call(&self, fields: &RowFields, idempotency: &str) -> CallResult;

    /// Asks once for the companies that a name may mean, at most `most`. If there are any, the
    /// result is [`CallResult::Found`] with the values of the candidates' columns. A second call
    /// with the same name and idempotency key is not charged again.
    ///
    /// The default implementation returns [`CallResult::Refused`]. It is for a [`RemoteCaller`],
    /// because a server has no endpoint for candidates.
    async fn candidates(&self, _: &Question, _most: usize, _idempotency: &str) -> CallResult {
        CallResult::Refused("candidates are not in the interface of a server".to_owned())
    }

    /// Whether answers cost credits.
    fn is_metered(&self) -> bool;
}

/// The result of sending one row.
#[derive(Clone, Debug, PartialEq)]
pub enum CallResult {
    /// The look-up found an answer.
    Found {
        /// The values of the answer's columns.
        values: Vec<Value>,
        /// The charge for this answer. If the server repeats an earlier answer to the same
        /// idempotency key (a replay), this is the charge for the earlier answer.
        credits: Credits,
    },
    /// The look-up found nothing, which is free.
    NotFound,
    /// The fields of the row are invalid. The text is the reason.
    Invalid(String),
    /// The account's balance is too low for the row. The text is the message for the user.
    OutOfCredits(String),
    /// The row cannot be answered now, for example because the API key has reached its rate limit.
    /// It must be sent again later, with the same idempotency key.
    Later {
        /// The pause that the server asks for before the retry; `None` if it asks for none.
        after: Option<Duration>,
        /// Whether the rate limit is the reason.
        is_rate_limited: bool,
        /// The reason, as a message for the user.
        why: String,
    },
    /// The row was not answered and not charged. The text is the reason. A retry may succeed.
    Failed(String),
    /// The call was refused for a reason that applies to all rows, such as an invalid API key. The
    /// text is the reason.
    Refused(String),
}

impl CallResult {
    /// Returns `Found` with the answer in `body`, which cost `credits`. Returns `Refused` if `body`
    /// is not an answer of the endpoint.
    pub(crate) fn found(answers: &Answers, body: &[u8], credits: Credits) -> Self {
        match answers.read(body) {
            Some(answer) => Self::Found { values: answers.values(answer), credits },
            None => Self::unreadable(answers),
        }
    }

    /// Returns `Found` with the values of a row's candidates (the companies that its company name
    /// may mean); `NotFound` if there are none.
    pub(crate) fn of_candidates(list: &[Candidate], most: usize, credits: Credits) -> Self {
        match candidates::values(list, most) {
            values if values.is_empty() => Self::NotFound,
            values => Self::Found { values, credits },
        }
    }

    /// Returns `Later` with the reason `why`, and without a time after which to retry.
    pub(crate) fn later(why: String) -> Self {
        Self::Later { after: None, is_rate_limited: false, why }
    }

    pub(crate) fn unreadable(answers: &Answers) -> Self {
        Self::Refused(format!("the response is not an answer of {}", answers.path()))
    }

    /// Returns the result of a row if the response has an HTTP status other than 200. `after` is
    /// the pause that the server asks for, and `why` is the reason.
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
