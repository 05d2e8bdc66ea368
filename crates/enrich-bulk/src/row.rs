//! Sends one row, and sends it again if it was not answered.

use std::cell::Cell;
use std::time::Duration;

use enrich_core::{Candidate, Credits, Price, Question};
use enrich_wire::Endpoint;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep};

use crate::caller::{CallResult, Caller, RowFields, wire_fields};
use crate::export::{Added, Status};
use crate::stop::{End, Stop};

/// The first pause before a retry, if the server does not ask for a pause (`Retry-After`). The
/// pause doubles with each retry.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Maximum pause before a retry, if the server does not ask for a longer pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Maximum pause that the server can ask for (`Retry-After`) before a row is sent again. A longer
/// pause is shortened to this time, because no reasonable rate-limit window is longer.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);
/// Maximum time for which a run continues if no row was ever answered. It is short, because the
/// cause is more often a wrong address than a server that is down.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of times that a row is sent, if every result is [`CallResult::Failed`].
const MAX_FAILURES: u32 = 4;

impl Added {
    pub(crate) fn without_answer(status: Status, error: String) -> Self {
        Self { status, values: Vec::new(), candidates: Vec::new(), error, credits: 0 }
    }
}

/// What all rows of a run that are in flight (sent and not yet answered) share: when a row was last
/// answered, until when the rate limit refuses rows, and whether the run must end.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// How long the run continues when it gets no answer.
    patience: Duration,
    /// The time when a row was last answered, or when the run began.
    answered_at: Cell<Instant>,
    was_answered: Cell<bool>,
    /// The time until which the server's rate limit refuses rows, as the server stated it last. If
    /// a row is answered before this time, the time is kept, because the row may have been sent
    /// before the limit was reached.
    limited_until: Cell<Option<Instant>>,
    /// The signal that stops the run, for example because the user has asked for it.
    stop: Stop,
    /// A signal that the run itself sends to its rows in flight. It is sent when the run must end
    /// early, for example because the account cannot pay for a row.
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

    /// Whether the run has got no answer for too long. The limit is `patience`, with two
    /// exceptions:
    ///
    /// - If the server asks for a pause (`asked`), the limit is at least twice this pause.
    /// - If the server asks for no pause, and no row was ever answered, the limit is at most
    ///   [`FIRST_PATIENCE`].
    fn is_over(&self, asked: Option<Duration>) -> bool {
        let patience = match asked {
            Some(pause) => self.patience.max(2 * pause.min(LONGEST_ASKED)),
            None if self.was_answered.get() => self.patience,
            None => self.patience.min(FIRST_PATIENCE),
        };
        self.answered_at.get().elapsed() >= patience
    }
}

/// A row's request for candidates (companies that its company name may mean), and the maximum
/// number of candidates that the row gets.
#[derive(Clone, Debug)]
pub(crate) struct CandidatesOfRow {
    pub(crate) question: Question,
    pub(crate) most: usize,
}

impl CandidatesOfRow {
    /// Returns the request for candidates of a row: at most `most` companies that the row's company
    /// name may mean. Returns `None` if `most` is 0, if a field of the row is invalid, or if the
    /// row does not look for a company by its name.
    pub(crate) fn of(endpoint: &Endpoint, fields: &RowFields, most: usize) -> Option<Self> {
        let most = most.min(Candidate::MAX_LISTED);
        // No country is passed. It would only matter for phone numbers, and a name is not a phone
        // number.
        let asked = (most > 0).then(|| endpoint.read(&wire_fields(fields), None).ok())??;
        Some(Self { question: asked.question.candidates()?, most })
    }
}

