//! Keyed hashes and encryption of addresses, tokens and passwords.

use std::sync::Arc;

use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use enrich_secrets::{CannotDecrypt, Purpose, Secrets};
use enrich_sign_in::{PasswordHash, SignIn};
use enrich_text::EmailAddress;

use super::rows::{Sealed, SignInRow};
use crate::columns::{Hash, secret_column};

/// Hashes, encrypts and decrypts.
pub(super) struct Sealing {
    secrets: Secrets,
}

impl Sealing {
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone() }
    }

    /// The hashes of an email address or a token, one for each secret, the current one's first.
    pub(super) fn hashes(&self, purpose: Purpose, text: &str) -> Arc<[Hash]> {
        self.secrets.newest_first().map(|secret| secret.hash(purpose, &[text.as_bytes()])).collect()
    }

    /// The hash by the current secret, and the secret's number.
    pub(super) fn hash(&self, purpose: Purpose, text: &str) -> Result<(Hash, i32), StoreError> {
        let secret = self.secrets.current();
        Ok((secret.hash(purpose, &[text.as_bytes()]), secret_column(secret.id())?))
    }

    /// Encrypts what belongs to an account.
    pub(super) fn seal(
        &self,
        purpose: Purpose,
        account: AccountId,
        text: &str,
    ) -> Result<Sealed, StoreError> {
        let secret = self.secrets.current();
        let bytes = secret.seal(purpose, account.0.as_bytes(), text.as_bytes());
        Ok(Sealed { bytes: bytes.map_err(StoreError::failed)?, secret: secret.id() })
    }

    /// Decrypts a row of `sign_in`.
    pub(super) fn open_row(&self, row: SignInRow) -> Result<SignIn, CannotDecrypt> {
        let SignInRow { account, email, password, created_at } = row;
        let email = self.open(Purpose::SignInEmailSeal, account, &email)?;
        let password = password
            .map(|sealed| self.open(Purpose::PasswordSeal, account, &sealed))
            .transpose()?;
        Ok(SignIn {
            account,
            email: EmailAddress::parse(&email).map_err(|_| CannotDecrypt)?,
            password: password.map(PasswordHash::new),
            created_at,
        })
    }

    fn open(
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
