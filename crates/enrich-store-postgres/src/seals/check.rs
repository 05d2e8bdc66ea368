//! Checks the seals of all nodes against the rows of the ledger. A seal records the newest ledger
//! rows of accounts, so that a later removal of these rows is noticed.

use std::collections::BTreeMap;

use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use enrich_ledger::{Chain, Findings};
use rustc_hash::FxHashMap;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{clamped, hash, secret_id, unsigned};
use crate::failure::Failure;
use crate::node::Node;
use crate::seals::seal::{NO_SEAL, Seal, SealedRow, Seen, read_places, read_seen};

/// Maximum number of seals in one read.
const PAGE: i64 = 200;
/// Maximum number of rows or seals that one read searches for.
const LOOKED_FOR: usize = 5_000;

const SEALS: &str = "SELECT node, number, lineage, places, seen, at, secret, hash FROM seal
    WHERE lineage = $1 AND (node, number) > ($2, $3) ORDER BY node, number LIMIT $4";
/// Reads the hashes of ledger rows. `$1` and `$2` are arrays of the same length, with the account
/// and the sequence of each row. The result contains only rows that exist.
const CHAINS: &str = "SELECT e.account, e.chain
    FROM unnest($1::uuid[], $2::bigint[]) AS p (account, sequence)
    JOIN entry e ON e.account = p.account AND e.sequence = p.sequence";
/// Reads the hashes of seals. `$1` and `$2` are arrays of the same length, with the node and the
/// number of each seal. The result contains only seals that exist.
const HASHES: &str = "SELECT s.node, s.number, s.hash
    FROM unnest($1::uuid[], $2::bigint[]) AS p (node, number)
    JOIN seal s ON s.node = p.node AND s.number = p.number";

/// A fault that the check of seals can find.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum SealFault {
    #[error("node {0}: a seal cannot be read")]
    Unreadable(Uuid),
    #[error("node {0}, seal {1}: is not as it was written")]
    Altered(Uuid, u64),
    #[error("node {node}: seals from {first} are missing, the next is {next}")]
    Missing { node: Uuid, first: u64, next: u64 },
    #[error("node {0}, seal {1}: is missing, and another node has seen it")]
    SeenMissing(Uuid, u64),
    #[error("account {0}: its rows up to {1} were sealed, and are not there")]
    RowsMissing(AccountId, u64),
}

/// The content of the seals that were read so far.
#[derive(Default)]
struct Sealed {
    /// For each account: the sequence and the hash of the newest of its ledger rows that are in
    /// these seals.
    places: FxHashMap<AccountId, (u64, Chain)>,
    /// The references to seals of other nodes that the read seals contain. The key is the node and
    /// the number of the referenced seal, and the value is its hash.
    seen: BTreeMap<(Uuid, u64), [u8; 32]>,
    /// The node, the number and the hash of the last seal that was read.
    last: Option<(Uuid, u64, [u8; 32])>,
}

/// Checks the seals of the present lineage: no seal may be altered or missing, and the ledger must
/// have the rows that the seals contain. A new lineage begins when an operator accepts a loss of
/// data. Seals of earlier lineages are not checked.
pub(crate) async fn check_seals(node: &Node, findings: &mut Findings) -> Result<(), StoreError> {
    let lineage = node.pulse.last().state.lineage;
    let (mut after, mut number) = (Uuid::nil(), 0_i64);
    let mut sealed = Sealed::default();
    loop {
        let rows = node
            .database
            .read(move |client| {
                Box::pin(async move {
                    let values = [
                        (&lineage as _, Type::UUID),
                        (&after as _, Type::UUID),
                        (&number as _, Type::INT8),
                        (&PAGE as _, Type::INT8),
                    ];
                    Ok(client.query_typed(SEALS, &values).await?)
                })
            })
            .await?;
        let Some(last) = rows.last() else { break };
        after = last.try_get(0).map_err(StoreError::failed)?;
        number = last.try_get(1).map_err(StoreError::failed)?;
        for row in &rows {
            let of = row.try_get(0).map_err(StoreError::failed)?;
            match read(row) {
                Ok(Some(seal)) => sealed.add(seal, node, findings),
                Ok(None) | Err(_) => findings.fault(SealFault::Unreadable(of)),
            }
        }
    }
    check_seen(node, &sealed, findings).await?;
    check_places(node, &sealed, findings).await
}

