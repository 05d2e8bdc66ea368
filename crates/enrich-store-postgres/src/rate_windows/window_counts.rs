//! The windows of all keys and accounts on this node.

use std::collections::VecDeque;
use std::mem;

use enrich_core::{RateLimit, RatePolicy};
use rustc_hash::FxHashMap;
use uuid::Uuid;

use super::exchange::{Addition, Sum};
use super::window::{Counted, Window};

/// While the map has fewer than this number of windows, ended windows stay in it. In a larger map,
/// ended windows are removed when the map has no free capacity and a new API key or account needs a
/// window.
const SWEEP_FROM: usize = 4096;
/// Maximum number of windows in one exchange of counts with the database.
const PER_EXCHANGE: usize = 1_000;

/// The current window of each key and account on this node.
pub(super) struct WindowCounts {
    policy: RatePolicy,
    windows: FxHashMap<Uuid, Window>,
    /// The ids of the windows whose counts must be exchanged with the database.
    due: VecDeque<Uuid>,
    /// Whether the last exchange of counts with the database failed, so that this node counts
    /// alone.
    is_alone: bool,
}

impl WindowCounts {
    pub(super) fn new(policy: RatePolicy) -> Self {
        Self { policy, windows: FxHashMap::default(), due: VecDeque::new(), is_alone: false }
    }

    /// Counts a request at `now`, in seconds since 1970.
    pub(super) fn count(
        &mut self,
        id: Uuid,
        limit: RateLimit,
        now: i64,
        live_nodes: u32,
    ) -> Counted {
        // When the map is full, it doubles its capacity. Ended windows are removed only at this
        // moment, so the removal costs constant time for each new entry, on average.
        let is_full =
            self.windows.len() >= SWEEP_FROM && self.windows.len() == self.windows.capacity();
        if is_full && !self.windows.contains_key(&id) {
            self.windows.retain(|_, window| !window.has_ended(now));
        }
        let window = self.windows.entry(id).or_insert_with(|| Window::new(limit, now));
        window.turn(limit, now);
        let (counted, is_due) = match self.policy {
            RatePolicy::Observe => {
                let status = window.observe(now);
                (Counted::Decided(status), window.is_worth_telling(live_nodes))
            }
            RatePolicy::Reject => match window.admit(now) {
                Some(status) => (Counted::Decided(status), false),
                None if self.is_alone => (Counted::Decided(window.admit_alone(now)), true),
                None => (window.wait(), true),
            },
        };
        if is_due && !mem::replace(&mut window.is_due, true) {
            self.due.push_back(id);
        }
        counted
    }

    /// Returns what this node adds to the windows whose counts must be exchanged: new requests, and
    /// room that it reserves for later requests. Returns at most [`PER_EXCHANGE`] windows.
    pub(super) fn additions(&mut self, live_nodes: u32) -> Vec<Addition> {
        let mut additions = Vec::new();
        while additions.len() < PER_EXCHANGE
            && let Some(id) = self.due.pop_front()
        {
            let Some(window) = self.windows.get_mut(&id) else { continue };
            // If `is_due` is `false`, this is not the window that was put into `due`. That window
            // was removed, and this is a new one with the same id. So it is skipped.
            if !mem::replace(&mut window.is_due, false) {
                continue;
            }
            let places = match self.policy {
                RatePolicy::Observe => 0,
                RatePolicy::Reject => window.places_to_reserve(live_nodes),
            };
            let (seconds, number) = (window.seconds(), window.number());
            let addition =
                Addition { id, seconds, number, counted: window.unknown_to_others(), places };
            if addition.counted > 0 || addition.places > 0 {
                additions.push(addition);
            }
        }
        additions
    }

    /// Stores the sums that the exchange of counts at `now` returned, and decides the requests that
    /// wait.
    pub(super) fn exchanged(&mut self, additions: &[Addition], sums: &[Sum], now: i64) {
        self.is_alone = false;
        let additions: FxHashMap<Uuid, &Addition> =
            additions.iter().map(|addition| (addition.id, addition)).collect();
        for (id, sum) in sums {
            let (Some(window), Some(addition)) = (self.windows.get_mut(id), additions.get(id))
            else {
                continue;
            };
            // If the window has ended since the exchange began, the room that was reserved in it is
            // useless.
            if window.is(addition.seconds, addition.number) {
                window.exchanged(addition.counted, addition.places, *sum);
                window.admit_waiting(now);
            }
            if window.is_awaited() && !mem::replace(&mut window.is_due, true) {
                self.due.push_back(*id);
            }
        }
    }

    /// Makes this node count alone from now on, because an exchange of counts with the database has
    /// failed. Admits or refuses all waiting requests by the numbers that this node knows. The
    /// windows in `additions` stay due for a later exchange.
    pub(super) fn count_alone(&mut self, additions: &[Addition], now: i64) {
        self.is_alone = true;
        for window in self.windows.values_mut() {
            window.decide_waiting(|window| Some(window.admit_alone(now)));
        }
        for addition in additions {
            if let Some(window) = self.windows.get_mut(&addition.id)
                && !mem::replace(&mut window.is_due, true)
            {
                self.due.push_back(addition.id);
            }
        }
    }

    /// Returns the number of requests of all nodes in a window, as far as this node knows.
    #[cfg(test)]
    pub(super) fn known(&self, id: Uuid) -> u64 {
        self.windows.get(&id).map_or(0, Window::known)
    }
}
