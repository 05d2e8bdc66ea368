//! The confidence of an answer: how sure the answer is, from 1 to 100.

/// A confidence from 1 to 100. A miss has no confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u8);

impl Confidence {
    /// The confidence of a record, if its source gives no confidence.
    pub const FULL: Self = Self(100);
    /// The confidence of a record, if the confidence that its source gives cannot be parsed.
    pub const LEAST: Self = Self(1);
    /// The highest confidence of an answer if another subject fits equally well.
    pub const AMBIGUOUS: Self = Self(80);

    /// The default minimum confidence of a match by name. A match with a lower confidence counts as
    /// not found. Even with this minimum, a name of a company that is not in the directory
    /// sometimes gets a wrong answer; `docs/matching.md` gives the share of such names.
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