/// Reads a row of [`SEALS`]. Returns `None` if the bytes of its [`SealedRow`]s or of its [`Seen`]
/// seals have a wrong length.
fn read(row: &Row) -> Result<Option<Seal>, Failure> {
    let places = read_places(row.try_get(3)?);
    let seen = read_seen(row.try_get(4)?);
    let Some((places, seen)) = places.zip(seen) else { return Ok(None) };
    Ok(Some(Seal {
        node: row.try_get(0)?,
        number: unsigned(row.try_get(1)?)?,
        lineage: row.try_get(2)?,
        places,
        seen,
        at: row.try_get(5)?,
        secret: secret_id(row.try_get(6)?)?,
        hash: hash(row.try_get(7)?)?,
    }))
}

impl Sealed {
    /// Checks a seal against the previous seal of the same node, and adds its content to `self`.
    fn add(&mut self, seal: Seal, node: &Node, findings: &mut Findings) {
        let before = self.last.filter(|(node, ..)| *node == seal.node);
        let missing = match before {
            Some((_, number, _)) if number + 1 != seal.number => Some(number + 1),
            _ => None,
        };
        if let Some(first) = missing {
            findings.fault(SealFault::Missing { node: seal.node, first, next: seal.number });
        } else {
            let before = before.map_or(NO_SEAL, |(_, _, hash)| hash);
            let secret = node.secrets.with_id(seal.secret);
            if secret.is_none_or(|secret| seal.hash_after(&before, secret) != seal.hash) {
                findings.fault(SealFault::Altered(seal.node, seal.number));
            }
        }
        self.last = Some((seal.node, seal.number, seal.hash));
        for SealedRow { account, sequence, chain } in seal.places {
            let place = self.places.entry(account).or_insert((sequence, chain));
            if sequence > place.0 {
                *place = (sequence, chain);
            }
        }
        self.seen.extend(
            seal.seen.into_iter().map(|Seen { node, number, hash }| ((node, number), hash)),
        );
    }
}

async fn check_seen(
    node: &Node,
    sealed: &Sealed,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let seen: Vec<_> = sealed.seen.iter().collect();
    for part in seen.chunks(LOOKED_FOR) {
        let (nodes, numbers): (Vec<Uuid>, Vec<i64>) =
            part.iter().map(|((node, number), _)| (*node, clamped(*number))).unzip();
        let rows = look_for(node, HASHES, nodes, numbers).await?;
        let mut there = BTreeMap::new();
        for row in rows {
            let number: i64 = row.try_get(1).map_err(StoreError::failed)?;
            let of: Uuid = row.try_get(0).map_err(StoreError::failed)?;
            let hash: Vec<u8> = row.try_get(2).map_err(StoreError::failed)?;
            there.insert((of, unsigned(number)?), hash);
        }
        for (place, hash) in part {
            if there.get(place).is_none_or(|found| found[..] != hash[..]) {
                findings.fault(SealFault::SeenMissing(place.0, place.1));
            }
        }
    }
    Ok(())
}

async fn check_places(
    node: &Node,
    sealed: &Sealed,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let places: Vec<_> = sealed.places.iter().collect();
    for part in places.chunks(LOOKED_FOR) {
        let (accounts, sequences): (Vec<Uuid>, Vec<i64>) =
            part.iter().map(|(account, (sequence, _))| (account.0, clamped(*sequence))).unzip();
        let mut there: FxHashMap<AccountId, Vec<u8>> = FxHashMap::default();
        for row in look_for(node, CHAINS, accounts, sequences).await? {
            let account = AccountId(row.try_get(0).map_err(StoreError::failed)?);
            there.insert(account, row.try_get(1).map_err(StoreError::failed)?);
        }
        for (account, (sequence, chain)) in part {
            if there.get(account).is_none_or(|found| found[..] != chain[..]) {
                findings.fault(SealFault::RowsMissing(**account, *sequence));
            }
        }
    }
    Ok(())
}

async fn look_for(
    node: &Node,
    query: &'static str,
    ids: Vec<Uuid>,
    numbers: Vec<i64>,
) -> Result<Vec<Row>, StoreError> {
    node.database
        .read(move |client| {
            let (ids, numbers) = (ids.clone(), numbers.clone());
            Box::pin(async move {
                let values = [(&ids as _, Type::UUID_ARRAY), (&numbers as _, Type::INT8_ARRAY)];
                Ok(client.query_typed(query, &values).await?)
            })
        })
        .await
}
