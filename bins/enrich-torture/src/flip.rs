//! Flips bytes in copies of a closed ledger. A flip must never cause a wrong balance that no check
//! finds.
//!
//! After each flip, one of these must be true:
//!
//! - The folder is refused when it is opened.
//! - `verify` reports a fault.
//! - Every balance and every ledger row is unchanged. The stored responses are unchanged too, or
//!   some are missing, and SQLite's own integrity check reports damage.
//!
//! `--allow-check` and `--allow-cut` allow further results. Some flips are aimed at small tables,
//! which a random flip would seldom hit. With `--log-percent`, some flips are made in the
//! write-ahead log of a killed process.

mod aim;
mod original;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use anyhow::{Result, anyhow};
use enrich_core::Credits;
use enrich_core::port::ledger::{Charged, Ledger as _};
use enrich_store::Store;
use fastrand::Rng;

use crate::broken::Broken;
use crate::report::{Console, Summary};
use crate::setting::Setting;
use aim::{Flip, TABLES};
use original::{Original, State};

/// One of every [`AIMED_EVERY`] flips in the ledger is aimed at a small table. The other flips hit
/// a random byte.
const AIMED_EVERY: u64 = 3;
const ROUNDS_PER_LINE: u64 = 250;

/// How many flips to make, and which results are allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The number of flips, each in its own copy of the ledger.
    pub(crate) rounds: u64,
    /// The percentage of flips that are made in a write-ahead log.
    pub(crate) log_percent: u8,
    /// Whether the torture accepts a flip that only SQLite's own integrity check finds.
    pub(crate) allow_check: bool,
    /// Whether the torture accepts that SQLite reads a damaged write-ahead log only up to the
    /// damage.
    pub(crate) allow_cut: bool,
    /// Whether to continue after a flip with a result that is not allowed. Then the torture prints
    /// each such flip, and ends with an error after the last flip. Otherwise, it ends with an error
    /// at the first such flip.
    pub(crate) keep_going: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FlipResult {
    /// The damaged folder was refused when it was opened.
    AtStart,
    /// `verify` reported the damage, or could not read the damaged file.
    ByVerify,
    /// A balance or a ledger row has changed or cannot be read. `verify` reports no fault; only
    /// SQLite's own integrity check reports the damage.
    ByCheckAlone(String),
    /// All balances and ledger rows are unchanged.
    Harmless {
        /// Whether a stored response is lost, so that a repeated call would be charged again.
        /// SQLite's own integrity check reports the loss.
        is_kept_lost: bool,
        /// Whether the usage counters have changed.
        is_used_otherwise: bool,
        /// Whether additional charges after the flip have revealed the damage: a charge was
        /// refused, or `verify` reported a fault afterwards.
        charge_refused: bool,
    },
    /// SQLite has read the write-ahead log only up to the damage. So the newest rows of the ledger
    /// are missing, and no check reports this.
    CutOff(String),
    /// A balance, a ledger row or a stored response is wrong, and no check reports it. Or the
    /// program panicked.
    Wrong(String),
}

/// How the stored responses of a damaged ledger differ from those of the undamaged ledger. They are
/// compared only if all balances and ledger rows are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StoredResponseOutcome {
    /// All stored responses are unchanged. A response that cannot be read also counts as unchanged,
    /// because the failed read reports the damage.
    Same,
    /// At least one stored response is missing.
    Gone,
    /// A stored response has another balance, or belongs to another request.
    Other,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    flips: u64,
    at_start: u64,
    by_verify: u64,
    by_check_alone: u64,
    harmless: u64,
    /// The number of harmless flips that have changed the usage counters.
    used_otherwise: u64,
    /// The number of flips that lost a stored response, but changed no balance and no ledger row.
    /// SQLite's own integrity check reports the loss.
    kept_lost: u64,
    charge_refused: u64,
    cut_off: u64,
    wrong: u64,
    /// Two numbers for each table in [`TABLES`]: the flips that were aimed at the table, and how
    /// many of these flips a check has found.
    aimed: [(u64, u64); TABLES.len()],
}

pub(crate) fn run(setting: &Setting, plan: Plan, console: &mut Console<'_>) -> Result<Summary> {
    setting.in_folder(|folder| flip_all(setting, plan, folder, console))
}

