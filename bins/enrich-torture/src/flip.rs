//! Flips bytes in copies of a closed ledger: none may lead to a wrong balance unsaid.
//!
//! For each flip: either the folder is refused when it is opened, or `verify` reports a fault, or
//! every balance and every row is what it was. A share of the flips hits the write-ahead log that a
//! process leaves behind when it dies.

mod original;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use anyhow::{Result, anyhow};
use enrich_core::Credits;
use enrich_core::port::ledger::{Charged, Ledger as _};
use enrich_store::{Options, Store};
use fastrand::Rng;

use crate::broken::Broken;
use crate::report::{Console, Summary};
use crate::setting::Setting;
use original::{LEDGER, LOG, Original, State};

/// SQLite's page size, to say where a flip was.
const PAGE_BYTES: usize = 4096;
const ROUNDS_PER_LINE: u64 = 250;

/// What to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// How many bytes are flipped, each in a copy of its own.
    pub(crate) rounds: u64,
    /// Of a hundred flips, those in a write-ahead log.
    pub(crate) log_percent: u8,
    /// Whether it is enough that SQLite's own check finds a flip.
    pub(crate) allow_check: bool,
    /// Whether a damaged write-ahead log may be taken for one whose end was never written.
    pub(crate) allow_cut: bool,
    /// Whether to go on after a flip that nobody noticed.
    pub(crate) keep_going: bool,
}

/// What became of a flip.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// The folder was refused.
    AtStart,
    /// `verify` reported it, or could not read the file.
    ByVerify,
    /// Only SQLite's own integrity check reported it, and a balance or a row differs.
    ByCheckAlone(String),
    /// Everything is what it was.
    Harmless {
        /// What is kept for repeats.
        kept: Kept,
        /// A charge was refused afterwards, which says it as well.
        charge_refused: bool,
    },
    /// The write-ahead log counts up to the damage: an earlier state of the ledger, unsaid.
    CutOff(String),
    /// Something differs and nobody says so.
    Wrong(String),
}

/// What became of the answers that are kept, where everything else is what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kept {
    /// They are what they were, or reading one fails, which says it.
    Same,
    /// One names another balance, or is taken for the answer to another question.
    Other,
    /// One is not found any more: a repeat would be charged anew.
    Gone,
}

/// One flipped byte.
#[derive(Clone, Copy, Debug)]
struct Flip {
    in_log: bool,
    at: usize,
    mask: u8,
}

#[derive(Clone, Debug, Default)]
struct Found {
    flips: u64,
    at_start: u64,
    by_verify: u64,
    by_check_alone: u64,
    harmless: u64,
    kept_other: u64,
    kept_gone: u64,
    charge_refused: u64,
    cut_off: u64,
    wrong: u64,
}

