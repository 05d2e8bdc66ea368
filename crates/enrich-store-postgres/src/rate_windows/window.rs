//! The rate-limit window of one API key or account, as this node knows it.

use std::collections::VecDeque;

use enrich_core::{RateLimit, RateLimitStatus, RateScope};
use tokio::sync::oneshot;

/// Maximum number of requests in one rate-limit window that wait until this node has reserved a
/// place for each. A place is room for one request.
const MAX_WAITING: usize = 4096;

/// The outcome of counting a request.
pub(super) enum Counted {
    /// The request was admitted or refused.
    Decided(RateLimitStatus),
    /// The next exchange of counts with the database decides the request.
    Waits(oneshot::Receiver<RateLimitStatus>),
    /// The request was not counted, because too many requests wait.
    Overloaded,
}

/// The requests in the current rate-limit window of one API key or account. The database has a sum
/// for the window: the requests that all nodes have added, and the places that they have reserved.
/// A place is room for one request. If requests over the limit are refused, a node must reserve a
/// place before it admits a request.
pub(super) struct Window {
    limit: RateLimit,
    number: i64,
    /// The number of requests that this node has counted. If this node reserves places for
    /// requests, only the requests that it has admitted are counted.
    counted: u64,
    /// This node's share of the sum in the database: the requests that it has added, plus the
    /// places that it has reserved within the limit. A place is room for one request.
    mine: u64,
    /// The other nodes' share of the sum in the database, as of the last exchange: their requests,
    /// and the places that they have reserved for later requests.
    others: u64,
    has_told_over: bool,
    /// The requests that wait until this node has reserved room for them.
    waiting: VecDeque<oneshot::Sender<RateLimitStatus>>,
    /// Whether the counts of this window must be exchanged with the database.
    pub(super) is_due: bool,
}

impl Window {
    /// Creates the window that contains the time `now` (in seconds since 1970), without requests.
    pub(super) fn new(limit: RateLimit, now: i64) -> Self {
        Self {
            limit,
            number: number(limit, now),
            counted: 0,
            mine: 0,
            others: 0,
            has_told_over: false,
            waiting: VecDeque::new(),
            is_due: false,
        }
    }

    /// Begins a new window if this window has ended, or if `limit` has another window length than
    /// before. Requests that wait in the old window then wait in the new one. Also stores `limit`.
    pub(super) fn turn(&mut self, limit: RateLimit, now: i64) {
        if !self.is(limit.window_seconds(), number(limit, now)) {
            let (waiting, is_due) = (std::mem::take(&mut self.waiting), self.is_due);
            *self = Self { waiting, is_due, ..Self::new(limit, now) };
        }
        self.limit = limit;
    }

    /// Whether this window is `seconds` seconds long and has the number `number`: the number of
    /// windows of this length between the Unix epoch and this window.
    pub(super) fn is(&self, seconds: u32, number: i64) -> bool {
        self.number == number && self.limit.window_seconds() == seconds
    }

    pub(super) fn seconds(&self) -> u32 {
        self.limit.window_seconds()
    }

    pub(super) fn number(&self) -> i64 {
        self.number
    }

    /// Whether the window has ended and no request waits in it.
    pub(super) fn has_ended(&self, now: i64) -> bool {
        number(self.limit, now) > self.number && self.waiting.is_empty()
    }

    /// Counts a request that is answered even if it is over the limit. So no room is reserved for
    /// it.
    pub(super) fn observe(&mut self, now: i64) -> RateLimitStatus {
        self.counted = self.counted.saturating_add(1);
        let is_over = self.known() > self.requests();
        self.status(is_over, now)
    }

    /// Decides a request: admits it if this node has reserved room for it, and refuses it if the
    /// window is full. Returns `None` if the request must wait, because earlier requests wait or
    /// this node has no reserved room left.
    pub(super) fn admit(&mut self, now: i64) -> Option<RateLimitStatus> {
        if self.waiting.is_empty() { self.admit_next(now) } else { None }
    }

    fn admit_next(&mut self, now: i64) -> Option<RateLimitStatus> {
        if self.counted < self.mine {
            self.counted += 1;
            return Some(self.status(false, now));
        }
        self.is_full().then(|| self.status(true, now))
    }

