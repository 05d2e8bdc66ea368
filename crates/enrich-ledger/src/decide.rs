//! The effect of a charge or a grant on an account.
//!
//! A decision depends only on the account's balance. The store knows the rest: whether the account
//! exists, whether the idempotency key is free, and whether a corrected entry exists.

use enrich_core::port::ledger::{Charge, Grant};
use enrich_core::{Credits, Price};

use crate::row::{Row, kind, price_text};

/// The effect of a charge on an account.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it is moved once, into the row's insertion")]
pub enum ChargeDecision<'a> {
    /// The balance is too low.
    Insufficient,
    /// The answer has no items: the balance does not change, and no row is added.
    Free,
    /// The charge's row, to be [completed](crate::LastRow::append) and added. The row already
    /// contains the balance after the charge.
    Row(Row<'a>),
}

/// The price is invalid: one credit for each group of 0 items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one credit for every 0 items is no price")]
pub struct NoPrice;

/// Checks that a row can hold `price`. Stores call this before they queue a charge.
///
/// # Errors
///
/// When the price is one credit for every 0 items.
pub fn check_price(price: Price) -> Result<(), NoPrice> {
    if price == Price::PerItems(0) { Err(NoPrice) } else { Ok(()) }
}

/// Decides a charge to an account with this balance.
pub fn decide_charge<'a>(charge: &'a Charge, balance: Credits) -> ChargeDecision<'a> {
    let price = charge.credits();
    match balance.minus(price) {
        None => ChargeDecision::Insufficient,
        Some(_) if charge.items == 0 => ChargeDecision::Free,
        Some(left) => ChargeDecision::Row(charge_row(charge, price, left)),
    }
}

/// Decides a grant to an account with this balance; `None` when the balance would be below zero or
/// above [`Credits::MAX`].
pub fn decide_grant<'a>(grant: &'a Grant, balance: Credits) -> Option<Row<'a>> {
    Some(grant_row(grant, balance.changed_by(grant.credits)?))
}

/// Creates the row of a charge, without its sequence and secret.
fn charge_row(charge: &Charge, price: Credits, balance: Credits) -> Row<'_> {
    Row {
        account: charge.account,
        sequence: 0,
        id: charge.id,
        kind: kind::CHARGE.into(),
        corrects: None,
        // The conversion never fails: the price is at most the balance, which is at most
        // `i64::MAX`.
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

/// Creates the row of a grant, without its sequence and secret.
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
