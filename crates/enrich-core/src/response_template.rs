//! An answer with a gap for the balance.
//!
//! An answer shows the balance after its charge. This balance is known only during the
//! transaction of the charge. But the answer must be written before that transaction, for two
//! reasons:
//!
//! - A call must not be charged if its answer cannot be written.
//! - The transaction stores the answer, so that a repeat of the call gets it again.
//!
//! So the answer is written with a gap, and the balance is inserted into the gap later.

use std::io::Write;

use crate::credits::Credits;

/// An answer that is not charged yet: the number of its items, and its bytes with a gap for the
/// balance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseTemplate {
    /// The number of items in the answer: 0 if nothing was found, and 1 for an answer that is not a
    /// list.
    pub items: u64,
    /// The answer's bytes, with a gap for the balance.
    pub body: BodyTemplate,
}

/// An answer's bytes, with at most one gap for the balance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyTemplate {
    bytes: Vec<u8>,
    balance_at: Option<usize>,
}

impl BodyTemplate {
    /// Creates a template from `bytes`. The balance will be inserted before the byte at
    /// `balance_at`; with `None`, the answer does not show the balance.
    pub fn new(bytes: Vec<u8>, balance_at: Option<usize>) -> Self {
        let balance_at = balance_at.map(|at| at.min(bytes.len()));
        Self { bytes, balance_at }
    }

    /// Returns the answer's bytes without the balance.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the position at which the balance is inserted: the number of bytes before it;
    /// `None` if the answer does not show the balance.
    pub fn balance_at(&self) -> Option<usize> {
        self.balance_at
    }

    /// Returns the answer's bytes with `balance` in the gap, in decimal digits.
    pub fn fill(self, balance: Credits) -> Vec<u8> {
        let Self { mut bytes, balance_at } = self;
        if let Some(at) = balance_at {
            let tail = bytes.len() - at;
            // Writing into memory cannot fail.
            let _ = write!(bytes, "{balance}");
            bytes[at..].rotate_left(tail);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_balance_fills_the_gap() {
        for (bytes, at) in [("{\"n\":}", 5), ("}", 0), ("{\"n\":", 5), ("{\"n\":", 9)] {
            let filled = BodyTemplate::new(bytes.into(), Some(at)).fill(Credits(939));
            let (head, tail) = bytes.split_at(at.min(bytes.len()));
            assert_eq!(filled, format!("{head}939{tail}").into_bytes());
        }
    }

    #[test]
    fn an_answer_without_a_gap_stays_as_it_is() {
        assert_eq!(BodyTemplate::new(b"{}".to_vec(), None).fill(Credits(939)), b"{}");
    }
}
