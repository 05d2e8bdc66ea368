//! HTTP around the two generations: one handler, which takes a path to a row of a table.
//!
//! Path and method are checked before the body is read; the rest of a call's course is
//! `enrich-wire`'s. A request whose body was not read to its end closes its connection, so that
//! what is left of it can never be taken for the next request.
//!
//! What is not here: the order of checks, the shape of any answer, the life of the process.

mod account;
mod admission;
mod body;
mod connection;
mod cross_origin;
mod detach;
mod encoding;
mod listener;
mod metrics;
mod page;
mod pieces;
mod record;
mod renderings;
mod route;
mod site;
#[cfg(test)]
mod tests;
mod turned_away;

use std::borrow::Cow;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use actix_http::body::BoxBody;
use actix_http::header::{
    AUTHORIZATION, AsHeaderName, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
};
use actix_http::{ConnectionType, HttpMessage, Method, Request as HttpRequest, StatusCode};
use bytes::Bytes;
use enrich_core::{Refusal, RequestId, Service};
use enrich_dashboard::Dashboard;
use enrich_wire::{ApiVersion, Endpoint, Request, Response, refuse, respond};
use futures_util::FutureExt;

use connection::ConnectionSignals;
pub(crate) use connection::StallTimeouts;
use detach::DetachOnDrop;
pub(crate) use listener::{Listener, ListenerLimits};
use metrics::Metrics;
use record::{CallContext, method_name};
use renderings::Renderings;
pub(crate) use route::Serves;
use route::Target;
use turned_away::TurnedAway;

static API_KEY: HeaderName = HeaderName::from_static("x-api-key");
static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A response as the HTTP layer sends it. What is whole in memory is not boxed in it.
type HttpResponse = actix_http::Response<BoxBody>;

/// What all workers share.
pub(crate) struct AppState {
    service: Arc<Service>,
    dashboard: Option<Dashboard>,
    metrics: Metrics,
    renderings: Renderings,
    is_closing: AtomicBool,
    body_timeout: Duration,
    logs_requests: bool,
    turned_away: TurnedAway,
}

impl AppState {
    /// A service to be served. `body_timeout` is how long a body may take to arrive.
    pub(crate) fn new(service: Arc<Service>, body_timeout: Duration, logs_requests: bool) -> Self {
        Self {
            service,
            dashboard: None,
            metrics: Metrics::new(route::labels()),
            renderings: Renderings::default(),
            is_closing: AtomicBool::new(false),
            body_timeout,
            logs_requests,
            turned_away: TurnedAway::default(),
        }
    }

    /// The same with the account page.
    pub(crate) fn with_dashboard(self, dashboard: Dashboard) -> Self {
        Self { dashboard: Some(dashboard), ..self }
    }

    /// The service.
    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    /// Frees what the metrics have gathered since the last time; to be called every few seconds.
    pub(crate) fn tidy_metrics(&self) {
        self.metrics.tidy();
    }

    /// From now on requests are refused and the service says that it is not ready.
    pub(crate) fn begin_closing(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Relaxed)
    }
}

/// A listener's side of the service: what is served there.
#[derive(Clone)]
pub(crate) struct ListenerState {
    /// What all workers share.
    pub(crate) app: Arc<AppState>,
    /// What is served at this listener.
    pub(crate) serves: Serves,
}

