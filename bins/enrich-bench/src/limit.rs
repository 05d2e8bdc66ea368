//! Limits for measured values, and the lines about them in the report.

use std::io::{self, Write};

use anyhow::bail;
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Limit {
    what: String,
    measured: f64,
    bound: Bound,
    holds: bool,
}

/// A limit for a value: its minimum or its maximum.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Limit {
    pub(crate) fn new(what: impl Into<String>, measured: f64, bound: Bound) -> Self {
        // If nothing was measured, `measured` is NaN. Then the comparison is false, so the limit
        // does not hold.
        let holds = match bound {
            Bound::AtLeast(least) => measured >= least,
            Bound::AtMost(most) => measured <= most,
        };
        Self { what: what.into(), measured, bound, holds }
    }
}

pub(crate) fn write_limits(limits: &[Limit], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for Limit { what, measured, bound, holds } in limits {
        let verdict = if *holds { "HOLDS" } else { "DOES NOT HOLD" };
        let bound = match bound {
            Bound::AtLeast(least) => format!("at least {least}"),
            Bound::AtMost(most) => format!("at most {most}"),
        };
        writeln!(out, "{verdict}: {what}: {measured:.2}, to be {bound}")?;
    }
    Ok(())
}

/// Returns an error if a limit does not hold.
pub(crate) fn check_limits(limits: &[Limit]) -> anyhow::Result<()> {
    match limits.iter().filter(|limit| !limit.holds).count() {
        0 => Ok(()),
        number => bail!("{number} of {} limits do not hold", limits.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_holds_up_to_its_bound_and_never_without_a_measurement() {
        let limit = |measured, bound| Limit::new("ratio", measured, bound);
        assert!(limit(0.4, Bound::AtLeast(0.4)).holds && limit(3.0, Bound::AtMost(3.0)).holds);
        let broken = [limit(0.39, Bound::AtLeast(0.4)), limit(f64::NAN, Bound::AtMost(3.0))];
        assert!(check_limits(&broken).unwrap_err().to_string().starts_with("2 of 2"));
        let mut text = Vec::new();
        write_limits(&broken[..1], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "\nDOES NOT HOLD: ratio: 0.39, to be at least 0.4\n");
    }
}
