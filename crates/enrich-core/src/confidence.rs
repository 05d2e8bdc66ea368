//! The confidence of an answer.

/// A confidence from 1 to 100. A miss has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u8);

impl Confidence {
    /// The default for records without a confidence.
    pub const FULL: Self = Self(100);
    /// The confidence of a record whose own value is unreadable.
    pub const LEAST: Self = Self(1);
    /// The highest confidence of an answer when another subject fits equally well.
    pub const AMBIGUOUS: Self = Self(80);

    /// The default minimum for a match by name. One in fifty names of companies that are absent
    /// from the directory gets an answer above it (`docs/matching.md`).
    pub const LEAST_BY_NAME: Self = Self(90);

    /// Creates a confidence; `None` outside 1 to 100.
    pub const fn new(percent: u8) -> Option<Self> {
        if percent >= 1 && percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// Creates the confidence nearest to `percent`: below 1 it is 1, above 100 it is 100.
    pub const fn clamped(percent: u8) -> Self {
        match percent {
            0 => Self(1),
            1..=100 => Self(percent),
            101.. => Self(100),
        }
    }

    /// The value, 1 to 100.
    pub const fn percent(self) -> u8 {
        self.0
    }
}
