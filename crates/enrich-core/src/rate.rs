//! Rate limits: how many requests are allowed in a window of time, for each API key, and optionally
//! for all API keys of an account together. Every request is counted, and every response shows how
//! many requests are left. The operator decides whether requests beyond the limit are refused
//! ([`RatePolicy`]).
//!
//! All keys have windows that start at the same times: windows of 60 seconds start at full minutes
//! (UTC). This module reads no clock: the caller passes the time of each request.
//! [`MemoryWindows`](crate::MemoryWindows) stores the windows in memory and loses them on a
//! restart.

use jiff::Timestamp;

use crate::account::RateOverride;

/// Maximum number of requests in a window, and the length of the window in seconds. Both numbers
/// are at least 1; [`RateLimit::new`] checks this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    requests: u32,
    window_seconds: u32,
}

impl Default for RateLimit {
    /// Returns 100 requests a minute, the limit that the interface specifies.
    fn default() -> Self {
        Self { requests: 100, window_seconds: 60 }
    }
}

impl RateLimit {
    /// Creates a limit; `None` if one of the numbers is 0.
    pub const fn new(requests: u32, window_seconds: u32) -> Option<Self> {
        if requests == 0 || window_seconds == 0 {
            return None;
        }
        Some(Self { requests, window_seconds })
    }

    /// Returns the maximum number of requests in a window.
    pub const fn requests(self) -> u32 {
        self.requests
    }

    /// Returns the length of a window, in seconds.
    pub const fn window_seconds(self) -> u32 {
        self.window_seconds
    }

    /// Returns the rate limit that applies to a key. `self` is the server's limit. `own` contains
    /// the values that are set for this key; the server's values replace those that are `None`. If
    /// a value in `own` is 0, returns `self`.
    pub fn with(self, own: RateOverride) -> Self {
        let requests = own.requests.unwrap_or(self.requests);
        let window_seconds = own.window_seconds.unwrap_or(self.window_seconds);
        Self::new(requests, window_seconds).unwrap_or(self)
    }

    /// Returns the maximum number of requests per window that the owner of an API key may set for
    /// it. `self` is the server's limit. The result is the larger of these two numbers:
    ///
    /// - the number of requests per window that the key is allowed now;
    /// - the server's number of requests per window, reduced in proportion if the key's window is
    ///   shorter than the server's window. For example, if the server allows 100 requests in 60
    ///   seconds, this number is 50 for a window of 30 seconds.
    pub fn max_of_owner(self, key: RateOverride) -> u32 {
        let own = self.with(key);
        let as_fast = u64::from(self.requests) * u64::from(own.window_seconds)
            / u64::from(self.window_seconds);
        let as_fast = u32::try_from(as_fast).unwrap_or(u32::MAX);
        own.requests.max(as_fast.min(self.requests))
    }

    /// Returns the new rate limit of an API key whose owner sets the number of requests per window
    /// to `requests` (`None`: the server's number). The length of the key's window stays the same.
    /// The result is `None` if the owner may not set this number, because it is 0 or above
    /// [`max_of_owner`](Self::max_of_owner).
    pub fn set_by_owner(self, key: RateOverride, requests: Option<u32>) -> Option<RateOverride> {
        let most = self.max_of_owner(key);
        let is_allowed = (1..=most).contains(&requests.unwrap_or(self.requests));
        is_allowed.then_some(RateOverride { requests, ..key })
    }
}

/// What happens to a request beyond the rate limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RatePolicy {
    /// The request is answered as usual. Headers and metrics show that it was beyond the limit.
    #[default]
    Observe,
    /// The request is refused, without a look-up or a charge.
    Reject,
}

/// A rate-limit window: a fixed time in which the requests of one key or account are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The number of windows of the same length between the Unix epoch and the start of this
    /// window.
    number: i64,
    /// The number of requests counted in the window.
    used: u32,
    /// The length of the window in seconds. If the configured length changes, the next request
    /// begins a new window.
    seconds: u32,
}

/// Whose requests a rate limit counts: those of one key, or those of a whole account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateScope {
    /// The requests of one key.
    #[default]
    Key,
    /// The requests of all keys of an account together.
    Account,
}

