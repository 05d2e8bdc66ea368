//! The published snapshots of the directory (the look-up data), and the suppressions (values that
//! no answer may contain). They are the same for all nodes.
//!
//! Every change first locks the only row of the table `state`, so that changes run one after the
//! other.

use std::collections::HashSet;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::snapshots::{
    SecretCheck, Snapshot, SnapshotNumber, SnapshotState, Snapshots, Suppression,
};
use enrich_core::{DirectoryRevision, Timestamp};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{
    Hash, Value, hash, micros, secret_id, signed, slices, timestamp, unreadable, unsigned,
};
use crate::failure::Failure;
use crate::heartbeat::Heartbeat;
use crate::node::Node;
use crate::statements::{find, list, run, write_and_settle};

const LOCK_STATE: &str = "SELECT forgotten FROM state WHERE id = 1 FOR UPDATE";
const ONE: &str = "SELECT number, generation, bytes, blake3, location, schema, derived_by, at
    FROM snapshot WHERE number = $1";
const NEWEST: &str = "SELECT number, generation, bytes, blake3, location, schema, derived_by, at
    FROM snapshot ORDER BY number DESC LIMIT $1";
const ADD: &str = "INSERT INTO snapshot
    (number, generation, bytes, blake3, location, schema, derived_by, at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const USE: &str = "UPDATE state SET snapshot = $1 WHERE id = 1";
const KNOWN: &str = "SELECT hash FROM forgotten WHERE hash = ANY($1)";
const SUPPRESS: &str = "INSERT INTO forgotten (number, hash, at)
    SELECT new.number, new.hash, $3 FROM unnest($1::bigint[], $2::bytea[]) AS new (number, hash)";
const COUNT_SUPPRESSED: &str = "UPDATE state SET forgotten = $1 WHERE id = 1";
const SUPPRESSED: &str = "SELECT number, hash, at FROM forgotten WHERE number > $1
    ORDER BY number LIMIT $2";
const LIVE: &str = "SELECT snapshot, count(*) FROM node
    WHERE snapshot IS NOT NULL AND seen_at > clock_timestamp() - INTERVAL '5 seconds'
    GROUP BY snapshot ORDER BY snapshot";

/// The list of snapshots and suppressions in the database.
pub struct PostgresSnapshots {
    node: Node,
    /// Writes to the database which snapshot this node answers from; `None` for a command, which
    /// answers no look-ups.
    heartbeat: Option<Heartbeat>,
}

impl PostgresSnapshots {
    pub(crate) fn new(node: &Node, heartbeat: Option<&Heartbeat>) -> Self {
        Self { node: node.clone(), heartbeat: heartbeat.cloned() }
    }

    /// Returns the snapshots of the directory (the look-up data) from which live nodes answer, each
    /// with the number of these nodes.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub async fn live(&self) -> Result<Vec<(SnapshotNumber, u64)>, StoreError> {
        let read = |row: &Row| Ok((number_of(row.try_get(0)?)?, unsigned(row.try_get(1)?)?));
        self.node
            .database
            .read(move |client| Box::pin(async move { list(client, LIVE, &[], read).await }))
            .await
    }
}

#[async_trait]
impl Snapshots for PostgresSnapshots {
    fn state(&self) -> SnapshotState {
        let state = &self.node.pulse.last().state;
        let in_use = u64::try_from(state.snapshot).ok().filter(|number| *number > 0);
        SnapshotState {
            in_use: in_use.map(SnapshotNumber),
            suppression: u64::try_from(state.forgotten).unwrap_or_default(),
        }
    }

    async fn find(&self, number: SnapshotNumber) -> Result<Option<Snapshot>, StoreError> {
        let number = signed(number.0)?;
        self.node
            .database
            .read(move |client| Box::pin(async move { snapshot_at(client, number).await }))
            .await
    }

    async fn newest(&self, limit: u32) -> Result<Vec<Snapshot>, StoreError> {
        let limit = i64::from(limit);
        self.node
            .database
            .read(move |client| {
                Box::pin(async move {
                    list(client, NEWEST, &[(&limit, Type::INT8)], read_snapshot).await
                })
            })
            .await
    }

