//! The head of an account: its state after its last row in the ledger. The account's next row
//! depends on the head.

use enrich_core::{AccountId, Timestamp};
use enrich_ledger::LastRow;
use enrich_secrets::{Purpose, Secret, Secrets};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::{Connection, params};

use crate::ledger::ledger_state_error::LedgerStateError;
use crate::ledger::{NotAsWritten, read_whole};

/// The sequence index (the table `mark`) lists the rows of an account whose sequence is a multiple
/// of this number. A read of an older row begins at one of the listed rows.
pub(super) const MARK_ROWS: u64 = 256;

/// The state of an account after its last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The sequence, the balance and the hash of the last row.
    pub(super) last: LastRow,
    /// The position of the last row among the rows of all accounts; 0 before the account's first
    /// row.
    pub(super) position: u64,
    /// The earliest and the latest time in the account's newest block of rows
    /// ([`Span::with_next`]). `None` if the account has no rows, or if the rows of this block were
    /// not all read, because the head is from a checkpoint.
    pub(super) span: Option<Span>,
}

/// The earliest and the latest time of some rows, in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) earliest: i64,
    pub(super) latest: i64,
}

impl Span {
    pub(super) fn of(at: Timestamp) -> Self {
        let at = at.as_microsecond();
        Self { earliest: at, latest: at }
    }

    pub(super) fn and(self, at: Timestamp) -> Self {
        let at = at.as_microsecond();
        Self { earliest: self.earliest.min(at), latest: self.latest.max(at) }
    }

    /// Returns the span of an account's newest block after a row with the time `at` is added. A
    /// block is [`MARK_ROWS`] consecutive rows of the account; the newest block may have fewer. The
    /// last row of each full block is in the sequence index.
    ///
    /// `before` is the span without the new row. `previous_sequence` is the sequence of the row
    /// before the new row; 0 if there is none. If it is a multiple of [`MARK_ROWS`], the new row
    /// begins a new block, so the new span covers only this row.
    pub(super) fn with_next(
        previous_sequence: u64,
        before: Option<Self>,
        at: Timestamp,
    ) -> Option<Self> {
        match before {
            _ if previous_sequence.is_multiple_of(MARK_ROWS) => Some(Self::of(at)),
            before => before.map(|span| span.and(at)),
        }
    }

    /// Adds the last row of a full block ([`Self::with_next`]) to the sequence index. `self` is the
    /// span of this block, and is stored with the row.
    pub(super) fn write_mark(
        self,
        connection: &Connection,
        account: AccountId,
        sequence: u64,
        position: u64,
    ) -> rusqlite::Result<()> {
        connection.run(
            "INSERT INTO mark (account, sequence, position, earliest, latest)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (Column(account), sequence, position, self.earliest, self.latest),
        )?;
        Ok(())
    }
}

/// The version of the layout of the bytes that [`Head::hash`] hashes. If the layout changes, this
/// number must change too.
const LAYOUT: u8 = 1;

impl Head {
    /// The head of an account without rows.
    pub(super) const NEW: Self = Self { last: LastRow::NONE, position: 0, span: None };

    /// Reads the account's head from the last checkpoint. Returns [`Head::NEW`] if the account had
    /// no rows at this checkpoint, and `None` when there is no such account. Returns an error if
    /// the stored head was altered.
    pub(super) fn read(
        connection: &Connection,
        secrets: &Secrets,
        account: AccountId,
    ) -> Result<Option<Self>, LedgerStateError> {
        let row = connection.find(
            "SELECT sequence, balance, position, chain, secret, hash
             FROM account LEFT JOIN head ON head.account = account.id WHERE account.id = ?1",
            [Column(account)],
            |row| {
                let Some(sequence) = row.get(0)? else { return Ok(None) };
                let Column(balance) = row.get(1)?;
                let (position, chain) = (row.get(2)?, row.get(3)?);
                let last = LastRow { sequence, balance, chain };
                let head = Self { last, position, span: None };
                Ok(Some((head, row.get::<_, u32>(4)?, row.get::<_, [u8; 32]>(5)?)))
            },
        );
        let broken = || NotAsWritten::new(format!("account {account}: its checkpoint is broken"));
        match read_whole(row)?.ok_or_else(broken)? {
            None => Ok(None),
            Some(None) => Ok(Some(Self::NEW)),
            Some(Some((head, secret, hash))) => match secrets.with_id(secret) {
                Some(secret) if head.hash(account, secret) == hash => Ok(Some(head)),
                _ => Err(broken().into()),
            },
        }
    }

    /// Stores this head in the database. It replaces the earlier head of the account.
    pub(super) fn write(
        &self,
        connection: &Connection,
        account: AccountId,
        secret: &Secret,
    ) -> rusqlite::Result<()> {
        connection.run(
            "INSERT INTO head (account, sequence, balance, position, chain, secret, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (account) DO UPDATE SET sequence = excluded.sequence,
                 balance = excluded.balance, position = excluded.position,
                 chain = excluded.chain, secret = excluded.secret, hash = excluded.hash",
            params![
                Column(account),
                self.last.sequence,
                Column(self.last.balance),
                self.position,
                self.last.chain,
                secret.id(),
                self.hash(account, secret),
            ],
        )?;
        Ok(())
    }

    fn hash(&self, account: AccountId, secret: &Secret) -> [u8; 32] {
        let mut bytes = Vec::with_capacity(80);
        bytes.push(LAYOUT);
        bytes.extend_from_slice(account.0.as_bytes());
        for number in [self.last.sequence, self.last.balance.0, self.position] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.last.chain);
        bytes.extend_from_slice(&secret.id().to_le_bytes());
        secret.hash_bytes(Purpose::LedgerHead, &bytes)
    }
}
