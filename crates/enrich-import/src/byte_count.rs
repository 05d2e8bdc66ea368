//! Counts the bytes read from a source, before decompression.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// A byte count. The reader and the code that reports progress share it.
#[derive(Clone, Default)]
pub(crate) struct ByteCount(Rc<Cell<u64>>);

impl ByteCount {
    pub(crate) fn set(&self, bytes: u64) {
        self.0.set(bytes);
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.0.set(self.0.get() + bytes);
    }

    /// Returns the number of bytes counted since the last call of this method.
    pub(crate) fn take(&self) -> u64 {
        self.0.take()
    }
}

/// A reader that counts the bytes that it has read.
pub(crate) struct Counted {
    input: Box<dyn Read + Send>,
    count: ByteCount,
}

impl Counted {
    /// Returns a reader of `input` that adds to `count` the number of bytes that it reads.
    pub(crate) fn new(input: Box<dyn Read + Send>, count: ByteCount) -> Self {
        Self { input, count }
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.add(read as u64);
        Ok(read)
    }
}
