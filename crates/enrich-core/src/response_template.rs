//! An answer with a gap for the balance.
//!
//! The balance is known only after the charge is decided, inside the ledger's transaction. The
//! answer must exist before, so that no charge is made without one and so that the same transaction
//! can store it for repeats. It is therefore written with a gap.

use std::io::Write;

use crate::credits::Credits;

/// The byte that marks the gap. JSON cannot contain it: control characters are escaped in strings
/// and not allowed elsewhere (RFC 8259, section 7).
pub const BALANCE_HERE: u8 = 0;

/// An answer before its charge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseTemplate {
    /// The number of items: 0 for a miss, 1 for a single answer.
    pub items: u64,
    /// The bytes, with at most one [`BALANCE_HERE`].
    pub body: Vec<u8>,
}

impl ResponseTemplate {
    /// Fills the gap with `balance` in decimal digits.
    pub fn fill(body: &[u8], balance: Credits) -> Vec<u8> {
        let Some(at) = body.iter().position(|&byte| byte == BALANCE_HERE) else {
            return body.to_vec();
        };
        let mut filled = Vec::with_capacity(body.len() + 20);
        filled.extend_from_slice(&body[..at]);
        // Writing to memory cannot fail.
        let _ = write!(filled, "{balance}");
        filled.extend_from_slice(&body[at + 1..]);
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_balance_fills_the_hole() {
        assert_eq!(ResponseTemplate::fill(b"{\"n\":\0}", Credits(939)), b"{\"n\":939}");
    }

    #[test]
    fn an_answer_without_a_hole_stays_as_it_is() {
        assert_eq!(ResponseTemplate::fill(b"{}", Credits(939)), b"{}");
    }
}
