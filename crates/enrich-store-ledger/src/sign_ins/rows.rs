//! Reads and changes the rows of `sign_in`, `invitation` and `session`.

use enrich_core::{AccountId, Timestamp};
use enrich_ledger::{Sealed, SealedSignIn, SignInHash};
use enrich_sign_in::{Session, SessionId};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::{Connection, Row};

macro_rules! sign_in {
    ($rest:literal) => {
        concat!(
            "SELECT sign_in.account, email, sign_in.secret, password, password_secret, created_at ",
            "FROM sign_in ",
            $rest
        )
    };
}

pub(super) const BY_ACCOUNT: &str = sign_in!("WHERE account = ?1");
pub(super) const BY_EMAIL: &str = sign_in!("WHERE email_hash = ?1");
/// The query for the account and the end of an invitation, by the hash of its token.
pub(super) const INVITATION: &str = "SELECT account, until FROM invitation WHERE token_hash = ?1";

pub(super) const END_SESSION: &str = "DELETE FROM session WHERE token_hash = ?1";

/// Runs `query` for one hash after the other, and returns the first row that is found.
pub(super) fn first_of<T>(
    connection: &Connection,
    query: &str,
    hashes: &[SignInHash],
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    for hash in hashes {
        if let Some(found) = connection.find(query, [hash], &read)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Sets the password of an account's sign-in, and deletes the account's invitation. Returns whether
/// the account has a sign-in.
pub(super) fn set_password(
    connection: &Connection,
    account: AccountId,
    sealed: &Sealed,
) -> rusqlite::Result<bool> {
    end_invitation(connection, account)?;
    Ok(connection.run(
        "UPDATE sign_in SET password = ?2, password_secret = ?3 WHERE account = ?1",
        (Column(account), &sealed.bytes, sealed.secret),
    )? > 0)
}

pub(super) fn end_invitation(connection: &Connection, account: AccountId) -> rusqlite::Result<()> {
    connection.run("DELETE FROM invitation WHERE account = ?1", [Column(account)]).map(|_| ())
}

/// Ends the sessions of an account, except those whose hash is in `kept`. Returns how many sessions
/// were ended.
pub(super) fn end_sessions(
    connection: &Connection,
    account: AccountId,
    kept: &[SignInHash],
) -> rusqlite::Result<u64> {
    let all = "SELECT token_hash FROM session WHERE account = ?1";
    let all: Vec<SignInHash> = connection.list(all, [Column(account)], |row| row.get(0))?;
    let mut ended = 0;
    for hash in all.iter().filter(|hash| !kept.contains(hash)) {
        ended += connection.run(END_SESSION, [hash])? as u64;
    }
    Ok(ended)
}

/// The query for the sessions of an account, the newest first. The hash of the token is the last
/// column; the columns of a session come before it.
pub(super) const SESSIONS_OF_ACCOUNT: &str =
    "SELECT account, started_at, seen_at, ends_at, token_hash FROM session
     WHERE account = ?1 ORDER BY started_at DESC, token_hash";

/// Ends the account's session with this id. Returns whether the account had such a session.
pub(super) fn end_session_of(
    connection: &Connection,
    account: AccountId,
    id: SessionId,
) -> rusqlite::Result<bool> {
    Ok(connection.run(
        "DELETE FROM session WHERE account = ?1 AND substr(token_hash, 1, ?3) = ?2",
        (Column(account), id.0, id.0.len()),
    )? > 0)
}

/// If an account has more than [`Session::MAX_PER_ACCOUNT`] sessions, ends the oldest ones.
/// Never ends the session with the hash `newest`, even if it seems to be older than others because
/// the clock was set back.
pub(super) fn end_oldest_sessions(
    connection: &Connection,
    account: AccountId,
    newest: &SignInHash,
) -> rusqlite::Result<()> {
    connection
        .run(
            "DELETE FROM session WHERE token_hash IN (
             SELECT token_hash FROM session WHERE account = ?1 AND token_hash <> ?2
             ORDER BY started_at DESC LIMIT -1 OFFSET ?3)",
            (Column(account), newest, Session::MAX_PER_ACCOUNT - 1),
        )
        .map(|_| ())
}

pub(super) fn read_sign_in(row: &Row<'_>) -> rusqlite::Result<SealedSignIn> {
    let (Column(account), Column(created_at)) = (row.get(0)?, row.get(5)?);
    let password = row.get::<_, Option<_>>(3)?.zip(row.get(4)?);
    let sealed = |(bytes, secret)| Sealed { bytes, secret };
    let email = sealed((row.get(1)?, row.get(2)?));
    Ok(SealedSignIn { account, email, password: password.map(sealed), created_at })
}

pub(super) fn read_invitation(row: &Row<'_>) -> rusqlite::Result<(AccountId, Timestamp)> {
    let (Column(account), Column(until)) = (row.get(0)?, row.get(1)?);
    Ok((account, until))
}

pub(super) fn read_session(row: &Row<'_>) -> rusqlite::Result<Session> {
    let (Column(account), Column(started_at)) = (row.get(0)?, row.get(1)?);
    let (Column(seen_at), Column(ends_at)) = (row.get(2)?, row.get(3)?);
    Ok(Session { account, started_at, seen_at, ends_at })
}
