//! Who signs in to the accounts' pages, and their sessions.

use async_trait::async_trait;
use enrich_text::EmailAddress;
use jiff::Timestamp;

use crate::account::AccountId;
use crate::port::error::StoreError;
use crate::sign_in::{ListedSession, PasswordHash, Session, SessionId, SignIn, Token};

/// What became of an address that was to be given to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailSet {
    /// It is the account's now. What it had before is no longer, its sessions have ended, and an
    /// invitation that went to the old address is no longer good.
    Set,
    /// Another account has it; nothing changed.
    Taken,
    /// There is no such account.
    NoAccount,
}

/// Keeps who may sign in, and who is signed in. Of tokens a keyed hash is kept.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Gives an account the address that its owner signs in with. The same address again changes
    /// nothing; another one keeps the password.
    async fn set_email(
        &self,
        account: AccountId,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<EmailSet, StoreError>;

    /// Who signs in to an account's page; `None` when no address was given, or there is no such
    /// account.
    async fn sign_in(&self, account: AccountId) -> Result<Option<SignIn>, StoreError>;

    /// Who signs in with an address.
    async fn by_email(&self, email: &EmailAddress) -> Result<Option<SignIn>, StoreError>;

    /// Lets whoever has `token` set the account's password once, until `until`. An earlier
    /// invitation of the account is no longer good. `false` when nobody signs in to the account.
    async fn invite(
        &self,
        account: AccountId,
        token: &Token,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Whose password an invitation is to set; `None` when it was used, has ended at `now`, or
    /// never was.
    async fn invited(&self, token: &Token, now: Timestamp) -> Result<Option<SignIn>, StoreError>;

    /// Uses an invitation up to set the password, and ends all sessions of the account, all or
    /// nothing. `None`, and nothing changed, when the invitation is not good at `now`.
    async fn accept(
        &self,
        token: &Token,
        password: PasswordHash,
        now: Timestamp,
    ) -> Result<Option<AccountId>, StoreError>;

    /// Sets another password and ends all sessions of the account but `kept`, and its invitation,
    /// all or nothing. `false` when nobody signs in to the account.
    async fn set_password(
        &self,
        account: AccountId,
        password: PasswordHash,
        kept: Option<&Token>,
    ) -> Result<bool, StoreError>;

    /// Begins a session. Where the account has more than [`Session::MOST_OF_AN_ACCOUNT`] then, those
    /// that began first end.
    async fn begin_session(&self, token: &Token, session: Session) -> Result<(), StoreError>;

    /// The session of a token, ended or not: the caller holds it against the time and its idle
    /// limit. `None` when it was revoked or never began.
    async fn session(&self, token: &Token) -> Result<Option<Session>, StoreError>;

    /// Notes that a session is in use at `at`.
    async fn touch_session(&self, token: &Token, at: Timestamp) -> Result<(), StoreError>;

    /// Ends a session. One that is not there is ended already.
    async fn end_session(&self, token: &Token) -> Result<(), StoreError>;

    /// Takes away the invitations and sessions that have ended at `now`, so that they stay ended
    /// where the clock is set back; how many. `now` has to be right: see
    /// [`ClockWatch`](crate::ClockWatch).
    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// The sessions of an account, the newest first, ended by their time or not; `current` is the
    /// token of the one that asks.
    async fn sessions(
        &self,
        account: AccountId,
        current: Option<&Token>,
    ) -> Result<Vec<ListedSession>, StoreError>;

    /// Ends a session of an account; `false` when it has none of this id.
    async fn end_session_of(&self, account: AccountId, id: SessionId) -> Result<bool, StoreError>;

    /// Ends all sessions of an account but `kept`; how many.
    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Token>,
    ) -> Result<u64, StoreError>;
}