/// Flips so many bytes.
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
    let died = Original::died(&folder.join("died"))?;
    let (mut in_ledger, mut in_log) = (Found::default(), Found::default());
    for round in 1..=plan.rounds {
        let is_log = chance.u8(..100) < plan.log_percent;
        let (original, found) =
            if is_log { (&died, &mut in_log) } else { (&closed, &mut in_ledger) };
        let flip = Flip::by_chance(original, is_log, &mut chance);
        let seen = look(original, flip, &folder.join(format!("flip-{round}")))?;
        found.count(&seen);
        if let Some(broken) = plan.broken(&seen) {
            let what = format!("flip {round}: {}: {broken}", flip.named());
            if !plan.keep_going {
                return Err(Broken::because(what));
            }
            console.say(what)?;
        }
        if round % ROUNDS_PER_LINE == 0 || round == plan.rounds {
            console.say(format_args!(
                "flip {round}/{}: {} refused at start, {} reported by verify, {} harmless, {} cut off, \
                 {} wrong",
                plan.rounds,
                in_ledger.at_start + in_log.at_start,
                in_ledger.by_verify + in_log.by_verify,
                in_ledger.harmless + in_log.harmless,
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

fn summary(setting: &Setting, closed: &Original, in_ledger: &Found, in_log: &Found) -> Summary {
    Summary::of("flipped bytes in ledger.sqlite and its log")
        .row("seed", setting.seed)
        .row("rows in the ledger", closed.state.rows())
        .row("flips in the ledger", in_ledger.flips)
        .row("refused at start", in_ledger.at_start)
        .row("reported by verify", in_ledger.by_verify)
        .row("reported by SQLite alone", in_ledger.by_check_alone)
        .row("harmless", in_ledger.harmless)
        .row("wrong", in_ledger.wrong)
        .row("flips in the log", in_log.flips)
        .row("log: refused at start", in_log.at_start)
        .row("log: reported by verify", in_log.by_verify)
        .row("log: reported by SQLite alone", in_log.by_check_alone)
        .row("log: harmless", in_log.harmless)
        .row("log: cut off there, unsaid", in_log.cut_off)
        .row("log: wrong", in_log.wrong)
        .row("harmless, a kept answer differs", in_ledger.kept_other + in_log.kept_other)
        .row("harmless, a kept answer is gone", in_ledger.kept_gone + in_log.kept_gone)
        .row("harmless, a charge refused", in_ledger.charge_refused + in_log.charge_refused)
}

impl Plan {
    /// Why this must not be, if it must not.
    fn broken(self, seen: &Seen) -> Option<&str> {
        match seen {
            Seen::Wrong(what) => Some(what),
            Seen::ByCheckAlone(what) if !self.allow_check => Some(what),
            Seen::CutOff(what) if !self.allow_cut => Some(what),
            _ => None,
        }
    }
}

impl Flip {
    fn by_chance(original: &Original, in_log: bool, chance: &mut Rng) -> Self {
        let bytes = if in_log { &original.log } else { &original.ledger };
        let at = chance.usize(..bytes.len());
        // One bit as a worn disk flips it, or a byte that became any other.
        let mask = if chance.bool() { 1 << chance.u8(..8) } else { chance.u8(1..) };
        Self { in_log, at, mask }
    }

    fn named(self) -> String {
        let Self { in_log, at, mask } = self;
        let file = if in_log { LOG } else { LEDGER };
        let (page, offset) = (at / PAGE_BYTES + 1, at % PAGE_BYTES);
        match in_log {
            true => format!("{file}, byte {at}, mask {mask:#04x}"),
            false => format!("{file}, byte {at} (page {page}, offset {offset}), mask {mask:#04x}"),
        }
    }
}

impl Found {
    fn count(&mut self, seen: &Seen) {
        self.flips += 1;
        match seen {
            Seen::AtStart => self.at_start += 1,
            Seen::ByVerify => self.by_verify += 1,
            Seen::ByCheckAlone(_) => self.by_check_alone += 1,
            Seen::Harmless { kept, charge_refused } => {
                self.harmless += 1;
                self.kept_other += u64::from(*kept == Kept::Other);
                self.kept_gone += u64::from(*kept == Kept::Gone);
                self.charge_refused += u64::from(*charge_refused);
            }
            Seen::CutOff(_) => self.cut_off += 1,
            Seen::Wrong(_) => self.wrong += 1,
        }
    }

    fn broken(&self, plan: Plan) -> u64 {
        let by_check_alone = if plan.allow_check { 0 } else { self.by_check_alone };
        let cut_off = if plan.allow_cut { 0 } else { self.cut_off };
        self.wrong + by_check_alone + cut_off
    }
}

/// Makes a damaged copy and looks at it. A panic is as bad as a wrong balance.
fn look(original: &Original, flip: Flip, folder: &Path) -> Result<Seen> {
    original.copy_to(folder, |ledger, log| {
        let bytes = if flip.in_log { log } else { ledger };
        bytes[flip.at] ^= flip.mask;
    })?;
    let looked = panic::catch_unwind(AssertUnwindSafe(|| look_into(original, flip, folder)));
    let seen = looked.unwrap_or_else(|_| Ok(Seen::Wrong("it panicked".to_owned())));
    // A folder that is to be looked into stays.
    if !matches!(seen, Ok(Seen::Wrong(_) | Seen::ByCheckAlone(_) | Seen::CutOff(_))) {
        fs::remove_dir_all(folder)?;
    }
    seen
}

fn look_into(original: &Original, flip: Flip, folder: &Path) -> Result<Seen> {
    let Ok(store) = Store::open(folder, Options::default()) else {
        return Ok(Seen::AtStart);
    };
    match pollster::block_on(store.ledger.verify()) {
        Ok(proof) if proof.faults.is_empty() => {}
        Ok(_) | Err(_) => return Ok(Seen::ByVerify),
    }
    let now = State::of(&store, original);
    let difference = match &now {
        Ok(now) => original.state.difference(now),
        Err(error) => Some(format!("verify finds nothing, and it cannot be read: {error:#}")),
    };
    if let Some(difference) = difference {
        let is_checked = store.check().is_ok_and(|check| check.ledger.problems.is_empty());
        let is_earlier = now.is_ok_and(|now| now.is_earlier_than(&original.state));
        return Ok(match is_checked {
            true if flip.in_log && is_earlier => Seen::CutOff(difference),
            true => Seen::Wrong(difference),
            false => Seen::ByCheckAlone(difference),
        });
    }
    let kept = now.map_or(Kept::Same, |now| now.kept_beside(&original.state));
    charge_after(&store, original, kept)
}

/// What looked harmless must stay so when charging goes on: each account pays one more credit.
fn charge_after(store: &Store, original: &Original, kept: Kept) -> Result<Seen> {
    let mut charge_refused = false;
    for (account, before) in original.state.balances() {
        let mut expected = before;
        match pollster::block_on(store.ledger.charge(original.charge(account)?)) {
            Ok(Charged::Taken { balance }) if Some(balance) == before.minus(Credits(1)) => {
                expected = balance;
            }
            Ok(told) => {
                return Ok(Seen::Wrong(format!("with {before} left, a charge is told {told:?}")));
            }
            Err(_) => charge_refused = true,
        }
        match pollster::block_on(store.ledger.balance(account)) {
            Ok(Some(now)) if now == expected => {}
            Err(_) if charge_refused => {}
            now => {
                let what = format!("after a charge {now:?} are left instead of {expected}");
                return Ok(Seen::Wrong(what));
            }
        }
    }
    let proof = pollster::block_on(store.ledger.verify());
    match proof.map_err(|error| anyhow!(error)) {
        Ok(proof) if proof.faults.is_empty() => {}
        // It is said now, and nobody was told a wrong balance before.
        Ok(_) | Err(_) => charge_refused = true,
    }
    Ok(Seen::Harmless { kept, charge_refused })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_at(
        original: &Original,
        in_log: bool,
        spoil: impl Fn(&mut Vec<u8>, &mut Vec<u8>),
    ) -> Seen {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        original.copy_to(&copy, spoil).unwrap();
        look_into(original, Flip { in_log, at: 0, mask: 0 }, &copy).unwrap()
    }

    #[test]
    fn a_copy_without_damage_is_harmless_with_and_without_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let closed = Original::closed(&folder.path().join("closed")).unwrap();
        let died = Original::died(&folder.path().join("died")).unwrap();
        let unharmed = Seen::Harmless { kept: Kept::Same, charge_refused: false };
        assert!(closed.log.is_empty() && !died.log.is_empty());
        assert_eq!(look_at(&closed, false, |_, _| {}), unharmed);
        assert_eq!(look_at(&died, true, |_, _| {}), unharmed);
    }

    #[test]
    fn damage_that_is_noticed_is_not_held_against_it() {
        let folder = tempfile::tempdir().unwrap();
        let closed = Original::closed(&folder.path().join("closed")).unwrap();
        assert_eq!(look_at(&closed, false, |ledger, _| ledger[0] ^= 1), Seen::AtStart);
        let in_a_row = |ledger: &mut Vec<u8>, _: &mut Vec<u8>| {
            // A page that was split has left-overs of its rows: all of them.
            let found = |at: &usize| ledger[*at..].starts_with(b"flip-00007");
            let places: Vec<usize> = (0..ledger.len()).filter(found).collect();
            places.into_iter().for_each(|at| ledger[at] ^= 1);
        };
        let seen = look_at(&closed, false, in_a_row);
        assert!(matches!(seen, Seen::AtStart | Seen::ByVerify), "{seen:?}");
    }

    #[test]
    fn other_balances_than_those_remembered_are_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let mut died = Original::died(&folder.path().join("died")).unwrap();
        let remembered = std::mem::take(&mut died.state);
        died.state = Original::closed(&folder.path().join("closed")).unwrap().state;
        assert!(matches!(look_at(&died, false, |_, _| {}), Seen::Wrong(_)));
        died.state = remembered;
        let cut = look_at(&died, true, |_, log| log.truncate(log.len() / 2));
        assert!(matches!(cut, Seen::CutOff(_)), "{cut:?}");
    }
}
