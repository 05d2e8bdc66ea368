//! Sends one row, and sends it again if it was not answered.

use std::cell::Cell;
use std::time::Duration;

use enrich_core::{Credits, Price};
use tokio::time::{Instant, sleep};

use crate::caller::{CallResult, Caller, RowFields};
use crate::export::{Added, Status};
use crate::stop::{End, Stop};

/// The first pause before a retry, if the server does not ask for a pause (`Retry-After`). The
/// pause doubles with each retry.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause before a retry, if the server does not ask for a pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The longest pause that the server can ask for (`Retry-After`). No reasonable rate-limit window
/// is longer.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);
/// The time for which a run continues if no row was ever answered. It is short, because the cause
/// is more often a wrong address than a server that is down.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of times that a row is sent, if every result is [`CallResult::Failed`].
const MAX_FAILURES: u32 = 4;

impl Added {
    pub(crate) fn without_answer(status: Status, error: String) -> Self {
        Self { status, values: Vec::new(), error, credits: 0 }
    }
}

/// State that all rows in flight of a run share.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// The time for which the run continues without an answer.
    patience: Duration,
    /// The time when a row was last answered, or when the run began.
    answered_at: Cell<Instant>,
    was_answered: Cell<bool>,
    /// The last known time until which the rate limit refuses rows. An answer does not reset this
    /// time, because its call may have been made before the limit was reached.
    limited_until: Cell<Option<Instant>>,
    /// Set when the run is stopped.
    stop: Stop,
    /// Set when the run ends for a reason other than `stop`.
    pub(crate) ended: Stop,
}

impl Waiting {
    pub(crate) fn new(patience: Duration, stop: &Stop) -> Self {
        let (stop, ended) = (stop.clone(), Stop::default());
        let (answered_at, was_answered) = (Cell::new(Instant::now()), Cell::new(false));
        let limited_until = Cell::new(None);
        Self { patience, answered_at, was_answered, limited_until, stop, ended }
    }

    fn answered(&self) {
        self.answered_at.set(Instant::now());
        self.was_answered.set(true);
    }

    /// Returns how long the rate limit still delays rows; `None` if it delays no rows.
    pub(crate) fn limited_for(&self) -> Option<Duration> {
        let left = self.limited_until.get()?.saturating_duration_since(Instant::now());
        Some(left).filter(|left| !left.is_zero())
    }

    /// Whether the run got no answer for longer than `patience`. If the server asks for a long
    /// pause (`asked`), the run waits longer.
    fn is_over(&self, asked: Option<Duration>) -> bool {
        let patience = match asked {
            Some(pause) => self.patience.max(2 * pause.min(LONGEST_ASKED)),
            None if self.was_answered.get() => self.patience,
            None => self.patience.min(FIRST_PATIENCE),
        };
        self.answered_at.get().elapsed() >= patience
    }
}

/// Sends a row, if necessary several times, until its result is final.
///
/// # Errors
///
/// Returns the reason if the run must end before the row has a result. The run then sends no
/// further row.
pub(crate) async fn ask(
    caller: &dyn Caller,
    fields: &RowFields,
    idempotency: &str,
    waiting: &Waiting,
) -> Result<Added, End> {
    let mut failures = 0;
    for pauses in 0.. {
        let called = caller.call(fields, idempotency).await;
        if !matches!(called, CallResult::Later { .. }) {
            waiting.answered();
        }
        if let CallResult::Later { after: Some(after), is_rate_limited: true, .. } = &called {
            waiting.limited_until.set(Some(Instant::now() + (*after).min(LONGEST_ASKED)));
        }
        let asked_pause = match called {
            CallResult::Found { values, credits: Credits(credits) } => {
                let (status, error) = (Status::Found, String::new());
                return Ok(Added { status, values, error, credits });
            }
            CallResult::NotFound => {
                return Ok(Added::without_answer(Status::NotFound, String::new()));
            }
            CallResult::Invalid(why) => {
                return Ok(Added::without_answer(Status::Invalid, why));
            }
            CallResult::OutOfCredits(why) => return Err(End::OutOfCredits(why)),
            CallResult::Refused(why) => return Err(End::Refused(why)),
            CallResult::Failed(why) => {
                failures += 1;
                if failures == MAX_FAILURES {
                    return Ok(Added::without_answer(Status::Failed, why));
                }
                None
            }
            CallResult::Later { after, why, .. } if waiting.is_over(after) => {
                return Err(End::Unreachable(why));
            }
            CallResult::Later { after, .. } => after,
        };
        tokio::select! {
            () = sleep(pause(pauses, asked_pause)) => {}
            () = waiting.stop.wait() => break,
            () = waiting.ended.wait() => break,
        }
    }
    Err(End::Stopped)
}

/// Returns the pause before a retry. The pause doubles with each retry, and is at least the pause
/// that the server asks for (`asked`). A part of the pause is random, so that not all rows are sent
/// again at the same time.
fn pause(times: u32, asked: Option<Duration>) -> Duration {
    let own = FIRST_PAUSE.saturating_mul(1 << times.min(10)).min(LONGEST_PAUSE);
    let least = asked.unwrap_or_default().min(LONGEST_ASKED).max(own / 2);
    least + (own / 2).mul_f64(fastrand::f64())
}

/// Returns the highest price of an answer to these fields, in credits; `None` if the price has no
/// limit.
pub(crate) fn highest_price(price: Price, fields: &RowFields) -> Option<u64> {
    match price {
        Price::PerAnswer(credits) => Some(credits),
        Price::PerItems(_) => {
            let limit = fields.iter().find(|(name, _)| *name == "limit");
            let digits = limit.map(|(_, digits)| digits.trim())?;
            let is_decimal = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            // A row with an invalid limit costs nothing, because its call is refused. A number
            // beyond 64 bits counts as no limit.
            if is_decimal { digits.parse().ok().map(|items| price.of(items).0) } else { Some(0) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_grows_and_is_never_shorter_than_asked() {
        for _ in 0..100 {
            let first = pause(0, None);
            assert!(first >= FIRST_PAUSE / 2 && first <= FIRST_PAUSE, "{first:?}");
            assert!(pause(3, Some(Duration::from_secs(7))) >= Duration::from_secs(7));
            assert!(pause(40, None) <= LONGEST_PAUSE);
        }
    }

    #[test]
    fn the_highest_price_of_a_list_is_that_of_its_limit() {
        let limit = |text: &str| [("companyDomain", "x".to_owned()), ("limit", text.to_owned())];
        assert_eq!(highest_price(Price::PerItems(5), &limit(" 11 ")), Some(3));
        assert_eq!(highest_price(Price::PerItems(5), &limit("many")), Some(0));
        assert_eq!(highest_price(Price::PerItems(5), &limit("99999999999999999999")), None);
        assert_eq!(highest_price(Price::PerItems(5), &limit("11")[..1]), None);
        assert_eq!(highest_price(Price::PerAnswer(3), &[]), Some(3));
    }
}
