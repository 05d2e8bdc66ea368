//! Amounts of credits, and the rules for the prices of answers.

use std::fmt;
use std::num::NonZeroU64;

/// An amount of credits, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Credits(pub u64);

impl Credits {
    /// Zero credits.
    pub const ZERO: Self = Self(0);
    /// Maximum number of credits that an account can have: the largest signed 64-bit integer.
    pub const MAX: Self = Self(i64::MAX as u64);

    /// Returns the amount minus `price`; `None` if `price` is larger than the amount.
    pub const fn checked_sub(self, price: Self) -> Option<Self> {
        match self.0.checked_sub(price.0) {
            Some(left) => Some(Self(left)),
            None => None,
        }
    }

    /// Returns the amount plus `change`, which may be negative. `None` if the result is below zero
    /// or above [`Credits::MAX`].
    pub const fn checked_add_signed(self, change: i64) -> Option<Self> {
        match self.0.checked_add_signed(change) {
            Some(sum) if sum <= Self::MAX.0 => Some(Self(sum)),
            _ => None,
        }
    }
}

impl fmt::Display for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The rule for the price of an endpoint's answers. An answer that found nothing is always free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Price {
    /// A fixed number of credits for each answer.
    PerAnswer(u64),
    /// One credit for each group of this many items. An incomplete group also costs one credit:
    /// with 5 items in a group, 6 items cost 2 credits.
    PerItems(NonZeroU64),
}

impl Price {
    /// Returns the price of one credit for each group of `ITEMS` items. With `ITEMS` = 0, the
    /// program does not compile.
    pub const fn per_items<const ITEMS: u64>() -> Self {
        Self::PerItems(const { NonZeroU64::new(ITEMS).unwrap() })
    }

    /// Returns the lowest price of an answer that found something.
    pub const fn least(self) -> Credits {
        match self {
            Self::PerAnswer(credits) => Credits(credits),
            Self::PerItems(_) => Credits(1),
        }
    }

    /// Returns the price of an answer with `items` items. An answer that found nothing has 0
    /// items and is free.
    pub const fn of(self, items: u64) -> Credits {
        match self {
            _ if items == 0 => Credits::ZERO,
            Self::PerAnswer(credits) => Credits(credits),
            Self::PerItems(per_credit) => Credits(items.div_ceil(per_credit.get())),
        }
    }

    /// Returns the maximum number of items that `balance` pays for. With [`Price::PerAnswer`], an
    /// answer costs the same with any number of items: returns [`u64::MAX`] if `balance` pays for
    /// an answer, and otherwise 0.
    pub const fn max_items(self, balance: Credits) -> u64 {
        match self {
            Self::PerAnswer(credits) if balance.0 < credits => 0,
            Self::PerAnswer(_) => u64::MAX,
            Self::PerItems(per_credit) => balance.0.saturating_mul(per_credit.get()),
        }
    }

    /// Whether the price depends on the number of items.
    pub const fn is_per_item(self) -> bool {
        matches!(self, Self::PerItems(_))
    }
}

/// Shows the rule in words, such as `1 if found` or `1 per 5 items`.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerAnswer(credits) => write!(f, "{credits} if found"),
            Self::PerItems(items) => write!(f, "1 per {items} items"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_charged_by_begun_fives() {
        let price = Price::per_items::<5>();
        let costs = [0, 1, 5, 6, 10, 11].map(|items| price.of(items).0);
        assert_eq!(costs, [0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn a_balance_pays_for_as_many_items_as_it_can_be_charged() {
        let price = Price::per_items::<5>();
        for balance in 0..4 {
            let most = price.max_items(Credits(balance));
            assert_eq!((most, price.of(most).0), (balance * 5, balance));
            assert_eq!(price.of(most + 1).0, balance + 1);
        }
        assert_eq!(Price::PerAnswer(3).max_items(Credits(2)), 0);
        assert_eq!(Price::PerAnswer(3).max_items(Credits(3)), u64::MAX);
    }

    #[test]
    fn nothing_found_costs_nothing() {
        assert_eq!(Price::PerAnswer(3).of(0), Credits::ZERO);
        assert_eq!(Price::PerAnswer(3).of(1), Credits(3));
    }

    #[test]
    fn a_balance_goes_neither_below_zero_nor_past_the_column() {
        assert_eq!(Credits(2).checked_sub(Credits(3)), None);
        assert_eq!(Credits(2).checked_add_signed(-3), None);
        assert_eq!(Credits::MAX.checked_add_signed(1), None);
        assert_eq!(Credits(2).checked_add_signed(-2), Some(Credits::ZERO));
    }
}
