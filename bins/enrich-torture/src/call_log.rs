//! The book of a round: what was sent, when, and what came back. Nothing here knows the ledger.

use std::sync::Arc;
use std::time::Instant;

use crate::connection::Reply;
use crate::world::Question;

/// What only that refusal says which promises nothing.
const NOBODY_KNOWS: &str = "cannot be told";

/// One request and its end.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its `X-Request-Id`, which no other request has.
    pub(crate) request_id: String,
    /// Who asked: the account's place in the world.
    pub(crate) account: usize,
    /// What was asked: the question's place in the world.
    pub(crate) question: usize,
    /// Its `Idempotency-Key`, if it had one. Repeats share it.
    pub(crate) repeat_key: Option<Arc<str>>,
    /// When the first byte was about to be sent.
    pub(crate) sent: Instant,
    /// What became of it.
    pub(crate) end: End,
}

/// What the client heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A complete answer.
    Answered(Answer),
    /// The connection broke before the answer was complete: nobody can say what happened.
    Silence,
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// When its last byte had been received.
    pub(crate) at: Instant,
    /// Its status.
    pub(crate) status: u16,
    /// `X-Credits-Used`; absent when it is missing or no number.
    pub(crate) used: Option<u64>,
    /// `X-Credits-Remaining`, likewise.
    pub(crate) remaining: Option<u64>,
    /// Whether it says `Idempotency-Replayed: true`.
    pub(crate) is_replay: bool,
    /// The body, with which those of repeats are compared.
    pub(crate) body: Arc<str>,
}

/// What an answer, or its absence, lets one expect of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was acknowledged as charged: its row must be there.
    Charged,
    /// It was told that nothing was taken: there must be no row.
    Free,
    /// It was in flight: a row may be there.
    Open,
}

impl Answer {
    /// Reads what matters from a reply.
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
    /// The answer, if one came before the cut.
    ///
    /// What comes after power was cut comes from a server whose disk is gone already; in life it
    /// would have reached nobody, so it counts as in flight.
    pub(crate) fn answer_before(&self, cut: Option<Instant>) -> Option<&Answer> {
        match &self.end {
            End::Answered(answer) if cut.is_none_or(|cut| answer.at < cut) => Some(answer),
            End::Answered(_) | End::Silence => None,
        }
    }

    /// What the ledger may hold of it after a cut at `cut`.
    pub(crate) fn fate(&self, question: &Question, cut: Option<Instant>) -> Fate {
        let End::Answered(answer) = &self.end else {
            return if question.price == 0 { Fate::Free } else { Fate::Open };
        };
        let is_acknowledged = self.answer_before(cut).is_some();
        match answer.status {
            200 if answer.is_replay || question.price == 0 => Fate::Free,
            200 if is_acknowledged => Fate::Charged,
            200 => Fate::Open,
            503 if question.price > 0 && answer.body.contains(NOBODY_KNOWS) => Fate::Open,
            // Every refusal promises that nothing was taken, and so does a 500.
            _ => Fate::Free,
        }
    }

    /// Whether a client would ask again: it has no answer that settles the matter.
    pub(crate) fn is_unsettled(&self, cut: Option<Instant>) -> bool {
        self.answer_before(cut).is_none_or(|answer| answer.status >= 500)
    }
}

/// Credits that were given while the ledger was tortured.
#[derive(Clone, Debug)]
pub(crate) struct GrantCall {
    /// Its note, which no other grant has.
    pub(crate) note: String,
    /// To whom.
    pub(crate) account: usize,
    /// How many.
    pub(crate) credits: i64,
    /// Whether it was acknowledged before the cut; else it was in flight.
    pub(crate) is_acknowledged: bool,
}
