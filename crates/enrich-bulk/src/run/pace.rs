//! Enforces the ceiling of a job, which is the most credits that the job may cost. Before a row is
//! sent, the highest cost of the row is reserved.

/// The ceiling of a job (the most credits that it may cost), the credits spent, and the credits
/// reserved for rows in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ceiling {
    max: Option<u64>,
    spent: u64,
    reserved: u64,
}

impl Ceiling {
    /// Creates the ceiling of a job. `max` is the most credits that the job may cost; `None` means
    /// no ceiling. `spent` is the number of credits that earlier runs of the job have cost.
    pub(super) fn new(max: Option<u64>, spent: u64) -> Self {
        Self { max, spent, reserved: 0 }
    }

    pub(super) fn is_set(&self) -> bool {
        self.max.is_some()
    }

    /// Reserves `highest` credits, the most that a row may cost, and returns `true`. If the job
    /// could then cost more than the ceiling, reserves nothing and returns `false`.
    pub(super) fn reserve(&mut self, highest: u64) -> bool {
        let sum = self.spent.saturating_add(self.reserved).saturating_add(highest);
        let fits = self.max.is_none_or(|max| sum <= max);
        if fits {
            self.reserved = self.reserved.saturating_add(highest);
        }
        fits
    }

    /// Replaces the reservation for a row with the actual cost of the row.
    pub(super) fn settle(&mut self, reserved: u64, credits: u64) {
        self.reserved = self.reserved.saturating_sub(reserved);
        self.spent = self.spent.saturating_add(credits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_and_reserved_never_passes_the_ceiling() {
        let mut ceiling = Ceiling::new(Some(10), 4);
        assert!(ceiling.reserve(3));
        assert!(ceiling.reserve(3));
        assert!(!ceiling.reserve(1));
        ceiling.settle(3, 1);
        assert!(ceiling.reserve(2));
        assert!(!ceiling.reserve(1));
    }

    #[test]
    fn without_a_ceiling_everything_fits() {
        let mut none = Ceiling::new(None, u64::MAX);
        assert!(none.reserve(u64::MAX));
    }
}
