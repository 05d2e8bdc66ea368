//! How many bytes of a source were read, compressed as they are.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// A count of bytes, shared between who reads and who asks.
#[derive(Clone, Default)]
pub(crate) struct ByteCount(Rc<Cell<u64>>);

impl ByteCount {
    /// Sets it.
    pub(crate) fn set(&self, bytes: u64) {
        self.0.set(bytes);
    }

    /// What was counted since this was last asked.
    pub(crate) fn take(&self) -> u64 {
        self.0.take()
    }
}

/// A reader that counts.
pub(crate) struct Counted {
    input: Box<dyn Read + Send>,
    count: ByteCount,
}

impl Counted {
    /// Reads `input` and adds to `count`.
    pub(crate) fn new(input: Box<dyn Read + Send>, count: ByteCount) -> Self {
        Self { input, count }
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.0.set(self.count.0.get() + read as u64);
        Ok(read)
    }
}