fn flip_all(
    setting: &Setting,
    plan: Plan,
    folder: &Path,
    console: &mut Console<'_>,
) -> Result<Summary> {
    let mut chance = Rng::with_seed(setting.seed);
    let closed = Original::closed(&folder.join("closed"))?;
    let died = Original::died(&closed, &folder.join("died"))?;
    let (mut in_ledger, mut in_log) = (Counts::default(), Counts::default());
    for round in 1..=plan.rounds {
        let (original, counts, flip) = if chance.u8(..100) < plan.log_percent {
            (&died, &mut in_log, Flip::in_log(died.log.len(), &mut chance))
        } else {
            let is_aimed = in_ledger.flips % AIMED_EVERY == 0;
            let table = is_aimed.then(|| chance.usize(..TABLES.len()));
            let flip = Flip::in_ledger(closed.ledger.len(), &closed.pages, table, &mut chance)?;
            (&closed, &mut in_ledger, flip)
        };
        let result = examine(original, flip, &folder.join(format!("flip-{round}")))?;
        counts.count(flip, &result);
        if let Some(broken) = plan.broken(&result) {
            let what = format!("flip {round}: {}: {broken}", flip.named());
            if !plan.keep_going {
                return Err(Broken::because(what));
            }
            console.print(what)?;
        }
        if round % ROUNDS_PER_LINE == 0 || round == plan.rounds {
            console.print(format_args!(
                "flip {round}/{}: {} refused at start, {} reported by verify, {} harmless, {} kept \
                 answers lost, {} cut off, {} wrong",
                plan.rounds,
                in_ledger.at_start + in_log.at_start,
                in_ledger.by_verify + in_log.by_verify,
                in_ledger.harmless + in_log.harmless,
                in_ledger.kept_lost + in_log.kept_lost,
                in_log.cut_off,
                in_ledger.wrong + in_log.wrong
            ))?;
        }
    }
    let broken = in_ledger.broken(plan) + in_log.broken(plan);
    if broken > 0 {
        return Err(Broken::because(format!(
            "{broken} flips went unnoticed: ledger {in_ledger:?}, write-ahead log {in_log:?}"
        )));
    }
    Ok(summary(setting, &closed, &in_ledger, &in_log))
}

fn summary(setting: &Setting, closed: &Original, in_ledger: &Counts, in_log: &Counts) -> Summary {
    let mut summary = Summary::of("flipped bytes in ledger.sqlite and its log")
        .row("seed", setting.seed)
        .row("rows in the ledger", closed.state.rows())
        .row("flips in the ledger", in_ledger.flips)
        .row("refused at start", in_ledger.at_start)
        .row("reported by verify", in_ledger.by_verify)
        .row("reported by SQLite alone", in_ledger.by_check_alone)
        .row("harmless", in_ledger.harmless)
        .row("kept answers lost, reported by SQLite", in_ledger.kept_lost)
        .row("wrong", in_ledger.wrong)
        .row("flips in the log", in_log.flips)
        .row("log: refused at start", in_log.at_start)
        .row("log: reported by verify", in_log.by_verify)
        .row("log: reported by SQLite alone", in_log.by_check_alone)
        .row("log: harmless", in_log.harmless)
        .row("log: cut off there, unsaid", in_log.cut_off)
        .row("log: kept answers lost, reported by SQLite", in_log.kept_lost)
        .row("log: wrong", in_log.wrong)
        .row("harmless, usage differs", in_ledger.used_otherwise + in_log.used_otherwise)
        .row("harmless, a charge refused", in_ledger.charge_refused + in_log.charge_refused);
    for (table, (flips, said)) in TABLES.into_iter().zip(in_ledger.aimed) {
        let what = format!("{flips} flips aimed at it, {said} refused at start or reported");
        summary = summary.row(table, what);
    }
    summary
}

impl Plan {
    /// Returns what is wrong with the result of a flip; `None` if this plan allows the result.
    fn broken(self, result: &FlipResult) -> Option<&str> {
        match result {
            FlipResult::Wrong(what) => Some(what),
            FlipResult::ByCheckAlone(what) if !self.allow_check => Some(what),
            FlipResult::CutOff(what) if !self.allow_cut => Some(what),
            _ => None,
        }
    }
}

impl Counts {
    fn count(&mut self, flip: Flip, result: &FlipResult) {
        self.flips += 1;
        if let Some(table) = flip.table {
            let is_said = matches!(
                result,
                FlipResult::AtStart | FlipResult::ByVerify | FlipResult::ByCheckAlone(_)
            );
            let (flips, said) = &mut self.aimed[table];
            *flips += 1;
            *said += u64::from(is_said);
        }
        match result {
            FlipResult::Harmless { is_kept_lost: true, .. } => self.kept_lost += 1,
            FlipResult::AtStart => self.at_start += 1,
            FlipResult::ByVerify => self.by_verify += 1,
            FlipResult::ByCheckAlone(_) => self.by_check_alone += 1,
            FlipResult::Harmless { is_used_otherwise, charge_refused, .. } => {
                self.harmless += 1;
                self.used_otherwise += u64::from(*is_used_otherwise);
                self.charge_refused += u64::from(*charge_refused);
            }
            FlipResult::CutOff(_) => self.cut_off += 1,
            FlipResult::Wrong(_) => self.wrong += 1,
        }
    }

