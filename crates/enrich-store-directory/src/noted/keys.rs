//! A set of keys that numbers its keys from 0. The bytes of the keys are in a few large blocks. A
//! load (one import) collects some million keys in it.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::varint;

/// The number of bytes in one block. A key that is longer than this has a block of its own.
const BLOCK: usize = 1 << 20;
/// Each key is stored with its length before it. This is the maximum number of bytes that the
/// length takes.
const LONGEST_LENGTH: usize = 10;
/// The number of bytes at the beginning of a key that are compared first when keys are sorted.
const PREFIX: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The keys, each with its length before it.
    blocks: Vec<Vec<u8>>,
    /// The place of each key: [`BLOCK`] times the number of its block, plus the position in the
    /// block at which the key begins.
    places: Vec<u32>,
    /// The number of each key (its index in `places`), found by the hash of the key's bytes.
    numbers: HashTable<u32>,
}

impl Keys {
    /// Returns the number of a key. A new key gets the next number.
    pub(crate) fn number_of(&mut self, key: &[u8]) -> u32 {
        let hash = hash_of(key);
        if let Some(number) = self.find_by(hash, key) {
            return number;
        }
        // The memory limit of a load is far below 2^32 bytes, so the number fits.
        let number = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let place = self.add(key);
        self.places.push(place);
        let (blocks, places) = (&self.blocks, &self.places);
        let again = |number: &u32| hash_of(bytes_at(blocks, places[*number as usize]));
        self.numbers.insert_unique(hash, number, again);
        number
    }

    /// Returns the number of a key; `None` if the set does not contain the key.
    pub(super) fn find(&self, key: &[u8]) -> Option<u32> {
        self.find_by(hash_of(key), key)
    }

    pub(crate) fn get(&self, number: u32) -> &[u8] {
        bytes_at(&self.blocks, self.places[number as usize])
    }

    /// Returns the memory that the keys take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Vec::capacity).sum();
        blocks
            + self.places.capacity() * size_of::<u32>()
            + self.numbers.capacity() * (size_of::<u32>() + 1)
    }

    /// Returns the numbers of all keys, in the order of the keys' bytes.
    pub(super) fn in_order(&self) -> impl Iterator<Item = u32> + use<> {
        let mut order: Vec<([u64; 2], u32)> =
            (0..).zip(&self.places).map(|(number, _)| (self.prefix(number), number)).collect();
        let rest = |number: u32| self.get(number).get(PREFIX..).unwrap_or_default();
        let length = |number: u32| self.get(number).len();
        // Short prefixes are filled up with zeros. If two prefixes are equal, the rest of the keys
        // is compared, and then their lengths, so that the shorter key comes first.
        order.sort_unstable_by(|(one_prefix, one), (other_prefix, other)| {
            one_prefix.cmp(other_prefix).then_with(|| {
                rest(*one).cmp(rest(*other)).then_with(|| length(*one).cmp(&length(*other)))
            })
        });
        order.into_iter().map(|(_, number)| number)
    }

    fn find_by(&self, hash: u64, key: &[u8]) -> Option<u32> {
        self.numbers.find(hash, |number| self.get(*number) == key).copied()
    }

    /// Adds the bytes of a key to the blocks. Returns where the key begins, as a value of `places`.
    fn add(&mut self, key: &[u8]) -> u32 {
        let needed = key.len() + LONGEST_LENGTH;
        if self.blocks.last().is_none_or(|block| block.len() + needed > BLOCK) {
            self.blocks.push(Vec::new());
        }
        let number = self.blocks.len() - 1;
        let mut begin = 0;
        if let Some(block) = self.blocks.last_mut() {
            begin = block.len();
            varint::push(block, key.len() as u64);
            block.extend_from_slice(key);
        }
        // The result fits into 32 bits, because the memory limit of a load is far below 2^32 bytes.
        u32::try_from(number * BLOCK + begin).unwrap_or(u32::MAX)
    }

    /// Returns the first [`PREFIX`] bytes of a key as two numbers. Keys with smaller numbers come
    /// first.
    fn prefix(&self, number: u32) -> [u64; 2] {
        let key = self.get(number);
        let mut prefix = [0; PREFIX];
        let length = key.len().min(PREFIX);
        prefix[..length].copy_from_slice(&key[..length]);
        let whole = u128::from_be_bytes(prefix);
        [(whole >> 64) as u64, whole as u64]
    }
}

fn bytes_at(blocks: &[Vec<u8>], place: u32) -> &[u8] {
    let place = place as usize;
    let mut bytes = &blocks[place / BLOCK][place % BLOCK..];
    // Every key has its length before it, so the length can be read.
    let length = varint::take(&mut bytes).unwrap_or_default();
    &bytes[..length as usize]
}

fn hash_of(key: &[u8]) -> u64 {
    FxBuildHasher.hash_one(key)
}
