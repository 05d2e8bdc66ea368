//! Compresses, expands and hashes files of any size, one piece at a time.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use enrich_secrets::private_file;

use crate::error::SnapshotError;

/// The number of bytes that are read and written at a time.
const PIECE_BYTES: usize = 1024 * 1024;
/// The number of written bytes after which a new file is synced. While a file is synced, commits of
/// databases on the same disk wait. A single sync of several gigabytes at the end of the file would
/// make these commits wait for seconds. After two seconds without a successful commit, a node stops
/// charging.
const SYNC_BYTES: usize = 1024 * 1024;

/// The length and the BLAKE3 hash of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHash {
    pub(crate) bytes: u64,
    pub(crate) blake3: [u8; 32],
}

/// Compresses the file `from` into the new file `to`, and syncs `to`. Returns the length and the
/// hash of `from`.
pub(crate) fn compress(from: &Path, to: &Path) -> Result<FileHash, SnapshotError> {
    let failed = |source| SnapshotError::file(to, source);
    let output = SteadyFile::create(to).map_err(failed)?;
    let mut encoder =
        zstd::Encoder::new(output, zstd::DEFAULT_COMPRESSION_LEVEL).map_err(failed)?;
    encoder.include_checksum(true).map_err(failed)?;
    let input = File::open(from).map_err(|source| SnapshotError::file(from, source))?;
    let hash = each_piece(from, input, |piece| encoder.write_all(piece).map_err(failed))?;
    let output = encoder.finish().map_err(failed)?;
    output.file.sync_all().map_err(failed)?;
    Ok(hash)
}

/// Expands the file `from` into the new file `to`, compares the content with the expected length
/// and hash, and syncs `to`.
///
/// After each piece, calls `goes_on` with the time that the piece took. `goes_on` must then wait
/// for this time, so that the expansion uses a processor and the disk for at most half of the time.
/// If `goes_on` returns `false`, stops with [`SnapshotError::Stopped`].
pub(crate) fn expand(
    from: &Path,
    to: &Path,
    expected: FileHash,
    goes_on: &dyn Fn(Duration) -> bool,
) -> Result<(), SnapshotError> {
    let unreadable = |source| SnapshotError::file(from, source);
    let unwritable = |source| SnapshotError::file(to, source);
    let input = File::open(from).map_err(unreadable)?;
    let decoder = zstd::Decoder::new(input).map_err(unreadable)?;
    let mut output = SteadyFile::create(to).map_err(unwritable)?;
    // Reading one byte more than expected is enough to notice a file that is too long.
    let decoder = decoder.take(expected.bytes.saturating_add(1));
    let mut begun = Instant::now();
    let found = each_piece(from, decoder, |piece| {
        output.write_all(piece).map_err(unwritable)?;
        if !goes_on(begun.elapsed()) {
            return Err(SnapshotError::Stopped);
        }
        begun = Instant::now();
        Ok(())
    })?;
    compare(from, found, expected)?;
    output.file.sync_all().map_err(unwritable)
}

/// A new file that is synced after every [`SYNC_BYTES`] written bytes, so that each sync is short.
struct SteadyFile {
    file: File,
    unsynced: usize,
}

impl SteadyFile {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: private_file().create_new(true).open(path)?, unsynced: 0 })
    }
}

impl Write for SteadyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.unsynced += written;
        if self.unsynced >= SYNC_BYTES {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads a file to its end, and compares its length and hash with the expected ones.
pub(crate) fn check(path: &Path, expected: FileHash) -> Result<(), SnapshotError> {
    let input = File::open(path).map_err(|source| SnapshotError::file(path, source))?;
    let found = each_piece(path, input, |_| Ok(()))?;
    compare(path, found, expected)
}

fn compare(path: &Path, found: FileHash, expected: FileHash) -> Result<(), SnapshotError> {
    if found.bytes != expected.bytes {
        return Err(SnapshotError::Length(path.into()));
    }
    if found.blake3 != expected.blake3 {
        return Err(SnapshotError::Altered(path.into()));
    }
    Ok(())
}

/// Reads `input` in pieces, and calls `take` with each piece. Returns the length and the hash of
/// all pieces.
fn each_piece(
    path: &Path,
    mut input: impl Read,
    mut take: impl FnMut(&[u8]) -> Result<(), SnapshotError>,
) -> Result<FileHash, SnapshotError> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(path, error)),
        };
        let piece = buffer.get(..read).unwrap_or_default();
        hasher.update(piece);
        take(piece)?;
    }
    Ok(FileHash { bytes: hasher.count(), blake3: *hasher.finalize().as_bytes() })
}

/// Converts an error from reading a snapshot's file. The decoder returns `UnexpectedEof` if the
/// file was cut off, and `Other` if the content of the file was altered.
fn unreadable(path: &Path, error: io::Error) -> SnapshotError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => SnapshotError::Length(path.into()),
        io::ErrorKind::Other => SnapshotError::Altered(path.into()),
        _ => SnapshotError::file(path, error),
    }
}
