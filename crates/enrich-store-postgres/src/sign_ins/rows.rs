//! Reads and changes the rows of the tables `sign_in`, `invitation` and `session`.

use enrich_core::{AccountId, Timestamp};
use enrich_ledger::{Sealed, SealedSignIn, session_id};
use enrich_sign_in::{Session, SessionId};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{Hash, Value, hash, micros, secret_column, secret_id, slices, timestamp};
use crate::failure::Failure;
use crate::statements::{find, list, run};

macro_rules! sign_in {
    ($rest:literal) => {
        concat!(
            "SELECT account, email, secret, password, password_secret, created_at FROM sign_in ",
            $rest
        )
    };
}

pub(super) const BY_ACCOUNT: &str = sign_in!("WHERE account = $1");
/// Reads the sign-in (email address and password) whose email address has one of the hashes `$1`.
pub(super) const BY_EMAIL: &str = sign_in!("WHERE email_hash = ANY($1)");

/// Ends the sessions whose tokens have one of the hashes `$1`.
pub(super) const END_SESSIONS: &str = "DELETE FROM session WHERE token_hash = ANY($1)";

/// Reads the sessions of an account, the newest first. The last column is the hash of the session's
/// token. The other columns are the values of the session.
pub(super) const SESSIONS_OF_ACCOUNT: &str =
    "SELECT account, started_at, seen_at, ends_at, token_hash FROM session
     WHERE account = $1 ORDER BY started_at DESC, token_hash";

/// The end time that marks an invitation as used. Such an invitation is kept for some time, so that
/// a repetition of the call that used it is recognised.
const USED: Timestamp = Timestamp::MIN;

pub(super) async fn has_sign_in(client: &Client, account: AccountId) -> Result<bool, Failure> {
    let query = "SELECT 1 FROM sign_in WHERE account = $1";
    Ok(!client.query_typed(query, &[(&account.0, Type::UUID)]).await?.is_empty())
}

