//! A ledger row as it is stored, and the keyed hash that chains it to the account's previous row.

use std::borrow::Cow;

use enrich_core::{
    AccountId, ChargeId, Credits, DirectoryRevision, Entry, EntryKind, KeyId, Price, Timestamp,
};
use enrich_secrets::{Purpose, Secret};

/// The keyed hash of a row. It also covers the hash of the account's previous row, and so links the
/// two rows.
pub type Chain = [u8; 32];

/// The value that the first row of an account uses as the hash of the previous row.
pub const NO_ROW: Chain = [0; 32];

/// The version of the layout of [`Row::bytes`]. If the layout changes, this number must change too.
const LAYOUT: u8 = 1;

/// A ledger row as it is stored. Its columns may contain wrong values: [`Row::entry`] checks them.
/// A column that rows of this kind do not use is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The account to which the row belongs.
    pub account: AccountId,
    /// The row's number in the account, from 1; 0 until [`LastRow::append`](crate::LastRow::append)
    /// completes the row.
    pub sequence: u64,
    /// The id of the ledger entry. An adjustment names the entry that it corrects by this id.
    pub id: ChargeId,
    /// One of the names in the module [`kind`].
    pub kind: Cow<'a, str>,
    /// The entry that this row corrects, if it is an adjustment.
    pub corrects: Option<ChargeId>,
    /// The change of the balance; negative for a charge.
    pub credits: i64,
    /// The balance after the row.
    pub balance: Credits,
    /// The path of a charge's endpoint.
    pub endpoint: Option<Cow<'a, str>>,
    /// The number of items that were charged.
    pub items: Option<u64>,
    /// The price rule of a charge, as [`price_text`] writes it.
    pub price: Option<String>,
    /// The key with which the charged call was made.
    pub api_key: Option<KeyId>,
    /// The request id of the charged call.
    pub request_id: Option<Cow<'a, str>>,
    /// The revision of the directory (the look-up data) from which the charged answer was read. It
    /// is a number that grows with every change of the directory.
    pub revision: Option<u64>,
    /// The operator's note; empty for a charge.
    pub note: Cow<'a, str>,
    /// The time at which the charge or the grant was made.
    pub at: Timestamp,
    /// The number of the secret (the key in `secret.key`) with which the row's hash is made; 0
    /// until [`LastRow::append`](crate::LastRow::append) completes the row.
    pub secret: u32,
}

/// The error for a row whose columns do not fit the kind of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no row of its kind")]
pub struct Malformed;

/// The names of the kinds of rows, as stored.
pub mod kind {
    /// Credits that were granted, or taken back.
    pub const GRANT: &str = "grant";
    /// Credits that were charged for an answer.
    pub const CHARGE: &str = "charge";
    /// Credits that were added or taken back, to correct an earlier entry of the account.
    pub const ADJUSTMENT: &str = "adjustment";
}

