//! A measured figure, and the limit by which it is judged.

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// The name of the figure in the table.
    pub(crate) name: &'static str,
    value: f64,
    unit: &'static str,
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    None,
    Below(f64),
    AtLeast(f64),
}

impl Figure {
    /// Returns a figure without a limit.
    pub(crate) fn unjudged(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self { name, value, unit, limit: Limit::None }
    }

    /// Returns a figure that must stay below `limit`.
    pub(crate) fn below(name: &'static str, value: f64, unit: &'static str, limit: f64) -> Self {
        Self { name, value, unit, limit: Limit::Below(limit) }
    }

    /// Returns a figure that must be at least `limit`. With a lower figure, the attack would prove
    /// nothing.
    pub(crate) fn at_least(name: &'static str, value: f64, unit: &'static str, limit: f64) -> Self {
        Self { name, value, unit, limit: Limit::AtLeast(limit) }
    }

    /// Whether the figure is within its limit.
    pub(crate) fn is_held(&self) -> bool {
        match self.limit {
            Limit::None => true,
            Limit::Below(limit) => self.value < limit,
            Limit::AtLeast(limit) => self.value >= limit,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} {}", self.value, self.unit)?;
        match self.limit {
            Limit::None => return Ok(()),
            Limit::Below(limit) => write!(f, " (below {limit})")?,
            Limit::AtLeast(limit) => write!(f, " (at least {limit})")?,
        }
        f.write_str(if self.is_held() { "" } else { " NOT HELD" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_part_of_what_is_not_allowed() {
        assert!(Figure::below("x", 49.9, "ms", 50.0).is_held());
        let figure = Figure::below("x", 50.0, "ms", 50.0);
        assert!(!figure.is_held());
        assert_eq!(figure.to_string(), "50.0 ms (below 50) NOT HELD");
        assert!(Figure::at_least("x", 4000.0, "", 4000.0).is_held());
        assert!(!Figure::at_least("x", 3999.0, "", 4000.0).is_held());
        assert!(Figure::unjudged("x", f64::NAN, "").is_held());
    }
}
