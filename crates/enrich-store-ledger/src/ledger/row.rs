//! A ledger row as stored in the table, and the hash that chains it to the row before.

use std::borrow::Cow;

use enrich_core::{
    AccountId, ChargeId, Credits, DirectoryRevision, Entry, EntryKind, KeyId, Price, Timestamp,
};
use enrich_secrets::{Purpose, Secret};
use enrich_store_sqlite::Column;
use rusqlite::{Statement, params};

/// The hash that chains a row to the one before it.
pub(super) type Chain = [u8; 32];

/// The hash before the first row of an account.
pub(super) const NO_ROW: Chain = [0; 32];

/// The version of [`Row::bytes`]; another layout takes another number.
const LAYOUT: u8 = 1;

/// A row whose content is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) account: AccountId,
    pub(super) sequence: u64,
    pub(super) id: ChargeId,
    pub(super) kind: Cow<'a, str>,
    pub(super) corrects: Option<ChargeId>,
    pub(super) credits: i64,
    pub(super) balance: Credits,
    pub(super) endpoint: Option<Cow<'a, str>>,
    pub(super) items: Option<u64>,
    pub(super) price: Option<String>,
    pub(super) api_key: Option<KeyId>,
    pub(super) request_id: Option<Cow<'a, str>>,
    pub(super) revision: Option<u64>,
    pub(super) note: Cow<'a, str>,
    pub(super) at: Timestamp,
    pub(super) secret: u32,
}

/// A row whose content does not fit its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no row of its kind")]
pub(super) struct Malformed;

/// The names of the kinds in the table.
pub(super) mod kind {
    pub(in crate::ledger) const GRANT: &str = "grant";
    pub(in crate::ledger) const CHARGE: &str = "charge";
    pub(in crate::ledger) const ADJUSTMENT: &str = "adjustment";
}

/// The columns that [`Row::read`] reads, in its order.
macro_rules! row_columns {
    () => {
        "account, sequence, id, kind, corrects, credits, balance, endpoint, items, price, \
         api_key, request_id, generation, note, at, secret"
    };
}
pub(super) use row_columns;

/// The columns that [`Link::read`] reads, after those of [`row_columns`].
macro_rules! link_columns {
    () => {
        "chain, position, previous"
    };
}
pub(super) use link_columns;

/// The column of [`Link`]'s hash.
pub(super) const CHAIN_COLUMN: usize = 16;
/// The column of [`Link`]'s position.
pub(super) const POSITION_COLUMN: usize = 17;

/// The columns that link a row to other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The hash that chains it to the account's row before.
    pub(super) chain: Chain,
    /// Its position in the log.
    pub(super) position: u64,
    /// The position of the account's row before; 0 for the first.
    pub(super) previous: u64,
}

impl Link {
    /// Reads the columns of [`link_columns`], which follow those of [`row_columns`].
    pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let (chain, position) = (row.get(CHAIN_COLUMN)?, row.get(POSITION_COLUMN)?);
        Ok(Self { chain, position, previous: row.get(18)? })
    }
}

/// Inserts a row; columns in the order in which [`Row::insert`] binds them.
pub(super) const INSERT: &str = concat!(
    "INSERT INTO entry (",
    row_columns!(),
    ", ",
    link_columns!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"
);

impl Row<'_> {
    /// Reads the columns of [`row_columns`].
    pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row<'static>> {
        let text = |index| row.get::<_, String>(index).map(Cow::Owned);
        let maybe_text =
            |index| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(index)?.map(Cow::Owned));
        let (Column(account), Column(id)) = (row.get(0)?, row.get(2)?);
        let (Column(balance), Column(at)) = (row.get(6)?, row.get(14)?);
        Ok(Row {
            account,
            sequence: row.get(1)?,
            id,
            kind: text(3)?,
            corrects: row.get::<_, Option<Column<_>>>(4)?.map(|Column(id)| id),
            credits: row.get(5)?,
            balance,
            endpoint: maybe_text(7)?,
            items: row.get(8)?,
            price: row.get(9)?,
            api_key: row.get::<_, Option<Column<_>>>(10)?.map(|Column(id)| id),
            request_id: maybe_text(11)?,
            revision: row.get(12)?,
            note: text(13)?,
            at,
            secret: row.get(15)?,
        })
    }

    /// Inserts the row by the [`INSERT`] statement.
    pub(super) fn insert(&self, insert: &mut Statement<'_>, link: &Link) -> rusqlite::Result<()> {
        insert.execute(params![
            Column(self.account),
            self.sequence,
            Column(self.id),
            self.kind,
            self.corrects.map(Column),
            self.credits,
            Column(self.balance),
            self.endpoint,
            self.items,
            self.price,
            self.api_key.map(Column),
            self.request_id,
            self.revision,
            self.note,
            Column(self.at),
            self.secret,
            link.chain,
            link.position,
            link.previous,
        ])?;
        Ok(())
    }

    /// The keyed hash of this row and of the hash in the account's row before it.
    pub(super) fn chain(&self, before: &Chain, secret: &Secret) -> Chain {
        secret.hash_bytes(Purpose::LedgerChain, &self.bytes(before))
    }

    /// The bytes of the row and the hash before it, different for different rows: the layout's
    /// number, then each column in order with its length. An absent column has a length that no
    /// value has.
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

    /// The row's content.
    pub(super) fn entry(self) -> Result<Entry, Malformed> {
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

/// The price as text for the table. The ledger has its own form, since the displayed form may
/// change but hashed bytes must not.
pub(super) fn price_text(price: Price) -> String {
    match price {
        Price::PerAnswer(credits) => format!("answer/{credits}"),
        Price::PerItems(items) => format!("items/{items}"),
    }
}

/// Reads [`price_text`] back; `None` for any other text, including a credit for every 0 items.
pub(super) fn parse_price(text: &str) -> Option<Price> {
    let (kind, number) = text.split_once('/')?;
    let number: u64 = number.parse().ok()?;
    match kind {
        "answer" => Some(Price::PerAnswer(number)),
        "items" if number > 0 => Some(Price::PerItems(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_reads_back() {
        for price in [Price::PerAnswer(3), Price::PerItems(5)] {
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
