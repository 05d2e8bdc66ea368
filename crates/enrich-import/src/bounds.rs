//! Limits how much of a source is read. Without limits, a small upload could decompress to any
//! size.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

/// Limits on the decompressed text of a source.
#[derive(Clone)]
pub struct Bounds {
    /// Maximum number of bytes after decompression.
    pub max_bytes: u64,
    /// Maximum number of lines, including blank lines and lines inside quotes.
    pub max_lines: u64,
    /// A function that is called repeatedly while the source is read. If the function returns
    /// `true`, the reading stops.
    pub is_stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl fmt::Debug for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { max_bytes, max_lines, .. } = self;
        f.debug_struct("Bounds")
            .field("max_bytes", max_bytes)
            .field("max_lines", max_lines)
            .finish_non_exhaustive()
    }
}

/// Why the reading of a source was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// [`Bounds::is_stopped`] returned `true`.
    #[error("reading it was stopped")]
    Stopped,
    /// The source has more bytes, after decompression, than this maximum.
    #[error("it holds more than {0} bytes when uncompressed; split it")]
    TooManyBytes(u64),
    /// The source has more lines than this maximum.
    #[error("it has more than {0} lines; split it")]
    TooManyLines(u64),
}

impl Halt {
    /// Returns the [`Halt`] that an I/O error wraps; `None` if it wraps another error or no error.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

/// A reader that enforces [`Bounds`].
pub(crate) struct Bounded {
    input: Box<dyn BufRead>,
    bounds: Bounds,
    bytes: u64,
    lines: u64,
    /// The number of bytes in the input's buffer that are already counted in `bytes`, but not yet
    /// consumed.
    counted: usize,
}

impl Bounded {
    pub(crate) fn new(input: Box<dyn BufRead>, bounds: Bounds) -> Self {
        Self { input, bounds, bytes: 0, lines: 0, counted: 0 }
    }
}

impl BufRead for Bounded {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let Self { input, bounds, bytes, lines, counted } = self;
        if *counted == 0 && (bounds.is_stopped)() {
            return Err(io::Error::other(Halt::Stopped));
        }
        let ready = input.fill_buf()?;
        if *counted == 0 {
            *counted = ready.len();
            *bytes += ready.len() as u64;
            *lines += ready.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        if *bytes > bounds.max_bytes {
            return Err(io::Error::other(Halt::TooManyBytes(bounds.max_bytes)));
        }
        if *lines > bounds.max_lines {
            return Err(io::Error::other(Halt::TooManyLines(bounds.max_lines)));
        }
        Ok(ready)
    }

    fn consume(&mut self, amount: usize) {
        self.counted = self.counted.saturating_sub(amount);
        self.input.consume(amount);
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::{ReadError, Rows, Source};

    fn read(text: Vec<u8>, bounds: Bounds) -> Result<usize, ReadError> {
        let source = Source::reader("a.csv", io::Cursor::new(text)).bounded(bounds);
        let mut rows = Rows::open(source)?;
        let mut count = 0;
        while rows.next_row()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    fn bounds(max_bytes: u64, max_lines: u64) -> Bounds {
        Bounds { max_bytes, max_lines, is_stopped: Arc::new(|| false) }
    }

    #[test]
    fn what_is_within_is_read_and_what_is_not_is_told() {
        let text = || b"a,b\n\n1,2\n3,4\n".to_vec();
        assert_eq!(read(text(), bounds(13, 4)).unwrap(), 2);
        let halt = |bounds| match read(text(), bounds) {
            Err(ReadError::Halted(halt)) => halt,
            other => panic!("{other:?}"),
        };
        assert_eq!(halt(bounds(12, 4)), Halt::TooManyBytes(12));
        assert_eq!(halt(bounds(13, 3)), Halt::TooManyLines(3));
    }

    #[test]
    fn who_reads_blank_lines_alone_can_be_stopped() {
        let asked = Arc::new(AtomicU64::new(0));
        let counts = Arc::clone(&asked);
        let is_stopped = Arc::new(move || counts.fetch_add(1, Ordering::SeqCst) == 3);
        let bounds = Bounds { is_stopped, ..bounds(u64::MAX, u64::MAX) };
        let stopped = read([b"a,b\n".to_vec(), vec![b'\n'; 4_000_000]].concat(), bounds);
        assert!(matches!(stopped, Err(ReadError::Halted(Halt::Stopped))), "{stopped:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 4);
    }
}
