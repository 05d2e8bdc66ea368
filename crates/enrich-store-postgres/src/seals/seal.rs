//! A seal, and its form in the database as bytes. A seal makes it visible if somebody removes the
//! newest ledger rows of an account.

use enrich_core::AccountId;
use enrich_ledger::Chain;
use enrich_secrets::{Purpose, Secret};
use uuid::Uuid;

/// The value that stands for the hash of the previous seal if there is none: in a node's first seal
/// of a lineage (one history of the database).
pub(super) const NO_SEAL: [u8; 32] = [0; 32];
/// Length of a stored [`SealedRow`] in bytes: an account, a sequence and a hash.
const PLACE_BYTES: usize = 16 + 8 + 32;
/// Length of a stored [`Seen`] in bytes: a node, a number and a hash.
const SEEN_BYTES: usize = 16 + 8 + 32;

/// A ledger row in a seal: the last row of an account, as the node knew it when it made the seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SealedRow {
    pub(super) account: AccountId,
    pub(super) sequence: u64,
    /// The hash of the row.
    pub(super) chain: Chain,
}

/// A reference to a seal of another node. A node that makes a seal reads the newest seals of the
/// other nodes from the database, and puts references to them into its own seal ([`Seal::seen`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) node: Uuid,
    pub(super) number: u64,
    pub(super) hash: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) node: Uuid,
    /// The number of the seal among the seals of its node: 1, 2, 3 and so on.
    pub(super) number: u64,
    pub(super) lineage: Uuid,
    pub(super) places: Vec<SealedRow>,
    /// The newest seals of other nodes that were in the database when this seal was made.
    pub(super) seen: Vec<Seen>,
    /// When the seal was made, in microseconds since 1970.
    pub(super) at: i64,
    /// The number of the secret (a line of `secret.key`) with which `hash` was made.
    pub(super) secret: u32,
    /// The keyed hash of all fields above except `secret`, and of the hash of the node's previous
    /// seal.
    pub(super) hash: [u8; 32],
}

impl Seal {
    /// Returns the seal with its hash. `before` is the hash of the node's previous seal.
    pub(super) fn hashed(self, before: &[u8; 32], secret: &Secret) -> Self {
        let hash = self.hash_after(before, secret);
        Self { hash, ..self }
    }

    /// Returns the hash that the seal must have if the hash of the node's previous seal is
    /// `before`.
    pub(super) fn hash_after(&self, before: &[u8; 32], secret: &Secret) -> [u8; 32] {
        let parts: [&[u8]; 7] = [
            before,
            self.node.as_bytes(),
            &self.number.to_le_bytes(),
            self.lineage.as_bytes(),
            &self.places_bytes(),
            &self.seen_bytes(),
            &self.at.to_le_bytes(),
        ];
        secret.hash(Purpose::NodeSeal, &parts)
    }

    /// Returns the [`SealedRow`]s as bytes, in the form in which the database stores them.
    pub(super) fn places_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.places.len() * PLACE_BYTES);
        for SealedRow { account, sequence, chain } in &self.places {
            bytes.extend_from_slice(account.0.as_bytes());
            bytes.extend_from_slice(&sequence.to_le_bytes());
            bytes.extend_from_slice(chain);
        }
        bytes
    }

    /// Returns the [`Seen`] seals as bytes, in the form in which the database stores them.
    pub(super) fn seen_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.seen.len() * SEEN_BYTES);
        for Seen { node, number, hash } in &self.seen {
            bytes.extend_from_slice(node.as_bytes());
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(hash);
        }
        bytes
    }
}

/// Reads [`SealedRow`]s from their stored form; `None` if the bytes are invalid.
pub(super) fn read_places(bytes: &[u8]) -> Option<Vec<SealedRow>> {
    let place = |(id, sequence, chain)| SealedRow { account: AccountId(id), sequence, chain };
    Some(read_triples(bytes)?.into_iter().map(place).collect())
}

/// Reads the seals of other nodes ([`Seen`]) from their stored form; `None` if the bytes are
/// invalid.
pub(super) fn read_seen(bytes: &[u8]) -> Option<Vec<Seen>> {
    let seen = |(node, number, hash)| Seen { node, number, hash };
    Some(read_triples(bytes)?.into_iter().map(seen).collect())
}

fn read_triples(bytes: &[u8]) -> Option<Vec<(Uuid, u64, [u8; 32])>> {
    let triple = |bytes: &[u8]| {
        let (id, rest) = bytes.split_first_chunk::<16>()?;
        let (number, hash) = rest.split_first_chunk::<8>()?;
        Some((Uuid::from_bytes(*id), u64::from_le_bytes(*number), hash.try_into().ok()?))
    };
    bytes.chunks(PLACE_BYTES).map(triple).collect()
}
