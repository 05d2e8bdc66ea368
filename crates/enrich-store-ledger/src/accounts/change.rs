//! Makes an operator's changes to an account, inside one transaction.

use enrich_core::port::accounts::AccountChanged;
use enrich_core::{AccountChange, AccountId, AccountStatus, Timestamp};
use enrich_store_sqlite::{Column, Statements};
use enrich_text::Country;
use rusqlite::Connection;

use super::{ACCOUNT_BY_ID, read_account};

/// Changes an account. A closed account is not changed.
pub(super) fn change(
    connection: &Connection,
    id: AccountId,
    change: AccountChange,
) -> rusqlite::Result<AccountChanged> {
    let read = || connection.find(ACCOUNT_BY_ID, [Column(id)], read_account);
    match read()? {
        None => return Ok(AccountChanged::NoAccount),
        Some(account) if account.status == AccountStatus::Closed => {
            return Ok(AccountChanged::Closed);
        }
        Some(_) => {}
    }
    match change {
        AccountChange::Rename(name) => {
            connection.run("UPDATE account SET name = ?2 WHERE id = ?1", (Column(id), name))?;
        }
        AccountChange::SetCountry(country) => {
            let code = country.map(Country::alpha2);
            connection.run("UPDATE account SET country = ?2 WHERE id = ?1", (Column(id), code))?;
        }
        AccountChange::Suspend { reason } => set_status(connection, id, "suspended", &reason)?,
        AccountChange::Resume => set_status(connection, id, "active", "")?,
        AccountChange::Close { at } => close(connection, id, at)?,
    }
    Ok(read()?.map_or(AccountChanged::NoAccount, AccountChanged::Done))
}

fn set_status(
    connection: &Connection,
    id: AccountId,
    status: &str,
    reason: &str,
) -> rusqlite::Result<()> {
    let set = "UPDATE account SET status = ?2, status_reason = ?3 WHERE id = ?1";
    connection.run(set, (Column(id), status, reason)).map(|_| ())
}

/// Closes an account. The status of the account is enough to refuse all calls with its keys. The
/// keys are nevertheless ended, so that every list of keys shows them as ended.
fn close(connection: &Connection, id: AccountId, at: Timestamp) -> rusqlite::Result<()> {
    set_status(connection, id, "closed", "")?;
    connection.run(
        "UPDATE api_key SET
             expires_at = CASE WHEN expires_at < ?2 THEN expires_at ELSE ?2 END,
             ended = 1
         WHERE account = ?1",
        (Column(id), Column(at)),
    )?;
    // The order matters: a row with a foreign key is deleted before the row to which its foreign
    // key refers.
    for rows in [
        "DELETE FROM session WHERE account = ?1",
        "DELETE FROM invitation WHERE account = ?1",
        "DELETE FROM sign_in WHERE account = ?1",
    ] {
        connection.run(rows, [Column(id)])?;
    }
    Ok(())
}
