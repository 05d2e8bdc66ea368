//! Responses that are stored for repeated calls: how a store finds them, and how they are
//! encrypted.
//!
//! To find a response, a database contains keyed hashes of the caller's idempotency key and of the
//! look-up request, but not the key and the request themselves. The account is part of both hashes.
//! So if two accounts use the same idempotency key, the hashes differ.
//!
//! The response is encrypted on the thread of the call, before the charge is decided. The
//! encryption also authenticates the two hashes and the time of the charge. The balance and the id
//! of the charge are known only after the decision. They are authenticated by another keyed hash,
//! which is stored after the encrypted response. A record that was altered cannot be decrypted: a
//! repeated call gets an error, and the verification of the ledger reports a fault.

use enrich_core::{
    AccountId, BodyTemplate, ChargeId, Credits, IdempotencyKey, IdempotencyRecord, Timestamp,
};
use enrich_secrets::{CannotDecrypt, Purpose, SealError, Secret, Secrets};

/// The length, in bytes, of the keyed hash that authenticates the balance and the charge in an
/// idempotency record.
const TAG_BYTES: usize = 32;
/// Marks the place of the balance in a response before its encryption. After decryption, the first
/// zero byte is taken for this mark. In JSON, no other byte is zero, because JSON escapes control
/// characters. A response that is not JSON consists of lines, and its first line is the balance. So
/// its first byte is this mark.
const BALANCE_MARK: u8 = 0;
/// One account may store at most 1/16 of the maximum number of idempotency records, so that other
/// accounts have room. This limit applies only while at least half of the maximum is stored.
const SHARES: u64 = 16;

/// The two hashes by which a store finds an idempotency record, both made with the same secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseName {
    /// The number of the secret (the key in `secret.key`) with which `key_hash` and `asked_hash`
    /// are made.
    pub secret: u32,
    /// The keyed hash of the account and its idempotency key. A store searches for a record by this
    /// hash.
    pub key_hash: [u8; 32],
    /// The keyed hash of the account and its look-up request. It shows whether a repeated call
    /// makes the same request.
    pub asked_hash: [u8; 32],
}

/// The balance that a response showed, and the charge for the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCharge {
    /// The balance after the charge, as the response showed it.
    pub balance: Credits,
    /// The id of the charge; `None` if the call found nothing, because such a call is not charged.
    pub charge: Option<ChargeId>,
}

/// An encrypted response whose charge is not yet decided. The response is stored after the
/// decision, when the balance and the id of the charge are known.
#[derive(Clone, Debug)]
pub struct SealedResponse {
    /// The names (pairs of hashes) of this call: one for each secret, beginning with the current
    /// secret. So there is at least one. The record is stored under the first name. An older secret
    /// may have been current when an earlier record of the same idempotency key was stored. So the
    /// record replaces an expired one that has any of these names.
    pub names: Vec<ResponseName>,
    sealed: Vec<u8>,
}

/// An idempotency record as a store reads it from its table.
#[derive(Clone, Debug)]
pub struct StoredRecord<'a> {
    /// The account that made the call.
    pub account: AccountId,
    /// The two hashes by which the record is found.
    pub name: ResponseName,
    /// The bytes that [`SealedResponse::bytes_with`] returned: the encrypted response, and after it
    /// the keyed hash of its balance and charge.
    pub sealed: &'a [u8],
    /// The balance that the response showed, and the charge for the response.
    pub recorded: RecordedCharge,
    /// The time of the charge.
    pub at: Timestamp,
}

/// Returns the names (pairs of hashes) under which an idempotency record may be stored: one for
/// each secret (key) in `secret.key`, beginning with the current secret.
pub fn response_names(
    secrets: &Secrets,
    account: AccountId,
    key: &IdempotencyKey,
    request_bytes: &[u8],
) -> Vec<ResponseName> {
    let name = |secret: &Secret| {
        let account = &account.0.as_bytes()[..];
        ResponseName {
            secret: secret.id(),
            key_hash: secret.hash(Purpose::IdempotencyKey, &[account, key.as_str().as_bytes()]),
            asked_hash: secret.hash(Purpose::Asked, &[account, request_bytes]),
        }
    };
    secrets.newest_first().map(name).collect()
}

/// Encrypts a response with the current secret. The encryption also authenticates three values: the
/// account, the record's name (a pair of hashes), and `at`, the time of the charge. To decrypt the
/// result, the same three values are needed.
///
/// # Errors
///
/// When the operating system provides no random bytes, or the response has 256 GiB or more.
pub fn seal_response(
    secrets: &Secrets,
    account: AccountId,
    idempotency: &IdempotencyRecord,
    at: Timestamp,
) -> Result<SealedResponse, SealError> {
    let names = response_names(secrets, account, &idempotency.key, &idempotency.request_bytes);
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
    /// Returns the bytes that are stored: the encrypted response, and after it the keyed hash that
    /// authenticates its balance and charge. `account`, `at` and `secrets` must be the same as in
    /// the call of [`seal_response`].
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
    /// Decrypts the response, and checks that the record was not altered.
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
            // The keyed hash is not correct. Either the record was altered, or a build before
            // schema 4 of SQLite's ledger wrote it. Such an old record has no keyed hash, and can
            // be decrypted with another key. It expires within a day.
            _ => secret.open(Purpose::OldResponseSeal, &associated_data, self.sealed),
        };
        opened.map(decoded)
    }
}

/// Whether an idempotency record with the time `at` has expired at `now`. It expires after 24
/// hours.
pub fn has_expired(at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(at) >= jiff::SignedDuration::from_secs(IdempotencyRecord::SECONDS)
}

/// Returns the maximum number of idempotency records of one account; `None` if a single account
/// has no limit. `records` is the number of records that all accounts have stored, and `most` is
/// the limit for all accounts together.
///
/// While `records` is less than half of `most`, an account has no limit. After that, an account may
/// store at most a sixteenth of `most`, so that other accounts have room. If a sixteenth is less
/// than one record, an account has no limit either.
pub fn share_of(most: u64, records: u64) -> Option<u64> {
    let share = most / SHARES;
    (share > 0 && records >= most / 2).then_some(share)
}

/// Returns the bytes of a response before their encryption. In the place of the balance they
/// contain [`BALANCE_MARK`].
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

/// Returns the keyed hash that authenticates the balance and the charge in an idempotency record.
/// The hash also covers the record's associated data.
fn charge_tag(
    secret: &Secret,
    associated_data: &[u8],
    recorded: RecordedCharge,
) -> [u8; TAG_BYTES] {
    let balance = recorded.balance.0.to_le_bytes();
    let charge = recorded.charge.as_ref().map(|charge| &charge.0.as_bytes()[..]);
    secret.hash(Purpose::ResponseTag, &[associated_data, &balance, charge.unwrap_or_default()])
}

/// Returns the associated data with which a response is encrypted: the account, the two hashes by
/// which a store finds the idempotency record, and the time of the charge in microseconds since
/// 1970.
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
