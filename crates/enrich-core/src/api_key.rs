//! API keys: the secrets that callers send. A key is `enr_live_`, 32 random base62 characters and
//! a checksum.
//!
//! The 32 base62 characters contain 190 random bits. The 6 checksum characters (CRC-32) have two
//! purposes:
//!
//! - A typing error is detected without asking the store.
//! - Programs that scan public files for secrets recognise a leaked key.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// The prefix of every API key.
pub const KEY_PREFIX: &str = "enr_live_";

const RANDOM_LEN: usize = 32;
const CHECKSUM_LEN: usize = 6;
const KEY_LEN: usize = KEY_PREFIX.len() + RANDOM_LEN + CHECKSUM_LEN;
/// The number of random characters that [`ApiKey::hint`] shows. They contain 4 × 5.95 ≈ 24 of the
/// key's 190 random bits, too few to help an attacker.
const HINT_LEN: usize = 4;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An API key with the right shape and checksum. Only [`ApiKey::expose`] returns its whole text.
#[derive(Clone)]
pub struct ApiKey(SecretString);

/// The error for a text that is not an API key: its shape or its checksum is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an API key is `enr_live_` and 38 letters and digits; copy it whole")]
pub struct MalformedKey;

impl ApiKey {
    /// Generates a key from the system's random source.
    ///
    /// # Errors
    ///
    /// Fails when the system cannot provide random bytes.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut text = String::with_capacity(KEY_LEN);
        text.push_str(KEY_PREFIX);
        let mut bytes = [0_u8; 64];
        while text.len() < KEY_PREFIX.len() + RANDOM_LEN {
            getrandom::fill(&mut bytes)?;
            // Only bytes below 248 (4 × 62) are used. With all 256 values, `byte % 62` would give
            // the first characters of `BASE62` more often than the others.
            let letters = bytes.iter().filter(|&&byte| byte < 248);
            for byte in letters.take(KEY_PREFIX.len() + RANDOM_LEN - text.len()) {
                text.push(char::from(BASE62[usize::from(byte % 62)]));
            }
        }
        text.extend(checksum(&text).map(char::from));
        Ok(Self(text.into()))
    }

    /// Parses the text of an API key, as a caller sent it. White space around the text is
    /// ignored.
    ///
    /// # Errors
    ///
    /// [`MalformedKey`] when the shape or the checksum is wrong.
    pub fn parse(text: &str) -> Result<Self, MalformedKey> {
        let text = text.trim();
        let rest = text.strip_prefix(KEY_PREFIX).ok_or(MalformedKey)?;
        if text.len() != KEY_LEN || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(MalformedKey);
        }
        let (body, sum) = text.split_at(KEY_LEN - CHECKSUM_LEN);
        if checksum(body) != *sum.as_bytes() {
            return Err(MalformedKey);
        }
        Ok(Self(text.into()))
    }

    /// Returns the text of the key, to send, show or hash it. The text must never be logged.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the beginning of the key, such as `enr_live_Ab3d`, by which people recognise the
    /// key.
    pub fn hint(&self) -> &str {
        &self.expose()[..KEY_PREFIX.len() + HINT_LEN]
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Returns the CRC-32 (IEEE) of a text as six base62 digits, the most significant first. Six digits
/// are enough: 62⁶ > 2³².
fn checksum(text: &str) -> [u8; CHECKSUM_LEN] {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [b'0'; CHECKSUM_LEN];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_reads_back() {
        let key = ApiKey::generate().unwrap();
        assert_eq!(ApiKey::parse(key.expose()).unwrap().expose(), key.expose());
        assert_eq!(key.expose().len(), 47);
    }

    #[test]
    fn two_made_keys_differ() {
        let (one, other) = (ApiKey::generate().unwrap(), ApiKey::generate().unwrap());
        assert_ne!(one.expose(), other.expose());
    }

    #[test]
    fn one_wrong_letter_is_noticed_anywhere() {
        let key = ApiKey::generate().unwrap();
        for at in KEY_PREFIX.len()..KEY_LEN {
            let mut bytes = key.expose().as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(ApiKey::parse(&text).err(), Some(MalformedKey), "at {at}");
        }
    }

    #[test]
    fn other_texts_are_no_keys() {
        for text in
            ["", "enr_live_", "sk_live_abc", "enr_live_ä234567890123456789012345678901234567"]
        {
            assert!(ApiKey::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn debug_shows_nothing_of_it() {
        let key = ApiKey::generate().unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(…)");
    }
}
