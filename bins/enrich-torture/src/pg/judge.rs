//! The judge: compares the rows of the ledger with the results that the clients of the nodes got.
//!
//! - If the result is "taken", the call has exactly one row, with the balance and price of the
//!   result.
//! - If the result is a refusal, the call has no row.
//! - If the result is "unknown", the call may have a row.
//!
//! All calls with the same idempotency key together have at most one row and one answer. A row
//! without a result must belong to a call of a killed node.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Result;
use enrich_core::port::ledger::Ledger as _;
use enrich_core::{ChargeId, EntryKind};
use enrich_store_postgres::Store;

use crate::judge::{Breach, Kind};
use crate::pg::call::{Call, End};
use crate::pg::tally::Tally;
use crate::pg::world::{FIRST_NOTE, World};

/// Number of ledger entries that are read in one step.
const PAGE: u32 = 5_000;
/// The text in a request id before the number of its idempotency key.
const KEY_MARK: &str = "-key";

/// A row of the ledger: a charge or a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The index of the row's account in `World::accounts`.
    pub(crate) account: usize,
    pub(crate) credits: i64,
    pub(crate) balance: u64,
    /// The request id of a charge, or the note of a grant.
    pub(crate) request: String,
}

/// What the judge must know to judge the calls of one database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    /// The calls that nodes had reported before the rows were read.
    pub(crate) calls: &'a [Call],
    pub(crate) rows: &'a HashMap<ChargeId, Row>,
    /// The names of the killed nodes. These nodes could not report the results of their last
    /// calls.
    pub(crate) killed: &'a BTreeSet<String>,
    /// The number of clients of each node.
    pub(crate) clients: usize,
    /// The index in `World::accounts` of the account that may have too few credits.
    pub(crate) poor: usize,
    /// Whether all nodes have ended, so that no further call will be reported.
    pub(crate) is_final: bool,
}

/// Reads all rows of the ledger. Returns them by the id of their charge or grant. Also returns the
/// breaches: gaps in a sequence, wrong balances, and ids with several rows.
pub(crate) fn read_rows(
    store: &Store,
    world: &World,
) -> Result<(HashMap<ChargeId, Row>, Vec<Breach>)> {
    let (mut rows, mut breaches) = (HashMap::new(), Vec::new());
    for (index, (account, _)) in world.accounts.iter().enumerate() {
        let (mut last, mut balance) = (0, 0);
        loop {
            let page = pollster::block_on(store.ledger.entries(*account, last, PAGE))?;
            if page.is_empty() {
                break;
            }
            for entry in page {
                let follows = entry.sequence == last + 1
                    && i128::from(entry.balance.0)
                        == i128::from(balance) + i128::from(entry.credits);
                if !follows {
                    let what = format!("row {} of account {index}: {entry:?}", last + 1);
                    breaches.push(Breach { kind: Kind::Differs, what });
                }
                (last, balance) = (entry.sequence, entry.balance.0);
                let request = match entry.kind {
                    EntryKind::Charge { request_id, .. } => request_id,
                    EntryKind::Grant | EntryKind::Adjustment { .. } => entry.note,
                };
                let row = Row { account: index, credits: entry.credits, balance, request };
                if let Some(other) = rows.insert(entry.id, row) {
                    let what = format!("the id {} is of {other:?} too", entry.id);
                    breaches.push(Breach { kind: Kind::Doubled, what });
                }
            }
        }
    }
    Ok((rows, breaches))
}

/// Judges all calls of a database. Returns the counts of calls and the breaches.
pub(crate) fn judge(evidence: &Evidence<'_>) -> (Tally, Vec<Breach>) {
    let mut breaches = Vec::new();
    let mut tally = Tally::default();
    for call in evidence.calls {
        let row = evidence.rows.get(&call.id);
        tally.count(call, row.is_some());
        judge_call(call, row, evidence, &mut breaches);
    }
    judge_keys(evidence, &mut breaches);
    if evidence.is_final {
        tally.untold = judge_untold(evidence, &mut breaches);
    }
    let count = |kind| breaches.iter().filter(|breach| breach.kind == kind).count() as u64;
    (tally.lost, tally.doubled) = (count(Kind::Lost), count(Kind::Doubled));
    (tally, breaches)
}