impl Row<'_> {
    /// Returns the keyed hash of this row together with `before`, the hash of the previous row.
    pub fn chain(&self, before: &Chain, secret: &Secret) -> Chain {
        secret.hash_bytes(Purpose::LedgerChain, &self.bytes(before))
    }

    /// Returns the bytes that are hashed: the layout's version, the previous row's hash, then each
    /// column in order, with its length before it. For a column that is `None`, the length is
    /// written as `u64::MAX`. No value has this length, so two different rows never have the same
    /// bytes.
    fn bytes(&self, before: &Chain) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(384);
        bytes.push(LAYOUT);
        bytes.extend_from_slice(before);
        let mut column = |value: Option<&[u8]>| {
            let length = value.map_or(u64::MAX, |value| value.len() as u64);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(value.unwrap_or_default());
        };
        column(Some(self.account.0.as_bytes()));
        column(Some(&self.sequence.to_le_bytes()));
        column(Some(self.id.0.as_bytes()));
        column(Some(self.kind.as_bytes()));
        column(self.corrects.as_ref().map(|id| &id.0.as_bytes()[..]));
        column(Some(&self.credits.to_le_bytes()));
        column(Some(&self.balance.0.to_le_bytes()));
        column(self.endpoint.as_ref().map(|text| text.as_bytes()));
        column(self.items.map(u64::to_le_bytes).as_ref().map(|items| &items[..]));
        column(self.price.as_ref().map(|text| text.as_bytes()));
        column(self.api_key.as_ref().map(|id| &id.0.as_bytes()[..]));
        column(self.request_id.as_ref().map(|text| text.as_bytes()));
        column(self.revision.map(u64::to_le_bytes).as_ref().map(|number| &number[..]));
        column(Some(self.note.as_bytes()));
        column(Some(&self.at.as_microsecond().to_le_bytes()));
        column(Some(&self.secret.to_le_bytes()));
        bytes
    }

    /// Converts the row to an entry of the ledger.
    ///
    /// # Errors
    ///
    /// When a column that the row's kind needs is absent, or when the kind or the price is unknown.
    pub fn entry(self) -> Result<Entry, Malformed> {
        let kind = match self.kind.as_ref() {
            kind::GRANT => EntryKind::Grant,
            kind::ADJUSTMENT => EntryKind::Adjustment { corrects: self.corrects.ok_or(Malformed)? },
            kind::CHARGE => EntryKind::Charge {
                endpoint: self.endpoint.ok_or(Malformed)?.into_owned(),
                items: self.items.ok_or(Malformed)?,
                price: self.price.as_deref().and_then(parse_price).ok_or(Malformed)?,
                key: self.api_key.ok_or(Malformed)?,
                request_id: self.request_id.ok_or(Malformed)?.into_owned(),
                revision: DirectoryRevision(self.revision.ok_or(Malformed)?),
            },
            _ => return Err(Malformed),
        };
        Ok(Entry {
            account: self.account,
            sequence: self.sequence,
            id: self.id,
            kind,
            credits: self.credits,
            balance: self.balance,
            note: self.note.into_owned(),
            at: self.at,
        })
    }
}

/// Returns the text of a price rule, as a row contains it. The row's hash covers this text, so the
/// text of a rule must never change. (People are shown another text, which may change.)
pub fn price_text(price: Price) -> String {
    match price {
        Price::PerAnswer(credits) => format!("answer/{credits}"),
        Price::PerItems(items) => format!("items/{items}"),
    }
}

/// Parses the text of a price rule that [`price_text`] wrote. Returns `None` for any other text.
pub fn parse_price(text: &str) -> Option<Price> {
    let (kind, number) = text.split_once('/')?;
    match kind {
        "answer" => number.parse().ok().map(Price::PerAnswer),
        "items" => number.parse().ok().map(Price::PerItems),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_reads_back() {
        for price in [Price::PerAnswer(3), Price::per_items::<5>()] {
            assert_eq!(parse_price(&price_text(price)), Some(price));
        }
        for text in ["", "answer", "items/0", "items/-1", "answers/1", "answer/x"] {
            assert_eq!(parse_price(text), None, "{text}");
        }
    }

    #[test]
    fn an_absent_column_is_not_an_empty_one() {
        let row = Row {
            account: AccountId(uuid::Uuid::nil()),
            sequence: 1,
            id: ChargeId(uuid::Uuid::nil()),
            kind: kind::GRANT.into(),
            corrects: None,
            credits: 5,
            balance: Credits(5),
            endpoint: None,
            items: None,
            price: None,
            api_key: None,
            request_id: None,
            revision: None,
            note: "".into(),
            at: Timestamp::UNIX_EPOCH,
            secret: 1,
        };
        let with_empty = Row { endpoint: Some("".into()), ..row.clone() };
        let moved = Row { request_id: Some("".into()), ..row.clone() };
        assert_ne!(row.bytes(&NO_ROW), with_empty.bytes(&NO_ROW));
        assert_ne!(with_empty.bytes(&NO_ROW), moved.bytes(&NO_ROW));
    }
}
