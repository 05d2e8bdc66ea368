//! Counts the calls of a torture by their results.

use std::time::Instant;

use crate::call_log::{Call, End};
use crate::world::Question;

/// The counts of one round of a torture, or the sums over several rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Requests that were sent.
    pub(crate) calls: u64,
    pub(crate) charged: u64,
    /// Requests that got no answer.
    pub(crate) in_flight: u64,
    /// Requests that were answered after the power cut. The judge treats them like requests
    /// without an answer, but `in_flight` does not include them.
    pub(crate) late: u64,
    /// The number of requests counted in `in_flight` or `late` that were charged.
    pub(crate) in_flight_charged: u64,
    pub(crate) replayed: u64,
    /// Free answers, to requests that found nothing.
    pub(crate) free: u64,
    /// Answers with status 400: the account did not have enough credits.
    pub(crate) without_credits: u64,
    /// Answers with status 409: the first call with the same idempotency key was still running.
    pub(crate) still_running: u64,
    /// Answers with a status of 500 or above.
    pub(crate) failed: u64,
    /// Calls that were answered as charged, but have no row in the ledger.
    pub(crate) lost: u64,
}

impl Tally {
    /// Adds the counts of another round.
    pub(crate) fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.charged += other.charged;
        self.in_flight += other.in_flight;
        self.late += other.late;
        self.in_flight_charged += other.in_flight_charged;
        self.replayed += other.replayed;
        self.free += other.free;
        self.without_credits += other.without_credits;
        self.still_running += other.still_running;
        self.failed += other.failed;
        self.lost += other.lost;
    }

    /// Counts a call that has `rows` rows in the ledger. `cut` is the time of the power cut, if
    /// there was one.
    pub(crate) fn count(
        &mut self,
        call: &Call,
        question: &Question,
        rows: usize,
        cut: Option<Instant>,
    ) {
        self.calls += 1;
        let Some(answer) = call.answer_before(cut) else {
            self.in_flight += u64::from(call.end == End::NoAnswer);
            self.late += u64::from(call.end != End::NoAnswer);
            self.in_flight_charged += u64::from(rows > 0);
            return;
        };
        match answer.status {
            200 if answer.is_replay => self.replayed += 1,
            200 if question.price == 0 => self.free += 1,
            200 => self.charged += 1,
            400 => self.without_credits += 1,
            409 => self.still_running += 1,
            _ => self.failed += 1,
        }
    }
}
