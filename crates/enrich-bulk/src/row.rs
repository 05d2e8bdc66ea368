//! One row on its way: asked, and asked again where that makes sense.

use std::cell::Cell;
use std::time::Duration;

use enrich_core::{Credits, Price};
use tokio::time::{Instant, sleep};

use crate::caller::{Called, Caller, RowFields};
use crate::export::{Added, Status};
use crate::stop::Stop;

/// The first pause before a row is asked again, where nobody said how long; then twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause that isn't asked for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// The longest pause that is granted: no limit has a longer window worth waiting for.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);
/// How long a run goes on at most where nobody has answered at all: an address is mistyped sooner
/// than a server is down.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// How often a row is asked that fails by itself.
const MAX_FAILURES: u32 = 4;

/// What came of a row.
#[derive(Debug)]
pub(crate) enum Asked {
    /// It is done.
    Done(Added),
    /// It isn't, and no other will be.
    Ended(Ending),
}

/// Why a row ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The run was told to stop while the row waited for its turn.
    Stopped,
    OutOfCredits(String),
    Refused(String),
    Unreachable(String),
}

impl Added {
    pub(crate) fn without_answer(status: Status, error: String) -> Self {
        Self { status, values: Vec::new(), error, credits: 0 }
    }
}

/// What all rows of a run know while they wait.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// How long the run goes on without any row being answered.
    patience: Duration,
    /// When a row was answered last, or when the run began.
    answered_at: Cell<Instant>,
    was_answered: Cell<bool>,
    /// Until when the rate limit lets no row through, as far as rows were told. An answer doesn't
    /// end it: rows of the same window may be answered after others were refused.
    limited_until: Cell<Option<Instant>>,
    /// The run was told to stop.
    stop: Stop,
    /// The run is at an end of another kind.
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

    /// How long the rate limit holds the rows up from now on; `None` where it does not.
    pub(crate) fn limited_for(&self) -> Option<Duration> {
        let left = self.limited_until.get()?.saturating_duration_since(Instant::now());
        Some(left).filter(|left| !left.is_zero())
    }

    /// Whether patience is at its end, though whoever doesn't answer asked for such a pause.
    fn is_over(&self, asked: Option<Duration>) -> bool {
        let patience = match asked {
            Some(pause) => self.patience.max(2 * pause.min(LONGEST_ASKED)),
            None if self.was_answered.get() => self.patience,
            None => self.patience.min(FIRST_PATIENCE),
        };
        self.answered_at.get().elapsed() >= patience
    }
}

/// Asks a row until it is done, or nobody answers any more.
pub(crate) async fn ask(
    caller: &dyn Caller,
    fields: &RowFields,
    idempotency: &str,
    waiting: &Waiting,
) -> Asked {
    let mut failures = 0;
    for pauses in 0.. {
        let called = caller.call(fields, idempotency).await;
        if !matches!(called, Called::Later { .. }) {
            waiting.answered();
        }
        if let Called::Later { after: Some(after), is_rate_limited: true, .. } = &called {
            waiting.limited_until.set(Some(Instant::now() + (*after).min(LONGEST_ASKED)));
        }
        let asked_pause = match called {
            Called::Found { values, credits: Credits(credits) } => {
                let (status, error) = (Status::Found, String::new());
                return Asked::Done(Added { status, values, error, credits });
            }
            Called::NotFound => {
                return Asked::Done(Added::without_answer(Status::NotFound, String::new()));
            }
            Called::Invalid(why) => {
                return Asked::Done(Added::without_answer(Status::Invalid, why));
            }
            Called::OutOfCredits(why) => return Asked::Ended(Ending::OutOfCredits(why)),
            Called::Refused(why) => return Asked::Ended(Ending::Refused(why)),
            Called::Failed(why) => {
                failures += 1;
                if failures == MAX_FAILURES {
                    return Asked::Done(Added::without_answer(Status::Failed, why));
                }
                None
            }
            Called::Later { after, why, .. } if waiting.is_over(after) => {
                return Asked::Ended(Ending::Unreachable(why));
            }
            Called::Later { after, .. } => after,
        };
        tokio::select! {
            () = sleep(pause(pauses, asked_pause)) => {}
            () = waiting.stop.told() => break,
            () = waiting.ended.told() => break,
        }
    }
    Asked::Ended(Ending::Stopped)
}

/// How long to wait: as long as was asked, or ever longer; each row a little differently, so that
/// not all come back at once.
fn pause(times: u32, asked: Option<Duration>) -> Duration {
    let own = FIRST_PAUSE.saturating_mul(1 << times.min(10)).min(LONGEST_PAUSE);
    let least = asked.unwrap_or_default().min(LONGEST_ASKED).max(own / 2);
    least + (own / 2).mul_f64(fastrand::f64())
}

/// The most that an answer to these fields costs; `None` where nothing bounds it.
pub(crate) fn highest_price(price: Price, fields: &RowFields) -> Option<u64> {
    match price {
        Price::PerAnswer(credits) => Some(credits),
        Price::PerItems(_) => {
            let limit = fields.iter().find(|(name, _)| *name == "limit");
            let digits = limit.map(|(_, digits)| digits.trim())?;
            let is_decimal = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            // What is no limit is refused and costs nothing; a number past 64 bits bounds nothing.
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
