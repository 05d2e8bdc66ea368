//! Responses stored for repeats: how they are found, and how they are encrypted.
//!
//! A database contains only keyed hashes of the caller's idempotency key and of the question. The
//! account is part of both hashes, so that equal keys of two accounts have different hashes. The
//! caller's thread encrypts the response. The encryption authenticates the two hashes and the time
//! of the charge. The balance and the charge are known only when the call is decided; a keyed hash
//! after the encrypted response authenticates them. An altered record cannot be decrypted: a repeat
//! gets an error, and the ledger's verification reports a fault.

use enrich_core::{
    AccountId, BodyTemplate, ChargeId, Credits, IdempotencyKey, IdempotencyRecord, Timestamp,
};
use enrich_secrets::{CannotDecrypt, Purpose, SealError, Secret, Secrets};

/// Length, in bytes, of the hash that authenticates a record's balance and charge.
const TAG_BYTES: usize = 32;
/// Marks the place of the balance in a response that is to be encrypted. No zero byte occurs before
/// the mark: JSON escapes control characters, and the answers to programs begin with the balance.
const BALANCE_MARK: u8 = 0;
/// Once half of the space is used, each account may use at most a sixteenth of it.
const SHARES: u64 = 16;

/// The hashes that find and identify a record, under one secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseName {
    /// The number of the secret.
    pub secret: u32,
    /// The keyed hash of the account and its idempotency key. The record is found by this hash.
    pub key_hash: [u8; 32],
    /// The keyed hash of the account and its question. Equal questions have equal hashes.
    pub asked_hash: [u8; 32],
}

/// The balance that a response showed, and the charge for the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCharge {
    /// The balance after the charge, as the response showed it.
    pub balance: Credits,
    /// The charge for the response; absent when nothing was found.
    pub charge: Option<ChargeId>,
}

/// An encrypted response, ready to be stored once its balance and charge are known.
#[derive(Clone, Debug)]
pub struct SealedResponse {
    /// The names that the record can have, one for each secret, the current secret's first; never
    /// empty. The record is stored under the first name, and replaces an expired record under any
    /// of the names.
    pub names: Vec<ResponseName>,
    sealed: Vec<u8>,
}

/// A record as stored.
#[derive(Clone, Debug)]
pub struct StoredRecord<'a> {
    /// The account.
    pub account: AccountId,
    /// The record's name.
    pub name: ResponseName,
    /// The encrypted response and its hash, as [`SealedResponse::bytes_with`] returned them.
    pub sealed: &'a [u8],
    /// The balance that the response showed, and the charge for the response.
    pub recorded: RecordedCharge,
    /// The time of the charge.
    pub at: Timestamp,
}

/// Returns the names that a record can have, one for each secret, the current secret's first.
pub fn response_names(
    secrets: &Secrets,
    account: AccountId,
    key: &IdempotencyKey,
    asked: &[u8],
) -> Vec<ResponseName> {
    let name = |secret: &Secret| {
        let account = &account.0.as_bytes()[..];
        ResponseName {
            secret: secret.id(),
            key_hash: secret.hash(Purpose::IdempotencyKey, &[account, key.as_str().as_bytes()]),
            asked_hash: secret.hash(Purpose::Asked, &[account, asked]),
        }
    };
    secrets.newest_first().map(name).collect()
}

/// Encrypts a response with the current secret, bound to the record's name. `at` is the time of the
/// charge.
///
/// # Errors
///
/// When the system gives no random bytes, or the response has 256 GiB or more.
pub fn seal_response(
    secrets: &Secrets,
    account: AccountId,
    idempotency: &IdempotencyRecord,
    at: Timestamp,
) -> Result<SealedResponse, SealError> {
    let names = response_names(secrets, account, &idempotency.key, &idempotency.question);
    let associated_data =
        names.first().map(|name| associated_data(account, name, at)).unwrap_or_default();
    let sealed = secrets.current().seal(
        Purpose::ResponseSeal,
        &associated_data,
        &encoded(&idempotency.body),
    )?;
    Ok(SealedResponse { names, sealed })
}

