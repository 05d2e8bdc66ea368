//! Sign-ins to account pages, in PostgreSQL.
//!
//! Email addresses and tokens are found by their keyed hashes, like API keys. Nothing is cached
//! in memory. So a new invitation from the command line works immediately, and a session that is
//! ended from the command line is ended on all nodes.
//!
//! A change that takes something away (a session ends, an invitation is used, a password is
//! replaced) is on the standby database server before the call returns. The start and the use of a
//! session may be lost if the primary server fails. Then the account owner must sign in again.
//!
//! Every change locks the account first, so that changes of one account run one after the other.

mod rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::{AccountId, Timestamp};
use enrich_ledger::{Sealed, SignInSealing, session_id};
use enrich_secrets::Purpose;
use enrich_sign_in::{
    EmailSet, ListedSession, PasswordHash, Session, SessionId, SignIn, SignIns, Token,
};
use enrich_text::EmailAddress;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{Hash, Value, hash, micros, secret_column, slices};
use crate::database::Statements;
use crate::failure::Failure;
use crate::node::Node;
use crate::statements::{find, list, lock_account, run, write_and_settle};
use rows::{
    BY_ACCOUNT, BY_EMAIL, END_SESSIONS, SESSIONS_OF_ACCOUNT, end_invitation, end_oldest_sessions,
    end_sessions, has_sign_in, insert_session, read_invitation, read_session, read_sign_in,
    set_password, store_email, use_invitation,
};

/// Maximum number of ended sessions that one statement deletes.
const SETTLED_AT_ONCE: i64 = 10_000;
/// Deletes the sessions that ended at `$1` or before, the oldest first, at most `$2`.
const SETTLE_SESSIONS: &str = "DELETE FROM session WHERE token_hash IN (
    SELECT token_hash FROM session WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2)";
/// Makes the commit of the current transaction return before the change is durable.
const UNSYNCED: &str = "SET LOCAL synchronous_commit = off";

/// Stores the sign-ins of account owners (their email addresses and passwords) and their sessions.
pub struct PostgresSignIns {
    node: Node,
    sealing: Arc<SignInSealing>,
}

/// A session cannot begin, because the account has no sign-in: no email address of an owner is
/// stored.
#[derive(Debug, thiserror::Error)]
#[error("the account has no sign-in")]
struct NoSignIn;

impl PostgresSignIns {
    pub(crate) fn new(node: Node) -> Self {
        let sealing = Arc::new(SignInSealing::new(&node.secrets));
        Self { node, sealing }
    }

    /// Makes a change. If the reply of the database is lost, it is unknown whether the change was
    /// made; then this method repeats the change ([`write_and_settle`]).
    async fn write<T: Send + 'static>(
        &self,
        change: impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        write_and_settle(&self.node.database, change).await
    }
}

