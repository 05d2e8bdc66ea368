//! How sure an answer is.

/// A confidence from 1 to 100. "Nothing found" has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u8);

impl Confidence {
    /// What a source is trusted with when its records do not say.
    pub const FULL: Self = Self(100);
    /// What a record is trusted with that says something unreadable.
    pub const LEAST: Self = Self(1);
    /// The most an answer is given when another subject fits the question as well.
    pub const AMBIGUOUS: Self = Self(80);

    /// What a match by name is at least as sure as, unless the operator says otherwise: of names
    /// that nobody in a directory bears, one in fifty is answered above it (`docs/matching.md`).
    pub const LEAST_BY_NAME: Self = Self(90);

    /// A confidence of `percent`; `None` outside 1 to 100.
    pub const fn new(percent: u8) -> Option<Self> {
        if percent >= 1 && percent <= 100 { Some(Self(percent)) } else { None }
    }

    /// The nearest confidence to `percent`.
    pub const fn clamped(percent: u8) -> Self {
        match percent {
            0 => Self(1),
            1..=100 => Self(percent),
            101.. => Self(100),
        }
    }

    /// The number, 1 to 100.
    pub const fn percent(self) -> u8 {
        self.0
    }
}
