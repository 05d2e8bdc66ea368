//! Checks that the judge reports every kind of breach, and no breach in a correct round.

use std::time::Duration;

use enrich_core::{Clock as _, Refusal};
use enrich_store::SystemClock;

use super::*;

/// The expected answer of a call that finds something. The judge compares answers without their
/// balance, so there is no number after `credit_count`. [`MISS`] is the expected answer of a call
/// that finds nothing.
const FOUND: &str = r#"{"url":"x.example","credit_count":}"#;
const MISS: &str = r#"{"url":"","credit_count":}"#;

/// The calls of one round of a torture, and the rows that a correct ledger has for these calls.
struct Case {
    questions: Vec<Question>,
    start: Instant,
    calls: Vec<Call>,
    rows: Vec<Row>,
    balance: u64,
}

impl Case {
    fn new() -> Self {
        let question = |price, answer: &str| Question {
            path: "/v1/dtc",
            body: String::new(),
            price,
            least: 1,
            answer: answer.to_owned(),
        };
        let questions = vec![question(1, FOUND), question(0, MISS)];
        let (calls, rows) = (Vec::new(), Vec::new());
        Self { questions, start: Instant::now(), calls, rows, balance: 100 }
    }

    /// Returns the time that is `tick` milliseconds after the start.
    fn at(&self, tick: u64) -> Instant {
        self.start + Duration::from_millis(tick)
    }

    /// Adds a call that was sent after the previous call had ended.
    fn call(&mut self, key: Option<&str>, end: End) -> &mut Call {
        let number = self.calls.len();
        self.calls.push(Call {
            request_id: format!("r{number}"),
            account: 0,
            question: 0,
            repeat_key: key.map(Into::into),
            sent: self.at(10 * number as u64),
            end,
        });
        self.calls.last_mut().unwrap()
    }

    fn answer(&self, status: u16) -> Answer {
        Answer {
            at: self.at(10 * self.calls.len() as u64 + 5),
            status,
            used: Some(0),
            remaining: Some(self.balance),
            is_replay: false,
            body: "{}".into(),
        }
    }

    fn row(&mut self, request_id: &str) {
        self.balance -= 1;
        self.rows.push(Row {
            account: 0,
            id: ChargeId::new(SystemClock.now()),
            endpoint: "/v1/dtc".to_owned(),
            request_id: request_id.to_owned(),
            credits: 1,
            balance: self.balance,
        });
    }