/// Answers every request.
async fn handle(
    request: HttpRequest,
    listener: Rc<ListenerState>,
) -> Result<HttpResponse, Infallible> {
    let signals = request.conn_data::<Rc<ConnectionSignals>>().cloned();
    if signals.as_ref().is_some_and(|signals| signals.last_answer.is_given()) {
        // This came behind the connection's last answer: its sender waits for none. The
        // connection is about to end, and this with it.
        return std::future::pending().await;
    }
    let has_place = signals.as_ref().is_none_or(|signals| signals.admission.has_place());
    let (mut response, is_at_end) = answer(request, &listener, signals.as_ref(), has_place).await;
    let closes = !is_at_end || !has_place || listener.app.is_closing();
    if closes {
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    if let Some(signals) = signals {
        signals.input.open();
        if closes {
            signals.last_answer.give();
        }
    }
    Ok(response)
}

/// The answer, and whether the request was read to its end for it.
async fn answer(
    mut request: HttpRequest,
    listener: &Rc<ListenerState>,
    signals: Option<&Rc<ConnectionSignals>>,
    has_place: bool,
) -> (HttpResponse, bool) {
    let app = &listener.app;
    let mut body = request.take_payload();
    let method = request.method();
    let target = route::find(listener.serves, request.uri().path());
    let context = CallContext {
        started: Instant::now(),
        method: method_name(method),
        label: target.label(),
        request_id: request_id(app, request.headers()),
    };
    let refused = |refusal| {
        let response = refuse(target.api_version(), refusal, &context.request_id);
        context.finish(app, &response);
        written(response)
    };
    let has_no_body = || !body::is_announced(&request);
    let close_input = || {
        if let Some(signals) = signals {
            signals.input.close();
        }
    };
    if has_no_body() {
        close_input();
    }
    let methods = cross_origin::methods(target, app.dashboard.is_some());
    if let Some(methods) = methods.filter(|_| has_place && method == Method::OPTIONS) {
        let response = cross_origin::options(target, methods, &context.request_id);
        context.finish(app, &response);
        return (written(response), has_no_body());
    }
    let opened = |response| {
        if cross_origin::is_open(target) { cross_origin::opened(response) } else { response }
    };
    match target {
        // All places are taken: a guest may ask whether the service is well.
        _ if !has_place && !matches!(target, Target::AdminPage(_)) => {
            (refused(Refusal::Overloaded), has_no_body())
        }
        Target::Account => {
            account::answer(&request, body, Rc::clone(listener), context, signals).await
        }
        Target::Root if method == Method::GET && app.dashboard.is_some() => {
            (account::from_the_root(), has_no_body())
        }
        Target::Root | Target::Nothing(_) => (refused(Refusal::NoSuchPath), has_no_body()),
        Target::AdminPage(_) | Target::File(_) if method != Method::GET => {
            (refused(Refusal::WrongMethod { allow: "GET" }), has_no_body())
        }
        Target::Endpoint(..) if method != Method::POST => {
            (refused(Refusal::WrongMethod { allow: "POST" }), has_no_body())
        }
        Target::Endpoint(..) if app.is_closing() => (refused(Refusal::ShuttingDown), has_no_body()),
        Target::AdminPage(page) => {
            let (response, body) = page.answer(app, &context.request_id).await;
            context.finish(app, &response);
            (opened(written_with(response, body)), has_no_body())
        }
        Target::File(file) => {
            let response = site::answer(file, &context.request_id);
            context.finish(app, &response);
            let encoding = encoding::accepted(request.headers());
            let content = Bytes::from_static(site::content(file, encoding));
            let mut response = opened(written_with(response, content));
            encoding::set_encoding_headers(&mut response, encoding);
            (response, has_no_body())
        }
        Target::Endpoint(api_version, endpoint) => {
            match body::read(request.headers(), &mut body, app.body_timeout).await {
                Ok(body) => {
                    close_input();
                    let call = Received::new(api_version, endpoint, &request, body);
                    // The next request's head is read into the place of this one's, which is in the
                    // processor's cache still.
                    drop(request);
                    (call.begin(Rc::clone(listener), context).await, true)
                }
                Err(unread) => (refused(unread.refusal), unread.is_at_end),
            }
        }
    }
}

/// A call whose body has arrived: what is read of its request.
struct Received {
    api_version: &'static ApiVersion,
    endpoint: &'static Endpoint,
    content_type: Option<String>,
    api_key: Option<String>,
    authorization: Option<String>,
    idempotency_key: Option<String>,
    body: Vec<u8>,
}

impl Received {
    fn new(
        api_version: &'static ApiVersion,
        endpoint: &'static Endpoint,
        request: &HttpRequest,
        body: Vec<u8>,
    ) -> Self {
        let headers = request.headers();
        Self {
            api_version,
            endpoint,
            content_type: text(headers, CONTENT_TYPE).map(Cow::into_owned),
            api_key: text(headers, &API_KEY).map(Cow::into_owned),
            authorization: text(headers, AUTHORIZATION).map(Cow::into_owned),
            idempotency_key: text(headers, &IDEMPOTENCY_KEY).map(Cow::into_owned),
            body,
        }
    }

    /// Begins to answer it, and to write it down.
    fn begin(
        self,
        listener: Rc<ListenerState>,
        context: CallContext,
    ) -> DetachOnDrop<HttpResponse> {
        DetachOnDrop::of(move || async move {
            let (app, id) = (&listener.app, &context.request_id);
            let request = Request {
                content_type: self.content_type.as_deref(),
                api_key: self.api_key.as_deref(),
                authorization: self.authorization.as_deref(),
                idempotency_key: self.idempotency_key.as_deref(),
                body: &self.body,
            };
            // Pinned where it is made, since it is large: to be awaited it would be moved.
            let answer = pin!(respond(&app.service, self.api_version, self.endpoint, id, request));
            // A panic is a bug; its caller is still owed an answer. Whether the charge was written
            // by then is not known.
            let response = AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_| {
                refuse(self.api_version, Refusal::OutcomeUnknown(Panicked.into()), id)
            });
            context.finish(app, &response);
            written(response)
        })
    }
}

/// The code that answers a request panicked; where is in the log.
#[derive(Debug, thiserror::Error)]
#[error("the code that answers panicked")]
struct Panicked;

/// The caller's id for the request, if it is one; else one that is made.
fn request_id(app: &AppState, headers: &HeaderMap) -> RequestId {
    text(headers, &REQUEST_ID)
        .and_then(|text| RequestId::accept(&text))
        .unwrap_or_else(|| RequestId::make(app.service.clock.now()))
}

/// A header's value as text. A header sent twice is one value with a comma (RFC 9110, section
/// 5.3): no rule accepts that for a key, so a proxy and this server cannot choose differently.
fn text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<Cow<'_, str>> {
    let mut values = headers.get_all(name).map(|value| lossy(value.as_bytes()));
    let first = values.next()?;
    Some(values.fold(first, |all, value| all + ", " + value))
}

/// Bytes as text, with replacements for what is none. Nearly all are text, and to see that alone
/// takes a quarter of the time.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The response as the HTTP layer sends it.
fn written(mut response: Response) -> HttpResponse {
    let body = std::mem::take(&mut response.body);
    written_with(response, body.into())
}

/// The same with a body in place of its own.
fn written_with(response: Response, body: Bytes) -> HttpResponse {
    let status = StatusCode::from_u16(response.status);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut sent = HttpResponse::with_body(status, pieces::body(body));
    for (name, value) in response.headers {
        let value = match value {
            Cow::Borrowed(text) => HeaderValue::from_static(text),
            Cow::Owned(text) => {
                // All of ours can be sent; one that could not would be left out.
                let Ok(value) = HeaderValue::try_from(text) else { continue };
                value
            }
        };
        sent.headers_mut().append(HeaderName::from_static(name), value);
    }
    sent
}
