//! Reads the body of a request. The size of the body and the time for reading it are limited, and
//! the body must not be compressed.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};
use actix_web::rt::time::timeout;
use actix_web::web::Payload;
use enrich_wire::{MAX_BODY_BYTES, RequestRefusal};
use futures_util::StreamExt;
use tokio::task::yield_now;

use crate::connection::PollAgain;

/// Maximum number of bytes that are allocated before any piece of a body has arrived. Few bodies
/// are larger.
const USUAL_BYTES: usize = 4096;

pub(crate) struct Unread {
    pub(crate) refusal: RequestRefusal,
    /// Whether the body was read to its end, so that the connection can be used for the next
    /// request.
    pub(crate) is_at_end: bool,
}

/// Reads the body of a request. The body is refused if it has more than [`MAX_BODY_BYTES`] bytes,
/// is not complete within `limit`, or is compressed.
///
/// The first poll of the body uses a waker that does nothing, which saves time: usually the HTTP
/// layer polls a second time by itself (see `within`). If it does not, `poll_again` asks the
/// connection for another poll. `poll_again` is `None` in tests without a connection.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: &mut Payload,
    limit: Duration,
    poll_again: Option<&PollAgain>,
) -> Result<Vec<u8>, Unread> {
    let declared = declared_length(headers);
    if declared > MAX_BODY_BYTES as u64 {
        return Err(Unread { refusal: too_large(), is_at_end: false });
    }
    let bytes = match within(limit, poll_again, pin!(collect(body, declared))).await {
        Some(collected) => collected.map_err(|refusal| Unread { refusal, is_at_end: false })?,
        None => {
            let refusal = RequestRefusal::BodyTooSlow { limit_seconds: limit.as_secs() };
            return Err(Unread { refusal, is_at_end: false });
        }
    };
    if is_encoded(headers) {
        let refusal = RequestRefusal::Undecodable("it is compressed; send it as it is".to_owned());
        return Err(Unread { refusal, is_at_end: true });
    }
    Ok(bytes)
}

/// Returns the value of `Content-Length`, or 0 if there is no such header. The HTTP layer has
/// already refused invalid values.
fn declared_length(headers: &HeaderMap) -> u64 {
    let value = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    value.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

async fn collect(body: &mut Payload, declared: u64) -> Result<Vec<u8>, RequestRefusal> {
    // A client can announce a large body in `Content-Length` and send nothing. So at most
    // `USUAL_BYTES` are allocated before bytes arrive.
    let likely = usize::try_from(declared).unwrap_or(0).min(USUAL_BYTES);
    let mut bytes = Vec::with_capacity(likely);
    while let Some(chunk) = body.next().await {
        let chunk = chunk
            .map_err(|_| RequestRefusal::Undecodable("it does not arrive whole".to_owned()))?;
        if bytes.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Returns the output of `future`; `None` if `future` takes longer than `limit`.
///
/// The HTTP layer works in turns. In each turn, it reads input, polls handlers and writes answers.
/// Most bodies arrive together with the head of their request. For such a request, the HTTP layer
/// polls the handler twice in one turn: when it has read the head, and when it has delivered the
/// body. So the second poll usually completes the future, and this function saves work until then:
///
/// 1. The first poll uses a waker that does nothing. When the body is delivered, a real waker would
///    make the HTTP layer process the whole connection once more.
/// 2. The second poll comes without a waker. Usually, it is in the same turn. If it is not, which
///    is possible with pipelined requests, `poll_again` makes the connection start another turn.
/// 3. The timer starts only at the second poll, and only if this poll does not complete the future.
async fn within<F: Future>(
    limit: Duration,
    poll_again: Option<&PollAgain>,
    mut future: Pin<&mut F>,
) -> Option<F::Output> {
    if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return Some(output);
    }
    match poll_again {
        Some(poll_again) => poll_again.next_poll().await,
        None => yield_now().await,
    }
    timeout(limit, future).await.ok()
}

fn too_large() -> RequestRefusal {
    RequestRefusal::BodyTooLarge { limit_bytes: MAX_BODY_BYTES }
}

/// Whether `Content-Encoding` contains a coding other than `identity` (RFC 9110, section 8.4).
fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).any(|value| {
        let names = value.as_bytes().split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        names.filter(|name| !name.is_empty()).any(|name| !name.eq_ignore_ascii_case(b"identity"))
    })
}
