//! Sign-ins to account pages, and their sessions.

use async_trait::async_trait;
use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use enrich_text::EmailAddress;
use jiff::Timestamp;

use crate::sign_in::{ListedSession, PasswordHash, Session, SessionId, SignIn, Token};

/// The result of setting an account's email address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailSet {
    /// The address was set. The previous address is free again, the account's sessions have ended,
    /// and an invitation sent to the previous address is invalid.
    Set,
    /// Another account has this address; nothing changed.
    Taken,
    /// The account does not exist.
    NoAccount,
}

/// Stores sign-ins, invitations and sessions. For a token, it stores only a keyed hash.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Sets the address with which an account's owner signs in. Setting the same address changes
    /// nothing; another address keeps the password.
    async fn set_email(
        &self,
        account: AccountId,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<EmailSet, StoreError>;

    /// The sign-in of an account; `None` if it has no address or does not exist.
    async fn sign_in(&self, account: AccountId) -> Result<Option<SignIn>, StoreError>;

    /// The sign-in with this address.
    async fn by_email(&self, email: &EmailAddress) -> Result<Option<SignIn>, StoreError>;

    /// Creates an invitation: until `until`, `token` allows setting the account's password once. An
    /// earlier invitation becomes invalid. `false` if the account has no sign-in.
    async fn invite(
        &self,
        account: AccountId,
        token: &Token,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// The sign-in that an invitation belongs to; `None` if it was used, has expired at `now`, or
    /// does not exist.
    async fn invited(&self, token: &Token, now: Timestamp) -> Result<Option<SignIn>, StoreError>;

    /// Uses an invitation: sets the password and ends all sessions of the account, atomically.
    /// `None`, without a change, if the invitation is not valid at `now`.
    async fn accept(
        &self,
        token: &Token,
        password: PasswordHash,
        now: Timestamp,
    ) -> Result<Option<AccountId>, StoreError>;

    /// Sets another password, ends all sessions of the account except `kept`, and ends its
    /// invitation, atomically. `false` if the account has no sign-in.
    async fn set_password(
        &self,
        account: AccountId,
        password: PasswordHash,
        kept: Option<&Token>,
    ) -> Result<bool, StoreError>;

    /// Begins a session. If the account exceeds [`Session::MOST_OF_AN_ACCOUNT`], its oldest
    /// sessions end.
    async fn begin_session(&self, token: &Token, session: Session) -> Result<(), StoreError>;

    /// The session of a token, even if it has expired: the caller checks its end and the idle
    /// limit. `None` if it was ended or does not exist.
    async fn session(&self, token: &Token) -> Result<Option<Session>, StoreError>;

    /// Records that a session was used at `at`.
    async fn touch_session(&self, token: &Token, at: Timestamp) -> Result<(), StoreError>;

    /// Ends a session. A session that does not exist is not an error.
    async fn end_session(&self, token: &Token) -> Result<(), StoreError>;

    /// Deletes the invitations and sessions that have expired at `now`, so that they stay expired
    /// if the clock is set back. Returns their number. `now` must be correct: see
    /// [`ClockWatch`](enrich_core::ClockWatch).
    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// The sessions of an account, newest first, including expired ones. `current` is the token of
    /// the caller's session.
    async fn sessions(
        &self,
        account: AccountId,
        current: Option<&Token>,
    ) -> Result<Vec<ListedSession>, StoreError>;

    /// Ends a session of an account; `false` if the account has no session with this id.
    async fn end_session_of(&self, account: AccountId, id: SessionId) -> Result<bool, StoreError>;

    /// Ends all sessions of an account except `kept`. Returns their number.
    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Token>,
    ) -> Result<u64, StoreError>;
}