impl SealedResponse {
    /// Returns the bytes to store: the encrypted response, then the hash that authenticates its
    /// balance and charge. `account`, `at` and `secrets` must be the same as in the call of
    /// [`seal_response`].
    pub fn bytes_with(
        &self,
        secrets: &Secrets,
        account: AccountId,
        recorded: RecordedCharge,
        at: Timestamp,
    ) -> Vec<u8> {
        let associated_data =
            self.names.first().map(|name| associated_data(account, name, at)).unwrap_or_default();
        let tag = charge_tag(secrets.current(), &associated_data, recorded);
        [&self.sealed[..], &tag].concat()
    }
}

impl StoredRecord<'_> {
    /// Decrypts the response.
    ///
    /// # Errors
    ///
    /// When the record was altered, or was encrypted with a secret that is not among `secrets`.
    pub fn open(&self, secrets: &Secrets) -> Result<BodyTemplate, CannotDecrypt> {
        let secret = secrets.with_id(self.name.secret).ok_or(CannotDecrypt)?;
        let associated_data = associated_data(self.account, &self.name, self.at);
        let opened = match self.sealed.split_last_chunk() {
            Some((sealed, tag)) if *tag == charge_tag(secret, &associated_data, self.recorded) => {
                secret.open(Purpose::ResponseSeal, &associated_data, sealed)
            }
            // The record was altered, or written by a build before schema 4 of SQLite's ledger.
            // Such a record expires within a day; the next call that stores a response deletes it.
            _ => secret.open(Purpose::OldResponseSeal, &associated_data, self.sealed),
        };
        opened.map(decoded)
    }
}

/// Whether a record made at `at` has expired at `now`: after 24 hours.
pub fn has_expired(at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(at) >= jiff::SignedDuration::from_secs(IdempotencyRecord::SECONDS)
}

/// Returns the number of records that one account may store, if `records` are stored in total and
/// at most `most` may be. `None` if there is no limit for one account.
///
/// There is no limit while less than half of the space is used. After that, an account may store at
/// most a sixteenth of `most`, so that the other accounts have room. There is also no limit if a
/// sixteenth is less than one record.
pub fn share_of(most: u64, records: u64) -> Option<u64> {
    let share = most / SHARES;
    (share > 0 && records >= most / 2).then_some(share)
}

/// Returns the bytes of a response that are encrypted, with [`BALANCE_MARK`] in the place of the
/// balance.
fn encoded(body: &BodyTemplate) -> Vec<u8> {
    let mut bytes = body.bytes().to_vec();
    if let Some(at) = body.balance_at() {
        bytes.insert(at, BALANCE_MARK);
    }
    bytes
}

fn decoded(mut bytes: Vec<u8>) -> BodyTemplate {
    let balance_at = bytes.iter().position(|&byte| byte == BALANCE_MARK);
    if let Some(at) = balance_at {
        bytes.remove(at);
    }
    BodyTemplate::new(bytes, balance_at)
}

/// Returns the keyed hash of the balance and charge of the record with this associated data.
fn charge_tag(
    secret: &Secret,
    associated_data: &[u8],
    recorded: RecordedCharge,
) -> [u8; TAG_BYTES] {
    let balance = recorded.balance.0.to_le_bytes();
    let charge = recorded.charge.as_ref().map(|charge| &charge.0.as_bytes()[..]);
    secret.hash(Purpose::ResponseTag, &[associated_data, &balance, charge.unwrap_or_default()])
}

/// Returns the associated data of an encrypted response: the account, the hashes of the record's
/// name, and the time of the charge in microseconds since 1970.
fn associated_data(account: AccountId, name: &ResponseName, at: Timestamp) -> Vec<u8> {
    let at = at.as_microsecond().to_le_bytes();
    [&account.0.as_bytes()[..], &name.key_hash, &name.asked_hash, &at].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_keeps_the_place_of_its_balance() {
        for (stored, filled) in
            [(&b"{\"n\":\0}"[..], &b"{\"n\":7}"[..]), (b"{}", b"{}"), (b"\0", b"7")]
        {
            let body = decoded(stored.to_vec());
            assert_eq!(encoded(&body), stored);
            assert_eq!(body.fill(Credits(7)), filled);
        }
    }
}