    async fn publish(&self, snapshot: &Snapshot) -> Result<bool, StoreError> {
        let snapshot = snapshot.clone();
        write_and_settle(&self.node.database, move |client| {
            let snapshot = snapshot.clone();
            Box::pin(async move { publish(client, &snapshot).await })
        })
        .await
    }

    async fn answer_from(&self, number: SnapshotNumber) -> Result<bool, StoreError> {
        let number = signed(number.0)?;
        write_and_settle(&self.node.database, move |client| {
            Box::pin(async move {
                find(client, LOCK_STATE, &[], |_| Ok(())).await?;
                let is_there = snapshot_at(client, number).await?.is_some();
                if is_there {
                    run(client, USE, &[(&number, Type::INT8)]).await?;
                }
                Ok(is_there)
            })
        })
        .await
    }

    fn note_live(&self, number: SnapshotNumber) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.note_snapshot(number.0);
        }
    }

    async fn suppress(&self, hashes: &[Hash], at: Timestamp) -> Result<(), StoreError> {
        if hashes.is_empty() {
            return Ok(());
        }
        let hashes = hashes.to_vec();
        write_and_settle(&self.node.database, move |client| {
            let hashes = hashes.clone();
            Box::pin(async move { suppress(client, hashes, micros(at)).await })
        })
        .await
    }

    async fn suppressed_after(
        &self,
        number: u64,
        limit: u32,
    ) -> Result<Vec<Suppression>, StoreError> {
        let (number, limit) = (signed(number)?, i64::from(limit));
        self.node
            .database
            .read(move |client| {
                Box::pin(async move {
                    let values: [Value<'_>; 2] = [(&number, Type::INT8), (&limit, Type::INT8)];
                    list(client, SUPPRESSED, &values, read_suppression).await
                })
            })
            .await
    }

    async fn secrets(&self) -> Result<Vec<SecretCheck>, StoreError> {
        let read = |row: &Row| {
            Ok(SecretCheck { id: secret_id(row.try_get(0)?)?, hash: hash(row.try_get(1)?)? })
        };
        let all = "SELECT id, check_hash FROM secret ORDER BY id";
        self.node
            .database
            .read(move |client| Box::pin(async move { list(client, all, &[], read).await }))
            .await
    }
}

async fn snapshot_at(client: &Client, number: i64) -> Result<Option<Snapshot>, Failure> {
    find(client, ONE, &[(&number, Type::INT8)], read_snapshot).await
}

/// Adds a snapshot of the directory (the look-up data), and makes the nodes answer from it. Returns
/// `true` if the snapshot was added, or if exactly this snapshot is already stored. If another
/// snapshot has the same number or a higher one, changes nothing and returns `false`.
async fn publish(client: &Client, snapshot: &Snapshot) -> Result<bool, Failure> {
    find(client, LOCK_STATE, &[], |_| Ok(())).await?;
    let newest = find(client, NEWEST, &[(&1_i64, Type::INT8)], read_snapshot).await?;
    match newest {
        // An earlier attempt has added this snapshot, but its reply was lost.
        Some(newest) if newest == *snapshot => return Ok(true),
        Some(newest) if newest.number >= snapshot.number => {
            return Ok(
                snapshot_at(client, signed(snapshot.number.0)?).await?.as_ref() == Some(snapshot)
            );
        }
        _ => {}
    }
    let number = signed(snapshot.number.0)?;
    let (revision, bytes) = (signed(snapshot.revision.0)?, signed(snapshot.bytes)?);
    let version = |version| i32::try_from(version).map_err(|_| unreadable("a version"));
    let (schema, derived_by) = (version(snapshot.schema)?, version(snapshot.derived_by)?);
    let (blake3, at) = (&snapshot.blake3[..], micros(snapshot.at));
    let values: [Value<'_>; 8] = [
        (&number, Type::INT8),
        (&revision, Type::INT8),
        (&bytes, Type::INT8),
        (&blake3, Type::BYTEA),
        (&snapshot.location, Type::TEXT),
        (&schema, Type::INT4),
        (&derived_by, Type::INT4),
        (&at, Type::INT8),
    ];
    run(client, ADD, &values).await?;
    run(client, USE, &[(&number, Type::INT8)]).await?;
    Ok(true)
}

