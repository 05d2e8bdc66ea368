//! Splits a body that is completely in memory into pieces for the HTTP layer.
//!
//! The HTTP layer copies each piece into the buffer of the connection, where the piece stays until
//! the client reads it. If the client reads slowly, small pieces keep this buffer small. With the
//! whole body as one piece, the body would be in memory twice.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;

/// The size of the pieces in which a body is given to the HTTP layer, in bytes. A shorter body is
/// one piece. The HTTP layer adds pieces to its write buffer while the buffer contains fewer bytes
/// than this number. Then it sends the bytes. So the buffer needs room for at most two pieces, and
/// its initial size of 8 KiB is enough.
pub(crate) const PIECE_BYTES: usize = 4 * 1024;

struct Pieces(Bytes);

/// Creates a body from `bytes`. Bytes that are shared, such as those of a static file, are not
/// copied.
pub(crate) fn body(bytes: Bytes) -> BoxBody {
    if bytes.len() <= PIECE_BYTES {
        return BoxBody::new(bytes);
    }
    BoxBody::new(Pieces(bytes))
}

impl MessageBody for Pieces {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.0.len() as u64)
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        if self.0.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.0.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(self.0.split_to(length))))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    static LARGE: [u8; 3 * PIECE_BYTES + 1] = [7; 3 * PIECE_BYTES + 1];

    #[test]
    fn a_static_body_comes_in_pieces_that_are_not_copied() {
        let mut body = pin!(body(Bytes::from_static(&LARGE)));
        let length = LARGE.len();
        assert!(matches!(body.size(), BodySize::Sized(size) if size == length as u64));
        let mut context = Context::from_waker(Waker::noop());
        let mut place = LARGE.as_ptr();
        let mut lengths = Vec::new();
        while let Poll::Ready(Some(piece)) = body.as_mut().poll_next(&mut context) {
            let piece = piece.unwrap();
            assert_eq!(piece.as_ptr(), place, "it is a copy");
            place = place.wrapping_add(piece.len());
            lengths.push(piece.len());
        }
        assert_eq!(lengths, [PIECE_BYTES, PIECE_BYTES, PIECE_BYTES, 1]);
    }
}
