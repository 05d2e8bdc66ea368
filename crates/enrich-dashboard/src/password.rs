//! Passwords: their rules, and hashing on separate threads.
//!
//! The hash is Argon2id with 19 MiB, two passes and a parallelism of 1. This is the first choice of
//! the OWASP Password Storage Cheat Sheet. Hashing a password takes about 40 ms of processor time,
//! so the number of concurrent hashes and the length of the queue are limited.

use enrich_sign_in::PasswordHash;
use std::io;

use argon2::password_hash::phc;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::{ExposeSecret, SecretString};

use crate::threads::{Busy, Threads};

/// Minimum length of a password, in characters.
pub(crate) const MIN_CHARACTERS: usize = 12;
/// Maximum length of a password, in bytes. A longer password is not safer, and takes longer to
/// hash.
pub(crate) const MAX_BYTES: usize = 256;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

const THREADS: usize = 2;
/// Maximum number of passwords that wait to be hashed. A hash takes about 40 ms, so the last
/// password in a full queue waits for about a second.
const WAITING: usize = 32;

/// A password as the user typed it.
#[derive(Clone)]
pub(crate) struct Password(SecretString);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnfitPassword {
    #[error("A password needs at least {MIN_CHARACTERS} characters.")]
    TooShort,
    #[error("A password can have at most {MAX_BYTES} bytes.")]
    TooLong,
    #[error("A password cannot consist of spaces only.")]
    Blank,
    #[error("The password cannot be the email address.")]
    IsEmail,
    #[error("The two passwords are different. Enter the same password twice.")]
    Differs,
}

impl Password {
    /// Wraps a typed password, to compare it with a stored hash. The rules for new passwords are
    /// not checked.
    pub(crate) fn typed(text: &str) -> Self {
        Self(text.into())
    }

    pub(crate) fn chosen(text: &str, again: &str, email: &str) -> Result<Self, UnfitPassword> {
        if text.chars().count() < MIN_CHARACTERS {
            return Err(UnfitPassword::TooShort);
        }
        if text.len() > MAX_BYTES {
            return Err(UnfitPassword::TooLong);
        }
        if text.trim().is_empty() {
            return Err(UnfitPassword::Blank);
        }
        if text.eq_ignore_ascii_case(email) {
            return Err(UnfitPassword::IsEmail);
        }
        if text != again {
            return Err(UnfitPassword::Differs);
        }
        Ok(Self(text.into()))
    }
}

/// Why no hash was computed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HashError {
    /// The queue of passwords to hash is full.
    #[error("too many passwords are being checked")]
    Busy(#[from] Busy),
    /// The operating system provides no memory or no random bytes.
    #[error("a password cannot be hashed: {0}")]
    Failed(argon2::password_hash::Error),
}

pub(crate) struct Passwords {
    threads: Threads,
    argon2: Argon2<'static>,
    /// The hash of a random password. If no account has the typed email address, the typed password
    /// is compared with this hash. So the answer takes as long as for an existing account.
    nobodys: PasswordHash,
}

impl Passwords {
    /// Creates the threads, and computes the hash that is used for unknown accounts.
    ///
    /// # Errors
    ///
    /// When the operating system provides no random bytes.
    pub(crate) fn new() -> io::Result<Self> {
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(io::Error::other)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut password = [0_u8; 32];
        getrandom::fill(&mut password).map_err(io::Error::other)?;
        let nobodys = hashed(&argon2, &password).map_err(io::Error::other)?;
        Ok(Self { threads: Threads::new(THREADS, WAITING), argon2, nobodys })
    }

    pub(crate) async fn hash(&self, password: Password) -> Result<PasswordHash, HashError> {
        let argon2 = self.argon2.clone();
        let made = move || hashed(&argon2, password.0.expose_secret().as_bytes());
        self.threads.run(made).await?.map_err(HashError::Failed)
    }

    /// Whether the password matches the hash. If `hash` is `None`, the result is `false`, but the
    /// check takes the same time as with a hash.
    pub(crate) async fn is_right(
        &self,
        password: Password,
        hash: Option<&PasswordHash>,
    ) -> Result<bool, HashError> {
        let is_somebodys = hash.is_some();
        let hash = hash.unwrap_or(&self.nobodys).clone();
        let argon2 = self.argon2.clone();
        let is_right = self.threads.run(move || is_of(&argon2, &password, &hash)).await?;
        Ok(is_right && is_somebodys)
    }
}

fn hashed(
    argon2: &Argon2<'_>,
    password: &[u8],
) -> Result<PasswordHash, argon2::password_hash::Error> {
    let hash: phc::PasswordHash = argon2.hash_password(password)?;
    Ok(PasswordHash::new(hash.to_string()))
}

/// Whether a password matches a hash. An unreadable hash matches no password.
fn is_of(argon2: &Argon2<'_>, password: &Password, hash: &PasswordHash) -> bool {
    let password = password.0.expose_secret().as_bytes();
    phc::PasswordHash::new(hash.expose())
        .is_ok_and(|hash| argon2.verify_password(password, &hash).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_right_for_its_own_hash_alone() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let _entered = runtime.enter();
        let passwords = Passwords::new().unwrap();
        let right = |text: &str, hash| {
            pollster::block_on(passwords.is_right(Password::typed(text), hash)).unwrap()
        };
        let chosen = Password::chosen("correct horse", "correct horse", "").unwrap();
        let hash = pollster::block_on(passwords.hash(chosen)).unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.expose());
        assert!(right("correct horse", Some(&hash)));
        assert!(!right("correct horsf", Some(&hash)));
        assert!(!right("correct horse", None));
        assert!(!right("correct horse", Some(&PasswordHash::new("no hash"))));
    }

    #[test]
    fn what_is_short_long_or_no_secret_is_refused() {
        let email = "ada@quill.example";
        let chosen = |text: &str| Password::chosen(text, text, email).map(|_| ()).unwrap_err();
        assert_eq!(chosen("elevenchars"), UnfitPassword::TooShort);
        assert_eq!(chosen(&"é".repeat(129)), UnfitPassword::TooLong);
        assert_eq!(chosen(&" ".repeat(12)), UnfitPassword::Blank);
        assert_eq!(chosen(&"\u{a0}\t ".repeat(4)), UnfitPassword::Blank);
        assert_eq!(chosen("Ada@Quill.example"), UnfitPassword::IsEmail);
        let differs = Password::chosen("correct horse", "correct house", email).map(|_| ());
        assert_eq!(differs.unwrap_err(), UnfitPassword::Differs);
        assert!(Password::chosen(&"é".repeat(12), &"é".repeat(12), email).is_ok());
    }
}
