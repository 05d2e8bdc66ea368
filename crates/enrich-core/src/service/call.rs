//! A call to the service, and its outcome.

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::account::KeyInfo;
use crate::credits::{Credits, Price};
use crate::question::{Projection, Question};
use crate::rate::RateLimitStatus;
use crate::refusal::Refusal;
use crate::repeat::RequestId;
use crate::response_template::ResponseTemplate;
use crate::subject::Found;

/// The request of a caller, parsed from the input fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The question to the directory.
    pub question: Question,
    /// The parts of the subject that the answer needs.
    pub projection: Projection,
    /// The inputs, as the answer repeats them.
    pub echo: String,
    /// Maximum number of items that are returned and charged; `None` for all.
    pub limit: Option<u64>,
    /// The question as bytes that do not depend on the form of the request. These bytes and the
    /// endpoint together make [`IdempotencyRecord::question`](crate::IdempotencyRecord::question).
    pub canonical: Vec<u8>,
}

impl Ask {
    /// Whether an answer may cost more than `balance`. This is possible only for a list with a
    /// price for each item, and only if the limit of the list is absent or too high for the
    /// balance.
    pub(super) fn may_cost_more_than(&self, balance: Credits, price: Price) -> bool {
        price.is_per_item() && self.limit.is_none_or(|limit| price.of(limit) > balance)
    }

    /// If the price does not depend on the number of items, limits each list of the answer to
    /// `most` items.
    #[must_use]
    pub fn bounded(self, price: Price, most: Option<NonZeroU64>) -> Self {
        let Some(most) = most.filter(|_| !price.is_per_item()) else {
            return self;
        };
        let limit = self.limit.map_or(most.get(), |limit| limit.min(most.get()));
        Self { limit: Some(limit), ..self }
    }

    /// Returns the items of a list that are returned to the caller and charged: the first `limit`
    /// items, or all if there is no limit.
    pub fn first_items<'a, T>(&self, items: &'a [T]) -> &'a [T] {
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        &items[..limit.unwrap_or(usize::MAX).min(items.len())]
    }
}

/// A call as it arrives, without its input fields.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The text of the API key, as the caller sent it.
    pub key: &'a str,
    /// The endpoint's path, used in charges and usage counters.
    pub endpoint: &'static str,
    /// The endpoint's price rule.
    pub price: Price,
    /// The request id, from the caller or generated.
    pub request_id: &'a RequestId,
    /// The text of the idempotency key, as the caller sent it.
    pub idempotency_key: Option<&'a str>,
}

/// A function that writes the answer. Its second argument is the found subject; `None` if no
/// subject was found. If there is no subject, or the subject lacks the requested attribute, the
/// function returns a template with 0 items, which is a miss.
pub type WriteAnswer<'a> = &'a (dyn Fn(&Ask, Option<&Found>) -> ResponseTemplate + Sync);

/// The answer to a call, and the credits that the call was charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The answer's bytes.
    pub body: Vec<u8>,
    /// The credits that this call was charged: 0 for a miss or a replay.
    pub used: Credits,
    /// The credits that were charged for the first answer. For a replay, this is the charge of the
    /// earlier call, and `used` is 0.
    pub first_charge: Credits,
    /// The number of items: 0 for a miss, and 1 for an answer that is not a list.
    pub items: u64,
    /// Whether the requested attribute was found; `false` for a miss.
    pub is_found: bool,
    /// Whether the answer is a stored response to an earlier call.
    pub is_replayed: bool,
}

impl Answer {
    pub(super) fn first(body: Vec<u8>, used: Credits, items: u64) -> Self {
        Self { body, used, first_charge: used, items, is_found: items > 0, is_replayed: false }
    }

    /// Returns this answer as a replay, which is free.
    pub(super) fn repeated(self) -> Self {
        Self { used: Credits::ZERO, is_replayed: true, ..self }
    }
}

/// The outcome of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The answer, or why the call is refused.
    pub result: Result<Answer, Refusal>,
    /// The key of the call, if the key was identified.
    pub key: Option<Arc<KeyInfo>>,
    /// The rate-limit status, if the request was counted.
    pub rate_limit_status: Option<RateLimitStatus>,
    /// The account's balance, if the key was identified and the balance could be read.
    pub remaining: Option<Credits>,
}