    /// Decides a request while the database cannot be reached, so that no room can be reserved.
    /// Admits the request if this node knows of fewer requests than the limit allows.
    pub(super) fn admit_alone(&mut self, now: i64) -> RateLimitStatus {
        let is_over = self.known() >= self.requests();
        if !is_over {
            self.counted += 1;
        }
        self.status(is_over, now)
    }

    /// Makes a request wait until this node has reserved room for it. If too many requests wait
    /// already, returns [`Counted::Overloaded`].
    pub(super) fn wait(&mut self) -> Counted {
        if self.waiting.len() >= MAX_WAITING {
            return Counted::Overloaded;
        }
        let (decision, decided) = oneshot::channel();
        self.waiting.push_back(decision);
        Counted::Waits(decided)
    }

    /// Whether requests wait until this node has reserved room for them.
    pub(super) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Decides the waiting requests, in order: `decide` admits or refuses the next one. Stops when
    /// `decide` returns `None`, because the next request must still wait.
    pub(super) fn decide_waiting(
        &mut self,
        mut decide: impl FnMut(&mut Self) -> Option<RateLimitStatus>,
    ) {
        while let Some(decision) = self.waiting.pop_front() {
            let counted = self.counted;
            let Some(status) = decide(self) else {
                return self.waiting.push_front(decision);
            };
            // If the caller no longer waits, its request is not counted, and the next request gets
            // its room.
            if decision.send(status).is_err() {
                self.counted = counted;
            }
        }
    }

    /// Admits as many waiting requests as this node has reserved room for. Refuses the other
    /// waiting requests if the window is full.
    pub(super) fn admit_waiting(&mut self, now: i64) {
        self.decide_waiting(|window| window.admit_next(now));
    }

    /// Returns the number of this node's requests that are not yet in the database.
    pub(super) fn unknown_to_others(&self) -> u64 {
        self.counted.saturating_sub(self.mine)
    }

    /// Returns how many places this node must reserve next. A place is room for one request. The
    /// number is the larger of two: the number of waiting requests, and a part of the places that
    /// are left in the window. With the second number, places are also reserved for later requests,
    /// which then need not wait. Returns 0 if the window is full, or if this node still has
    /// reserved places.
    pub(super) fn places_to_reserve(&self, live_nodes: u32) -> u64 {
        if self.is_full() || self.counted < self.mine {
            return 0;
        }
        let nodes = u64::from(live_nodes.max(1));
        let left = self.requests().saturating_sub(self.others.saturating_add(self.mine));
        let chunk = (self.requests() / (4 * nodes)).min(left / (2 * nodes)).max(1);
        chunk.max(self.waiting.len() as u64)
    }

    /// Stores the result of an exchange of counts with the database. This node has just added
    /// `counted` requests to the window in the database, and reserved `places`: room for that many
    /// later requests. `sum` is the new sum of all nodes. Only the places within the limit count as
    /// reserved. For example, with a limit of 10, a `sum` of 12 and 5 `places`, 3 places count.
    pub(super) fn exchanged(&mut self, counted: u64, places: u64, sum: u64) {
        let before = sum.saturating_sub(places);
        let reserved = places.min(self.requests().saturating_sub(before));
        self.mine = self.mine.saturating_add(counted).saturating_add(reserved);
        self.others = sum.saturating_sub(self.mine);
    }

    /// Whether this node must exchange the counts of this window with the database. It must if it
    /// knows of at least `requests / (5 * live_nodes)` requests, where `requests` is the limit. For
    /// example, this is 10 requests if the limit is 100 and two nodes are live. While every node
    /// has fewer requests, an exchange is not needed, because all nodes together are far below the
    /// limit. Only a node that reserves no room for requests calls this method.
    pub(super) fn is_worth_telling(&self, live_nodes: u32) -> bool {
        self.known().saturating_mul(5 * u64::from(live_nodes)) >= self.requests()
    }

    /// Whether the requests and reserved places of all nodes reach the limit, as far as this node
    /// knows. A place is room for one request.
    fn is_full(&self) -> bool {
        self.others.saturating_add(self.mine) >= self.requests()
    }

