//! The judge: compares the rows of the ledger with the answers that callers got.
//!
//! The ledger must have a charge for each call that was answered as charged. Other charges may only
//! belong to calls without an answer. For a single call, this means:
//!
//! - A call that was answered as charged has exactly one row.
//! - A call that was answered as not charged has no row.
//! - A call without an answer has one row or none.
//!
//! All calls with the same idempotency key together have at most one row, even across restarts.
//! Each of their answers is the same as the first one, byte for byte.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use enrich_core::ChargeId;

use crate::call_log::{Answer, Call, End, Fate, GrantCall};
use crate::tally::Tally;
use crate::world::{Question, without_balance};

/// A charge in the ledger.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The index of the charge's account in `World::payers`.
    pub(crate) account: usize,
    pub(crate) id: ChargeId,
    pub(crate) endpoint: String,
    pub(crate) request_id: String,
    pub(crate) credits: u64,
    /// The balance after the charge.
    pub(crate) balance: u64,
}

/// One round of a torture, as the judge sees it: the calls since the previous judgement, and the
/// new rows of the ledger. Most rounds have one fault, such as a kill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round<'a> {
    /// The calls of the round, with their answers.
    pub(crate) calls: &'a [Call],
    /// The rows that charges have added to the ledger since the previous round.
    pub(crate) rows: &'a [Row],
    /// The time of the power cut, if there was one. A call with a later answer counts as in flight.
    pub(crate) cut: Option<Instant>,
    /// The HTTP statuses of 500 or above that are allowed in this round, because the fault of the
    /// round, such as a full disk, may cause them. Answers that arrive after a power cut are not
    /// judged, so they may have any status.
    pub(crate) excused: &'a [u16],
}

/// The ways in which a promise can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The call was answered as charged, but has no row in the ledger.
    Lost,
    /// The call was charged twice, or two calls with the same idempotency key were charged.
    Doubled,
    /// The ledger has a row that belongs to no call.
    Foreign,
    /// The call has taken credits, although its answer says that it was not charged: it has a row
    /// in the ledger.
    Taken,
    /// The row in the ledger has another price, account, endpoint or balance than the answer.
    Differs,
    /// A repeated call got another answer than the first call with the same idempotency key.
    Repeat,
    /// The answer itself is wrong, independent of the content of the ledger.
    Answer,
}

/// A promise that Enrich has broken, for example that an acknowledged charge is in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(crate) kind: Kind,
    /// A text that names the call or the row, and says what is wrong with it.
    pub(crate) what: String,
}

/// The judge of all rounds of one data folder.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    ids: HashSet<ChargeId>,
    keys: HashMap<(usize, Arc<str>), KeyHistory>,
}

/// The results of all calls with one idempotency key.
#[derive(Debug, Default)]
struct KeyHistory {
    /// The number of charges in the ledger that have this idempotency key.
    rows: u32,
    /// The first successful answer that the client received to a call with this idempotency key.
    first: Option<First>,
    /// The number of successful answers that the client received, without replays of earlier ones.
    originals: u32,
}

#[derive(Clone, Debug)]
struct First {
    at: Instant,
    body: Arc<str>,
}

impl Judge {
    /// Judges the calls of one round of a torture. Returns the counts of the calls, and the broken
    /// promises.
    pub(crate) fn round(
        &mut self,
        questions: &[Question],
        round: &Round<'_>,
    ) -> (Tally, Vec<Breach>) {
        let mut breaches = Vec::new();
        let rows = self.rows_by_call(questions, round, &mut breaches);
        let mut tally = Tally::default();
        for (call, rows) in round.calls.iter().zip(&rows) {
            let question = &questions[call.question];
            judge_fate(call, question, rows, round.cut, &mut breaches);
            if let Some(answer) = call.answer_before(round.cut) {
                judge_answer(call, answer, question, round.excused, &mut breaches);
            }
            tally.count(call, question, rows.len(), round.cut);
        }
        tally.lost = breaches.iter().filter(|breach| breach.kind == Kind::Lost).count() as u64;
        self.judge_repeats(questions, round, &rows, &mut breaches);
        (tally, breaches)
    }

    /// Forgets the idempotency keys that have no charge in the ledger. Call this if the round has
    /// lost charges, and such losses are allowed
    /// ([`Ruling::may_lose`](crate::trial::Ruling::may_lose)). A repeat of a lost call is charged
    /// again. Without this method, the judge would report the new answer as a breach.
    pub(crate) fn forget_lost(&mut self) {
        self.keys.retain(|_, history| history.rows > 0);
    }

