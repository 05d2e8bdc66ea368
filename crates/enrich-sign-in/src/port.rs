//! [`SignIns`], the port (a trait) that stores how owners sign in to account pages, their
//! invitations and their sessions.

use async_trait::async_trait;
use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use enrich_text::EmailAddress;
use jiff::Timestamp;

use crate::sign_in::{ListedSession, PasswordHash, Session, SessionId, SignIn, Token};

/// The result of setting an account's email address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailSet {
    /// The account has this address now. If it had another address before, its sessions have ended,
    /// and an invitation that was sent to the previous address is invalid. Other accounts may use
    /// the previous address.
    Set,
    /// Another account has this address. Nothing was changed.
    Taken,
    /// The account does not exist.
    NoAccount,
}

/// Stores the email address and the password hash with which the owner of each account signs in.
/// Also stores invitations and sessions. Of the token of an invitation or a session, only a keyed
/// hash is stored.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Sets the email address with which the owner of an account signs in. Changes nothing if the
    /// account already has this address. The password stays the same.
    async fn set_email(
        &self,
        account: AccountId,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<EmailSet, StoreError>;

    /// Returns how the owner of an account signs in (email address and password hash). Returns
    /// `None` if the account has no address or does not exist.
    async fn sign_in(&self, account: AccountId) -> Result<Option<SignIn>, StoreError>;

    /// Returns the sign-in (account and password hash) of the owner with this email address; `None`
    /// if no account has the address.
    async fn by_email(&self, email: &EmailAddress) -> Result<Option<SignIn>, StoreError>;

    /// Creates an invitation: with `token`, the owner can set the account's password once, before
    /// the time `until`. An earlier invitation of the account becomes invalid. Returns `false` if
    /// no email address is set for the account.
    async fn invite(
        &self,
        account: AccountId,
        token: &Token,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns the sign-in of the owner who was invited with this token. Returns `None` if the
    /// invitation was used, has expired at `now`, or does not exist.
    async fn invited(&self, token: &Token, now: Timestamp) -> Result<Option<SignIn>, StoreError>;

    /// Uses an invitation: sets the password and ends all sessions of the account, in one
    /// transaction. If the invitation is not valid at `now`, changes nothing and returns `None`.
    async fn accept(
        &self,
        token: &Token,
        password: PasswordHash,
        now: Timestamp,
    ) -> Result<Option<AccountId>, StoreError>;

    /// Changes the password of an account. In the same transaction, ends all sessions of the
    /// account except the session with the token `kept`, and invalidates its invitation. Returns
    /// `false` if no email address is set for the account.
    async fn set_password(
        &self,
        account: AccountId,
        password: PasswordHash,
        kept: Option<&Token>,
    ) -> Result<bool, StoreError>;

    /// Begins a session. If the account then has more sessions than
    /// [`Session::MAX_PER_ACCOUNT`], its oldest sessions end.
    async fn begin_session(&self, token: &Token, session: Session) -> Result<(), StoreError>;

    /// Returns the session with this token, even if the session has expired. The caller checks the
    /// session's end, and how long it was idle. Returns `None` if somebody has ended the session,
    /// or if it does not exist.
    async fn session(&self, token: &Token) -> Result<Option<Session>, StoreError>;

    /// Sets the time of a session's last use to `at`. Changes nothing if a later time is already
    /// stored.
    async fn touch_session(&self, token: &Token, at: Timestamp) -> Result<(), StoreError>;

    /// Ends the session with this token. Also succeeds if there is no such session.
    async fn end_session(&self, token: &Token) -> Result<(), StoreError>;

    /// Deletes the invitations and sessions that have expired at `now`, so that they stay expired
    /// if the clock is set back. Returns the number of deleted invitations and sessions. The caller
    /// must know that `now` is correct: see `clock_watch.rs` of `enrich-server`.
    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Returns the sessions of an account, the newest first. Expired sessions are included.
    /// `current` is the token of the session that makes this request.
    async fn sessions(
        &self,
        account: AccountId,
        current: Option<&Token>,
    ) -> Result<Vec<ListedSession>, StoreError>;

    /// Ends a session of an account. Returns `false` if the account has no session with this id.
    async fn end_session_of(&self, account: AccountId, id: SessionId) -> Result<bool, StoreError>;

    /// Ends all sessions of an account except the session with the token `kept`. Returns the
    /// number of ended sessions.
    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Token>,
    ) -> Result<u64, StoreError>;
}
