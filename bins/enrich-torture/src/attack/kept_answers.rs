//! Attack: a customer with one credit makes the server store as many responses as it accepts. Each
//! response belongs to a look-up that finds nothing, which is free.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::Result;
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Grant, Ledger as _};
use enrich_core::{Account, Clock as _, NewKey};
use enrich_store::{Store, SystemClock};

use super::{Case, Figure, Target, nothing_to_prepare};
use crate::world::{Payer, World};
use enrich_testkit::http::Connection;

/// Number of connections of the attacker.
const SENDERS: usize = 8;
/// Minimum number of stored responses that belong to the attacker. With fewer, the attack would
/// prove nothing. The server refuses the attacker when half of the limit (`--max-kept 4000`) is
/// used: when 2,000 responses are stored. A few of these belong to the victim (the other customer),
/// so this minimum is a little lower.
const MIN_KEPT: f64 = 1_900.0;
/// Number of calls of the victim (the other customer) during the attack. When half of the limit
/// (`--max-kept 4000`) is used, the server still stores up to 250 responses of each account: a
/// sixteenth of the limit. The victim makes fewer calls, so none of them may be refused.
const VICTIM_CALLS: u32 = 200;
/// Minimum number of the victim's calls that must be answered. With fewer, the attack would prove
/// nothing.
const MIN_VICTIM_CALLS: f64 = 100.0;

pub(crate) static CASE: Case = Case {
    name: "kept-answers",
    about: "an account with one credit fills the room for kept answers with free misses",
    options: &["--max-kept", "4000", "--log-level", "error"],
    has_admin_listener: false,
    prepare: nothing_to_prepare,
    attack,
};

/// How many calls of one customer were answered, and how many were refused.
#[derive(Debug, Default)]
struct Tally {
    answered: AtomicU64,
    refused: AtomicU64,
}

impl Tally {
    fn count(&self, is_answered: bool) {
        let counter = if is_answered { &self.answered } else { &self.refused };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

fn attack(target: &Target<'_>) -> Result<Vec<Figure>> {
    let attacker = account_with_one_credit(&target.world.data)?;
    let (attackers, victims) = (Tally::default(), Tally::default());
    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (attacker, tally) = (&attacker, &attackers);
            scope.spawn(move || send_misses(target, attacker, sender, tally));
        }
        scope.spawn(|| send_keyed_calls(target, &victims));
    });
    let count = |counter: AtomicU64| counter.into_inner() as f64;
    Ok(vec![
        Figure::at_least("misses kept for the attacker", count(attackers.answered), "", MIN_KEPT),
        Figure::at_least("calls of the attacker refused", count(attackers.refused), "", 1.0),
        Figure::at_least("calls of the victim", count(victims.answered), "", MIN_VICTIM_CALLS),
        Figure::below("calls of the victim refused", count(victims.refused), "", 1.0),
    ])
}

/// Creates an account with one credit in the data folder of the running server.
fn account_with_one_credit(data: &Path) -> Result<Payer> {
    let store = Store::open(data)?;
    let now = SystemClock.now();
    let account = Account::new("Attacker", now);
    let (id, key) = (account.id, NewKey::generate(account.id, "attack", now)?);
    let secret = key.key.expose().to_owned();
    pollster::block_on(store.accounts.create(account, key))?;
    pollster::block_on(store.ledger.grant(Grant::new(id, 1, now)))?;
    Ok(Payer { account: id, key: secret })
}

fn send_misses(target: &Target<'_>, attacker: &Payer, sender: usize, tally: &Tally) {
    let mut connection = Connection::to(target.server);
    for number in 0_u64.. {
        if target.is_over() {
            return;
        }
        let name = format!("{sender}-{number}");
        let body = format!(r#"{{"companyWebsite":"nobody-{name}.example"}}"#);
        let headers = [("x-api-key", attacker.key.as_str()), ("Idempotency-Key", &name)];
        let reply = connection.post("/v1/dtc", &headers, &body);
        tally.count(reply.is_ok_and(|reply| reply.status == 200));
    }
}

fn send_keyed_calls(target: &Target<'_>, tally: &Tally) {
    let World { payers, questions, .. } = target.world;
    let (Some(victim), Some(question)) = (payers.first(), questions.first()) else { return };
    let pause = target.ends_at.saturating_duration_since(Instant::now()) / VICTIM_CALLS;
    let mut connection = Connection::to(target.server);
    for number in 0..VICTIM_CALLS {
        if target.is_over() {
            return;
        }
        let name = format!("victim-{number}");
        let headers = [("x-api-key", victim.key.as_str()), ("Idempotency-Key", &name)];
        let reply = connection.post(question.path, &headers, &question.body);
        tally.count(reply.is_ok_and(|reply| reply.status == 200));
        thread::sleep(pause);
    }
}
