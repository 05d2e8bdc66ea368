//! The reasons why the service refuses a call.

use crate::credits::{Credits, Price};
use crate::idempotency::InvalidIdempotencyKey;
use crate::rate::RateLimitStatus;
use crate::shortfall::MAX_PER_DAY;

/// The input fields that are invalid, in the order in which the endpoint lists its inputs. Each
/// element is the name of a field, and a text that says how to correct the field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidFields(pub Vec<(&'static str, String)>);

/// How a refusal describes the cost of an answer that the balance does not pay for. The price of
/// some endpoints depends on the number of items in the answer. The refusal never shows the cost of
/// such an answer, because the cost would show how many items were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// The answer costs at least this many credits, the lowest price of the endpoint. Nothing was
    /// looked up.
    Least(Credits),
    /// The answer was looked up, and costs more than the balance.
    MoreThanLeft,
    /// The answer may cost more than the balance. Nothing was looked up: today, the account has
    /// already had the maximum number of answers that its balance did not pay for.
    PerhapsMore,
}

/// Why a call is refused. The `Display` text is shown to the caller. It says what the caller can
/// do, and contains no value that the caller has sent.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The API key is malformed, unknown or ended, or its account is not active. The refusal does
    /// not tell the caller which of these reasons it is.
    #[error("the API key is missing or invalid; send a key that was issued to you")]
    InvalidKey,
    /// The request is beyond the rate limit, and the server is configured to refuse such requests
    /// ([`RatePolicy::Reject`](crate::RatePolicy::Reject)).
    #[error(
        "more than {} requests in {} seconds; wait {} seconds",
        .0.limit.requests(), .0.limit.window_seconds(), .0.reset_seconds
    )]
    OverRate(RateLimitStatus),
    /// Fields are missing or invalid.
    #[error("{}", name_fields(.0))]
    Fields(InvalidFields),
    /// The caller has sent an `Idempotency-Key` that is not valid.
    #[error("this Idempotency-Key cannot be used; send 1 to 255 visible ASCII characters")]
    BadIdempotencyKey(#[source] InvalidIdempotencyKey),
    /// The account has already used the idempotency key for a different request.
    #[error("this Idempotency-Key was used for another request; use a new one")]
    IdempotencyKeyReused,
    /// An earlier call with the same idempotency key is still running.
    #[error("the first request with this Idempotency-Key is still running; repeat it in a second")]
    StillRunning,
    /// The balance is too low for the price of the answer.
    #[error("{}", not_enough(*.price, *.needed, *.balance))]
    NotEnoughCredits {
        /// The endpoint's price rule.
        price: Price,
        /// What the refusal says about the cost of the answer.
        needed: Needed,
        /// The current balance.
        balance: Credits,
    },
    /// The look-up failed or the charge was not written; nothing was charged.
    #[error("the request failed on our side; nothing was charged, repeat it")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A failure happened while the charge was written, so nobody knows whether the call was
    /// charged.
    #[error(
        "whether this request was charged cannot be told yet; repeated with the same \
         Idempotency-Key it will not be charged twice, without one it may be"
    )]
    OutcomeUnknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The ledger has stopped charging, so no call can be answered.
    #[error("charging is stopped for now; nothing was charged, repeat later")]
    NotCharging,
    /// Too many requests are waiting for a database.
    #[error("too many requests are waiting; nothing was charged, repeat in a second")]
    Overloaded,
    /// A database cannot be used for now; nothing was charged.
    #[error("the service cannot reach its data for now; nothing was charged, repeat in a second")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The maximum number of stored responses is reached, so the answer to this call could not be
    /// stored. A call with an idempotency key is charged only if its answer can be stored. So
    /// nothing was charged.
    #[error(
        "no more requests with an Idempotency-Key can be kept at the moment; nothing was charged, \
         repeat later or without the key"
    )]
    IdempotencyStoreFull,
}

impl Refusal {
    /// Returns the number of seconds after which the caller can repeat the call. Returns `None`
    /// if this number is unknown, or if the same call would be refused again.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        match self {
            Self::OverRate(rate_limit_status) => Some(rate_limit_status.reset_seconds),
            Self::StillRunning | Self::Overloaded | Self::Unavailable(_) => Some(1),
            Self::OutcomeUnknown(_) | Self::NotCharging => Some(30),
            Self::IdempotencyStoreFull => Some(60),
            Self::InvalidKey
            | Self::Fields(_)
            | Self::BadIdempotencyKey(_)
            | Self::IdempotencyKeyReused
            | Self::NotEnoughCredits { .. }
            | Self::Failed(_) => None,
        }
    }
}

fn name_fields(fields: &InvalidFields) -> String {
    let faults: Vec<String> =
        fields.0.iter().map(|(name, message)| format!("`{name}`: {message}")).collect();
    faults.join("; ")
}

fn not_enough(price: Price, needed: Needed, balance: Credits) -> String {
    let left = match balance.0 {
        1 => "the 1 credit that is left".to_owned(),
        _ => format!("the {balance} credits that are left"),
    };
    let mut message = match needed {
        Needed::Least(needed) => {
            let at_least = if price.is_per_item() { "at least " } else { "" };
            let credits = if needed.0 == 1 { "credit" } else { "credits" };
            return format!(
                "not enough credits: this costs {at_least}{needed} {credits} and {balance} are \
                 left; ask your operator for more"
            );
        }
        Needed::MoreThanLeft => format!("not enough credits: this costs more than {left}; "),
        Needed::PerhapsMore => format!(
            "not enough credits: after {MAX_PER_DAY} requests in a day that cost more than there \
             was, nothing is looked up that may cost more than {left}; "
        ),
    };
    if let (Price::PerItems(_), 1..) = (price, balance.0) {
        let items = price.max_items(balance);
        message.push_str(&format!("ask for at most {items} items with `limit`, or "));
    }
    message.push_str("ask your operator for more");
    if needed == Needed::PerhapsMore {
        message.push_str(", or wait until midnight (UTC)");
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_nothing_beyond_what_is_left_and_what_that_pays_for() {
        let message =
            |needed, balance| not_enough(Price::per_items::<5>(), needed, Credits(balance));
        assert_eq!(
            message(Needed::MoreThanLeft, 1),
            "not enough credits: this costs more than the 1 credit that is left; ask for at most 5 \
             items with `limit`, or ask your operator for more"
        );
        assert_eq!(
            message(Needed::MoreThanLeft, 7),
            "not enough credits: this costs more than the 7 credits that are left; ask for at most \
             35 items with `limit`, or ask your operator for more"
        );
        assert_eq!(
            message(Needed::PerhapsMore, 7),
            "not enough credits: after 100 requests in a day that cost more than there was, nothing \
             is looked up that may cost more than the 7 credits that are left; ask for at most 35 \
             items with `limit`, or ask your operator for more, or wait until midnight (UTC)"
        );
        assert_eq!(
            not_enough(Price::PerAnswer(3), Needed::MoreThanLeft, Credits(2)),
            "not enough credits: this costs more than the 2 credits that are left; ask your \
             operator for more"
        );
    }
}