/// Stores an account's email address. Replaces an earlier address.
pub(super) async fn store_email(
    client: &Client,
    account: AccountId,
    hash: &[u8],
    sealed: &Sealed,
    now: Timestamp,
) -> Result<(), Failure> {
    let store = "INSERT INTO sign_in (account, email_hash, email, secret, created_at)
                 VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (account) DO UPDATE SET email_hash = excluded.email_hash,
                     email = excluded.email, secret = excluded.secret,
                     created_at = excluded.created_at";
    let (secret, now) = (secret_column(sealed.secret)?, micros(now));
    let values: [Value<'_>; 5] = [
        (&account.0, Type::UUID),
        (&hash, Type::BYTEA),
        (&sealed.bytes, Type::BYTEA),
        (&secret, Type::INT4),
        (&now, Type::INT8),
    ];
    match client.execute_typed(store, &values).await {
        Ok(_) => Ok(()),
        // Another account got the address after this transaction had looked for it. So this
        // transaction must be repeated.
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            Err(Failure::Conflict(error))
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads the account and the end of the invitation whose token has one of these hashes.
pub(super) async fn read_invitation(
    client: &Client,
    hashes: &[Hash],
) -> Result<Option<(AccountId, Timestamp)>, Failure> {
    let query = "SELECT account, until FROM invitation WHERE token_hash = ANY($1)";
    let read = |row: &Row| Ok((AccountId(row.try_get(0)?), timestamp(row.try_get(1)?)?));
    find(client, query, &[(&slices(hashes), Type::BYTEA_ARRAY)], read).await
}

/// Marks the invitation of an account as used.
pub(super) async fn use_invitation(client: &Client, account: AccountId) -> Result<(), Failure> {
    let end = "UPDATE invitation SET until = $2 WHERE account = $1";
    let values: [Value<'_>; 2] = [(&account.0, Type::UUID), (&micros(USED), Type::INT8)];
    run(client, end, &values).await.map(|_| ())
}

pub(super) async fn end_invitation(client: &Client, account: AccountId) -> Result<(), Failure> {
    let end = "DELETE FROM invitation WHERE account = $1";
    run(client, end, &[(&account.0, Type::UUID)]).await.map(|_| ())
}

/// Sets a password. Returns whether the account has a sign-in.
pub(super) async fn set_password(
    client: &Client,
    account: AccountId,
    sealed: &Sealed,
) -> Result<bool, Failure> {
    let set = "UPDATE sign_in SET password = $2, password_secret = $3 WHERE account = $1";
    let secret = secret_column(sealed.secret)?;
    let values: [Value<'_>; 3] =
        [(&account.0, Type::UUID), (&sealed.bytes, Type::BYTEA), (&secret, Type::INT4)];
    Ok(run(client, set, &values).await? > 0)
}

/// Adds a session. Does nothing if an earlier attempt of the same call has already added it.
pub(super) async fn insert_session(
    client: &Client,
    hash: &Hash,
    secret: u32,
    session: &Session,
) -> Result<(), Failure> {
    let secret = secret_column(secret)?;
    let insert = "INSERT INTO session (token_hash, secret, account, started_at, seen_at, ends_at)
                  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (token_hash) DO NOTHING";
    let Session { account, started_at, seen_at, ends_at } = session;
    let values: [Value<'_>; 6] = [
        (&&hash[..], Type::BYTEA),
        (&secret, Type::INT4),
        (&account.0, Type::UUID),
        (&micros(*started_at), Type::INT8),
        (&micros(*seen_at), Type::INT8),
        (&micros(*ends_at), Type::INT8),
    ];
    run(client, insert, &values).await.map(|_| ())
}

/// Ends the sessions of an account, except the sessions whose tokens have the hashes `kept`.
/// Returns the number of ended sessions.
pub(super) async fn end_sessions(
    client: &Client,
    account: AccountId,
    kept: &[Hash],
) -> Result<u64, Failure> {
    let end = "DELETE FROM session WHERE account = $1 AND NOT (token_hash = ANY($2))";
    let values: [Value<'_>; 2] = [(&account.0, Type::UUID), (&slices(kept), Type::BYTEA_ARRAY)];
    run(client, end, &values).await
}

/// Ends the session with this id. Returns whether the account had such a session.
pub(super) async fn end_session_of(
    client: &Client,
    account: AccountId,
    id: SessionId,
) -> Result<bool, Failure> {
    let hashes = "SELECT token_hash FROM session WHERE account = $1";
    let read = |row: &Row| hash(row.try_get(0)?);
    let mut hashes = list(client, hashes, &[(&account.0, Type::UUID)], read).await?;
    hashes.retain(|hash| session_id(hash) == id);
    Ok(run(client, END_SESSIONS, &[(&slices(&hashes), Type::BYTEA_ARRAY)]).await? > 0)
}

/// Ends the oldest sessions of an account, until the account is within the limit. Never ends the
/// session with the hash `newest`, even if other sessions have a later start because the clock
/// was ahead.
pub(super) async fn end_oldest_sessions(
    client: &Client,
    account: AccountId,
    newest: &Hash,
) -> Result<(), Failure> {
    let hashes = "SELECT token_hash FROM session WHERE account = $1 AND token_hash <> $2
                  ORDER BY started_at DESC";
    let values: [Value<'_>; 2] = [(&account.0, Type::UUID), (&&newest[..], Type::BYTEA)];
    let others = list(client, hashes, &values, |row| hash(row.try_get(0)?)).await?;
    match others.get(Session::MAX_PER_ACCOUNT - 1..) {
        None | Some([]) => Ok(()),
        Some(oldest) => {
            let values: [Value<'_>; 1] = [(&slices(oldest), Type::BYTEA_ARRAY)];
            run(client, END_SESSIONS, &values).await.map(|_| ())
        }
    }
}

pub(super) fn read_sign_in(row: &Row) -> Result<SealedSignIn, Failure> {
    let email = Sealed { bytes: row.try_get(1)?, secret: secret_id(row.try_get(2)?)? };
    let password = row.try_get::<_, Option<Vec<u8>>>(3)?.zip(row.try_get::<_, Option<i32>>(4)?);
    let open = |(bytes, secret)| Ok::<_, Failure>(Sealed { bytes, secret: secret_id(secret)? });
    Ok(SealedSignIn {
        account: AccountId(row.try_get(0)?),
        email,
        password: password.map(open).transpose()?,
        created_at: timestamp(row.try_get(5)?)?,
    })
}

pub(super) fn read_session(row: &Row) -> Result<Session, Failure> {
    Ok(Session {
        account: AccountId(row.try_get(0)?),
        started_at: timestamp(row.try_get(1)?)?,
        seen_at: timestamp(row.try_get(2)?)?,
        ends_at: timestamp(row.try_get(3)?)?,
    })
}
