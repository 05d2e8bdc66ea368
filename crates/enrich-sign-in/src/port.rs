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

/// Stores sign-ins, invitations and sessions. A store keeps only a keyed hash of a token, not the
/// token.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Sets the address with which an account's owner signs in. If the address is already set,
    /// nothing changes. A new address keeps the password.
    async fn set_email(
        &self,
        account: AccountId,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<EmailSet, StoreError>;

    /// Returns the sign-in of an account; `None` if the account has no address or does not exist.
    async fn sign_in(&self, account: AccountId) -> Result<Option<SignIn>, StoreError>;

    /// Returns the sign-in with this address; `None` if no account has the address.
    async fn by_email(&self, email: &EmailAddress) -> Result<Option<SignIn>, StoreError>;

    /// Creates an invitation: until the time `until`, `token` allows setting the account's password
    /// once. An earlier invitation becomes invalid. Returns `false` if the account has no sign-in.
    async fn invite(
        &self,
        account: AccountId,
        token: &Token,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns the sign-in that an invitation belongs to; `None` if the invitation was used, has
    /// expired at `now`, or does not exist.
    async fn invited(&self, token: &Token, now: Timestamp) -> Result<Option<SignIn>, StoreError>;

    /// Uses an invitation: sets the password and ends all sessions of the account, atomically. If
    /// the invitation is not valid at `now`, changes nothing and returns `None`.
    async fn accept(
        &self,
        token: &Token,
        password: PasswordHash,
        now: Timestamp,
    ) -> Result<Option<AccountId>, StoreError>;

    /// Sets another password, ends all sessions of the account except `kept`, and makes the
    /// account's invitation invalid, atomically. Returns `false` if the account has no sign-in.
    async fn set_password(
        &self,
        account: AccountId,
        password: PasswordHash,
        kept: Option<&Token>,
    ) -> Result<bool, StoreError>;

    /// Begins a session. If the account then has more sessions than
    /// [`Session::MOST_OF_AN_ACCOUNT`], its oldest sessions end.
    async fn begin_session(&self, token: &Token, session: Session) -> Result<(), StoreError>;

    /// Returns the session of a token, even if the session has expired: the caller checks its end
    /// and the idle limit. Returns `None` if the session was ended or does not exist.
    async fn session(&self, token: &Token) -> Result<Option<Session>, StoreError>;

    /// Records that a session was used at the time `at`.
    async fn touch_session(&self, token: &Token, at: Timestamp) -> Result<(), StoreError>;

    /// Ends a session. A session that does not exist is not an error.
    async fn end_session(&self, token: &Token) -> Result<(), StoreError>;

    /// Deletes the invitations and sessions that have expired at `now`, so that they stay expired
    /// if the clock is set back. Returns the number of deleted invitations and sessions. `now` must
    /// be correct: see [`ClockWatch`](enrich_core::ClockWatch).
    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Returns the sessions of an account, newest first, including expired ones. `current` is the
    /// token of the caller's session.
    async fn sessions(
        &self,
        account: AccountId,
        current: Option<&Token>,
    ) -> Result<Vec<ListedSession>, StoreError>;

    /// Ends a session of an account. Returns `false` if the account has no session with this id.
    async fn end_session_of(&self, account: AccountId, id: SessionId) -> Result<bool, StoreError>;

    /// Ends all sessions of an account except `kept`. Returns the number of ended sessions.
    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Token>,
    ) -> Result<u64, StoreError>;
}