#[async_trait]
impl SignIns for PostgresSignIns {
    async fn set_email(
        &self,
        account: AccountId,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<EmailSet, StoreError> {
        let hashes = self.sealing.hashes(Purpose::SignInEmail, email.as_str());
        let sealed = self
            .sealing
            .seal(Purpose::SignInEmailSeal, account, email.as_str())
            .map_err(StoreError::failed)?;
        let sealed = Arc::new(sealed);
        self.write(move |client| {
            let (hashes, sealed) = (Arc::clone(&hashes), Arc::clone(&sealed));
            Box::pin(async move { set_email(client, account, &hashes, &sealed, now).await })
        })
        .await
    }

    async fn sign_in(&self, account: AccountId) -> Result<Option<SignIn>, StoreError> {
        let row = self.node.database.read(move |client| {
            Box::pin(async move {
                find(client, BY_ACCOUNT, &[(&account.0, Type::UUID)], read_sign_in).await
            })
        });
        let row = row.await?;
        row.map(|row| self.sealing.open(row)).transpose().map_err(StoreError::failed)
    }

    async fn by_email(&self, email: &EmailAddress) -> Result<Option<SignIn>, StoreError> {
        let hashes = self.sealing.hashes(Purpose::SignInEmail, email.as_str());
        let row = self.node.database.read(move |client| {
            let hashes = Arc::clone(&hashes);
            Box::pin(async move {
                let hashes = slices(&hashes);
                find(client, BY_EMAIL, &[(&hashes, Type::BYTEA_ARRAY)], read_sign_in).await
            })
        });
        let row = row.await?;
        row.map(|row| self.sealing.open(row)).transpose().map_err(StoreError::failed)
    }

    async fn invite(
        &self,
        account: AccountId,
        token: &Token,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let (hash, secret) = self.sealing.hash(Purpose::InvitationToken, token.expose());
        let (secret, until) = (secret_column(secret)?, micros(until));
        self.write(move |client| {
            let invite = "INSERT INTO invitation (account, token_hash, secret, until)
                          VALUES ($1, $2, $3, $4)
                          ON CONFLICT (account) DO UPDATE SET token_hash = excluded.token_hash,
                              secret = excluded.secret, until = excluded.until";
            Box::pin(async move {
                lock_account(client, account).await?;
                if !has_sign_in(client, account).await? {
                    return Ok(false);
                }
                let values: [Value<'_>; 4] = [
                    (&account.0, Type::UUID),
                    (&&hash[..], Type::BYTEA),
                    (&secret, Type::INT4),
                    (&until, Type::INT8),
                ];
                run(client, invite, &values).await?;
                Ok(true)
            })
        })
        .await
    }

    async fn invited(&self, token: &Token, now: Timestamp) -> Result<Option<SignIn>, StoreError> {
        let hashes = self.sealing.hashes(Purpose::InvitationToken, token.expose());
        let invitation = self.node.database.read(move |client| {
            let hashes = Arc::clone(&hashes);
            Box::pin(async move { read_invitation(client, &hashes).await })
        });
        match invitation.await? {
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
        let hashes = self.sealing.hashes(Purpose::InvitationToken, token.expose());
        let (sealing, password) = (Arc::clone(&self.sealing), Arc::new(password));
        self.write(move |client| {
            let (hashes, sealing) = (Arc::clone(&hashes), Arc::clone(&sealing));
            let password = Arc::clone(&password);
            Box::pin(async move { accept(client, &sealing, &hashes, &password, now).await })
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
        let (sealed, kept) = (Arc::new(sealed), self.sealing.session_hashes(kept));
        self.write(move |client| {
            let (sealed, kept) = (Arc::clone(&sealed), Arc::clone(&kept));
            Box::pin(async move {
                lock_account(client, account).await?;
                end_invitation(client, account).await?;
                let is_there = set_password(client, account, &sealed).await?;
                end_sessions(client, account, &kept).await?;
                Ok(is_there)
            })
        })
        .await
    }

    async fn begin_session(&self, token: &Token, session: Session) -> Result<(), StoreError> {
        let (hash, secret) = self.sealing.hash(Purpose::SessionToken, token.expose());
        self.write(move |client| {
            Box::pin(async move {
                client.batch_execute(UNSYNCED).await?;
                lock_account(client, session.account).await?;
                if !has_sign_in(client, session.account).await? {
                    return Err(Failure::of(NoSignIn));
                }
                insert_session(client, &hash, secret, &session).await?;
                end_oldest_sessions(client, session.account, &hash).await
            })
        })
        .await
    }

    async fn session(&self, token: &Token) -> Result<Option<Session>, StoreError> {
        let hashes = self.sealing.session_hashes(Some(token));
        self.node
            .database
            .read(move |client| {
                let hashes = Arc::clone(&hashes);
                let query = "SELECT account, started_at, seen_at, ends_at FROM session
                         WHERE token_hash = ANY($1)";
                Box::pin(async move {
                    let hashes = slices(&hashes);
                    find(client, query, &[(&hashes, Type::BYTEA_ARRAY)], read_session).await
                })
            })
            .await
    }

    async fn touch_session(&self, token: &Token, at: Timestamp) -> Result<(), StoreError> {
        let (hashes, at) = (self.sealing.session_hashes(Some(token)), micros(at));
        self.write(move |client| {
            let hashes = Arc::clone(&hashes);
            let touch =
                "UPDATE session SET seen_at = $2 WHERE token_hash = ANY($1) AND seen_at < $2";
            Box::pin(async move {
                client.batch_execute(UNSYNCED).await?;
                let hashes = slices(&hashes);
                let values: [Value<'_>; 2] = [(&hashes, Type::BYTEA_ARRAY), (&at, Type::INT8)];
                run(client, touch, &values).await.map(|_| ())
            })
        })
        .await
    }

    async fn end_session(&self, token: &Token) -> Result<(), StoreError> {
        let hashes = self.sealing.session_hashes(Some(token));
        self.write(move |client| {
            let hashes = Arc::clone(&hashes);
            Box::pin(async move {
                let hashes = slices(&hashes);
                let ended = run(client, END_SESSIONS, &[(&hashes, Type::BYTEA_ARRAY)]).await;
                ended.map(|_| ())
            })
        })
        .await
    }

    async fn settle_ends(&self, now: Timestamp) -> Result<u64, StoreError> {
        let now = micros(now);
        let is_due = self.node.database.read(move |client| {
            let due = "SELECT 1 FROM session WHERE ends_at <= $1
                       UNION ALL SELECT 1 FROM invitation WHERE until <= $1 LIMIT 1";
            Box::pin(async move {
                Ok(!client.query_typed(due, &[(&now, Type::INT8)]).await?.is_empty())
            })
        });
        if !is_due.await? {
            return Ok(0);
        }
        self.write(move |client| {
            let invitations = "DELETE FROM invitation WHERE until <= $1";
            Box::pin(async move {
                let values: [Value<'_>; 2] = [(&now, Type::INT8), (&SETTLED_AT_ONCE, Type::INT8)];
                let sessions = run(client, SETTLE_SESSIONS, &values).await?;
                Ok(sessions + run(client, invitations, &values[..1]).await?)
            })
        })
        .await
    }

    async fn sessions(
        &self,
        account: AccountId,
        current: Option<&Token>,
    ) -> Result<Vec<ListedSession>, StoreError> {
        let current = self.sealing.session_hashes(current);
        self.node
            .database
            .read(move |client| {
                let current = Arc::clone(&current);
                Box::pin(async move {
                    let read = |row: &Row| {
                        let hash = hash(row.try_get(4)?)?;
                        let is_current = current.contains(&hash);
                        Ok(ListedSession {
                            id: session_id(&hash),
                            session: read_session(row)?,
                            is_current,
                        })
                    };
                    list(client, SESSIONS_OF_ACCOUNT, &[(&account.0, Type::UUID)], read).await
                })
            })
            .await
    }

    async fn end_session_of(&self, account: AccountId, id: SessionId) -> Result<bool, StoreError> {
        self.write(move |client| {
            Box::pin(async move { rows::end_session_of(client, account, id).await })
        })
        .await
    }

    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Token>,
    ) -> Result<u64, StoreError> {
        let kept = self.sealing.session_hashes(kept);
        self.write(move |client| {
            let kept = Arc::clone(&kept);
            Box::pin(async move {
                lock_account(client, account).await?;
                end_sessions(client, account, &kept).await
            })
        })
        .await
    }
}

/// Sets an account's email address, in one transaction. `hashes` contains a keyed hash of the
/// address for each secret in `secret.key`. The first one is made with the current secret.
async fn set_email(
    client: &Client,
    account: AccountId,
    hashes: &[Hash],
    sealed: &Sealed,
    now: Timestamp,
) -> Result<EmailSet, Failure> {
    if !lock_account(client, account).await? {
        return Ok(EmailSet::NoAccount);
    }
    let found = slices(hashes);
    let holder = find(client, BY_EMAIL, &[(&found, Type::BYTEA_ARRAY)], read_sign_in).await?;
    match holder {
        Some(holder) if holder.account == account => return Ok(EmailSet::Set),
        Some(_) => return Ok(EmailSet::Taken),
        None => {}
    }
    store_email(client, account, found.first().copied().unwrap_or_default(), sealed, now).await?;
    end_invitation(client, account).await?;
    end_sessions(client, account, &[]).await?;
    Ok(EmailSet::Set)
}

/// Uses an invitation to set the password, in one transaction.
async fn accept(
    client: &Client,
    sealing: &SignInSealing,
    hashes: &[Hash],
    password: &PasswordHash,
    now: Timestamp,
) -> Result<Option<AccountId>, Failure> {
    let Some((account, _)) = read_invitation(client, hashes).await? else {
        return Ok(None);
    };
    lock_account(client, account).await?;
    // The invitation may have been used or replaced before the account was locked, so it is read
    // again.
    let Some((_, until)) = read_invitation(client, hashes).await? else {
        return Ok(None);
    };
    if now < until {
        let sealed = sealing
            .seal(Purpose::PasswordSeal, account, password.expose())
            .map_err(StoreError::failed)?;
        set_password(client, account, &sealed).await?;
        use_invitation(client, account).await?;
        end_sessions(client, account, &[]).await?;
        return Ok(Some(account));
    }
    // An earlier attempt of this call may have used the invitation. If it did, it stored exactly
    // this password hash; no other call has the same hash, because each hash has its own random
    // salt.
    let row = find(client, BY_ACCOUNT, &[(&account.0, Type::UUID)], read_sign_in).await?;
    let is_own = row.is_some_and(|row| {
        let stored = sealing.open(row).ok().and_then(|sign_in| sign_in.password);
        stored.is_some_and(|stored| stored.expose() == password.expose())
    });
    Ok(is_own.then_some(account))
}