/// Sends a row. If `candidates` is given, and the row's company is not found by its name, also asks
/// for the candidates: the companies that the name may mean.
///
/// # Errors
///
/// Returns the reason if the run must end before the row has a result. The run then sends no
/// further row. If a later run sends the row again, an answer that was already paid costs nothing.
pub(crate) async fn ask(
    caller: &dyn Caller,
    fields: &RowFields,
    candidates: Option<CandidatesOfRow>,
    idempotency: &str,
    waiting: &Waiting,
) -> Result<Added, End> {
    let added = repeat(|| caller.call(fields, idempotency), waiting).await?;
    let Some(wanted) = candidates.filter(|_| added.status == Status::NotFound) else {
        return Ok(added);
    };
    let CandidatesOfRow { question, most } = &wanted;
    // The look-up has used the key `idempotency`, so the request for candidates needs its own key.
    let idempotency = format!("{idempotency}-candidates");
    let found = repeat(|| caller.candidates(question, *most, &idempotency), waiting).await?;
    let Added { values: candidates, error, credits, .. } = found;
    Ok(Added { candidates, error, credits, ..added })
}

/// Makes a call. Repeats it after a pause until its result is final, or until the run must end.
async fn repeat<'a>(
    call: impl Fn() -> BoxFuture<'a, CallResult>,
    waiting: &Waiting,
) -> Result<Added, End> {
    let mut failures = 0;
    for pauses in 0.. {
        let called = call().await;
        if !matches!(called, CallResult::Later { .. }) {
            waiting.answered();
        }
        if let CallResult::Later { after: Some(after), is_rate_limited: true, .. } = &called {
            waiting.limited_until.set(Some(Instant::now() + (*after).min(LONGEST_ASKED)));
        }
        let asked_pause = match called {
            CallResult::Found { values, credits: Credits(credits) } => {
                let (status, error) = (Status::Found, String::new());
                return Ok(Added { status, values, candidates: Vec::new(), error, credits });
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

/// Returns the highest price of a row with these fields, in credits; `None` if the price has no
/// limit. A row costs the price of its answer. If nothing is found, it costs the price of its
/// candidates (companies that its company name may mean).
pub(crate) fn highest_price(price: Price, fields: &RowFields, has_candidates: bool) -> Option<u64> {
    let answer = highest_price_of_answer(price, fields)?;
    Some(if has_candidates { answer.max(Candidate::PRICE.of(1).0) } else { answer })
}

fn highest_price_of_answer(price: Price, fields: &RowFields) -> Option<u64> {
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
        assert_eq!(highest_price_of_answer(Price::per_items::<5>(), &limit(" 11 ")), Some(3));
        assert_eq!(highest_price_of_answer(Price::per_items::<5>(), &limit("many")), Some(0));
        assert_eq!(
            highest_price_of_answer(Price::per_items::<5>(), &limit("99999999999999999999")),
            None
        );
        assert_eq!(highest_price_of_answer(Price::per_items::<5>(), &limit("11")[..1]), None);
        assert_eq!(highest_price_of_answer(Price::PerAnswer(3), &[]), Some(3));
    }

    #[test]
    fn a_row_has_candidates_if_it_has_a_name() {
        let tables = [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];
        let of = |path: &str, fields: &RowFields, most| {
            let endpoint = tables.iter().find_map(|table| table.endpoint(path)).unwrap();
            CandidatesOfRow::of(endpoint, fields, most)
        };
        let name = |text: &str| [("companyName", text.to_owned())];
        let found = of("/v1/cuf", &name("Quill"), 12).unwrap();
        assert_eq!(found.most, Candidate::MAX_LISTED);
        assert!(
            matches!(found.question, Question::Candidates { name, .. } if name.display() == "Quill")
        );
        assert!(of("/v1/cuf", &name("Quill"), 0).is_none());
        assert!(of("/v1/cuf", &name(" "), 3).is_none());
        let domain = [("companyWebsite", "quill.example".to_owned())];
        assert!(of("/v1/dtc", &domain, 3).is_none());
    }

    #[test]
    fn a_row_costs_its_answer_or_its_candidates() {
        for (credits, highest) in [(0, 1), (1, 1), (3, 3)] {
            let price = Price::PerAnswer(credits);
            assert_eq!(highest_price(price, &[], true), Some(highest));
            assert_eq!(highest_price(price, &[], false), Some(credits));
        }
    }
}
