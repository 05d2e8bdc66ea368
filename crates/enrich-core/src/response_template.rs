//! An answer that is written, but for the balance it names.
//!
//! The balance is known only once the charge is decided, inside the ledger's transaction; the
//! answer has to be there before, so that a charge is never made without one, and so that it can
//! be kept for repeats in that same transaction. So it is written with a hole.

use std::io::Write;

use crate::credits::Credits;

/// The byte that stands where the balance belongs. JSON never holds it: control characters are
/// escaped in strings and not allowed elsewhere (RFC 8259, section 7).
pub const BALANCE_HERE: u8 = 0;

/// An answer before its charge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseTemplate {
    /// How many items it holds: 0 where nothing was found, 1 for a single answer.
    pub items: u64,
    /// Its bytes, with at most one [`BALANCE_HERE`].
    pub body: Vec<u8>,
}

impl ResponseTemplate {
    /// The bytes with `balance` in decimal digits where it belongs.
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