/// Adds the suppressions that are not stored yet.
async fn suppress(client: &Client, mut hashes: Vec<Hash>, at: i64) -> Result<(), Failure> {
    let last = find(client, LOCK_STATE, &[], |row| Ok(row.try_get::<_, i64>(0)?)).await?;
    let last = last.ok_or_else(|| Failure::of("the row of `state` is missing"))?;
    let read_hash = |row: &Row| hash(row.try_get(0)?);
    let known = list(client, KNOWN, &[(&slices(&hashes), Type::BYTEA_ARRAY)], read_hash).await?;
    let mut known: HashSet<Hash> = known.into_iter().collect();
    // `insert` returns `false` for a hash that is already stored, and for the second of two equal
    // new hashes.
    hashes.retain(|hash| known.insert(*hash));
    if hashes.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = (last + 1..).take(hashes.len()).collect();
    let hashes = slices(&hashes);
    let values: [Value<'_>; 3] =
        [(&numbers, Type::INT8_ARRAY), (&hashes, Type::BYTEA_ARRAY), (&at, Type::INT8)];
    run(client, SUPPRESS, &values).await?;
    run(client, COUNT_SUPPRESSED, &[(&numbers.last(), Type::INT8)]).await?;
    Ok(())
}

fn read_snapshot(row: &Row) -> Result<Snapshot, Failure> {
    let version = |column: i32| u32::try_from(column).map_err(|_| unreadable("a version"));
    Ok(Snapshot {
        number: number_of(row.try_get(0)?)?,
        revision: DirectoryRevision(unsigned(row.try_get(1)?)?),
        bytes: unsigned(row.try_get(2)?)?,
        blake3: hash(row.try_get(3)?)?,
        location: row.try_get(4)?,
        schema: version(row.try_get(5)?)?,
        derived_by: version(row.try_get(6)?)?,
        at: timestamp(row.try_get(7)?)?,
    })
}

fn read_suppression(row: &Row) -> Result<Suppression, Failure> {
    Ok(Suppression {
        number: unsigned(row.try_get(0)?)?,
        hash: hash(row.try_get(1)?)?,
        at: timestamp(row.try_get(2)?)?,
    })
}

fn number_of(column: i64) -> Result<SnapshotNumber, Failure> {
    unsigned(column).map(SnapshotNumber)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use pollster::block_on;

    use super::*;
    use crate::test_database::TestDatabase;

    fn snapshots(database: &TestDatabase) -> PostgresSnapshots {
        let (node, heartbeat) = database.live_node();
        PostgresSnapshots::new(&node, Some(&heartbeat))
    }

    #[test]
    fn the_secrets_are_those_of_the_schema() {
        let Some(database) = TestDatabase::create() else { return };
        let snapshots = snapshots(&database);
        let known = snapshots.node.secrets.current();
        let expected = SecretCheck { id: known.id(), hash: known.check_hash() };
        assert_eq!(block_on(snapshots.secrets()).unwrap(), [expected]);
    }

    #[test]
    fn nodes_suppress_at_once_and_number_without_gaps() {
        let Some(database) = TestDatabase::create() else { return };
        let nodes = [(); 3].map(|()| snapshots(&database));
        std::thread::scope(|scope| {
            for (index, node) in nodes.iter().enumerate() {
                scope.spawn(move || {
                    for turn in 0..10_u8 {
                        let own = [u8::try_from(index).unwrap() + 1, turn].repeat(16);
                        let shared = [100 + turn; 32];
                        let hashes = [hash(&own).unwrap(), shared];
                        block_on(node.suppress(&hashes, Timestamp::UNIX_EPOCH)).unwrap();
                    }
                });
            }
        });
        let all = block_on(nodes[0].suppressed_after(0, 100)).unwrap();
        let numbers: Vec<u64> = all.iter().map(|suppression| suppression.number).collect();
        assert_eq!(numbers, (1..=40).collect::<Vec<u64>>());
    }

    #[test]
    fn a_node_shows_which_snapshot_it_answers_from() {
        let Some(database) = TestDatabase::create() else { return };
        let nodes = [(); 2].map(|()| snapshots(&database));
        assert!(block_on(nodes[0].live()).unwrap().is_empty());
        nodes.iter().for_each(|node| node.note_live(SnapshotNumber(7)));
        let begun = Instant::now();
        while block_on(nodes[0].live()).unwrap() != [(SnapshotNumber(7), 2)] {
            assert!(begun.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