    fn broken(&self, plan: Plan) -> u64 {
        let by_check_alone = if plan.allow_check { 0 } else { self.by_check_alone };
        let cut_off = if plan.allow_cut { 0 } else { self.cut_off };
        self.wrong + by_check_alone + cut_off
    }
}

/// Copies the ledger, makes the flip in the copy, and examines the copy. A panic counts as
/// [`FlipResult::Wrong`].
fn examine(original: &Original, flip: Flip, folder: &Path) -> Result<FlipResult> {
    original.copy_to(folder, |ledger, log| flip.strike(ledger, log))?;
    let in_log = flip.in_log;
    let examined = panic::catch_unwind(AssertUnwindSafe(|| examine_copy(original, in_log, folder)));
    let result = examined.unwrap_or_else(|_| Ok(FlipResult::Wrong("it panicked".to_owned())));
    // After a bad result, the folder is kept for examination.
    if !matches!(
        result,
        Ok(FlipResult::Wrong(_) | FlipResult::ByCheckAlone(_) | FlipResult::CutOff(_))
    ) {
        fs::remove_dir_all(folder)?;
    }
    result
}

fn examine_copy(original: &Original, in_log: bool, folder: &Path) -> Result<FlipResult> {
    let Ok(store) = Store::open(folder) else {
        return Ok(FlipResult::AtStart);
    };
    match pollster::block_on(store.ledger.verify()) {
        Ok(proof) if proof.faults.is_empty() => {}
        Ok(_) | Err(_) => return Ok(FlipResult::ByVerify),
    }
    let now = State::of(&store, original);
    let is_checked = || store.check().is_ok_and(|check| check.ledger.problems.is_empty());
    let difference = match &now {
        Ok(now) => original.state.difference(now),
        Err(error) => Some(format!("verify finds nothing, and it cannot be read: {error:#}")),
    };
    if let Some(difference) = difference {
        let is_earlier = now.is_ok_and(|now| now.is_earlier_than(&original.state));
        return Ok(match is_checked() {
            true if in_log && is_earlier => FlipResult::CutOff(difference),
            true => FlipResult::Wrong(difference),
            false => FlipResult::ByCheckAlone(difference),
        });
    }
    let mut is_kept_lost = false;
    let mut is_used_otherwise = false;
    if let Ok(now) = now {
        match now.kept_beside(&original.state) {
            StoredResponseOutcome::Same => {}
            StoredResponseOutcome::Gone if !is_checked() => is_kept_lost = true,
            StoredResponseOutcome::Gone => {
                return Ok(FlipResult::Wrong("a kept answer is gone".to_owned()));
            }
            StoredResponseOutcome::Other => {
                return Ok(FlipResult::Wrong("a kept answer is another".to_owned()));
            }
        }
        is_used_otherwise = now.is_used_otherwise(&original.state);
    }
    charge_after(&store, original, is_kept_lost, is_used_otherwise)
}

/// Charges one more credit from each account of a ledger whose damage was harmless so far. A charge
/// may be refused, but no charge may return or leave a wrong balance.
fn charge_after(
    store: &Store,
    original: &Original,
    is_kept_lost: bool,
    is_used_otherwise: bool,
) -> Result<FlipResult> {
    let mut charge_refused = false;
    for (account, before) in original.state.balances() {
        let mut expected = before;
        match pollster::block_on(store.ledger.charge(original.charge(account)?)) {
            Ok(Charged::Taken { balance }) if Some(balance) == before.checked_sub(Credits(1)) => {
                expected = balance;
            }
            Ok(told) => {
                return Ok(FlipResult::Wrong(format!(
                    "with {before} left, a charge is told {told:?}"
                )));
            }
            Err(_) => charge_refused = true,
        }
        match pollster::block_on(store.ledger.balance(account)) {
            Ok(Some(now)) if now == expected => {}
            Err(_) if charge_refused => {}
            now => {
                let what = format!("after a charge {now:?} are left instead of {expected}");
                return Ok(FlipResult::Wrong(what));
            }
        }
    }
    let proof = pollster::block_on(store.ledger.verify());
    match proof.map_err(|error| anyhow!(error)) {
        Ok(proof) if proof.faults.is_empty() => {}
        // After the additional charges, `verify` finds the damage. No charge has returned a wrong
        // balance before. So this result counts like a refused charge: the damage was reported.
        Ok(_) | Err(_) => charge_refused = true,
    }
    Ok(FlipResult::Harmless { is_kept_lost, is_used_otherwise, charge_refused })
}

#[cfg(test)]
mod tests;
