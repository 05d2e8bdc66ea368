//! Seals protect the newest ledger rows of accounts. Every few seconds, each node writes a seal
//! with the last rows of the accounts that it has charged.
//!
//! The rows of an account are chained by keyed hashes, so nobody without the secret can change a
//! row in the middle. But somebody could remove the newest rows of an account, for example by
//! restoring an older copy of the rows. A seal makes such a removal visible. A seal contains the
//! last rows of accounts and the hashes of the newest seals of the other nodes. The keyed hash of
//! the seal protects this content, and also the hash of the node's previous seal. If sealed rows
//! are removed, the seal shows it. If a seal is removed, a later seal of the same node or a seal
//! of another node shows it. Rows of the last [`INTERVAL`] may not be sealed yet. Such rows are
//! not protected.
//!
//! A seal belongs to the lineage (the id of the database's history) in which it was made. When an
//! operator accepts a loss of data, the lineage changes. From then on, only seals of the new
//! lineage are checked.

mod check;
mod seal;

use std::sync::Arc;
use std::time::Duration;

use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use enrich_ledger::LastRow;
use enrich_secrets::Secrets;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tokio::time::sleep;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{Value, clamped, hash, secret_column, unsigned};
use crate::database::Connections;
use crate::failure::Failure;
use crate::heartbeat::Heartbeat;
use crate::node::Node;
use crate::pulse::Readings;
use crate::seals::seal::{NO_SEAL, Seal, SealedRow, Seen};

pub(crate) use crate::seals::check::check_seals;

/// Interval between two seals of a node. A seal makes a removal of ledger rows visible.
const INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of accounts in a seal. A seal has one ledger row of each account. The rows of
/// further accounts are in the next seal.
const MAX_PLACES: usize = 50_000;

/// Reads the newest seal of each other node that was alive in the last hour.
const NEWEST: &str = "SELECT n.id, l.number, l.hash FROM node n
    JOIN LATERAL (SELECT s.number, s.hash FROM seal s WHERE s.node = n.id AND s.lineage = $2
                  ORDER BY s.number DESC LIMIT 1) l ON true
    WHERE n.id <> $1 AND n.seen_at > clock_timestamp() - INTERVAL '1 hour'
    ORDER BY n.id LIMIT 1000";
/// Adds a seal (a protected list of ledger rows). Does nothing if an earlier attempt has already
/// added this seal.
const ADD: &str = "INSERT INTO seal (node, number, lineage, places, seen, at, secret, hash)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (node, number) DO NOTHING";

/// For each account that this node has charged since its last seal: the account's last ledger row.
/// A charge that costs no credits adds no row. After such a charge, the last row may be one that
/// another node has added.
#[derive(Debug, Default)]
pub(crate) struct Unsealed(Mutex<FxHashMap<AccountId, LastRow>>);

/// Makes the seals of one node. A seal makes it visible if somebody removes the newest ledger rows
/// of an account.
struct Sealer {
    node: Uuid,
    connections: Arc<Connections>,
    secrets: Secrets,
    readings: Readings,
    unsealed: Arc<Unsealed>,
    /// The number of this node's last seal; 0 before its first seal.
    number: u64,
    /// The hash of the last seal, and the lineage (the id of the database's history) that it
    /// belongs to.
    last: ([u8; 32], Uuid),
    /// The last seal, if it is perhaps not in the database, because the last attempt to write it
    /// failed or had an unknown outcome. The next call of `round` writes it again, unchanged.
    pending: Option<Seal>,
}

impl Unsealed {
    /// Stores the last ledger rows of accounts for the next seal. The rows must be durable. The
    /// lanes (tasks that process charges) may report the rows of an account out of order; the row
    /// with the highest sequence stays.
    pub(crate) fn add(&self, rows: impl Iterator<Item = (AccountId, LastRow)>) {
        let mut last_rows = self.0.lock();
        for (account, row) in rows {
            let last = last_rows.entry(account).or_insert(row);
            if last.sequence < row.sequence {
                *last = row;
            }
        }
    }

    /// Removes and returns the ledger rows for one seal, at most [`MAX_PLACES`]. The rows that are
    /// left wait for the next seal.
    fn take(&self) -> Vec<SealedRow> {
        let mut rows = self.0.lock();
        let taken: Vec<AccountId> = rows.keys().take(MAX_PLACES).copied().collect();
        let place = |account: AccountId| {
            let LastRow { sequence, chain, .. } = rows.remove(&account)?;
            Some(SealedRow { account, sequence, chain })
        };
        taken.into_iter().filter_map(place).collect()
    }
}

