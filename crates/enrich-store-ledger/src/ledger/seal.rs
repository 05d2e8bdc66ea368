//! The seal of the ledger's log. The log is the rows of all accounts, in the order in which they
//! were added. The seal contains the position of the last row, and a keyed hash over all rows. It
//! is stored in one table row, which is rewritten whenever a group of charges adds rows to the log.
//! If somebody removes or reorders rows of the log, the seal no longer matches, and nobody without
//! the secret can make a matching seal. But an older copy of the whole file contains the older seal
//! that matches it. So a seal cannot show that a file is old.

use enrich_ledger::{Chain, NO_ROW};
use enrich_secrets::{Purpose, Secret, Secrets};
use enrich_store_sqlite::Statements;
use rusqlite::{Connection, params};

use crate::ledger::ledger_state_error::LedgerStateError;
use crate::ledger::{NotAsWritten, read_whole};

/// A keyed hash over the rows of the log, in order, from the first row up to a certain row.
pub(super) type Digest = [u8; 32];

/// A position in the log: the number of a row, and the digest (a keyed hash) of all rows up to this
/// row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogPosition {
    /// The position of the row; 0 before the first row.
    pub(super) position: u64,
    /// The digest of all rows up to this row, included.
    pub(super) digest: Digest,
}

/// The seal of the ledger's log: the positions of the last row and of the last checkpoint. A
/// checkpoint stores the head (state) of each account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    /// The last row of the log.
    pub(super) end: LogPosition,
    /// The last row of the log at the last checkpoint. The stored heads (states of accounts)
    /// include all rows up to this one.
    pub(super) checkpoint: LogPosition,
}

/// The version of the layout of the bytes that [`Seal::hash`] hashes. If the layout changes, this
/// number must change too.
const LAYOUT: u8 = 1;

impl LogPosition {
    /// The position before the first row.
    pub(super) const BEGINNING: Self = Self { position: 0, digest: NO_ROW };

    /// Returns the position after one more row. `chain` is the hash of this row.
    pub(super) fn after(&self, chain: &Chain, secret: &Secret) -> Self {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.digest);
        bytes[32..].copy_from_slice(chain);
        Self {
            position: self.position + 1,
            digest: secret.hash_bytes(Purpose::LedgerDigest, &bytes),
        }
    }
}

/// Stores the seal of the empty log in a new ledger.
///
/// # Errors
///
/// When the database cannot be written.
pub fn begin(connection: &Connection, secrets: &Secrets) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO seal (id, position, digest, checkpoint, checkpoint_digest, secret, hash)
         VALUES (1, 0, zeroblob(32), 0, zeroblob(32), 0, zeroblob(32))",
        [],
    )?;
    Seal { end: LogPosition::BEGINNING, checkpoint: LogPosition::BEGINNING }
        .write(connection, secrets.current())
}

impl Seal {
    /// Reads the seal, and checks that it was not altered.
    pub(super) fn read(
        connection: &Connection,
        secrets: &Secrets,
    ) -> Result<Self, LedgerStateError> {
        let row = connection.find(
            "SELECT position, digest, checkpoint, checkpoint_digest, secret, hash FROM seal
             WHERE id = 1",
            [],
            |row| {
                let seal = Self {
                    end: LogPosition { position: row.get(0)?, digest: row.get(1)? },
                    checkpoint: LogPosition { position: row.get(2)?, digest: row.get(3)? },
                };
                Ok((seal, row.get::<_, u32>(4)?, row.get::<_, [u8; 32]>(5)?))
            },
        );
        let broken = || NotAsWritten::new("the log's seal is broken");
        let Some((seal, secret, hash)) = read_whole(row)?.ok_or_else(broken)? else {
            return Err(NotAsWritten::new("the log has no seal").into());
        };
        let Some(secret) = secrets.with_id(secret) else {
            return Err(NotAsWritten::unknown_secret("the log's seal", secret).into());
        };
        if seal.hash(secret) == hash { Ok(seal) } else { Err(broken().into()) }
    }

    /// Stores this seal in place of the earlier seal.
    pub(super) fn write(&self, connection: &Connection, secret: &Secret) -> rusqlite::Result<()> {
        connection.run(
            "UPDATE seal SET position = ?1, digest = ?2, checkpoint = ?3, checkpoint_digest = ?4,
                 secret = ?5, hash = ?6
             WHERE id = 1",
            params![
                self.end.position,
                self.end.digest,
                self.checkpoint.position,
                self.checkpoint.digest,
                secret.id(),
                self.hash(secret),
            ],
        )?;
        Ok(())
    }

    fn hash(&self, secret: &Secret) -> [u8; 32] {
        let mut bytes = Vec::with_capacity(88);
        bytes.push(LAYOUT);
        for log_position in [self.end, self.checkpoint] {
            bytes.extend_from_slice(&log_position.position.to_le_bytes());
            bytes.extend_from_slice(&log_position.digest);
        }
        bytes.extend_from_slice(&secret.id().to_le_bytes());
        secret.hash_bytes(Purpose::LedgerSeal, &bytes)
    }
}