    /// Returns the rows of each call, in the order of the calls. Adds a breach for each row without
    /// a call.
    fn rows_by_call<'a>(
        &mut self,
        questions: &[Question],
        round: &Round<'a>,
        breaches: &mut Vec<Breach>,
    ) -> Vec<Vec<&'a Row>> {
        let mut places = HashMap::new();
        for (place, call) in round.calls.iter().enumerate() {
            if places.insert(call.request_id.as_str(), place).is_some() {
                let what = format!("the harness itself sent {} twice", call.request_id);
                breaches.push(Breach { kind: Kind::Foreign, what });
            }
        }
        let mut rows: Vec<Vec<&Row>> = vec![Vec::new(); round.calls.len()];
        for row in round.rows {
            let Row { id, request_id, account, .. } = row;
            if !self.ids.insert(*id) {
                let what = format!("the charge id {id} stands in more than one row");
                breaches.push(Breach { kind: Kind::Doubled, what });
            }
            let Some(place) = places.get(request_id.as_str()).copied() else {
                let what = format!("account {account} was charged for {request_id}, never sent");
                breaches.push(Breach { kind: Kind::Foreign, what });
                continue;
            };
            let call = &round.calls[place];
            let question = &questions[call.question];
            let asked = (call.account, question.path, question.price);
            let held = (row.account, row.endpoint.as_str(), row.credits);
            if asked != held {
                let what = format!("{request_id} asked for {asked:?}, its row holds {held:?}");
                breaches.push(Breach { kind: Kind::Differs, what });
            }
            rows[place].push(row);
        }
        rows
    }

    /// Judges the calls of the round that have an idempotency key. Compares each call with the
    /// earlier calls that have the same key, also with those of earlier rounds.
    fn judge_repeats(
        &mut self,
        questions: &[Question],
        round: &Round<'_>,
        rows: &[Vec<&Row>],
        breaches: &mut Vec<Breach>,
    ) {
        let mut keyed: Vec<(&Call, usize)> = (round.calls.iter().zip(rows))
            .filter(|(call, _)| call.repeat_key.is_some())
            .map(|(call, rows)| (call, rows.len()))
            .collect();
        // Sorts the calls by the time of their answers. Calls without an answer before the power
        // cut come last.
        keyed.sort_by_key(|(call, _)| {
            let answer = call.answer_before(round.cut);
            (answer.is_none(), answer.map(|answer| answer.at))
        });
        for (call, rows) in &keyed {
            let Some(key) = call.key() else { continue };
            let history = self.keys.entry(key).or_default();
            if history.rows > 0 && *rows > 0 {
                let what = format!("{} was charged for its key before", call.named());
                breaches.push(Breach { kind: Kind::Doubled, what });
            }
            history.rows += *rows as u32;
            if let Some(answer) = call.answer_before(round.cut) {
                history.add_answer(call, answer, breaches);
            }
        }
        for (call, _) in keyed {
            let Some(history) = call.key().and_then(|key| self.keys.get(&key)) else { continue };
            let is_replay = call.answer_before(round.cut).is_some_and(|answer| answer.is_replay);
            if is_replay && questions[call.question].price > 0 && history.rows == 0 {
                let what = format!("{} repeats an answer whose charge is not there", call.named());
                breaches.push(Breach { kind: Kind::Lost, what });
            }
        }
    }
}

impl KeyHistory {
    /// Adds a received answer to the history of its idempotency key.
    fn add_answer(&mut self, call: &Call, answer: &Answer, breaches: &mut Vec<Breach>) {
        let mut repeat = |what: String| breaches.push(Breach { kind: Kind::Repeat, what });
        let came_after = self.first.as_ref().is_some_and(|first| first.at < call.sent);
        if answer.status != 200 {
            if came_after && answer.status == 400 {
                repeat(format!("{} was refused though its answer is kept", call.named()));
            }
            return;
        }
        self.originals += u32::from(!answer.is_replay);
        if self.originals > 1 {
            repeat(format!("{} was answered as the first of its key once more", call.named()));
        }
        let first = self.first.get_or_insert(First { at: answer.at, body: answer.body.clone() });
        if first.body != answer.body {
            let (first, body) = (&first.body, &answer.body);
            repeat(format!("{} got {body}; the first answer was {first}", call.named()));
        }
        if came_after && !answer.is_replay {
            repeat(format!("{} does not say that it is a repeat", call.named()));
        }
    }
}

