//! An operator's changes to an account, inside one transaction.

use enrich_core::port::accounts::AccountChanged;
use enrich_core::{Account, AccountChange, AccountId, AccountStatus, Timestamp};
use enrich_text::Country;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::keys::count_key_change;
use super::{ACCOUNT_FOR_CHANGE, read_account, status_reason};
use crate::columns::{Value, micros};
use crate::failure::Failure;
use crate::statements::{find, run};

/// Changes an account, unless it is closed.
pub(super) async fn change(
    client: &Client,
    id: AccountId,
    change: &AccountChange,
) -> Result<AccountChanged, Failure> {
    let before = find(client, ACCOUNT_FOR_CHANGE, &[(&id.0, Type::UUID)], read_account).await?;
    let before = match before {
        None => return Ok(AccountChanged::NoAccount),
        Some(account) if account.status == AccountStatus::Closed => {
            return Ok(AccountChanged::Closed);
        }
        Some(account) => account,
    };
    let after = changed(before.clone(), change);
    let status_and_name = "UPDATE account SET name = $2, status = $3, status_reason = $4,
                           country = $5 WHERE id = $1";
    let (status, reason) = (after.status.as_str(), status_reason(&after.status));
    let country = after.country.map(Country::alpha2);
    let values: [Value<'_>; 5] = [
        (&id.0, Type::UUID),
        (&after.name, Type::TEXT),
        (&status, Type::TEXT),
        (&reason, Type::TEXT),
        (&country, Type::TEXT),
    ];
    run(client, status_and_name, &values).await?;
    if let AccountChange::Close { at } = change {
        end_keys_and_sign_in(client, id, *at).await?;
    }
    // The caches of keys contain the status and the country of each key's account, so the caches
    // must be emptied.
    if (&after.status, after.country) != (&before.status, before.country) {
        count_key_change(client, 1).await?;
    }
    Ok(AccountChanged::Done(after))
}

fn changed(account: Account, change: &AccountChange) -> Account {
    match change {
        AccountChange::Rename(name) => Account { name: name.clone(), ..account },
        AccountChange::SetCountry(country) => Account { country: *country, ..account },
        AccountChange::Suspend { reason } => {
            Account { status: AccountStatus::Suspended { reason: reason.clone() }, ..account }
        }
        AccountChange::Resume => Account { status: AccountStatus::Active, ..account },
        AccountChange::Close { .. } => Account { status: AccountStatus::Closed, ..account },
    }
}

/// Ends the keys of a closed account and deletes its sign-in. The service refuses the keys anyway,
/// because the account is closed. Ending them makes pages and commands show them as ended.
async fn end_keys_and_sign_in(
    client: &Client,
    id: AccountId,
    at: Timestamp,
) -> Result<(), Failure> {
    let end = "UPDATE api_key SET
                   expires_at = CASE WHEN expires_at < $2 THEN expires_at ELSE $2 END,
                   ended = true
               WHERE account = $1";
    run(client, end, &[(&id.0, Type::UUID), (&micros(at), Type::INT8)]).await?;
    for rows in [
        "DELETE FROM session WHERE account = $1",
        "DELETE FROM invitation WHERE account = $1",
        "DELETE FROM sign_in WHERE account = $1",
    ] {
        run(client, rows, &[(&id.0, Type::UUID)]).await?;
    }
    Ok(())
}