    /// Adds a call that was charged, and adds its row to the ledger.
    fn charged(&mut self, key: Option<&str>) {
        let number = self.calls.len();
        self.row(&format!("r{number}"));
        let body = format!(r#"{{"url":"x.example","credit_count":{}}}"#, self.balance).into();
        let answer = Answer { used: Some(1), body, ..self.answer(200) };
        self.call(key, End::Answered(answer));
    }

    /// Adds a repeated call that got the body of an earlier call.
    fn replayed(&mut self, key: &str, of: usize) {
        let End::Answered(first) = &self.calls[of].end else { panic!("no answer to repeat") };
        let answer = Answer { is_replay: true, body: first.body.clone(), ..self.answer(200) };
        self.call(Some(key), End::Answered(answer));
    }

    fn judged_by(&self, judge: &mut Judge, cut: Option<Instant>) -> (Tally, Vec<Kind>) {
        let round = Round { calls: &self.calls, rows: &self.rows, cut, excused: &[500, 503] };
        let (tally, breaches) = judge.round(&self.questions, &round);
        let mut kinds: Vec<Kind> = breaches.into_iter().map(|breach| breach.kind).collect();
        kinds.sort_unstable();
        (tally, kinds)
    }

    fn judged(&self) -> Vec<Kind> {
        self.judged_by(&mut Judge::default(), None).1
    }
}

#[test]
fn an_honest_ledger_is_acquitted() {
    let mut case = Case::new();
    case.charged(None);
    case.charged(Some("k"));
    case.replayed("k", 1);
    case.call(None, End::NoAnswer);
    case.row("r3");
    case.call(None, End::NoAnswer);
    let nobody_knows = Refusal::OutcomeUnknown("a disk".into()).to_string();
    let unknown = Answer { body: nobody_knows.into(), ..case.answer(503) };
    case.call(Some("u"), End::Answered(unknown));
    case.row("r5");
    let rolled_back = case.answer(500);
    case.call(None, End::Answered(rolled_back));
    let missed = Answer { body: r#"{"url":"","credit_count":96}"#.into(), ..case.answer(200) };
    case.call(None, End::Answered(missed)).question = 1;
    let (tally, breaches) = case.judged_by(&mut Judge::default(), None);
    assert_eq!(breaches, []);
    let expected = Tally {
        calls: 8,
        charged: 2,
        in_flight: 2,
        in_flight_charged: 1,
        replayed: 1,
        free: 1,
        failed: 2,
        ..Tally::default()
    };
    assert_eq!(tally, expected);
}

#[test]
fn a_lost_charge_is_seen() {
    let mut case = Case::new();
    case.charged(None);
    case.rows.clear();
    let (tally, breaches) = case.judged_by(&mut Judge::default(), None);
    assert_eq!((tally.lost, breaches), (1, vec![Kind::Lost]));
}

#[test]
fn a_charge_that_is_gone_behind_its_repeat_is_seen() {
    let mut case = Case::new();
    case.charged(Some("k"));
    case.replayed("k", 0);
    case.calls.remove(0);
    case.rows.clear();
    assert_eq!(case.judged(), [Kind::Lost]);
    let (tally, _) = case.judged_by(&mut Judge::default(), None);
    assert_eq!(tally.lost, 0, "only an acknowledged charge itself is counted");
}

#[test]
fn a_charge_that_stands_twice_is_seen() {
    let mut case = Case::new();
    case.charged(None);
    let mut again = case.rows[0].clone();
    assert_eq!(case.judged(), []);
    case.rows.push(again.clone());
    assert_eq!(case.judged(), [Kind::Doubled, Kind::Doubled], "its id, and its request");
    again.id = ChargeId::new(SystemClock.now());
    case.rows[1] = again;
    assert_eq!(case.judged(), [Kind::Doubled], "its request");
}

#[test]
fn a_key_that_is_charged_twice_is_seen_within_a_round_and_across_rounds() {
    let mut case = Case::new();
    case.call(Some("k"), End::NoAnswer);
    case.row("r0");
    case.charged(Some("k"));
    assert_eq!(case.judged(), [Kind::Doubled]);

    let mut judge = Judge::default();
    let (call, row) = (case.calls.pop().unwrap(), case.rows.pop().unwrap());
    assert_eq!(case.judged_by(&mut judge, None).1, []);
    (case.calls, case.rows) = (vec![call], vec![row]);
    assert_eq!(case.judged_by(&mut judge, None).1, [Kind::Doubled]);
}

#[test]
fn a_charge_that_nobody_asked_for_is_seen() {
    let mut case = Case::new();
    case.row("r-of-another-round");
    assert_eq!(case.judged(), [Kind::Foreign]);
}

#[test]
fn a_charge_after_a_refusal_is_seen() {
    for status in [500, 503, 409] {
        let mut case = Case::new();
        let refused = case.answer(status);
        case.call(Some("k"), End::Answered(refused));
        case.row("r0");
        assert_eq!(case.judged(), [Kind::Taken], "{status}");
    }
}

#[test]
fn a_charge_for_nothing_or_for_a_repeat_is_seen() {
    let mut case = Case::new();
    case.call(None, End::NoAnswer).question = 1;
    case.row("r0");
    assert!(case.judged().contains(&Kind::Taken));

    let mut case = Case::new();
    case.charged(Some("k"));
    case.replayed("k", 0);
    case.row("r1");
    assert_eq!(case.judged(), [Kind::Doubled, Kind::Taken]);
}

#[test]
fn a_wrong_price_account_or_balance_in_a_row_is_seen() {
    let spoil: [fn(&mut Row); 4] = [
        |row| row.credits = 2,
        |row| row.account = 1,
        |row| row.balance += 1,
        |row| row.endpoint = "/v1/cuf".to_owned(),
    ];
    for spoil in spoil {
        let mut case = Case::new();
        case.charged(None);
        spoil(&mut case.rows[0]);
        assert_eq!(case.judged(), [Kind::Differs]);
    }
}

#[test]
fn a_repeat_with_another_body_or_without_its_mark_is_seen() {
    let mut case = Case::new();
    case.charged(Some("k"));
    case.replayed("k", 0);
    let End::Answered(answer) = &mut case.calls[1].end else { panic!("no answer") };
    answer.body = r#"{"url":"x.example","credit_count":98}"#.into();
    assert_eq!(case.judged(), [Kind::Repeat]);

    let mut case = Case::new();
    case.call(Some("k"), End::NoAnswer);
    let missed = Answer { body: r#"{"url":"","credit_count":100}"#.into(), ..case.answer(200) };
    for _ in 0..2 {
        let answer = Answer { at: case.answer(200).at, ..missed.clone() };
        case.call(Some("k"), End::Answered(answer)).question = 1;
    }
    assert_eq!(case.judged(), [Kind::Repeat, Kind::Repeat], "a second first, and not marked");
}

#[test]
fn a_repeat_that_is_refused_for_want_of_credits_is_seen() {
    let mut case = Case::new();
    case.charged(Some("k"));
    let refused = Answer { remaining: Some(0), ..case.answer(400) };
    case.call(Some("k"), End::Answered(refused));
    assert_eq!(case.judged(), [Kind::Repeat]);
}

#[test]
fn a_wrong_answer_is_seen() {
    let spoil: [fn(&mut Answer); 6] = [
        |answer| answer.used = Some(3),
        |answer| answer.used = None,
        |answer| answer.body = r#"{"url":"y.example","credit_count":99}"#.into(),
        |answer| answer.body = r#"{"url":"x.example","credit_count":98}"#.into(),
        |answer| answer.is_replay = true,
        |answer| answer.status = 429,
    ];
    for (which, spoil) in spoil.into_iter().enumerate() {
        let mut case = Case::new();
        case.charged(None);
        let End::Answered(answer) = &mut case.calls[0].end else { panic!("no answer") };
        spoil(answer);
        assert!(case.judged().contains(&Kind::Answer), "{which}: {:?}", case.judged());
    }
    let mut case = Case::new();
    let refused = case.answer(400);
    case.call(None, End::Answered(refused));
    assert_eq!(case.judged(), [Kind::Answer], "refused with 100 credits left");
}

#[test]
fn a_failure_without_a_cause_is_seen() {
    let mut case = Case::new();
    let failed = case.answer(500);
    case.call(None, End::Answered(failed));
    let round = Round { calls: &case.calls, rows: &[], cut: None, excused: &[] };
    let (_, breaches) = Judge::default().round(&case.questions, &round);
    assert_eq!(breaches.len(), 1);
    assert_eq!(breaches[0].kind, Kind::Answer);
}

#[test]
fn what_is_answered_after_the_cut_may_be_lost_and_nothing_before_it() {
    let mut case = Case::new();
    case.charged(Some("k"));
    case.charged(Some("l"));
    let cut = case.at(10);
    case.rows.pop();
    let mut judge = Judge::default();
    let (tally, breaches) = case.judged_by(&mut judge, Some(cut));
    assert_eq!((tally.charged, tally.late, tally.in_flight, breaches), (1, 1, 0, vec![]));
    // The power cut has lost the charge with the idempotency key `l`. So a repeat of this call is
    // charged, and the judge must accept the new answer as the first answer for this key.
    (case.calls, case.rows, case.balance) = (Vec::new(), Vec::new(), 99);
    case.call(None, End::NoAnswer);
    case.charged(Some("l"));
    assert_eq!(case.judged_by(&mut judge, None).1, []);

    let mut case = Case::new();
    case.charged(Some("k"));
    case.rows.clear();
    let cut = case.at(10);
    assert_eq!(case.judged_by(&mut Judge::default(), Some(cut)).1, [Kind::Lost]);
}

#[test]
fn what_was_forgiven_may_be_charged_again_and_nothing_else() {
    let mut case = Case::new();
    case.charged(Some("durable"));
    case.charged(Some("lost"));
    case.rows.pop();
    let mut judge = Judge::default();
    assert_eq!(case.judged_by(&mut judge, None).1, [Kind::Lost]);
    judge.forget_lost();
    case.calls.truncate(1);
    (case.rows, case.balance) = (Vec::new(), 99);
    case.replayed("durable", 0);
    case.calls.remove(0);
    assert_eq!(case.judged_by(&mut judge, None).1, [], "its charge is still known");
    case.calls.clear();
    case.charged(Some("lost"));
    assert_eq!(case.judged_by(&mut judge, None).1, [], "nobody holds the first against it");
    case.calls.clear();
    case.rows.clear();
    case.charged(Some("durable"));
    assert!(case.judged_by(&mut judge, None).1.contains(&Kind::Doubled));
}

#[test]
fn grants_are_held_against_their_rows() {
    let grant = |note: &str, is_acknowledged| GrantCall {
        note: note.to_owned(),
        account: 0,
        credits: 5,
        is_acknowledged,
    };
    let row = |note: &str| (0, note.to_owned(), 5);
    let kinds = |calls: &[GrantCall], rows: &[(usize, String, i64)]| -> Vec<Kind> {
        judge_grants(calls, rows).into_iter().map(|breach| breach.kind).collect()
    };
    assert_eq!(kinds(&[grant("a", true), grant("b", false)], &[row("a")]), []);
    assert_eq!(kinds(&[grant("a", true)], &[]), [Kind::Lost]);
    assert_eq!(kinds(&[grant("a", true)], &[row("a"), row("a")]), [Kind::Doubled]);
    assert_eq!(kinds(&[], &[row("a")]), [Kind::Foreign]);
    assert_eq!(kinds(&[grant("a", false)], &[(1, "a".to_owned(), 5)]), [Kind::Differs]);
}
