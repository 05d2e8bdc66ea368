//! Sign-ins as a store keeps them: addresses and tokens are found by keyed hashes; addresses and
//! password hashes are encrypted.

use std::sync::Arc;

use enrich_core::{AccountId, Timestamp};
use enrich_secrets::{CannotDecrypt, Purpose, SealError, Secrets};
use enrich_sign_in::{PasswordHash, SessionId, SignIn, Token};
use enrich_text::EmailAddress;

/// A keyed hash of an email address or a token.
pub type SignInHash = [u8; 32];

/// Encrypted data, and the number of the secret that decrypts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The encrypted data.
    pub bytes: Vec<u8>,
    /// The number of the secret.
    pub secret: u32,
}

/// A stored sign-in, still encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSignIn {
    /// The account.
    pub account: AccountId,
    /// The encrypted address.
    pub email: Sealed,
    /// The encrypted hash of the password; `None` until an invitation was used.
    pub password: Option<Sealed>,
    /// When the address was given to the account.
    pub created_at: Timestamp,
}

/// Hashes, encrypts and decrypts what belongs to sign-ins.
#[derive(Clone, Debug)]
pub struct SignInSealing {
    secrets: Secrets,
}

/// Returns the id of a session: the beginning of its token's keyed hash. Nobody can sign in with
/// this id.
pub fn session_id(hash: &SignInHash) -> SessionId {
    SessionId(std::array::from_fn(|at| hash[at]))
}

impl SignInSealing {
    /// Uses these secrets.
    pub fn new(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone() }
    }

    /// Returns the hashes of an email address or a token, one for each secret, the current secret's
    /// first.
    pub fn hashes(&self, purpose: Purpose, text: &str) -> Arc<[SignInHash]> {
        self.secrets.newest_first().map(|secret| secret.hash(purpose, &[text.as_bytes()])).collect()
    }

    /// Returns the hashes of a session's token, one for each secret; none without a token.
    pub fn session_hashes(&self, token: Option<&Token>) -> Arc<[SignInHash]> {
        match token {
            Some(token) => self.hashes(Purpose::SessionToken, token.expose()),
            None => Arc::default(),
        }
    }

    /// Returns the hash by the current secret, and the number of that secret.
    pub fn hash(&self, purpose: Purpose, text: &str) -> (SignInHash, u32) {
        let secret = self.secrets.current();
        (secret.hash(purpose, &[text.as_bytes()]), secret.id())
    }

    /// Encrypts an address or a password's hash. The result opens only for this account.
    ///
    /// # Errors
    ///
    /// When the system gives no randomness.
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
    /// When the stored bytes were altered, or their secret is not known.
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
