//! Serves the account page over actix-web: converts requests of actix-web to requests of
//! `enrich-dashboard`, and responses of `enrich-dashboard` to responses of actix-web.
//!
//! The crate `enrich-dashboard` creates the pages, and sets the response headers that protect them.

use std::borrow::Cow;
use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_web::body::{BodyStream, BoxBody};
use actix_web::guard::fn_guard;
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_TYPE, COOKIE, HOST, HeaderName, ORIGIN};
use actix_web::rt::time::timeout;
use actix_web::web::{self, Payload, Redirect, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Responder};
use bytes::Bytes;
use enrich_core::error_chain;
use enrich_dashboard::{Body, BodyFault, Request, Response, ResponseBody};
use futures_util::{StreamExt, stream};
use tracing::error;

use crate::chunked_body;
use crate::context::{CallContext, OTHER};
use crate::encoding::{self, Encoding};
use crate::header::text;
use crate::response::with_body;
use crate::state::AppState;
use crate::unrouted;

const ROOT: &str = "/account";
const START: &str = "/account/";
const METHODS: &str = "GET, HEAD, POST";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FROM_SCRIPT: HeaderName = HeaderName::from_static("hx-request");

/// Adds two resources. The first one passes `/account` and all paths below it to
/// `enrich-dashboard`, which has the table of its pages. The second one redirects from `/` to the
/// account page.
///
/// actix-web decodes the path of a request before it compares the path with a resource. So the
/// path `/%61ccount` would match the first resource too. `enrich-dashboard` does not decode paths,
/// and has no page with the path `/%61ccount`. Therefore, a guard excludes such paths.
pub(crate) fn configure(config: &mut ServiceConfig) {
    let is_unescaped_root = fn_guard(|context| context.head().uri.path().starts_with(ROOT));
    config.service(
        web::resource([ROOT, "/account/{path:.*}"])
            .guard(is_unescaped_root)
            .route(web::method(Method::OPTIONS).to(options))
            .default_service(web::to(answer)),
    );
    config.service(
        web::resource("/")
            .route(web::get().to(redirect))
            .route(web::method(Method::OPTIONS).to(root_options))
            .default_service(web::to(unrouted::not_found)),
    );
}

async fn options(request: HttpRequest, context: CallContext) -> HttpResponse {
    unrouted::options(&request, &context, ROOT, "GET, HEAD, OPTIONS, POST", false)
        .unwrap_or_else(|| unrouted::wrong_method(&request, &context, ROOT, METHODS))
}

async fn root_options(request: HttpRequest, context: CallContext) -> HttpResponse {
    unrouted::options(&request, &context, OTHER, "GET, OPTIONS", false)
        .unwrap_or_else(|| unrouted::wrong_method(&request, &context, OTHER, "GET"))
}

async fn redirect() -> impl Responder {
    Redirect::to(START).see_other()
}

async fn answer(request: HttpRequest, body: Payload, context: CallContext) -> HttpResponse {
    let method = match *request.method() {
        Method::GET | Method::HEAD => enrich_dashboard::Method::Get,
        Method::POST => enrich_dashboard::Method::Post,
        _ => return unrouted::wrong_method(&request, &context, ROOT, METHODS),
    };
    let app = context.app();
    let Some(dashboard) = &app.dashboard else {
        return unrouted::not_found(request, context).await;
    };
    let arrival = Rc::new(Arrival {
        limit: app.body_timeout,
        is_unlimited: Cell::new(false),
        context: context.clone(),
    });
    let encoding = encoding::accepted(request.headers());
    // A page is compressed only if the request cannot influence its text. Otherwise an attacker
    // could find out a secret of the page from the lengths of compressed pages (BREACH attack).
    let of_page = if encoding::is_fixed(&request) { encoding } else { Encoding::Identity };
    let mut asked = read(&request, method, Rc::clone(&arrival).body(body), Rc::clone(&arrival));
    asked.request_id = Some(context.request_id().to_string());
    // The future of the page is large. It is boxed, so that it is not a part of the future of this
    // handler.
    let response = Box::pin(dashboard.answer(asked)).await;
    note(app, &context, &response);
    let sent = sent(response, encoding, of_page);
    context.answer(ROOT, sent.status().as_u16(), None);
    sent
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

/// The time limit for the body of a request to the account page. It applies to the whole body.
/// For an upload of a signed-in owner, it applies to each piece of the body instead.
struct Arrival {
    limit: Duration,
    is_unlimited: Cell<bool>,
    context: CallContext,
}

impl Arrival {
    /// Ends the time limit for the whole body. From now on, a time limit of the same length applies
    /// to each piece of the body.
    fn lift_time_limit(&self) {
        self.is_unlimited.set(true);
        if let Some(signals) = self.context.signals() {
            signals.upload_exemption.begin();
        }
    }

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
                        arrival.context.end_body();
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

/// Logs the error if a page failed. If the page has made an API call, counts this call in the
/// metrics.
fn note(app: &AppState, context: &CallContext, response: &Response) {
    if let Some(error) = &response.error {
        let (request_id, error) = (context.request_id().as_str(), error_chain(error.as_ref()));
        error!(endpoint = ROOT, request_id, error, "a page failed on our side");
    }
    if let Some(call) = &response.call {
        let took = context.started().elapsed();
        app.metrics.count(call.path, call.status, Some(&call.record), took);
    }
}

/// Converts a response of `enrich-dashboard`. A static file is sent with the encoding `of_file`,
/// and a page with the encoding `of_page`.
fn sent(response: Response, of_file: Encoding, of_page: Encoding) -> HttpResponse {
    let Response { status, headers, body, .. } = response;
    with_body(status, headers, |sent| match body {
        ResponseBody::Whole(bytes) if encoding::is_page(sent.status(), sent.headers(), &bytes) => {
            match encoding::compressed(&bytes, of_page) {
                Ok(compressed) => {
                    encoding::set_encoding_headers(sent, of_page);
                    chunked_body::body(compressed)
                }
                Err(_) => chunked_body::body(owned(bytes)),
            }
        }
        ResponseBody::Whole(bytes) => chunked_body::body(owned(bytes)),
        ResponseBody::File { plain, gzip, brotli } => {
            encoding::set_encoding_headers(sent, of_file);
            chunked_body::body(match of_file {
                Encoding::Identity => Bytes::from_static(plain),
                Encoding::Gzip => Bytes::from_static(gzip),
                Encoding::Brotli => Bytes::from_static(brotli),
            })
        }
        // `BodyStream` sets no content type, but `headers` already contains one.
        ResponseBody::Pieces(pieces) => BoxBody::new(BodyStream::new(pieces.map(|piece| {
            piece.inspect_err(|error| {
                error!(error = %error, "a file broke off");
            })
        }))),
    })
}

/// Converts bytes to the type of the HTTP layer. Static bytes are not copied.
fn owned(bytes: Cow<'static, [u8]>) -> Bytes {
    match bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    }
}
