//! A call to the service, and what comes of it.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::account::KeyInfo;
use crate::credits::{Credits, Price};
use crate::question::{Projection, Question};
use crate::rate::RateLimitStatus;
use crate::refusal::{InvalidFields, Refusal};
use crate::repeat::RequestId;
use crate::response_template::ResponseTemplate;
use crate::subject::Found;

/// What a caller asks, its fields read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The question.
    pub question: Question,
    /// What of the subject the answer needs.
    pub projection: Projection,
    /// The input, as the answer echoes it.
    pub echo: String,
    /// The most items to return and charge; `None` for all.
    pub limit: Option<u64>,
    /// The question in a form that does not depend on how it was sent; with the endpoint it is
    /// [`IdempotencyRecord::asked`](crate::IdempotencyRecord::asked).
    pub asked: Vec<u8>,
}

impl Ask {
    /// Whether an answer may cost more than there is: a list, unless its limit bounds it.
    pub(super) fn may_cost_more_than(&self, balance: Credits, price: Price) -> bool {
        price.is_per_item() && self.limit.is_none_or(|limit| price.of(limit) > balance)
    }

    /// The same where an answer whose price does not grow with its items holds at most `most` of
    /// each list.
    #[must_use]
    pub fn bounded(self, price: Price, most: Option<NonZeroU64>) -> Self {
        let Some(most) = most.filter(|_| !price.is_per_item()) else {
            return self;
        };
        let limit = self.limit.map_or(most.get(), |limit| limit.min(most.get()));
        Self { limit: Some(limit), ..self }
    }

    /// The items of a list that are returned, and charged.
    pub fn first_items<'a, T>(&self, items: &'a [T]) -> &'a [T] {
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        &items[..limit.unwrap_or(usize::MAX).min(items.len())]
    }
}

/// A call, before anything of it is checked.
pub struct Call<'a> {
    /// The API key as sent.
    pub key: Option<&'a str>,
    /// The endpoint's path, by which charges and counters name it.
    pub endpoint: &'static str,
    /// The endpoint's rule.
    pub price: Price,
    /// The request's id.
    pub request_id: &'a RequestId,
    /// The idempotency key as sent.
    pub idempotency_key: Option<&'a str>,
    /// Reads the fields; called once the key is known and the request counted.
    pub read: &'a (dyn Fn(&KeyInfo) -> Result<Ask, InvalidFields> + Sync),
    /// Writes the answer for what was found, or for nothing. Zero items in the draft say that
    /// nothing was found, even where a subject was: it lacks the attribute.
    pub write: &'a (dyn Fn(&Ask, Option<&Found>) -> ResponseTemplate + Sync),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its bytes.
    pub body: Vec<u8>,
    /// What it cost: 0 for a miss or a repeat.
    pub used: Credits,
    /// What the first answer cost, at the endpoint's price: the same as `used` but for a repeat.
    pub first_charge: Credits,
    /// The items it holds: 0 where nothing was found, 1 for a single answer.
    pub items: u64,
    /// Whether something was found.
    pub is_found: bool,
    /// Whether it is the first answer once more.
    pub is_replayed: bool,
}

impl Answer {
    pub(super) fn first(body: Vec<u8>, used: Credits, items: u64) -> Self {
        Self { body, used, first_charge: used, items, is_found: items > 0, is_replayed: false }
    }

    /// The first answer once more, which is free.
    pub(super) fn repeated(self) -> Self {
        Self { used: Credits::ZERO, is_replayed: true, ..self }
    }
}

/// What came of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The answer, or why there is none.
    pub result: Result<Answer, Refusal>,
    /// The key that asked, once it is known.
    pub key: Option<Arc<KeyInfo>>,
    /// How the key stands in its rate window, once it is known.
    pub rate_limit_status: Option<RateLimitStatus>,
    /// The credits left, once the key is known.
    pub remaining: Option<Credits>,
}
