//! What was counted while something was tortured.

use std::time::Instant;

use crate::call_log::{Call, End};
use crate::world::Question;

/// What was counted in rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Requests sent.
    pub(crate) calls: u64,
    /// Charges that were acknowledged.
    pub(crate) charged: u64,
    /// Requests that were in flight: no answer came.
    pub(crate) in_flight: u64,
    /// Requests whose answer came after power was cut, which counts as none.
    pub(crate) late: u64,
    /// Those of both that were charged.
    pub(crate) in_flight_charged: u64,
    /// Answers that were a first answer again.
    pub(crate) replayed: u64,
    /// Answers that found nothing and were free.
    pub(crate) free: u64,
    /// Answers of status 400: no credits left.
    pub(crate) without_credits: u64,
    /// Answers of status 409: the first call with the key was still running.
    pub(crate) still_running: u64,
    /// Answers of status 500 and above.
    pub(crate) failed: u64,
    /// Acknowledged charges that were lost.
    pub(crate) lost: u64,
}

impl Tally {
    /// Adds another round's.
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

    /// Adds a call that has left so many rows.
    pub(crate) fn count(
        &mut self,
        call: &Call,
        question: &Question,
        rows: usize,
        cut: Option<Instant>,
    ) {
        self.calls += 1;
        let Some(answer) = call.answer_before(cut) else {
            self.in_flight += u64::from(call.end == End::Silence);
            self.late += u64::from(call.end != End::Silence);
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
