//! The account page behind the listener: requests and responses of `enrich-dashboard`, as the
//! HTTP layer has them.
//!
//! What is not here: a page, a rule, a header that protects one.

use std::borrow::Cow;
use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_http::body::{BodyStream, BoxBody};
use actix_http::header::{CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN};
use actix_http::{HttpMessage, Method, Payload, Request as HttpRequest, StatusCode};
use actix_rt::time::timeout;
use bytes::Bytes;
use enrich_core::{Credits, Refusal};
use enrich_dashboard::{Body, BodyFault, Request, Response, ResponseBody};
use enrich_wire::refuse;
use futures_util::{StreamExt, stream};
use tracing::error;

use super::connection::ConnectionSignals;
use super::detach::DetachOnDrop;
use super::encoding::{self, Encoding};
use super::record::CallContext;
use super::{AppState, HttpResponse, ListenerState, REQUEST_ID, body, pieces, text, written};
use crate::explained::explained;
use crate::interface::API_VERSIONS;

/// What all its paths begin with.
pub(super) const ROOT: &str = "/account";
/// Where the page begins.
const START: &str = "/account/";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FROM_SCRIPT: HeaderName = HeaderName::from_static("hx-request");

/// Whether a path is one of the page's.
pub(super) fn is_at(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Sends whoever opens the bare address to the page.
pub(super) fn from_the_root() -> HttpResponse {
    let mut response = HttpResponse::new(StatusCode::SEE_OTHER);
    response.headers_mut().append(LOCATION, HeaderValue::from_static(START));
    response
}

/// Answers, and tells whether the request was read to its end for it. What was begun goes on to its
/// end even if nobody waits for it any more.
pub(super) async fn answer(
    request: &HttpRequest,
    body: Payload,
    listener: Rc<ListenerState>,
    context: CallContext,
    signals: Option<&Rc<ConnectionSignals>>,
) -> (HttpResponse, bool) {
    let has_no_body = !body::is_announced(request);
    let method = match *request.method() {
        Method::GET | Method::HEAD => enrich_dashboard::Method::Get,
        Method::POST => enrich_dashboard::Method::Post,
        _ => {
            let refusal = Refusal::WrongMethod { allow: "GET, HEAD, POST" };
            let response = refuse(API_VERSIONS[0], refusal, &context.request_id);
            context.finish(&listener.app, &response);
            return (written(response), has_no_body);
        }
    };
    let arrival = Rc::new(Arrival {
        limit: listener.app.body_timeout,
        is_unlimited: Cell::new(false),
        is_at_end: Cell::new(has_no_body),
        signals: signals.cloned(),
    });
    let encoding = encoding::accepted(request.headers());
    // Which page may be compressed is said in `encoding`.
    let of_page = if encoding::is_fixed(request) { encoding } else { Encoding::Identity };
    let mut request = read(request, method, Rc::clone(&arrival).body(body), Rc::clone(&arrival));
    request.request_id = Some(context.request_id.to_string());
    let answered = DetachOnDrop::of(move || async move {
        let app = &listener.app;
        let Some(dashboard) = &app.dashboard else {
            let response = refuse(API_VERSIONS[0], Refusal::NoSuchPath, &context.request_id);
            context.finish(app, &response);
            return written(response);
        };
        let response = dashboard.answer(request).await;
        note(app, &context, &response);
        let mut sent = sent(response, encoding, of_page);
        if let Ok(id) = HeaderValue::from_str(context.request_id.as_str()) {
            sent.headers_mut().insert(REQUEST_ID.clone(), id);
        }
        sent
    });
    (answered.await, arrival.is_at_end.get())
}

fn read(
    request: &HttpRequest,
    method: enrich_dashboard::Method,
    body: Body,
    arrival: Rc<Arrival>,
) -> Request {
    let headers = request.headers();
    let header = |name| text(headers, name).map(Cow::into_owned);
    let peer = request.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
    Request {
        host: header(HOST),
        origin: header(ORIGIN),
        fetch_site: header(FETCH_SITE),
        forwarded_for: header(FORWARDED_FOR),
        cookies: header(COOKIE),
        content_type: header(CONTENT_TYPE),
        is_from_script: headers.contains_key(FROM_SCRIPT),
        body,
        lift_time_limit: Some(Box::new(move || arrival.lift_time_limit())),
        ..Request::new(method, request.uri().path(), request.uri().query().unwrap_or(""), peer)
    }
}

/// How a body arrives: as a whole within the time of every other body, unless it is an upload of
/// somebody who is signed in.
struct Arrival {
    limit: Duration,
    is_unlimited: Cell<bool>,
    is_at_end: Cell<bool>,
    signals: Option<Rc<ConnectionSignals>>,
}

impl Arrival {
    /// From now on each piece has the time that the whole had.
    fn lift_time_limit(&self) {
        self.is_unlimited.set(true);
        if let Some(signals) = &self.signals {
            signals.upload_exemption.begin();
        }
    }

    fn end(&self) {
        self.is_at_end.set(true);
        if let Some(signals) = &self.signals {
            signals.input.close();
        }
    }

    /// The body, piece by piece.
    fn body(self: Rc<Self>, body: Payload) -> Body {
        let ends_at = Instant::now() + self.limit;
        let next = move |mut body: Payload| {
            let arrival = Rc::clone(&self);
            async move {
                let limit = match arrival.is_unlimited.get() {
                    true => arrival.limit,
                    false => ends_at.saturating_duration_since(Instant::now()),
                };
                let piece = match timeout(limit, body.next()).await {
                    Ok(Some(Ok(piece))) => Ok(piece),
                    Ok(Some(Err(_))) => Err(BodyFault::Broken),
                    Ok(None) => {
                        arrival.end();
                        return None;
                    }
                    Err(_) => Err(BodyFault::TooSlow),
                };
                Some((piece, body))
            }
        };
        stream::unfold(body, next).boxed_local()
    }
}

/// Counts and logs the page, and the call that was made from it.
fn note(app: &AppState, context: &CallContext, response: &Response) {
    if let Some(error) = &response.error {
        let (request_id, error) = (context.request_id.as_str(), explained(error.as_ref()));
        error!(endpoint = context.label, request_id, error, "a page failed on our side");
    }
    if let Some(call) = &response.call {
        app.metrics.count(call.path, &call.response, context.started.elapsed());
    }
    let seen = enrich_wire::Response {
        status: response.status,
        headers: Vec::new(),
        body: Vec::new(),
        used: Credits::ZERO,
        is_found: None,
        key: None,
        rate_limit_status: None,
        refusal: None,
    };
    context.finish(app, &seen);
}

/// The response as the HTTP layer sends it: its file in an encoding, or its page in another.
fn sent(response: Response, of_file: Encoding, of_page: Encoding) -> HttpResponse {
    let status = StatusCode::from_u16(response.status);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut sent = HttpResponse::with_body(status, BoxBody::new(()));
    for (name, value) in response.headers {
        let Ok(value) = HeaderValue::from_str(&value) else { continue };
        sent.headers_mut().append(HeaderName::from_static(name), value);
    }
    let body = match response.body {
        ResponseBody::Whole(bytes) if encoding::is_page(status, sent.headers(), &bytes) => {
            match encoding::compressed(&bytes, of_page) {
                Ok(compressed) => {
                    encoding::set_encoding_headers(&mut sent, of_page);
                    pieces::body(compressed)
                }
                Err(_) => pieces::body(owned(bytes)),
            }
        }
        ResponseBody::Whole(bytes) => pieces::body(owned(bytes)),
        ResponseBody::File { plain, gzip, brotli } => {
            encoding::set_encoding_headers(&mut sent, of_file);
            pieces::body(match of_file {
                Encoding::Identity => owned(plain),
                Encoding::Gzip => Bytes::from_static(gzip),
                Encoding::Brotli => Bytes::from_static(brotli),
            })
        }
        // Its own content type is set.
        ResponseBody::Pieces(pieces) => BoxBody::new(BodyStream::new(pieces.map(|piece| {
            piece.inspect_err(|error| {
                error!(error = %error, "a file broke off");
            })
        }))),
    };
    sent.set_body(body)
}

/// The bytes, not copied.
fn owned(bytes: Cow<'static, [u8]>) -> Bytes {
    match bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    }
}
