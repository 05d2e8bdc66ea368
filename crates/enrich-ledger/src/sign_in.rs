//! The stored form of sign-ins. A store finds email addresses and tokens by keyed hashes. It stores
//! the addresses and the hashes of passwords encrypted.

use std::sync::Arc;

use enrich_core::{AccountId, Timestamp};
use enrich_secrets::{CannotDecrypt, Purpose, SealError, Secrets};
use enrich_sign_in::{PasswordHash, SessionId, SignIn, Token};
use enrich_text::EmailAddress;

/// A keyed hash of an email address or a token.
pub type SignInHash = [u8; 32];

/// Encrypted data, and the number of the secret (the key in `secret.key`) that decrypts the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The encrypted data.
    pub bytes: Vec<u8>,
    /// The number of the secret that decrypts the data.
    pub secret: u32,
}

/// A sign-in as it is stored: the address and the hash of the password are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSignIn {
    /// The account to which the sign-in belongs.
    pub account: AccountId,
    /// The encrypted address.
    pub email: Sealed,
    /// The encrypted hash of the password; `None` until the owner has set a password with an
    /// invitation.
    pub password: Option<Sealed>,
    /// The time at which the operator set the address.
    pub created_at: Timestamp,
}

/// Hashes, encrypts and decrypts the values of sign-ins, with the secrets (keys) in `secret.key`.
#[derive(Clone, Debug)]
pub struct SignInSealing {
    secrets: Secrets,
}

/// Returns the id of a session: the first bytes of the keyed hash of its token. The id grants no
/// access.
pub fn session_id(hash: &SignInHash) -> SessionId {
    SessionId(std::array::from_fn(|at| hash[at]))
}

impl SignInSealing {
    /// Creates a `SignInSealing` that hashes and encrypts with these secrets.
    pub fn new(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone() }
    }

    /// Returns the hashes of an email address or a token: one for each secret (key) in
    /// `secret.key`, beginning with the current secret. A stored hash may be made with any of them.
    pub fn hashes(&self, purpose: Purpose, text: &str) -> Arc<[SignInHash]> {
        self.secrets.newest_first().map(|secret| secret.hash(purpose, &[text.as_bytes()])).collect()
    }

    /// Returns the hashes of a session's token, one for each secret (key) in `secret.key`. Returns
    /// no hashes if `token` is `None`.
    pub fn session_hashes(&self, token: Option<&Token>) -> Arc<[SignInHash]> {
        match token {
            Some(token) => self.hashes(Purpose::SessionToken, token.expose()),
            None => Arc::default(),
        }
    }

    /// Hashes a text with the current secret. Returns the hash and the number of this secret.
    pub fn hash(&self, purpose: Purpose, text: &str) -> (SignInHash, u32) {
        let secret = self.secrets.current();
        (secret.hash(purpose, &[text.as_bytes()]), secret.id())
    }

    /// Encrypts an email address, or the hash of a password. To decrypt the result, the same
    /// account and purpose are needed.
    ///
    /// # Errors
    ///
    /// When the operating system provides no random bytes.
    pub fn seal(
        &self,
        purpose: Purpose,
        account: AccountId,
        text: &str,
    ) -> Result<Sealed, SealError> {
        let secret = self.secrets.current();
        let bytes = secret.seal(purpose, account.0.as_bytes(), text.as_bytes())?;
        Ok(Sealed { bytes, secret: secret.id() })
    }

    /// Decrypts a stored sign-in.
    ///
    /// # Errors
    ///
    /// When the stored bytes were altered, or the secret that encrypted them was not loaded.
    pub fn open(&self, stored: SealedSignIn) -> Result<SignIn, CannotDecrypt> {
        let SealedSignIn { account, email, password, created_at } = stored;
        let email = self.open_text(Purpose::SignInEmailSeal, account, &email)?;
        let password = password
            .map(|sealed| self.open_text(Purpose::PasswordSeal, account, &sealed))
            .transpose()?;
        Ok(SignIn {
            account,
            email: EmailAddress::parse(&email).map_err(|_| CannotDecrypt)?,
            password: password.map(PasswordHash::new),
            created_at,
        })
    }

    fn open_text(
        &self,
        purpose: Purpose,
        account: AccountId,
        sealed: &Sealed,
    ) -> Result<String, CannotDecrypt> {
        let secret = self.secrets.with_id(sealed.secret).ok_or(CannotDecrypt)?;
        let bytes = secret.open(purpose, account.0.as_bytes(), &sealed.bytes)?;
        String::from_utf8(bytes).map_err(|_| CannotDecrypt)
    }
}
