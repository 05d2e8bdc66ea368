//! Slows down the guessing of passwords.
//!
//! Each client address and each account has a fixed number of attempts. Each check of a password
//! uses up one attempt. If the password is right, the attempt is given back. After each fixed
//! interval, one used attempt is available again. This is the generic cell rate algorithm: it needs
//! only one number for each address and account, the time at which all attempts are available
//! again. Unknown accounts are treated like existing accounts.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

/// Maximum number of client addresses that have an entry of their own; the same maximum applies to
/// accounts. All further addresses share one entry, and all further accounts share another entry.
const MAX: usize = 10_000;

/// How many attempts are possible at once (`at_once`), and the interval after which one used
/// attempt is available again (`each`).
#[derive(Clone, Copy, Debug)]
struct Pace {
    at_once: i32,
    each: SignedDuration,
}

/// How many passwords may be tried from one client address: 20 at once, then one every 15 seconds.
/// This is more than for an account, because several people may share an address and mistype.
const OF_ADDRESS: Pace = Pace { at_once: 20, each: SignedDuration::from_secs(15) };
/// How many passwords may be tried for one account: 10 at once, then 120 an hour. This is too slow
/// to guess a password of twelve characters.
const OF_ACCOUNT: Pace = Pace { at_once: 10, each: SignedDuration::from_secs(30) };

/// Limits the attempts to sign in. For each client address and each account, it stores the time at
/// which all attempts are available again.
#[derive(Default)]
pub(crate) struct LoginThrottle {
    addresses: Mutex<Tries>,
    accounts: Mutex<Tries>,
    /// The seed of the hashes under which addresses and accounts are stored. It is random, so that
    /// nobody can find two addresses or two accounts with the same hash.
    seed: RandomState,
}

#[derive(Default)]
struct Tries {
    back_at: HashMap<u64, Timestamp>,
}

/// The key of the entry that all client addresses without an entry of their own share. The map of
/// accounts has such an entry too, with the same key. No hash has this value.
const SHARED: u64 = 0;

impl LoginThrottle {
    /// Uses up one sign-in attempt of the client address, and one of the account with the typed
    /// email address.
    ///
    /// # Errors
    ///
    /// The time to wait, if the address or the account has no attempt left. In this case, no
    /// attempt is used up.
    pub(crate) fn take(
        &self,
        peer: IpAddr,
        typed: &str,
        now: Timestamp,
    ) -> Result<(), SignedDuration> {
        let (peer, typed) = (self.number(&network(peer)), self.number(&typed));
        self.addresses.lock().take(peer, OF_ADDRESS, now)?;
        self.accounts.lock().take(typed, OF_ACCOUNT, now).inspect_err(|_| {
            self.addresses.lock().give_back(peer, OF_ADDRESS);
        })
    }

    /// Makes one used attempt available again, for the client address and for the typed email
    /// address. This happens, for example, if the password was right.
    pub(crate) fn give_back(&self, peer: IpAddr, typed: &str) {
        self.addresses.lock().give_back(self.number(&network(peer)), OF_ADDRESS);
        self.accounts.lock().give_back(self.number(&typed), OF_ACCOUNT);
    }

    fn number(&self, of: &impl Hash) -> u64 {
        self.seed.hash_one(of).max(SHARED + 1)
    }
}

impl Tries {
    fn take(&mut self, who: u64, pace: Pace, now: Timestamp) -> Result<(), SignedDuration> {
        let who = self.permit(who, now);
        let back_at = self.back_at.get(&who).copied().unwrap_or(now).max(now);
        let next = back_at.saturating_add(pace.each).unwrap_or(back_at);
        let wait = now.duration_until(next) - pace.each * pace.at_once;
        if wait.is_positive() {
            return Err(wait);
        }
        self.back_at.insert(who, next);
        Ok(())
    }

    fn give_back(&mut self, who: u64, pace: Pace) {
        let who = if self.back_at.contains_key(&who) { who } else { SHARED };
        if let Some(back_at) = self.back_at.get_mut(&who) {
            *back_at = back_at.saturating_sub(pace.each).unwrap_or(*back_at);
        }
    }

    /// Returns the key under which the sign-in attempts of a client address or account are stored.
    /// This is `who` itself if it has an entry, or if there is room for a new entry; otherwise it
    /// is [`SHARED`]. To make room, removes the entries whose attempts are all available again.
    fn permit(&mut self, who: u64, now: Timestamp) -> u64 {
        if self.back_at.contains_key(&who) || self.back_at.len() < MAX {
            return who;
        }
        self.back_at.retain(|_, back_at| *back_at > now);
        if self.back_at.len() < MAX { who } else { SHARED }
    }
}

/// Returns the addresses that one person probably controls: the address itself for IPv4, and the
/// /64 network for IPv6.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + second).unwrap()
    }

    fn peer(number: u16) -> IpAddr {
        IpAddr::from([0x2001, 0xdb8, number, 0, 0, 0, 0, 1])
    }

    #[test]
    fn an_account_has_ten_tries_and_then_one_every_half_minute() {
        let login_throttle = LoginThrottle::default();
        for number in 0..10 {
            assert!(login_throttle.take(peer(number), "ada@quill.example", at(0)).is_ok());
        }
        let wait = login_throttle.take(peer(11), "ada@quill.example", at(0)).unwrap_err();
        assert_eq!(wait.as_secs(), 30);
        assert!(login_throttle.take(peer(11), "bob@quill.example", at(0)).is_ok());
        assert!(login_throttle.take(peer(11), "ada@quill.example", at(30)).is_ok());
        assert!(login_throttle.take(peer(11), "ada@quill.example", at(31)).is_err());
    }

    #[test]
    fn an_address_has_twenty_whatever_it_types_and_a_network_is_one() {
        let login_throttle = LoginThrottle::default();
        for number in 0..20_u16 {
            let host = IpAddr::from([0x2001, 0xdb8, 1, 0, 0, 0, 0, number]);
            assert!(login_throttle.take(host, &number.to_string(), at(0)).is_ok());
        }
        assert!(login_throttle.take(peer(1), "another", at(0)).is_err());
        assert!(login_throttle.take(peer(2), "another", at(0)).is_ok());
    }

    #[test]
    fn who_is_right_has_lost_no_try() {
        let login_throttle = LoginThrottle::default();
        for _ in 0..100 {
            login_throttle.take(peer(1), "ada@quill.example", at(0)).unwrap();
            login_throttle.give_back(peer(1), "ada@quill.example");
        }
    }

    #[test]
    fn no_more_are_remembered_than_fit_and_the_rest_is_slowed_as_one() {
        let mut tries = Tries::default();
        for who in 1..=(MAX as u64) {
            tries.take(who, OF_ACCOUNT, at(0)).unwrap();
        }
        let more = (0..100).map(|who| tries.take(1_000_000 + who, OF_ACCOUNT, at(0)));
        assert_eq!(more.filter(Result::is_ok).count(), 10);
        assert!(tries.back_at.len() <= MAX + 1);
        tries.take(2_000_000, OF_ACCOUNT, at(60)).unwrap();
        assert!(tries.back_at.len() <= 2);
    }
}
