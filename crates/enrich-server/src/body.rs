//! Reading a request's body: so many bytes, in so much time, as it is.

use std::future::poll_fn;
use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING, UPGRADE,
};
use actix_web::rt::time::sleep;
use actix_web::web::Payload;
use enrich_core::Refusal;
use enrich_wire::MAX_BODY_BYTES;
use futures_util::StreamExt;

/// What hardly a call's body exceeds, in bytes.
const USUAL_BYTES: usize = 4096;

/// A body that is not used.
pub(crate) struct Unread {
    /// Why.
    pub(crate) refusal: Refusal,
    /// Whether it was read to its end all the same, so that the next request begins after it.
    pub(crate) is_at_end: bool,
}

/// Reads a body of at most [`MAX_BODY_BYTES`] that arrives within `limit`.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: &mut Payload,
    limit: Duration,
) -> Result<Vec<u8>, Unread> {
    let declared = declared_length(headers);
    if declared > MAX_BODY_BYTES as u64 {
        return Err(Unread { refusal: too_large(), is_at_end: false });
    }
    let bytes = match within(limit, pin!(collect(body, declared))).await {
        Some(collected) => collected.map_err(|refusal| Unread { refusal, is_at_end: false })?,
        None => {
            let refusal = Refusal::BodyTooSlow { limit_seconds: limit.as_secs() };
            return Err(Unread { refusal, is_at_end: false });
        }
    };
    if is_encoded(headers) {
        let refusal = Refusal::Undecodable("it is compressed; send it as it is".to_owned());
        return Err(Unread { refusal, is_at_end: true });
    }
    Ok(bytes)
}

/// Whether a request comes with a body, or with something of unknown length in its place.
pub(crate) fn is_announced(request: &HttpRequest) -> bool {
    let headers = request.headers();
    declared_length(headers) > 0
        || headers.contains_key(TRANSFER_ENCODING)
        || headers.contains_key(UPGRADE)
        || request.method() == Method::CONNECT
}

/// What `Content-Length` says; the HTTP layer has refused anything but one decimal number.
fn declared_length(headers: &HeaderMap) -> u64 {
    let value = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    value.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

async fn collect(body: &mut Payload, declared: u64) -> Result<Vec<u8>, Refusal> {
    // Room is made for what is there, not for what is announced.
    let likely = usize::try_from(declared).unwrap_or(0).min(USUAL_BYTES);
    let mut bytes = Vec::with_capacity(likely);
    while let Some(chunk) = body.next().await {
        let chunk =
            chunk.map_err(|_| Refusal::Undecodable("it does not arrive whole".to_owned()))?;
        if bytes.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// What `future` gives within `limit`, else nothing.
///
/// Most bodies come together with their head. The HTTP layer asks for the answer as soon as it has the
/// head. Whenever it hands over some of the body, it asks again in the same turn, so that a wake-up by
/// the body would only have the whole connection looked through once more; hence the first time the
/// body wakes nobody. A call that has waited behind another is asked once at first: hence its time
/// begins at once.
async fn within<F: Future>(limit: Duration, mut future: Pin<&mut F>) -> Option<F::Output> {
    let mut end = pin!(sleep(limit));
    let mut is_first = true;
    poll_fn(|context| {
        let waker = if mem::take(&mut is_first) { Waker::noop() } else { context.waker() };
        match future.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => end.as_mut().poll(context).map(|()| None),
        }
    })
    .await
}

fn too_large() -> Refusal {
    Refusal::BodyTooLarge { limit_bytes: MAX_BODY_BYTES }
}

/// Whether any `Content-Encoding` but `identity` is named (RFC 9110, section 8.4).
fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).any(|value| {
        let names = value.as_bytes().split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        names.filter(|name| !name.is_empty()).any(|name| !name.eq_ignore_ascii_case(b"identity"))
    })
}
