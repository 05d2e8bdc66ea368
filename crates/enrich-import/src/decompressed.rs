//! Decompresses an input while it is read.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

use crate::format::Compression;

/// Size of each buffer for reading and for decompressing, in bytes.
pub(crate) const BUFFER_BYTES: usize = 128 * 1024;

/// Returns a reader of the decompressed text. A file may consist of several compressed parts, one
/// after the other; all of them are read.
pub(crate) fn decompressed(
    input: impl Read + 'static,
    compression: Option<Compression>,
) -> io::Result<Box<dyn BufRead>> {
    let input = buffered(input);
    Ok(match compression {
        None => Box::new(input),
        Some(Compression::Gzip) => Box::new(buffered(MultiGzDecoder::new(input))),
        Some(Compression::Bzip2) => Box::new(buffered(MultiBzDecoder::new(input))),
        Some(Compression::Zstd) => Box::new(buffered(zstd::Decoder::with_buffer(input)?)),
    })
}

fn buffered<R: Read>(input: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER_BYTES, input)
}
