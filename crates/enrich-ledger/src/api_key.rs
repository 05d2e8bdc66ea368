//! The stored form of API keys. A store finds a key by a keyed hash of the key's text. It also
//! stores the text encrypted, so that the owner can see the text again.

use enrich_core::{ApiKey, KeyId, NewKey};
use enrich_secrets::{CannotDecrypt, Purpose, SealError, Secret, Secrets};

use crate::key_cache::KeyHash;

/// Returns the keyed hash by which a store finds an API key.
pub fn key_hash(secret: &Secret, key: &ApiKey) -> KeyHash {
    secret.hash(Purpose::ApiKeyHash, &[key.expose().as_bytes()])
}

/// Encrypts the text of a new key, so that the owner can see it again. To decrypt the result, the
/// same key id is needed.
///
/// # Errors
///
/// When the operating system provides no random bytes.
pub fn seal_key(secret: &Secret, key: &NewKey) -> Result<Vec<u8>, SealError> {
    secret.seal(Purpose::ApiKeySeal, key.id.0.as_bytes(), key.key.expose().as_bytes())
}

/// Decrypts the text of the API key with this id. `secrets` are the secrets in the file
/// `secret.key`. `secret` is the number of the secret with which the text was encrypted.
///
/// # Errors
///
/// When the stored bytes were altered, or the secret is not among `secrets`.
pub fn open_key(
    secrets: &Secrets,
    id: KeyId,
    sealed: &[u8],
    secret: u32,
) -> Result<ApiKey, CannotDecrypt> {
    let secret = secrets.with_id(secret).ok_or(CannotDecrypt)?;
    let bytes = secret.open(Purpose::ApiKeySeal, id.0.as_bytes(), sealed)?;
    let text = String::from_utf8(bytes).map_err(|_| CannotDecrypt)?;
    ApiKey::parse(&text).map_err(|_| CannotDecrypt)
}
