//! Decides what a charge or a grant does: how it changes the account's balance, and which row it
//! adds to the ledger.
//!
//! A decision depends only on the account's balance. The store checks everything else: whether the
//! account exists, whether the idempotency key was used before, and whether the entry that an
//! adjustment corrects exists.

use enrich_core::Credits;
use enrich_core::port::ledger::{Charge, Grant};

use crate::row::{Row, kind, price_text};

/// The result of deciding a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it is moved once, into the row's insertion")]
pub enum ChargeDecision<'a> {
    /// Nothing is charged, because the balance is too low for the price.
    Insufficient,
    /// Nothing is charged, because an answer without items is free. No row is added.
    Free,
    /// The charge adds this row. The row already contains the balance after the charge;
    /// [`LastRow::append`](crate::LastRow::append) completes the row.
    Row(Row<'a>),
}

/// Decides what a charge does to an account with this balance.
pub fn decide_charge<'a>(charge: &'a Charge, balance: Credits) -> ChargeDecision<'a> {
    let price = charge.credits();
    match balance.checked_sub(price) {
        None => ChargeDecision::Insufficient,
        Some(_) if charge.items == 0 => ChargeDecision::Free,
        Some(left) => ChargeDecision::Row(charge_row(charge, price, left)),
    }
}

/// Returns the row that a grant adds to an account with this balance. Returns `None` when the new
/// balance would be below zero or above [`Credits::MAX`].
pub fn decide_grant<'a>(grant: &'a Grant, balance: Credits) -> Option<Row<'a>> {
    Some(grant_row(grant, balance.checked_add_signed(grant.credits)?))
}

/// Creates the row of a charge. Two fields are set later: the row's sequence, and the number of the
/// secret (the key in `secret.key`) with which the row's hash is made.
fn charge_row(charge: &Charge, price: Credits, balance: Credits) -> Row<'_> {
    Row {
        account: charge.account,
        sequence: 0,
        id: charge.id,
        kind: kind::CHARGE.into(),
        corrects: None,
        // The conversion cannot fail, because the price is at most the balance, and the balance is
        // at most `i64::MAX`.
        credits: i64::try_from(price.0).map_or(i64::MIN, |price| -price),
        balance,
        endpoint: Some(charge.endpoint.into()),
        items: Some(charge.items),
        price: Some(price_text(charge.price)),
        api_key: Some(charge.key),
        request_id: Some(charge.request_id.as_str().into()),
        revision: Some(charge.revision.0),
        note: "".into(),
        at: charge.at,
        secret: 0,
    }
}

/// Creates the row of a grant. Two fields are set later: the row's sequence, and the number of the
/// secret (the key in `secret.key`) with which the row's hash is made.
fn grant_row(grant: &Grant, balance: Credits) -> Row<'_> {
    let kind = if grant.corrects.is_some() { kind::ADJUSTMENT } else { kind::GRANT };
    Row {
        account: grant.account,
        sequence: 0,
        id: grant.id,
        kind: kind.into(),
        corrects: grant.corrects,
        credits: grant.credits,
        balance,
        endpoint: None,
        items: None,
        price: None,
        api_key: None,
        request_id: None,
        revision: None,
        note: grant.note.as_str().into(),
        at: grant.at,
        secret: 0,
    }
}