/// How many requests an API key or an account has left in its window. The current request is
/// already counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitStatus {
    /// The rate limit that applies to the request.
    pub limit: RateLimit,
    /// The number of requests left in the window.
    pub remaining: u32,
    /// Seconds until the window ends, at least 1.
    pub reset_seconds: u32,
    /// Whether the current request is beyond the limit.
    pub is_over: bool,
    /// Whether the current request is the first one beyond the limit in its window.
    pub is_first_over: bool,
    /// Whether the limit applies to one key or to the whole account.
    pub scope: RateScope,
}

impl RateLimitStatus {
    /// Returns the stricter of two statuses. A status beyond its limit is stricter than a status
    /// within its limit. Otherwise, the status with fewer remaining requests is stricter. If both
    /// are equal, returns `self`.
    pub fn tighter(self, other: Self) -> Self {
        let key =
            |rate_limit_status: &Self| (!rate_limit_status.is_over, rate_limit_status.remaining);
        if key(&other) < key(&self) { other } else { self }
    }
}

impl Window {
    /// Counts a request that arrives at `now`. If the window has ended by then, begins a new
    /// window.
    pub fn count(&mut self, limit: RateLimit, now: Timestamp) -> RateLimitStatus {
        let seconds = i64::from(limit.window_seconds);
        let number = now.as_second().div_euclid(seconds);
        if self.number != number || self.seconds != limit.window_seconds {
            *self = Self { number, used: 0, seconds: limit.window_seconds };
        }
        self.used = self.used.saturating_add(1);
        let into_window = now.as_second().rem_euclid(seconds);
        RateLimitStatus {
            limit,
            remaining: limit.requests.saturating_sub(self.used),
            reset_seconds: u32::try_from(seconds - into_window).unwrap_or(1),
            is_over: self.used > limit.requests,
            is_first_over: self.used == limit.requests.saturating_add(1),
            scope: RateScope::Key,
        }
    }

    pub(crate) fn has_ended(&self, now: Timestamp) -> bool {
        let seconds = i64::from(self.seconds.max(1));
        now.as_second().div_euclid(seconds) > self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn an_owner_gives_a_key_no_more_than_it_has_or_the_server_lets_through() {
        let server = RateLimit::new(100, 60).unwrap();
        let key = |requests, window_seconds| RateOverride { requests, window_seconds };
        for (key, most) in [
            (key(None, None), 100),
            (key(Some(7), None), 100),
            (key(Some(500), None), 500),
            (key(Some(7), Some(30)), 50),
            (key(Some(7), Some(3_600)), 100),
        ] {
            assert_eq!(server.max_of_owner(key), most, "{key:?}");
            let set = server.set_by_owner(key, Some(most)).unwrap();
            assert_eq!(set, RateOverride { requests: Some(most), ..key });
            assert_eq!(server.set_by_owner(key, Some(most + 1)), None);
            assert_eq!(server.set_by_owner(key, Some(0)), None);
            assert_eq!(server.set_by_owner(key, None).is_some(), most >= 100);
        }
    }

    #[test]
    fn the_limit_is_the_last_request_within() {
        let limit = RateLimit::new(2, 60).unwrap();
        let mut window = Window::default();
        let standings = [0, 1, 2, 3].map(|second| window.count(limit, at(second)));
        assert_eq!(standings.map(|s| s.remaining), [1, 0, 0, 0]);
        assert_eq!(standings.map(|s| s.is_over), [false, false, true, true]);
        assert_eq!(standings.map(|s| s.is_first_over), [false, false, true, false]);
    }

    #[test]
    fn windows_are_whole_minutes_of_the_clock() {
        let limit = RateLimit::default();
        let mut window = Window::default();
        assert_eq!(window.count(limit, at(1_000_000_019)).reset_seconds, 1);
        let next = window.count(limit, at(1_000_000_020));
        assert_eq!((next.remaining, next.reset_seconds), (99, 60));
    }

    #[test]
    fn a_key_may_have_a_limit_of_its_own() {
        let own = RateOverride { requests: Some(7), window_seconds: None };
        assert_eq!(RateLimit::default().with(own), RateLimit::new(7, 60).unwrap());
    }

    #[test]
    fn a_changed_window_length_starts_a_new_window() {
        let mut window = Window::default();
        window.count(RateLimit::new(1, 60).unwrap(), at(0));
        assert!(!window.count(RateLimit::new(1, 10).unwrap(), at(0)).is_over);
    }
}