fn judge_call(call: &Call, row: Option<&Row>, evidence: &Evidence<'_>, breaches: &mut Vec<Breach>) {
    let mut breach = |kind, what: &str| {
        let what = format!("{what}: {call}; its row: {row:?}");
        breaches.push(Breach { kind, what });
    };
    match (&call.end, row) {
        (End::Taken(_), None) if call.credits != 0 => breach(Kind::Lost, "acknowledged"),
        (End::Taken(told), Some(row)) => {
            let Row { account, credits, balance, .. } = row;
            if (*account, *credits, *balance) != (call.account, call.credits, *told) {
                breach(Kind::Differs, "told otherwise");
            }
        }
        (End::Replayed(first, told), _) => match evidence.rows.get(first) {
            // The call repeats the answer of an earlier call that found nothing. Such an answer is
            // free, so the earlier call has no row.
            None if call.credits == 0 => {}
            None => breach(Kind::Lost, "repeats an answer whose charge is not there"),
            Some(first) => {
                if (first.account, first.credits, first.balance)
                    != (call.account, call.credits, *told)
                {
                    breach(Kind::Differs, "repeats an answer told otherwise");
                }
            }
        },
        (End::Insufficient(left), _) => {
            let is_poor = call.account == evidence.poor;
            if !is_poor || i64::try_from(*left).is_ok_and(|left| left + call.credits >= 0) {
                breach(Kind::Answer, "refused for lack of credits that are there");
            }
        }
        (End::Wrong(_), _) => breach(Kind::Answer, "what nothing here can cause"),
        _ => {}
    }
    if row.is_some() && call.end.is_refusal() {
        breach(Kind::Taken, "refused, but charged");
    }
    if row.is_some() && call.credits == 0 {
        breach(Kind::Taken, "found nothing, but charged");
    }
}

/// Judges the calls of each idempotency key together.
fn judge_keys(evidence: &Evidence<'_>, breaches: &mut Vec<Breach>) {
    let mut rows: BTreeMap<u64, ChargeId> = BTreeMap::new();
    for (id, row) in evidence.rows {
        let Some((_, key)) = row.request.rsplit_once(KEY_MARK) else { continue };
        let Ok(key) = key.parse() else { continue };
        if let Some(other) = rows.insert(key, *id) {
            let what = format!("the key {key} was charged as {other} and as {id}");
            breaches.push(Breach { kind: Kind::Doubled, what });
        }
    }
    let mut answers: BTreeMap<u64, (ChargeId, u64)> = BTreeMap::new();
    let mut originals = BTreeSet::new();
    for call in evidence.calls {
        let Some(key) = call.key else { continue };
        let answer = match call.end {
            End::Taken(balance) => (call.id, balance),
            End::Replayed(first, balance) => (first, balance),
            _ => continue,
        };
        let is_original = matches!(call.end, End::Taken(_));
        if is_original && !originals.insert(key) {
            let what = format!("the key {key} was told as taken once more: {call}");
            breaches.push(Breach { kind: Kind::Repeat, what });
        }
        let first = *answers.entry(key).or_insert(answer);
        if first != answer {
            let what = format!("the key {key} was answered as {first:?} before: {call}");
            breaches.push(Breach { kind: Kind::Repeat, what });
        }
    }
}

/// Judges the rows of calls that no node has reported. Only a killed node may have such rows, at
/// most one for each of its clients. Returns the number of such rows.
fn judge_untold(evidence: &Evidence<'_>, breaches: &mut Vec<Breach>) -> u64 {
    let told: BTreeSet<ChargeId> = evidence.calls.iter().map(|call| call.id).collect();
    let mut untold: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, row) in evidence.rows {
        if told.contains(id) || row.request == FIRST_NOTE {
            continue;
        }
        let node = row.request.split('-').next().unwrap_or_default();
        if !evidence.killed.contains(node) {
            let what = format!("nobody was told of {id}: {row:?}");
            breaches.push(Breach { kind: Kind::Foreign, what });
        }
        *untold.entry(node).or_default() += 1;
    }
    for (node, count) in &untold {
        if *count > evidence.clients {
            let what = format!("{count} rows of {node} were told to nobody");
            breaches.push(Breach { kind: Kind::Foreign, what });
        }
    }
    untold.values().sum::<usize>() as u64
}

#[cfg(test)]
mod tests;