    /// Returns the number of requests of all nodes, as far as this node knows. The places that
    /// other nodes have reserved count as requests.
    pub(super) fn known(&self) -> u64 {
        self.others.saturating_add(self.counted)
    }

    fn requests(&self) -> u64 {
        u64::from(self.limit.requests())
    }

    fn status(&mut self, is_over: bool, now: i64) -> RateLimitStatus {
        let left = self.requests().saturating_sub(self.known());
        let seconds = i64::from(self.limit.window_seconds());
        let is_first_over = is_over && !self.has_told_over;
        self.has_told_over |= is_over;
        RateLimitStatus {
            limit: self.limit,
            remaining: u32::try_from(left).unwrap_or(u32::MAX),
            reset_seconds: u32::try_from(seconds - now.rem_euclid(seconds)).unwrap_or(1),
            is_over,
            is_first_over,
            scope: RateScope::Key,
        }
    }
}

/// Returns the number of whole windows between the Unix epoch and the time `now`.
fn number(limit: RateLimit, now: i64) -> i64 {
    now.div_euclid(i64::from(limit.window_seconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(requests: u32) -> RateLimit {
        RateLimit::new(requests, 60).unwrap()
    }

    #[test]
    fn of_the_places_asked_for_only_those_under_the_limit_are_reserved() {
        for (sum, reserved) in [(10, 10), (100, 10), (104, 6), (110, 0), (140, 0)] {
            let mut window = Window::new(limit(100), 0);
            window.exchanged(0, 10, sum);
            assert_eq!((window.mine, window.others), (reserved, sum - reserved), "{sum}");
            let admitted = (0..20).filter_map(|_| window.admit(0)).filter(|it| !it.is_over);
            assert_eq!(admitted.count() as u64, reserved, "{sum}");
        }
    }

    #[test]
    fn chunks_get_smaller_towards_the_limit() {
        let mut window = Window::new(limit(100), 0);
        let (mut sum, mut chunks) = (0, Vec::new());
        loop {
            let places = window.places_to_reserve(5);
            if places == 0 {
                break;
            }
            chunks.push(places);
            sum += places;
            window.exchanged(0, places, sum);
            while window.counted < window.mine {
                window.admit(0);
            }
        }
        assert_eq!(chunks.iter().sum::<u64>(), 100);
        assert!(chunks.is_sorted_by(|one, next| one >= next), "{chunks:?}");
        assert_eq!((chunks[0], chunks.last()), (5, Some(&1)));
    }

    #[test]
    fn requests_that_wait_at_the_end_of_a_window_wait_for_the_next() {
        let mut window = Window::new(limit(1), 59);
        let Counted::Waits(mut decided) = window.wait() else { panic!("it is decided") };
        window.turn(limit(1), 60);
        assert!(window.is_awaited() && window.is(60, 1));
        window.exchanged(0, 1, 1);
        window.admit_waiting(60);
        assert!(!decided.try_recv().unwrap().is_over);
    }

    #[test]
    fn a_caller_that_is_gone_leaves_its_place_to_the_next() {
        let mut window = Window::new(limit(1), 0);
        drop(window.wait());
        let Counted::Waits(mut decided) = window.wait() else { panic!("it is decided") };
        window.exchanged(0, 1, 1);
        window.admit_waiting(0);
        assert!(!decided.try_recv().unwrap().is_over);
    }

    #[test]
    fn what_was_admitted_alone_is_added_later() {
        let mut window = Window::new(limit(10), 0);
        let admitted = (0..4).filter(|_| !window.admit_alone(0).is_over).count();
        assert_eq!((admitted, window.unknown_to_others()), (4, 4));
        // The sum 12 consists of 4 requests and 2 places of this node, and 6 requests of other
        // nodes. The requests alone reach the limit of 10, so neither of the two places is within
        // the limit.
        window.exchanged(4, 2, 12);
        assert_eq!((window.mine, window.unknown_to_others()), (4, 0));
        assert!(window.admit(0).unwrap().is_over);
    }
}
