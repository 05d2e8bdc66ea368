use enrich_core::Timestamp;

use super::*;

const POOR: usize = 1;

/// Invented calls, ledger rows and names of killed nodes, which the judge compares.
#[derive(Default)]
struct Trial {
    calls: Vec<Call>,
    rows: HashMap<ChargeId, Row>,
    killed: BTreeSet<String>,
}

impl Trial {
    fn call(&mut self, credits: i64, key: Option<u64>, end: End) -> ChargeId {
        let id = ChargeId::new(Timestamp::UNIX_EPOCH);
        let call = Call { id, account: 0, credits, key, asked_at: 1, ended_at: 2, end };
        self.calls.push(call);
        id
    }

    fn row(&mut self, id: ChargeId, credits: i64, balance: u64, request: &str) {
        let request = request.to_owned();
        self.rows.insert(id, Row { account: 0, credits, balance, request });
    }

    fn kinds(&self) -> Vec<Kind> {
        let Self { calls, rows, killed } = self;
        let (clients, poor, is_final) = (1, POOR, true);
        let evidence = Evidence { calls, rows, killed, clients, poor, is_final };
        let (tally, breaches) = judge(&evidence);
        let count = |kind| breaches.iter().filter(|breach| breach.kind == kind).count() as u64;
        assert_eq!(tally.lost, count(Kind::Lost));
        breaches.into_iter().map(|breach| breach.kind).collect()
    }
}

#[test]
fn an_acknowledged_charge_has_one_row_as_told() {
    let mut trial = Trial::default();
    let id = trial.call(-2, None, End::Taken(8));
    assert_eq!(trial.kinds(), [Kind::Lost]);
    trial.row(id, -2, 8, "n0-0-1");
    assert_eq!(trial.kinds(), []);
    trial.row(id, -2, 9, "n0-0-1");
    assert_eq!(trial.kinds(), [Kind::Differs]);
    trial.row(id, -3, 8, "n0-0-1");
    assert_eq!(trial.kinds(), [Kind::Differs]);
}

#[test]
fn a_refused_charge_has_no_row_and_an_unknown_one_may_have_one() {
    for (end, expected) in [
        (End::Overloaded, vec![Kind::Taken]),
        (End::Stopped, vec![Kind::Taken]),
        (End::Unknown, vec![]),
    ] {
        let mut trial = Trial::default();
        let id = trial.call(-2, None, end);
        assert_eq!(trial.kinds(), []);
        trial.row(id, -2, 8, "n0-0-1");
        assert_eq!(trial.kinds(), expected);
    }
}

#[test]
fn a_miss_has_no_row() {
    let mut trial = Trial::default();
    let id = trial.call(0, Some(7), End::Taken(8));
    assert_eq!(trial.kinds(), []);
    trial.row(id, 0, 8, "n0-0-1-key7");
    assert!(trial.kinds().contains(&Kind::Taken));
}

#[test]
fn a_key_has_one_row_and_one_answer() {
    let mut trial = Trial::default();
    let first = trial.call(-1, Some(7), End::Taken(8));
    trial.row(first, -1, 8, "n0-0-1-key7");
    trial.call(-1, Some(7), End::Replayed(first, 8));
    assert_eq!(trial.kinds(), []);
    trial.call(-1, Some(7), End::Replayed(first, 7));
    assert_eq!(trial.kinds(), [Kind::Differs, Kind::Repeat]);
    trial.calls.pop();
    let second = trial.call(-1, Some(7), End::Unknown);
    trial.row(second, -1, 7, "n1-0-1-key7");
    assert_eq!(trial.kinds(), [Kind::Doubled]);
}

#[test]
fn a_repeat_of_a_charge_that_is_not_there_is_a_loss() {
    let mut trial = Trial::default();
    let id = ChargeId::new(Timestamp::UNIX_EPOCH);
    trial.call(-1, Some(7), End::Replayed(id, 8));
    assert_eq!(trial.kinds(), [Kind::Lost]);
}

#[test]
fn an_account_with_credits_is_not_refused() {
    let mut trial = Trial::default();
    trial.call(-1, None, End::Insufficient(0));
    assert_eq!(trial.kinds(), [Kind::Answer]);
    trial.calls[0].account = POOR;
    assert_eq!(trial.kinds(), []);
    trial.calls[0].end = End::Insufficient(1);
    assert_eq!(trial.kinds(), [Kind::Answer]);
}

#[test]
fn only_a_killed_node_has_rows_that_nobody_was_told_of() {
    let mut trial = Trial::default();
    let id = ChargeId::new(Timestamp::UNIX_EPOCH);
    trial.row(id, -1, 8, "n3-0-1");
    assert_eq!(trial.kinds(), [Kind::Foreign]);
    trial.killed.insert("n3".to_owned());
    assert_eq!(trial.kinds(), []);
    // A killed node may have one row without a reported call for each of its clients. It has only
    // one client, and this is the second such row.
    trial.row(ChargeId::new(Timestamp::UNIX_EPOCH), -1, 7, "n3-0-2");
    assert_eq!(trial.kinds(), [Kind::Foreign]);
}