/// Starts a task that writes a seal every [`INTERVAL`]. Returns the collection from which the task
/// takes the ledger rows of each seal. The lanes (tasks that process charges) add rows to this
/// collection. The task ends when the store is closed.
pub(crate) fn start(node: &Node, heartbeat: &Heartbeat) -> Arc<Unsealed> {
    let unsealed = Arc::new(Unsealed::default());
    let mut sealer = Sealer::new(node, heartbeat, Arc::clone(&unsealed));
    node.database.runtime().spawn(async move {
        loop {
            sleep(INTERVAL).await;
            if let Err(error) = sealer.round().await {
                tracing::debug!(%error, "a seal is not written yet");
            }
        }
    });
    unsealed
}

impl Sealer {
    fn new(node: &Node, heartbeat: &Heartbeat, unsealed: Arc<Unsealed>) -> Self {
        let readings = node.pulse.readings();
        let lineage = readings.borrow().state.lineage;
        Self {
            node: heartbeat.id(),
            connections: node.database.connections(),
            secrets: node.secrets.clone(),
            readings,
            unsealed,
            number: 0,
            last: (NO_SEAL, lineage),
            pending: None,
        }
    }

    /// Writes a seal if there are ledger rows that are not in a seal yet, or if the last seal is
    /// perhaps not in the database.
    async fn round(&mut self) -> Result<(), StoreError> {
        if self.pending.is_none() {
            self.pending = self.next().await?;
        }
        let Some(seal) = self.pending.clone() else { return Ok(()) };
        let (hash, lineage, number) = (seal.hash, seal.lineage, seal.number);
        add(&self.connections, seal).await?;
        (self.last, self.number, self.pending) = ((hash, lineage), number, None);
        Ok(())
    }

    /// Makes the next seal; `None` if there is nothing to seal.
    async fn next(&mut self) -> Result<Option<Seal>, StoreError> {
        let (lineage, at) = {
            let reading = self.readings.borrow();
            (reading.state.lineage, reading.database_now())
        };
        if lineage != self.last.1 {
            // An operator has accepted a loss of data. The unsealed rows may be among the lost
            // rows, so they are not sealed.
            self.unsealed.take();
            self.last = (NO_SEAL, lineage);
        }
        let seen = newest_of_others(&self.connections, self.node, lineage).await?;
        let places = self.unsealed.take();
        if places.is_empty() {
            return Ok(None);
        }
        let (node, number) = (self.node, self.number + 1);
        let secret = self.secrets.current();
        let seal =
            Seal { node, number, lineage, places, seen, at, secret: secret.id(), hash: NO_SEAL };
        Ok(Some(seal.hashed(&self.last.0, secret)))
    }
}

async fn newest_of_others(
    connections: &Connections,
    node: Uuid,
    lineage: Uuid,
) -> Result<Vec<Seen>, Failure> {
    connections
        .read(&move |client| {
            Box::pin(async move {
                let values: [Value<'_>; 2] = [(&node, Type::UUID), (&lineage, Type::UUID)];
                let rows = client.query_typed(NEWEST, &values).await?;
                let seen = |row: &tokio_postgres::Row| {
                    let (node, number) = (row.try_get(0)?, unsigned(row.try_get(1)?)?);
                    Ok(Seen { node, number, hash: hash(row.try_get(2)?)? })
                };
                rows.iter().map(seen).collect()
            })
        })
        .await
}

/// Adds a seal to the database, and returns when it is durable. Adding the same seal again has no
/// effect.
async fn add(connections: &Connections, seal: Seal) -> Result<(), StoreError> {
    connections
        .write(&move |client| {
            let seal = seal.clone();
            Box::pin(async move {
                let (number, secret) = (clamped(seal.number), secret_column(seal.secret)?);
                let (places, seen) = (seal.places_bytes(), seal.seen_bytes());
                let hash = &seal.hash[..];
                let values: [Value<'_>; 8] = [
                    (&seal.node, Type::UUID),
                    (&number, Type::INT8),
                    (&seal.lineage, Type::UUID),
                    (&places, Type::BYTEA),
                    (&seen, Type::BYTEA),
                    (&seal.at, Type::INT8),
                    (&secret, Type::INT4),
                    (&hash, Type::BYTEA),
                ];
                client.execute_typed(ADD, &values).await?;
                Ok(())
            })
        })
        .await
}

#[cfg(test)]
mod tests;
