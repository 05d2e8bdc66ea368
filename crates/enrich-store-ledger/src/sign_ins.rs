//! The owners' sign-ins to account pages, in `ledger.sqlite`.
//!
//! Email addresses and tokens are found by keyed hashes, as API keys are. Nothing is cached in
//! memory, so a change that a command makes takes effect immediately.
//!
//! Some changes must not be lost: the end of a session, the use of an invitation, a new password.
//! These changes are on disk before the caller gets an answer. The beginning or the use of a
//! session is not synced to disk: after a power failure, the owner may have to sign in again.
//!
//! No change of sign-ins runs on the thread that decides charges. But while a change holds SQLite's
//! only write lock, charges wait. So each change is short: most changes write only a few rows, and
//! the deletion of ended sessions is limited to `SETTLED_AT_ONCE` sessions.

mod rows;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::{AccountId, Timestamp};
use enrich_ledger::{SignInHash, SignInSealing, session_id};
use enrich_secrets::{Purpose, Secrets};
use enrich_sign_in::{
    EmailSet, ListedSession, PasswordHash, Session, SessionId, SignIn, SignIns, Token,
};
use enrich_store_sqlite::{self as sqlite, Column, Durability, OpenError, Readers, Statements};
use enrich_text::EmailAddress;
use rusqlite::{Connection, params};

use crate::changes::Changes;
use crate::ledger::LedgerFiles;
use rows::{
    BY_ACCOUNT, BY_EMAIL, END_SESSION, INVITATION, SESSIONS_OF_ACCOUNT, end_invitation,
    end_oldest_sessions, end_session_of, end_sessions, first_of, read_invitation, read_session,
    read_sign_in, set_password,
};

/// Maximum number of ended sessions that one transaction deletes. Charges wait for this
/// transaction, so it must be short.
const SETTLED_AT_ONCE: u32 = 10_000;
/// The statement that deletes sessions that have ended by the time `?1`, at most `?2` of them, the
/// oldest first.
const ENDED_SESSIONS: &str = "DELETE FROM session WHERE token_hash IN (
    SELECT token_hash FROM session WHERE ends_at <= ?1 ORDER BY ends_at LIMIT ?2)";

/// The sign-ins, invitations and sessions in `ledger.sqlite`.
#[derive(Debug)]
pub struct SqliteSignIns {
    readers: Readers,
    /// Makes changes whose commits are synced to disk.
    synced: Changes,
    /// Makes changes whose commits are not synced to disk.
    unsynced: Changes,
    sealing: SignInSealing,
}

impl SqliteSignIns {
    /// Opens the sign-ins of the ledger at `path`, which must already have its tables.
    pub(crate) fn open(
        path: &Path,
        secrets: &Secrets,
        files: &Arc<LedgerFiles>,
    ) -> Result<Self, OpenError> {
        Ok(Self {
            readers: Readers::open(path, sqlite::reader)?,
            synced: Changes::open(path, Durability::Commit, files)?,
            unsynced: Changes::open(path, Durability::Checkpoint, files)?,
            sealing: SignInSealing::new(secrets),
        })
    }

    /// Makes a change and syncs it to disk.
    async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.synced.make(move |connection| Ok(change(connection)?), || ()).await
    }

    /// Makes a change without syncing it to disk.
    async fn write_unsynced(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        self.unsynced.make(move |connection| Ok(change(connection)?), || ()).await
    }
}

