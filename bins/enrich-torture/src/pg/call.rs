//! A call that a node made to the store, and its result. Each node is a process, which writes each
//! of its calls as one line. The process of the torture reads these lines.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use enrich_core::ChargeId;
use rustix::time::{ClockId, clock_gettime};

/// A time of the operating system's monotonic clock, in microseconds. All processes on the machine
/// read the same clock.
pub(crate) type Micros = u64;

/// A call and its result. A node writes it as `id account credits key asked_at ended_at end…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The id of the call. If the call has a row in the ledger, the row has the same id.
    pub(crate) id: ChargeId,
    /// The index of the call's account in `World::accounts`.
    pub(crate) account: usize,
    /// The requested change of the balance, in credits: negative for a charge, positive for a
    /// grant, 0 for a miss.
    pub(crate) credits: i64,
    /// The number of the call's idempotency key, if it has one.
    pub(crate) key: Option<u64>,
    pub(crate) asked_at: Micros,
    pub(crate) ended_at: Micros,
    pub(crate) end: End,
}

/// The result of a call, as the store reported it to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The ledger has stored the call: a charge, a grant, or the response of a miss. The number is
    /// the balance afterwards.
    Taken(u64),
    /// The call got the answer of an earlier call with the same idempotency key. The values are the
    /// id of the earlier call, and the balance after that call.
    Replayed(ChargeId, u64),
    /// The charge was refused because of too few credits. The number is the balance.
    Insufficient(u64),
    /// The call was refused, because too many calls wait for a decision.
    Overloaded,
    /// The call was refused, because charging has stopped.
    Stopped,
    /// It is unknown whether the call was charged.
    Unknown,
    /// A result that must never occur in this torture.
    Wrong(String),
}

impl End {
    /// Whether a call with this result must have no row of its own in the ledger. This is true of
    /// all refusals, and of a replay, whose row belongs to the earlier call.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::Taken(_) | Self::Unknown => false,
            Self::Replayed(..)
            | Self::Insufficient(_)
            | Self::Overloaded
            | Self::Stopped
            | Self::Wrong(_) => true,
        }
    }
}

impl Call {
    /// Whether this call is a charge that the store reported as successful.
    pub(crate) fn is_charged(&self) -> bool {
        self.credits < 0 && matches!(self.end, End::Taken(_))
    }

    /// Whether this call was made before `time` and ended after it.
    pub(crate) fn is_in_flight_at(&self, time: Micros) -> bool {
        self.asked_at < time && time < self.ended_at
    }
}

/// Returns the time of the monotonic clock.
pub(crate) fn now() -> Micros {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds * 1_000_000 + nanos / 1_000
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, account, credits, asked_at, ended_at, .. } = self;
        write!(f, "{id} {account} {credits} ")?;
        match self.key {
            Some(key) => write!(f, "{key}")?,
            None => write!(f, "-")?,
        }
        write!(f, " {asked_at} {ended_at} ")?;
        match &self.end {
            End::Taken(balance) => write!(f, "taken {balance}"),
            End::Replayed(first, balance) => write!(f, "replayed {first} {balance}"),
            End::Insufficient(balance) => write!(f, "insufficient {balance}"),
            End::Overloaded => write!(f, "overloaded"),
            End::Stopped => write!(f, "stopped"),
            End::Unknown => write!(f, "unknown"),
            End::Wrong(what) => write!(f, "wrong {}", what.replace(['\n', '\r'], " ")),
        }
    }
}

impl FromStr for Call {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> Result<Self> {
        let mut words = line.split(' ');
        let mut next = || words.next().with_context(|| format!("a cut line: {line:?}"));
        let (id, account, credits) = (next()?.parse()?, next()?.parse()?, next()?.parse()?);
        let key = match next()? {
            "-" => None,
            number => Some(number.parse()?),
        };
        let (asked_at, ended_at) = (next()?.parse()?, next()?.parse()?);
        let end = match next()? {
            "taken" => End::Taken(next()?.parse()?),
            "replayed" => End::Replayed(next()?.parse()?, next()?.parse()?),
            "insufficient" => End::Insufficient(next()?.parse()?),
            "overloaded" => End::Overloaded,
            "stopped" => End::Stopped,
            "unknown" => End::Unknown,
            "wrong" => End::Wrong(words.collect::<Vec<_>>().join(" ")),
            other => bail!("an unknown end: {other:?}"),
        };
        Ok(Self { id, account, credits, key, asked_at, ended_at, end })
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::Timestamp;

    use super::*;

    #[test]
    fn a_call_is_read_back_from_its_line() {
        let id = ChargeId::new(Timestamp::UNIX_EPOCH);
        for end in [
            End::Taken(7),
            End::Replayed(id, 8),
            End::Insufficient(0),
            End::Overloaded,
            End::Stopped,
            End::Unknown,
            End::Wrong("two words".to_owned()),
        ] {
            for key in [None, Some(12)] {
                let end = end.clone();
                let call = Call { id, account: 3, credits: -2, key, asked_at: 5, ended_at: 9, end };
                assert_eq!(call.to_string().parse::<Call>().unwrap(), call);
            }
        }
        assert!("".parse::<Call>().is_err());
    }
}
