//! The confidence of an answer: how sure it is that the answer is right, from 1 to 100.

/// A confidence from 1 to 100; 100 is the surest. An answer that found nothing has no confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u8);

impl Confidence {
    /// The highest confidence. A record gets it if its source gives no confidence.
    pub const FULL: Self = Self(100);
    /// The lowest confidence. A record gets it if the confidence in the record cannot be parsed.
    pub const MIN: Self = Self(1);
    /// The highest confidence of an answer if another company or person fits equally well.
    pub const AMBIGUOUS: Self = Self(80);

    /// The default minimum confidence of a company that is found by its name. A company with a
    /// lower confidence is treated as not found. Even with this minimum, a look-up of a company
    /// that is not in the look-up data sometimes returns another company; `docs/matching.md` says
    /// how often.
    pub const MIN_BY_NAME: Self = Self(90);

    /// Creates a confidence. Returns `None` if `percent` is not from 1 to 100.
    pub const fn new(percent: u8) -> Option<Self> {
        if percent >= 1 && percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// Creates the confidence nearest to `percent`: 1 for 0, and 100 for more than 100.
    pub const fn clamped(percent: u8) -> Self {
        match percent {
            0 => Self(1),
            1..=100 => Self(percent),
            101.. => Self(100),
        }
    }

    /// Returns the value, from 1 to 100.
    pub const fn percent(self) -> u8 {
        self.0
    }
}
