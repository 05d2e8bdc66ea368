//! The account page behind the listener: requests and responses of `enrich-dashboard`, as the
//! HTTP layer has them.
//!
//! What is not here: a page, a rule, a header that protects one.

use std::borrow::Cow;
use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::time::Duration;

use actix_http::body::{BodyStream, BoxBody};
use actix_http::header::{CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN};
use actix_http::{HttpMessage, Method, Payload, Request as HttpRequest, StatusCode};
use actix_rt::time::timeout;
use enrich_core::{Credits, Refusal};
use enrich_dashboard::{Body, BodyFault, Request, Response, ResponseBody};
use enrich_wire::refuse;
use futures_util::{StreamExt, stream};
use tracing::error;

use super::connection::Unhurried;
use super::ending::ToItsEnd;
use super::record::Course;
use super::{Door, HttpResponse, Shared, body, text, written};
use crate::explained::explained;
use crate::interface::GENERATIONS;

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
    door: Rc<Door>,
    course: Course,
) -> (HttpResponse, bool) {
    let has_no_body = !body::is_announced(request);
    let method = match *request.method() {
        Method::GET | Method::HEAD => enrich_dashboard::Method::Get,
        Method::POST => enrich_dashboard::Method::Post,
        _ => {
            let refusal = Refusal::WrongMethod { allow: "GET, HEAD, POST" };
            let response = refuse(GENERATIONS[0], refusal, &course.request_id);
            course.finish(&door.shared, &response);
            return (written(response), has_no_body);
        }
    };
    if let Some(unhurried) = request.conn_data::<Unhurried>().filter(|_| is_a_file(request)) {
        unhurried.begin();
    }
    let is_at_end = Rc::new(Cell::new(has_no_body));
    let arriving = arriving(body, door.shared.body_timeout, Rc::clone(&is_at_end));
    let request = read(request, method, arriving);
    let answered = ToItsEnd::of(move || async move {
        let shared = &door.shared;
        let Some(dashboard) = &shared.dashboard else {
            let response = refuse(GENERATIONS[0], Refusal::NoSuchPath, &course.request_id);
            course.finish(shared, &response);
            return written(response);
        };
        let response = dashboard.answer(request).await;
        note(shared, &course, &response);
        sent(response)
    });
    (answered.await, is_at_end.get())
}

/// Whether a form with files comes, which may be long.
fn is_a_file(request: &HttpRequest) -> bool {
    text(request.headers(), CONTENT_TYPE).is_some_and(|kind| kind.starts_with("multipart/"))
}

fn read(request: &HttpRequest, method: enrich_dashboard::Method, body: Body) -> Request {
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
        ..Request::new(method, request.uri().path(), request.uri().query().unwrap_or(""), peer)
    }
}

/// A body as it arrives. Each piece may take so long.
fn arriving(body: Payload, patience: Duration, is_at_end: Rc<Cell<bool>>) -> Body {
    let next = move |mut body: Payload| {
        let is_at_end = Rc::clone(&is_at_end);
        async move {
            let piece = match timeout(patience, body.next()).await {
                Ok(Some(Ok(piece))) => Ok(piece),
                Ok(Some(Err(_))) => Err(BodyFault::Broken),
                Ok(None) => {
                    is_at_end.set(true);
                    return None;
                }
                Err(_) => Err(BodyFault::TooSlow),
            };
            Some((piece, body))
        }
    };
    stream::unfold(body, next).boxed_local()
}

/// Counts and logs the page, and the call that was made from it.
fn note(shared: &Shared, course: &Course, response: &Response) {
    if let Some(error) = &response.error {
        let (request_id, error) = (course.request_id.as_str(), explained(error.as_ref()));
        error!(endpoint = course.label, request_id, error, "a page failed on our side");
    }
    if let Some(call) = &response.call {
        shared.metrics.count(call.path, &call.response, course.started.elapsed());
    }
    let seen = enrich_wire::Response {
        status: response.status,
        headers: Vec::new(),
        body: Vec::new(),
        used: Credits::ZERO,
        is_found: None,
        key: None,
        standing: None,
        refusal: None,
    };
    course.finish(shared, &seen);
}

/// The response as the HTTP layer sends it.
fn sent(response: Response) -> HttpResponse {
    let status = StatusCode::from_u16(response.status);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = match response.body {
        ResponseBody::Whole(Cow::Borrowed(bytes)) => BoxBody::new(bytes),
        ResponseBody::Whole(Cow::Owned(bytes)) => BoxBody::new(bytes),
        // Its own content type is set.
        ResponseBody::Pieces(pieces) => BoxBody::new(BodyStream::new(pieces.map(|piece| {
            piece.inspect_err(|error| {
                error!(error = %error, "a file broke off");
            })
        }))),
    };
    let mut sent = HttpResponse::with_body(status, body);
    for (name, value) in response.headers {
        let Ok(value) = HeaderValue::from_str(&value) else { continue };
        sent.headers_mut().append(HeaderName::from_static(name), value);
    }
    sent
}
