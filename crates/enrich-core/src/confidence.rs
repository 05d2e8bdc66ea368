//! The confidence of an answer: how sure the answer is, from 1 to 100.

/// A confidence from 1 to 100. A miss has no confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u8);

impl Confidence {
    /// The confidence of a record to which its source gives none.
    pub const FULL: Self = Self(100);
    /// The confidence of a record whose given confidence can't be read.
    pub const LEAST: Self = Self(1);
    /// The highest confidence of an answer if another subject fits equally well.
    pub const AMBIGUOUS: Self = Self(80);

    /// The default for the minimum confidence of a match by name: a match below the minimum counts
    /// as not found. Even with this minimum, some names of companies that are not in the directory
    /// get a wrong answer (`docs/matching.md` gives the share).
    pub const LEAST_BY_NAME: Self = Self(90);

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
