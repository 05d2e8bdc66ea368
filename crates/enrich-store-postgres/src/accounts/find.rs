//! Reads API keys that are not cached, many keys in one statement.
//!
//! While one statement runs, the keys for the next statement are collected. After the start of a
//! node, or after a change that empties the cache, the keys of all callers must be read at the same
//! time. Reading them in groups takes a few statements. Otherwise, each caller would need its own
//! statement.

use std::sync::Arc;

use enrich_core::KeyInfo;
use enrich_core::port::error::StoreError;
use rustc_hash::FxHashMap;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::keys::{KEYS_BY_HASH, read_hash, read_key};
use super::recent::RecentKeys;
use crate::columns::{Hash, slices};
use crate::database::{Connections, Database};
use crate::failure::Failure;
use crate::runtime::TaskLost;

/// Maximum number of keys that one statement reads.
const GROUP: usize = 256;
/// Maximum number of callers that wait for a read of their key. Further callers are refused.
const WAITING: usize = 1_024;

type Found = Option<Arc<KeyInfo>>;

/// Reads keys in groups, in a task of the thread that communicates with the database.
pub(super) struct KeyReads {
    waiting: mpsc::Sender<KeyRead>,
}

/// A request to read one key, from a caller that waits for the key.
struct KeyRead {
    /// The keyed hashes of the key: one for each secret in `secret.key`. The first one is made with
    /// the current secret.
    hashes: Vec<Hash>,
    reply: oneshot::Sender<Result<Found, StoreError>>,
}

/// A read of several keys failed. Each waiting caller gets this error.
#[derive(Debug, thiserror::Error)]
#[error("the keys of several callers could not be read")]
struct SharedFailure(#[source] Arc<StoreError>);

impl KeyReads {
    /// Starts the task that reads keys. The task ends when the returned value is dropped.
    pub(super) fn start(database: &Database, recent: &Arc<RecentKeys>) -> Self {
        let (waiting, mut queue) = mpsc::channel(WAITING);
        let (connections, recent) = (database.connections(), Arc::clone(recent));
        database.runtime().spawn(async move {
            let mut group = Vec::new();
            while queue.recv_many(&mut group, GROUP).await > 0 {
                answer(&connections, &recent, &mut group).await;
            }
        });
        Self { waiting }
    }

    /// Reads the key that has one of these hashes. `hashes` contains the keyed hashes of one key:
    /// one for each secret in `secret.key`, the current secret first.
    pub(super) async fn read(&self, hashes: Vec<Hash>) -> Result<Found, StoreError> {
        let (reply, found) = oneshot::channel();
        self.waiting.try_send(KeyRead { hashes, reply }).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Closed(_) => StoreError::failed(TaskLost),
        })?;
        found.await.map_err(|_| StoreError::failed(TaskLost))?
    }
}

/// Reads the keys that a group of callers waits for, caches the keys, and replies to the callers.
async fn answer(connections: &Connections, recent: &RecentKeys, group: &mut Vec<KeyRead>) {
    let reading = recent.begin();
    let hashes: Arc<[Hash]> = group.iter().flat_map(|read| read.hashes.iter().copied()).collect();
    let keys = connections
        .read(&|client| {
            let hashes = Arc::clone(&hashes);
            Box::pin(async move { read_keys(client, &hashes).await })
        })
        .await
        .map_err(|failure| Arc::new(StoreError::from(failure)));
    for KeyRead { hashes, reply } in group.drain(..) {
        let result = match &keys {
            Ok(keys) => {
                let found = hashes.iter().find_map(|hash| keys.get(hash)).cloned();
                found.transpose().map_err(|error| copy_of(&error))
            }
            Err(error) => Err(copy_of(error)),
        };
        if let (Ok(found), Some(hash)) = (&result, hashes.first()) {
            recent.remember(*hash, found.as_ref(), reading);
        }
        // Sending fails if the caller no longer waits. That is no error.
        let _ = reply.send(result);
    }
}

type ReadKeys = FxHashMap<Hash, Result<Arc<KeyInfo>, Arc<StoreError>>>;

/// Reads the keys with these hashes. If a row cannot be read, only the look-up of its key fails.
async fn read_keys(client: &Client, hashes: &[Hash]) -> Result<ReadKeys, Failure> {
    let rows = client.query_typed(KEYS_BY_HASH, &[(&slices(hashes), Type::BYTEA_ARRAY)]).await?;
    let mut keys = ReadKeys::default();
    for row in &rows {
        let key = read_key(row).map(Arc::new).map_err(|failure| Arc::new(failure.into()));
        keys.insert(read_hash(row)?, key);
    }
    Ok(keys)
}

fn copy_of(error: &Arc<StoreError>) -> StoreError {
    match &**error {
        StoreError::Overloaded => StoreError::Overloaded,
        StoreError::Unavailable(_) => StoreError::unavailable(SharedFailure(Arc::clone(error))),
        StoreError::Failed(_) | StoreError::Unknown(_) => {
            StoreError::failed(SharedFailure(Arc::clone(error)))
        }
    }
}
