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

/// An answer of the interface, however it came.
pub(crate) struct Reply<'a> {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) used: Option<u64>,
    pub(crate) is_replayed: bool,
    pub(crate) body: &'a [u8],
}

impl Reply<'_> {
    /// What the answer means for a row.
    pub(crate) fn means(&self, answers: &Answers) -> Called {
        match self.status {
            200 => self.answer(answers),
            400 => Called::OutOfCredits(self.message()),
            413 | 422 => Called::Invalid(self.message()),
            408 | 409 | 425 | 429 | 502 | 503 | 504 => {
                let is_rate_limited = self.status == 429;
                Called::Later { after: self.retry_after, is_rate_limited, why: self.message() }
            }
            500.. => Called::Failed(self.message()),
            _ => Called::Refused(self.message()),
        }
    }

    fn answer(&self, answers: &Answers) -> Called {
        let Some(reading) = answers.read(self.body) else {
            let path = answers.path();
            return Called::Refused(format!("the response is not an answer of {path}"));
        };
        if !reading.is_found() {
            return Called::NotFound;
        }
        // An answer told once more is free, but was paid before by the same row.
        let used = self.used.filter(|_| !self.is_replayed).map(Credits);
        let credits = used.unwrap_or_else(|| answers.price_of(&reading));
        Called::Found { values: reading.values, credits }
    }

    /// What the answer says, or its status where it says nothing that can be read.
    fn message(&self) -> String {
        const MAX_CHARACTERS: usize = 500;
        let body: Value = serde_json::from_slice(self.body).unwrap_or_default();
        match body.get("message").and_then(Value::as_str) {
            Some(message) => message.chars().take(MAX_CHARACTERS).collect(),
            None => format!("the server answered with status {}", self.status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str) -> Called {
        let (retry_after, body) = (Some(Duration::from_secs(7)), body.as_bytes());
        let reply = Reply { status, retry_after, used: Some(1), is_replayed: false, body };
        reply.means(&Answers::of(enrich_wire_v1::API_VERSION.endpoint("/v1/cuf").unwrap()))
    }

    #[test]
    fn a_status_says_what_is_to_be_done() {
        let after = Some(Duration::from_secs(7));
        let why = "busy".to_owned();
        for status in [409, 429, 503] {
            let called = reply(status, r#"{"message":"busy"}"#);
            let is_rate_limited = status == 429;
            assert_eq!(called, Called::Later { after, is_rate_limited, why: why.clone() });
        }
        assert_eq!(
            reply(400, r#"{"message":"none left"}"#),
            Called::OutOfCredits("none left".into())
        );
        assert_eq!(reply(422, r#"{"message":"bad"}"#), Called::Invalid("bad".into()));
        assert_eq!(reply(500, r#"{"message":"ours"}"#), Called::Failed("ours".into()));
        let said = "the server answered with status 404".to_owned();
        assert_eq!(reply(404, "<html>"), Called::Refused(said));
        assert!(matches!(reply(200, "<html>"), Called::Refused(_)));
    }

    #[test]
    fn an_answer_told_once_more_says_what_it_had_cost() {
        let body = br#"{"query":"Q","url":"q.example","credit_count":9,"confidence_level":97}"#;
        let endpoint = enrich_wire_v1::API_VERSION.endpoint("/v1/cuf").unwrap();
        for (used, is_replayed) in [(Some(0), true), (Some(1), false), (None, false)] {
            let reply = Reply { status: 200, retry_after: None, used, is_replayed, body };
            let Called::Found { credits, .. } = reply.means(&Answers::of(endpoint)) else {
                panic!("not found")
            };
            assert_eq!(credits, Credits(1));
        }
    }
}
