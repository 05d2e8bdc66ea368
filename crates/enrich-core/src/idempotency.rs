//! Request ids, idempotency keys and stored responses.

use std::fmt;

use jiff::Timestamp;

use crate::credits::Credits;
use crate::response_template::BodyTemplate;

/// The id of a request. The caller gives it, or the server generates it. Two requests may have the
/// same id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// Parses the id that a caller has sent: 1 to 128 visible ASCII characters. Returns `None`
    /// for any other text.
    pub fn accept(text: &str) -> Option<Self> {
        let fits = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// Generates an id for a request whose caller has sent none.
    pub fn make(now: Timestamp) -> Self {
        Self(crate::id::uuid_at(now).simple().to_string())
    }

    /// Returns the text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An `Idempotency-Key`: a caller's name for a call, so that a repeat of the call is not charged
/// again. It has 1 to 255 visible ASCII characters. Two accounts may use the same text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

/// The error for a text that is not an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an Idempotency-Key is 1 to 255 visible ASCII characters without spaces")]
pub struct InvalidIdempotencyKey;

impl IdempotencyKey {
    /// Parses the idempotency key that a caller sent.
    ///
    /// # Errors
    ///
    /// When the text is empty, is longer than 255 characters, or contains other characters than
    /// visible ASCII.
    pub fn parse(text: &str) -> Result<Self, InvalidIdempotencyKey> {
        let fits = (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidIdempotencyKey) }
    }

    /// Returns the text of the idempotency key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdempotencyKey(…)")
    }
}

/// An answer, with the look-up request and the idempotency key of the call. The ledger stores this
/// record in the same transaction as the charge. For 24 hours, a repeat of the call gets the stored
/// answer.
#[derive(Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The idempotency key of the call.
    pub key: IdempotencyKey,
    /// The endpoint and the normalised look-up request as bytes. A repeat of the call gives the
    /// same bytes, even if its HTTP body is encoded differently (JSON or a form), or if it uses
    /// another API key of the account. The ledger stores only a keyed hash of the bytes.
    pub request_bytes: Vec<u8>,
    /// The answer's bytes, with a gap into which the balance is written. The ledger encrypts the
    /// bytes before it stores them.
    pub body: BodyTemplate,
}

impl IdempotencyRecord {
    /// The time for which an answer is stored for repeats, in seconds: 24 hours.
    pub const SECONDS: i64 = 24 * 60 * 60;
}

impl fmt::Debug for IdempotencyRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdempotencyRecord(…)")
    }
}

/// The response that the ledger has stored for an idempotency key.
#[derive(Clone, PartialEq, Eq)]
pub enum StoredResponse {
    /// The idempotency key was used for the same look-up request before. The fields describe the
    /// answer to the first call with this key.
    Answer {
        /// The answer's bytes, with a gap into which the balance is written.
        body: BodyTemplate,
        /// The account's balance after the charge for the first call.
        balance: Credits,
        /// The number of items that were charged; 0 if nothing was found.
        items: u64,
    },
    /// The idempotency key was used for another look-up request before.
    OtherRequest,
}

impl fmt::Debug for StoredResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer { body, balance, items } => {
                write!(f, "Answer({} bytes, balance {balance}, items {items})", body.bytes().len())
            }
            Self::OtherRequest => f.write_str("OtherRequest"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_what_was_asked_or_answered() {
        let key = IdempotencyKey::parse("order-4711").unwrap();
        let request_bytes = b"ada@quill.example".to_vec();
        let body = BodyTemplate::new(b"+1 202 555 0143".to_vec(), None);
        let stored = StoredResponse::Answer { body: body.clone(), balance: Credits(7), items: 2 };
        let shown = format!("{:?} {stored:?}", IdempotencyRecord { key, request_bytes, body });
        assert_eq!(shown, "IdempotencyRecord(…) Answer(15 bytes, balance 7, items 2)");
    }
}
