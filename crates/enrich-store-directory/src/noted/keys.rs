//! A set of keys that numbers its keys from 0. The bytes of the keys are in a few large blocks.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// The number of bytes in one block. A key that is longer than this has a block of its own.
const BLOCK: usize = 1 << 20;
/// The number of bytes at the beginning of a key that are compared first when keys are sorted.
const PREFIX: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Keys {
    blocks: Vec<Vec<u8>>,
    places: Vec<Place>,
    /// The number of each key (its index in `places`), found by the hash of the key's bytes.
    numbers: HashTable<u32>,
}

/// The position of a key's bytes in the blocks.
#[derive(Clone, Copy, Debug)]
struct Place {
    block: u32,
    begin: u32,
    length: u32,
}

impl Keys {
    /// Returns the number of a key. A new key gets the next number.
    pub(crate) fn number_of(&mut self, key: &[u8]) -> usize {
        let hash = hash_of(key);
        if let Some(number) = self.find_by(hash, key) {
            return number;
        }
        let number = self.places.len();
        let place = self.add(key);
        self.places.push(place);
        let (blocks, places) = (&self.blocks, &self.places);
        let again = |number: &u32| hash_of(bytes_at(blocks, places[*number as usize]));
        self.numbers.insert_unique(hash, u32::try_from(number).unwrap_or(u32::MAX), again);
        number
    }

    /// Returns the number of a key; `None` if the set does not contain the key.
    pub(super) fn find(&self, key: &[u8]) -> Option<usize> {
        self.find_by(hash_of(key), key)
    }

    pub(crate) fn get(&self, number: usize) -> &[u8] {
        bytes_at(&self.blocks, self.places[number])
    }

    /// Returns the memory that the keys take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Vec::capacity).sum();
        blocks
            + self.places.capacity() * size_of::<Place>()
            + self.numbers.capacity() * (size_of::<u32>() + 1)
    }

    /// Returns the numbers of all keys, in the order of the keys' bytes.
    pub(super) fn in_order(&self) -> impl Iterator<Item = usize> + use<> {
        let mut order: Vec<([u64; 2], u32)> =
            (0..).zip(&self.places).map(|(number, _)| (self.prefix(number), number)).collect();
        let rest = |number: u32| self.get(number as usize).get(PREFIX..).unwrap_or_default();
        let length = |number: u32| self.places[number as usize].length;
        // Short prefixes are filled up with zeros. If two prefixes are equal, the rest of the keys
        // is compared, and then their lengths, so that the shorter key comes first.
        order.sort_unstable_by(|(one_prefix, one), (other_prefix, other)| {
            one_prefix.cmp(other_prefix).then_with(|| {
                rest(*one).cmp(rest(*other)).then_with(|| length(*one).cmp(&length(*other)))
            })
        });
        order.into_iter().map(|(_, number)| number as usize)
    }

    fn find_by(&self, hash: u64, key: &[u8]) -> Option<usize> {
        let is_it = |number: &u32| self.get(*number as usize) == key;
        self.numbers.find(hash, is_it).map(|number| *number as usize)
    }

    fn add(&mut self, key: &[u8]) -> Place {
        let fits = |block: &Vec<u8>| block.len() + key.len() <= BLOCK;
        if !self.blocks.last().is_some_and(fits) {
            self.blocks.push(Vec::new());
        }
        let mut begin = 0;
        if let Some(block) = self.blocks.last_mut() {
            begin = block.len();
            block.extend_from_slice(key);
        }
        // The memory limit of a load is far below 2^32 bytes, so these numbers fit.
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let block = small(self.blocks.len() - 1);
        Place { block, begin: small(begin), length: small(key.len()) }
    }

    /// Returns the first [`PREFIX`] bytes of a key as two numbers. Keys with smaller numbers come
    /// first.
    fn prefix(&self, number: u32) -> [u64; 2] {
        let key = self.get(number as usize);
        let mut prefix = [0; PREFIX];
        let length = key.len().min(PREFIX);
        prefix[..length].copy_from_slice(&key[..length]);
        let whole = u128::from_be_bytes(prefix);
        [(whole >> 64) as u64, whole as u64]
    }
}

fn bytes_at(blocks: &[Vec<u8>], place: Place) -> &[u8] {
    let begin = place.begin as usize;
    &blocks[place.block as usize][begin..begin + place.length as usize]
}

fn hash_of(key: &[u8]) -> u64 {
    FxBuildHasher.hash_one(key)
}
