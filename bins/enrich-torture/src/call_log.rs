//! The calls that clients made during a torture: their requests, times and answers. The code in
//! this file does not read the ledger.

use std::sync::Arc;
use std::time::Instant;

use enrich_testkit::http::Reply;

/// A part of the server's error message for an unknown outcome, when nobody can know whether the
/// call was charged. The messages of other refusals do not contain this text.
const OUTCOME_UNKNOWN: &str = "cannot be told";

/// A request, and what the client received for it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The `X-Request-Id` of the request, which no other request has.
    pub(crate) request_id: String,
    /// The index of the request's account in `World::payers`.
    pub(crate) account: usize,
    /// The index in `World::questions` of the request's path and body.
    pub(crate) question: usize,
    /// The `Idempotency-Key` of the request, if it has one. A repeat has the same key as the
    /// request that it repeats.
    pub(crate) repeat_key: Option<Arc<str>>,
    /// The time just before the first byte was sent.
    pub(crate) sent: Instant,
    pub(crate) end: End,
}

/// What the client received for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A complete answer.
    Answered(Answer),
    /// There is no complete answer: the connection broke, and the outcome is unknown.
    NoAnswer,
}

/// The parts of a complete answer that are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The time when the last byte was received.
    pub(crate) at: Instant,
    pub(crate) status: u16,
    /// The header `X-Credits-Used`; `None` if it is missing or not a number.
    pub(crate) used: Option<u64>,
    /// The header `X-Credits-Remaining`; `None` if it is missing or not a number.
    pub(crate) remaining: Option<u64>,
    /// Whether the answer has the header `Idempotency-Replayed: true`.
    pub(crate) is_replay: bool,
    /// The body of the answer. If a request is repeated with the same idempotency key, each answer
    /// with status 200 must have the same body as the first such answer.
    pub(crate) body: Arc<str>,
}

/// What the ledger must contain for a request. This depends on the answer to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The client received the answer that the call was charged. So the ledger must have a row for
    /// it.
    Charged,
    /// The call was answered as not charged, or its price is 0. So the ledger must have no row for
    /// it.
    Free,
    /// The call got no complete answer, or its answer says that the outcome is unknown. So the
    /// ledger may or may not have a row for it.
    Open,
}

impl Answer {
    /// Copies the parts of a reply that are judged. The reply was received completely at `at`.
    pub(crate) fn of(reply: &Reply, at: Instant) -> Self {
        let number = |name| reply.header(name).and_then(|value| value.parse().ok());
        Self {
            at,
            status: reply.status,
            used: number("X-Credits-Used"),
            remaining: number("X-Credits-Remaining"),
            is_replay: reply.header("Idempotency-Replayed") == Some("true"),
            body: reply.body.as_str().into(),
        }
    }
}

impl Call {
    /// Returns the answer, if it came before the power cut at `cut`; `cut` is `None` if the power
    /// was not cut.
    ///
    /// After the cut, the server still runs, but nothing reaches the disk any more. With a real
    /// power cut, nobody would have received a later answer. So a request with a later answer
    /// counts as unanswered.
    pub(crate) fn answer_before(&self, cut: Option<Instant>) -> Option<&Answer> {
        match &self.end {
            End::Answered(answer) if cut.is_none_or(|cut| answer.at < cut) => Some(answer),
            End::Answered(_) | End::NoAnswer => None,
        }
    }

    /// Returns what the ledger must contain for the request. `price` is the price of the request,
    /// and `cut` is the time of the power cut, if there was one.
    pub(crate) fn fate(&self, price: u64, cut: Option<Instant>) -> Fate {
        let End::Answered(answer) = &self.end else {
            return if price == 0 { Fate::Free } else { Fate::Open };
        };
        let is_acknowledged = self.answer_before(cut).is_some();
        match answer.status {
            200 if answer.is_replay || price == 0 => Fate::Free,
            200 if is_acknowledged => Fate::Charged,
            200 => Fate::Open,
            503 if price > 0 && answer.body.contains(OUTCOME_UNKNOWN) => Fate::Open,
            // Every refusal except "outcome unknown" promises that nothing was charged. This is
            // true even with status 500.
            _ => Fate::Free,
        }
    }

    /// Whether a client would repeat the request: it has no complete answer, or an answer with a
    /// status of 500 or above. An answer after the power cut at `cut` counts as no answer.
    pub(crate) fn is_unsettled(&self, cut: Option<Instant>) -> bool {
        self.answer_before(cut).is_none_or(|answer| answer.status >= 500)
    }
}

/// A grant that was made during the torture.
#[derive(Clone, Debug)]
pub(crate) struct GrantCall {
    pub(crate) note: String,
    /// The index of the grant's account in `World::payers`.
    pub(crate) account: usize,
    pub(crate) credits: i64,
    /// Whether the grant was confirmed. If not, the ledger may or may not have a row for it.
    pub(crate) is_acknowledged: bool,
}