impl Call {
    fn key(&self) -> Option<(usize, Arc<str>)> {
        Some((self.account, Arc::clone(self.repeat_key.as_ref()?)))
    }

    fn named(&self) -> String {
        match &self.repeat_key {
            Some(key) => format!("{} (key {key}, account {})", self.request_id, self.account),
            None => format!("{} (account {})", self.request_id, self.account),
        }
    }
}

/// Judges whether the ledger has the rows that the answer to the call requires.
fn judge_fate(
    call: &Call,
    question: &Question,
    rows: &[&Row],
    cut: Option<Instant>,
    breaches: &mut Vec<Breach>,
) {
    let mut breach = |kind, what| breaches.push(Breach { kind, what });
    let named = call.named();
    if rows.len() > 1 {
        breach(Kind::Doubled, format!("{named} stands in {} rows", rows.len()));
    }
    match (call.fate(question.price, cut), rows.first()) {
        (Fate::Charged, None) => breach(Kind::Lost, format!("{named} was acknowledged as charged")),
        (Fate::Free, Some(row)) => {
            let end = match &call.end {
                End::Answered(answer) => format!("answered {}", answer.status),
                End::NoAnswer => "free in any case".to_owned(),
            };
            breach(Kind::Taken, format!("{named} was {end}, and {} taken", row.credits));
        }
        (Fate::Charged | Fate::Open, Some(row)) => {
            let End::Answered(Answer { remaining: Some(told), status: 200, .. }) = call.end else {
                return;
            };
            if told != row.balance {
                let held = row.balance;
                breach(Kind::Differs, format!("{named} was told {told} are left, not {held}"));
            }
        }
        (Fate::Free | Fate::Open, None) => {}
    }
}

/// Judges one received answer by itself, without the rows of the ledger.
fn judge_answer(
    call: &Call,
    answer: &Answer,
    question: &Question,
    excused: &[u16],
    breaches: &mut Vec<Breach>,
) {
    let mut wrong = |what: &str| {
        let what = format!("{}: {what}: {answer:?}", call.named());
        breaches.push(Breach { kind: Kind::Answer, what });
    };
    let is_original = answer.status == 200 && !answer.is_replay;
    if answer.used != Some(if is_original { question.price } else { 0 }) {
        wrong("another price than the question's");
    }
    match answer.status {
        200 => {
            let (text, balance) = without_balance(&answer.body);
            // An empty `question.answer` means that the expected answer is not known yet.
            if !question.answer.is_empty() && text != question.answer {
                wrong("another answer than before");
            }
            if answer.remaining.is_none() || is_original && balance != answer.remaining {
                wrong("the body names another balance than the header, or none does");
            }
            if answer.is_replay && call.repeat_key.is_none() {
                wrong("a repeat, without a key");
            }
        }
        400 => {
            let needed = question.price.max(question.least);
            if answer.remaining.is_none_or(|left| left >= needed) {
                wrong("refused for want of credits that are there");
            }
        }
        409 if call.repeat_key.is_some() => {}
        status if excused.contains(&status) => {}
        _ => wrong("a status that nothing here can cause"),
    }
}

/// Judges grants: each confirmed grant must have exactly one row. A grant that was not confirmed
/// may have one. No other row may exist.
pub(crate) fn judge_grants(calls: &[GrantCall], rows: &[(usize, String, i64)]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for call in calls {
        let held: Vec<_> = rows.iter().filter(|(_, note, _)| *note == call.note).collect();
        let named = format!("grant {} of {} to account {}", call.note, call.credits, call.account);
        match held.as_slice() {
            [] if call.is_acknowledged => {
                breaches.push(Breach { kind: Kind::Lost, what: named });
            }
            [] => {}
            [(account, _, credits)] => {
                if (*account, *credits) != (call.account, call.credits) {
                    let what = format!("{named} is {credits} to account {account}");
                    breaches.push(Breach { kind: Kind::Differs, what });
                }
            }
            _ => breaches.push(Breach { kind: Kind::Doubled, what: named }),
        }
    }
    for (account, note, credits) in rows {
        if !calls.iter().any(|call| call.note == *note) {
            let what = format!("account {account} was granted {credits} as {note:?}, never asked");
            breaches.push(Breach { kind: Kind::Foreign, what });
        }
    }
    breaches
}

#[cfg(test)]
mod tests;
