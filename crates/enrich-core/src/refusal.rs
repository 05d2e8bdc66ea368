//! Why a call is not answered. One type for all of it; each generation of the interface turns it
//! into a status and a body in one match.

use crate::credits::{Credits, Price};
use crate::rate::Standing;
use crate::repeat::InvalidIdempotencyKey;

/// Input fields that cannot be used, by name, each with what to do about it, in the endpoint's
/// order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidFields(pub Vec<(&'static str, String)>);

/// What an answer that cannot be paid costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// The least that an answer of this endpoint can cost; nothing was looked up.
    Least(Credits),
    /// The price of what was found.
    Exactly(Credits),
    /// Less than the price of what was found: a list that was not read to its end.
    AtLeast(Credits),
}

/// A call that is refused. The text is for the caller: it says what to do and holds no input.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No endpoint has this path.
    #[error("there is no endpoint at this path; check it against the list of endpoints")]
    NoSuchPath,
    /// The path exists, the method does not.
    #[error("this path takes {allow} requests; send one")]
    WrongMethod {
        /// The method it takes.
        allow: &'static str,
    },
    /// The body is larger than an endpoint reads.
    #[error("the body is larger than {limit_bytes} bytes; send the fields of one look-up")]
    BodyTooLarge {
        /// The most that is read.
        limit_bytes: usize,
    },
    /// The body did not arrive in time.
    #[error("the body did not arrive within {limit_seconds} seconds; send it in one go")]
    BodyTooSlow {
        /// How long it may take.
        limit_seconds: u64,
    },
    /// The body is neither a JSON object nor a form.
    #[error("the body cannot be read: {0}")]
    Undecodable(String),
    /// The key is missing, malformed, unknown or revoked; which of them is not told.
    #[error("the API key is missing or invalid; send a key that was issued to you")]
    InvalidKey,
    /// Beyond the rate limit, under the policy that enforces it.
    #[error(
        "more than {} requests in {} seconds; wait {} seconds",
        .0.limit.requests(), .0.limit.window_seconds(), .0.reset_seconds
    )]
    OverRate(Standing),
    /// Fields are missing or cannot be used.
    #[error("{}", name_fields(.0))]
    Fields(InvalidFields),
    /// The idempotency key is no such key.
    #[error("this Idempotency-Key cannot be used; send 1 to 255 visible ASCII characters")]
    BadIdempotencyKey(#[source] InvalidIdempotencyKey),
    /// The idempotency key was used for another question.
    #[error("this Idempotency-Key was used for another request; use a new one")]
    IdempotencyKeyReused,
    /// The first call with this idempotency key is still running.
    #[error("the first request with this Idempotency-Key is still running; repeat it in a second")]
    StillRunning,
    /// The balance is below the price.
    #[error("{}", not_enough(*.price, *.needed, *.balance))]
    NotEnoughCredits {
        /// The endpoint's rule.
        price: Price,
        /// What the answer costs.
        needed: Needed,
        /// What there is.
        balance: Credits,
    },
    /// The look-up failed or the charge was not written: nothing was deducted.
    #[error("the request failed on our side; nothing was charged, repeat it")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Whether the charge was written cannot be told.
    #[error(
        "whether this request was charged cannot be told yet; repeated with the same \
         Idempotency-Key it will not be charged twice, without one it may be"
    )]
    OutcomeUnknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Charging has stopped.
    #[error(
        "charging is stopped until the operator restarts it; nothing was charged, repeat later"
    )]
    NotCharging,
    /// Too much is waiting.
    #[error("too many requests are waiting; nothing was charged, repeat in a second")]
    Overloaded,
    /// No more idempotency records fit.
    #[error(
        "no more requests with an Idempotency-Key can be kept at the moment; nothing was charged, \
         repeat later or without the key"
    )]
    KeepsFull,
    /// The process is shutting down.
    #[error("the service is shutting down; nothing was charged, repeat in a second")]
    ShuttingDown,
}

impl Refusal {
    /// After how many seconds a repeat makes sense, where that can be told.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        match self {
            Self::OverRate(standing) => Some(standing.reset_seconds),
            Self::StillRunning | Self::Overloaded | Self::ShuttingDown => Some(1),
            Self::OutcomeUnknown(_) | Self::NotCharging => Some(30),
            Self::KeepsFull => Some(60),
            Self::NoSuchPath
            | Self::WrongMethod { .. }
            | Self::BodyTooLarge { .. }
            | Self::BodyTooSlow { .. }
            | Self::Undecodable(_)
            | Self::InvalidKey
            | Self::Fields(_)
            | Self::BadIdempotencyKey(_)
            | Self::IdempotencyKeyReused
            | Self::NotEnoughCredits { .. }
            | Self::Failed(_) => None,
        }
    }
}

fn name_fields(fields: &InvalidFields) -> String {
    let said: Vec<String> =
        fields.0.iter().map(|(name, message)| format!("`{name}`: {message}")).collect();
    said.join("; ")
}

fn not_enough(price: Price, needed: Needed, balance: Credits) -> String {
    let (needed, is_exact, is_found) = match needed {
        Needed::Least(needed) => (needed, !price.is_per_item(), false),
        Needed::Exactly(needed) => (needed, true, true),
        Needed::AtLeast(needed) => (needed, false, true),
    };
    let at_least = if is_exact { "" } else { "at least " };
    let credits = if needed.0 == 1 { "credit" } else { "credits" };
    let mut said = format!(
        "not enough credits: this costs {at_least}{needed} {credits} and {balance} are left; ask \
         your operator for more"
    );
    if price.is_per_item() && is_found {
        said.push_str(", or ask for fewer items with `limit`");
    }
    said
}