#[async_trait]
impl SignIns for SqliteSignIns {
    async fn set_email(
        &self,
        account: AccountId,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<EmailSet, StoreError> {
        let hashes = self.sealing.hashes(Purpose::SignInEmail, email.as_str());
        let (hash, _) = self.sealing.hash(Purpose::SignInEmail, email.as_str());
        let sealed = self
            .sealing
            .seal(Purpose::SignInEmailSeal, account, email.as_str())
            .map_err(StoreError::failed)?;
        self.write(move |connection| {
            if !connection.has("SELECT 1 FROM account WHERE id = ?1", [Column(account)])? {
                return Ok(EmailSet::NoAccount);
            }
            match first_of(connection, BY_EMAIL, &hashes, read_sign_in)? {
                Some(holder) if holder.account == account => return Ok(EmailSet::Set),
                Some(_) => return Ok(EmailSet::Taken),
                None => {}
            }
            connection.run(
                "INSERT INTO sign_in (account, email_hash, email, secret, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (account) DO UPDATE SET email_hash = excluded.email_hash,
                     email = excluded.email, secret = excluded.secret,
                     created_at = excluded.created_at",
                params![Column(account), hash, sealed.bytes, sealed.secret, Column(now)],
            )?;
            end_invitation(connection, account)?;
            end_sessions(connection, account, &[])?;
            Ok(EmailSet::Set)
        })
        .await
    }

    async fn sign_in(&self, account: AccountId) -> Result<Option<SignIn>, StoreError> {
        let row = self
            .readers
            .read(|connection| connection.find(BY_ACCOUNT, [Column(account)], read_sign_in))?;
        row.map(|row| self.sealing.open(row)).transpose().map_err(StoreError::failed)
    }

    async fn by_email(&self, email: &EmailAddress) -> Result<Option<SignIn>, StoreError> {
        let hashes = self.sealing.hashes(Purpose::SignInEmail, email.as_str());
        let row = self
            .readers
            .read(|connection| first_of(connection, BY_EMAIL, &hashes, read_sign_in))?;
        row.map(|row| self.sealing.open(row)).transpose().map_err(StoreError::failed)
    }

    async fn invite(
        &self,
        account: AccountId,
        token: &Token,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let (hash, secret) = self.sealing.hash(Purpose::InvitationToken, token.expose());
        self.write(move |connection| {
            if !connection.has(BY_ACCOUNT, [Column(account)])? {
                return Ok(false);
            }
            connection.run(
                "INSERT INTO invitation (account, token_hash, secret, until)
                 VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (account) DO UPDATE SET token_hash = excluded.token_hash,
                     secret = excluded.secret, until = excluded.until",
                params![Column(account), hash, secret, Column(until)],
            )?;
            Ok(true)
        })
        .await
    }

    async fn invited(&self, token: &Token, now: Timestamp) -> Result<Option<SignIn>, StoreError> {
        let hashes = self.sealing.hashes(Purpose::InvitationToken, token.expose());
        let invitation = self
            .readers
            .read(|connection| first_of(connection, INVITATION, &hashes, read_invitation))?;
        match invitation {
            Some((account, until)) if now < until => self.sign_in(account).await,
            Some(_) | None => Ok(None),
        }
    }

    async fn accept(
        &self,
        token: &Token,
        password: PasswordHash,
        now: Timestamp,
    ) -> Result<Option<AccountId>, StoreError> {
        let Some(SignIn { account, .. }) = self.invited(token, now).await? else {
            return Ok(None);
        };
        let hashes = self.sealing.hashes(Purpose::InvitationToken, token.expose());
        let sealed = self
            .sealing
            .seal(Purpose::PasswordSeal, account, password.expose())
            .map_err(StoreError::failed)?;
        self.write(move |connection| {
            // The invitation is read again inside the transaction, because it may have been used or
            // replaced since the first read.
            let invitation = first_of(connection, INVITATION, &hashes, read_invitation)?;
            if !invitation.is_some_and(|(of, until)| of == account && now < until) {
                return Ok(None);
            }
            set_password(connection, account, &sealed)?;
            end_sessions(connection, account, &[])?;
            Ok(Some(account))
        })
        .await
    }

    async fn set_password(
        &self,
        account: AccountId,
        password: PasswordHash,
        kept: Option<&Token>,
    ) -> Result<bool, StoreError> {
        let sealed = self
            .sealing
            .seal(Purpose::PasswordSeal, account, password.expose())
            .map_err(StoreError::failed)?;
        let kept = self.sealing.session_hashes(kept);
        self.write(move |connection| {
            let is_there = set_password(connection, account, &sealed)?;
            end_sessions(connection, account, &kept)?;
            Ok(is_there)
        })
        .await
    }

    async fn begin_session(&self, token: &Token, session: Session) -> Result<(), StoreError> {
        let (hash, secret) = self.sealing.hash(Purpose::SessionToken, token.expose());
        self.write_unsynced(move |connection| {
            connection.run(
                "INSERT INTO session (token_hash, secret, account, started_at, seen_at, ends_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    hash,
                    secret,
                    Column(session.account),
                    Column(session.started_at),
                    Column(session.seen_at),
                    Column(session.ends_at),
                ],
            )?;
            end_oldest_sessions(connection, session.account, &hash)
        })
        .await
    }

    async fn session(&self, token: &Token) -> Result<Option<Session>, StoreError> {
        let hashes = self.sealing.session_hashes(Some(token));
        let query =
            "SELECT account, started_at, seen_at, ends_at FROM session WHERE token_hash = ?1";
        self.readers.read(|connection| first_of(connection, query, &hashes, read_session))
    }

    async fn touch_session(&self, token: &Token, at: Timestamp) -> Result<(), StoreError> {
        let hashes = self.sealing.session_hashes(Some(token));
        self.write_unsynced(move |connection| {
            let touch = "UPDATE session SET seen_at = ?2 WHERE token_hash = ?1 AND seen_at < ?2";
            hashes.iter().try_for_each(|hash| connection.run(touch, (hash, Column(at))).map(|_| ()))
        })
        .await
    }

    async fn end_session(&self, token: &Token) -> Result<(), StoreError> {
        let hashes = self.sealing.session_hashes(Some(token));
        self.write(move |connection| {
            hashes.iter().try_for_each(|hash| connection.run(END_SESSION, [hash]).map(|_| ()))
        })
        .await
    }

    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError> {
        let is_due = self.readers.read(|connection| {
            let due = "SELECT 1 FROM session WHERE ends_at <= ?1
                       UNION ALL SELECT 1 FROM invitation WHERE until <= ?1";
            connection.has(due, [Column(now)])
        })?;
        if !is_due {
            return Ok(0);
        }
        self.write(move |connection| {
            let sessions = connection.run(ENDED_SESSIONS, (Column(now), SETTLED_AT_ONCE))?;
            let ended = "DELETE FROM invitation WHERE until <= ?1";
            Ok((sessions + connection.run(ended, [Column(now)])?) as u64)
        })
        .await
    }

    async fn sessions(
        &self,
        account: AccountId,
        current: Option<&Token>,
    ) -> Result<Vec<ListedSession>, StoreError> {
        let current = self.sealing.session_hashes(current);
        self.readers.read(|connection| {
            connection.list(SESSIONS_OF_ACCOUNT, [Column(account)], |row| {
                let hash: SignInHash = row.get(4)?;
                let is_current = current.contains(&hash);
                Ok(ListedSession { id: session_id(&hash), session: read_session(row)?, is_current })
            })
        })
    }

    async fn end_session_of(&self, account: AccountId, id: SessionId) -> Result<bool, StoreError> {
        self.write(move |connection| end_session_of(connection, account, id)).await
    }

    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Token>,
    ) -> Result<u64, StoreError> {
        let kept = self.sealing.session_hashes(kept);
        self.write(move |connection| end_sessions(connection, account, &kept)).await
    }
}
