//! Chooses the lane for a job. A job is a charge or a grant; a lane is a task that decides jobs.
//!
//! For the database, the cost of a group of charges depends little on its number of jobs. So while
//! there are few callers, all of them use one lane, which decides their jobs in few groups. Many
//! callers are divided between all lanes, because a lane works on one group at a time.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use enrich_core::AccountId;

/// The number of lanes of a node. A lane decides charges in groups, on its own connection.
pub(super) const LANES: usize = 2;
/// If more than this number of callers wait for decisions at the same time, all lanes are used for
/// some time. Otherwise, only one lane is used.
const MAX_ON_ONE_LANE: usize = 256;
/// The time, in milliseconds, for which all lanes stay in use after more than [`MAX_ON_ONE_LANE`]
/// callers have waited. The number of used lanes must not change often, because each change has a
/// cost. A lane remembers the last ledger row of its accounts. After a change, an account may get
/// another lane, which must first read this row from the database.
const ALL_LANES_FOR: u64 = 1_000;

/// Counts the waiting callers. Their number decides how many lanes are used.
#[derive(Debug)]
pub(super) struct LaneChoice {
    callers: AtomicUsize,
    created: Instant,
    /// The time until which all lanes are used, in milliseconds since `created`.
    all_until: AtomicU64,
}

/// A caller that waits for a decision. [`LaneChoice`] counts it until this value is dropped.
#[derive(Debug)]
pub(super) struct Caller<'c>(&'c LaneChoice);

impl LaneChoice {
    pub(super) fn new() -> Self {
        let (callers, all_until) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { callers, created: Instant::now(), all_until }
    }

    /// Counts one more waiting caller, and returns the number of the lane (the task that decides
    /// charges) for its job. While the number of used lanes stays the same, an account always has
    /// the same lane.
    pub(super) fn enter(&self, account: AccountId) -> (usize, Caller<'_>) {
        let now = u64::try_from(self.created.elapsed().as_millis()).unwrap_or(u64::MAX);
        (self.lane_at(now, account), Caller(self))
    }

    /// Counts one more waiting caller, and returns the number of the lane for its job. `now` is in
    /// milliseconds since `created`.
    fn lane_at(&self, now: u64, account: AccountId) -> usize {
        let callers = self.callers.fetch_add(1, Ordering::Relaxed) + 1;
        if callers > MAX_ON_ONE_LANE {
            self.all_until.store(now.saturating_add(ALL_LANES_FOR), Ordering::Relaxed);
        }
        let lanes = if now < self.all_until.load(Ordering::Relaxed) { LANES } else { 1 };
        (account.0.as_u128() % lanes as u128) as usize
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.0.callers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn lane_at(choice: &LaneChoice, now: u64) -> usize {
        let lane = choice.lane_at(now, AccountId(Uuid::from_u128(3)));
        drop(Caller(choice));
        lane
    }

    #[test]
    fn all_lanes_are_used_for_a_second_after_many_callers_have_waited() {
        let choice = LaneChoice::new();
        assert_eq!(lane_at(&choice, 0), 0);
        let callers: Vec<_> =
            (0..MAX_ON_ONE_LANE).map(|_| choice.enter(AccountId(Uuid::nil())).1).collect();
        assert_eq!(lane_at(&choice, 10_000), 1);
        drop(callers);
        assert_eq!(lane_at(&choice, 10_999), 1);
        assert_eq!(lane_at(&choice, 11_000), 0);
        assert_eq!(choice.callers.into_inner(), 0);
    }
}
