//! Collects values for keys in memory, and returns them in the order of the keys.
//!
//! A load (one import) collects some million small values. In a map of the standard library, each
//! of them would take several times the memory of the value and its key. Here, the bytes of all
//! keys are in a few large blocks. The values of all keys are in one list, and each value has the
//! number of the previous value of its key.

mod keys;

pub(crate) use keys::Keys;

/// The number of values in one block.
const BLOCK: usize = 1 << 14;
/// Stored with the first value of a key, in place of the number of the previous value: the first
/// value has no previous one.
const NONE: u32 = u32::MAX;

/// Values of type `T`, collected for keys.
#[derive(Debug)]
pub(crate) struct Noted<T> {
    keys: Keys,
    /// For each key, the number of the value that was added last.
    last: Vec<u32>,
    /// The values in the order in which they were added. Each has the number of the previous value
    /// of the same key.
    blocks: Vec<Vec<(T, u32)>>,
}

impl<T> Default for Noted<T> {
    fn default() -> Self {
        Self { keys: Keys::default(), last: Vec::new(), blocks: Vec::new() }
    }
}

impl<T: Copy> Noted<T> {
    /// Adds a value for a key. Earlier values of the key stay.
    pub(crate) fn note(&mut self, key: &[u8], value: T) {
        let key = self.keys.number_of(key) as usize;
        if key == self.last.len() {
            self.last.push(NONE);
        }
        if self.blocks.last().is_none_or(|block| block.len() == BLOCK) {
            self.blocks.push(Vec::new());
        }
        let full = (self.blocks.len() - 1) * BLOCK;
        if let Some(block) = self.blocks.last_mut() {
            // The memory limit of a load is reached long before there are 2^32 values, so the
            // number fits.
            let number = u32::try_from(full + block.len()).unwrap_or(NONE);
            block.push((value, self.last[key]));
            self.last[key] = number;
        }
    }

    /// Returns the values of a key, the last one first.
    pub(crate) fn of(&self, key: &[u8]) -> impl Iterator<Item = T> + '_ {
        self.from(self.keys.find(key).map_or(NONE, |key| self.last[key as usize]))
    }

    /// Returns the memory that the values and their keys take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.bytes()
            + self.last.capacity() * size_of::<u32>()
            + self.blocks.len() * BLOCK * size_of::<(T, u32)>()
    }

    /// Calls `take` for each key, in the order of the keys' bytes. `take` gets the key and its
    /// values, in the order in which the values were added. Stops when `take` returns an error.
    pub(crate) fn each_in_order<E>(
        &self,
        mut take: impl FnMut(&[u8], &[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut values = Vec::new();
        for key in self.keys.in_order() {
            values.clear();
            values.extend(self.from(self.last[key as usize]));
            values.reverse();
            take(self.keys.get(key), &values)?;
        }
        Ok(())
    }

    fn from(&self, number: u32) -> impl Iterator<Item = T> + '_ {
        let mut next = number;
        std::iter::from_fn(move || {
            let number = usize::try_from(next).ok().filter(|_| next != NONE)?;
            let (value, before) = self.blocks[number / BLOCK][number % BLOCK];
            next = before;
            Some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_come_back_as_from_a_map(
            all in proptest::collection::vec(("[a-c]{0,20}", any::<u16>()), 0..200),
        ) {
            let mut noted = Noted::default();
            let mut map: BTreeMap<String, Vec<u16>> = BTreeMap::new();
            for (key, value) in &all {
                noted.note(key.as_bytes(), *value);
                map.entry(key.clone()).or_default().push(*value);
            }
            for (key, values) in &map {
                let last_first: Vec<u16> = noted.of(key.as_bytes()).collect();
                prop_assert!(last_first.iter().rev().eq(values));
            }
            prop_assert_eq!(noted.of(b"none").count(), 0);
            let mut in_order = Vec::new();
            noted.each_in_order(|key, values| {
                in_order.push((String::from_utf8(key.to_vec()).unwrap(), values.to_vec()));
                Ok::<(), ()>(())
            }).unwrap();
            prop_assert_eq!(in_order, map.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_values_take_little_more_than_their_bytes() {
        let mut noted = Noted::default();
        for number in 0..200_000_u64 {
            noted.note(format!("key number {number}").as_bytes(), number);
        }
        assert!(noted.bytes() < 200_000 * 64, "{}", noted.bytes());
        assert!(
            (0..200_000)
                .all(|number| { noted.of(format!("key number {number}").as_bytes()).eq([number]) })
        );
    }
}
