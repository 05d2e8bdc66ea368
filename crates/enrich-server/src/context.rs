//! The context of a request, which middleware and handlers share.

use std::cell::{Cell, RefCell};
use std::future::{Ready, ready};
use std::rc::Rc;
use std::time::Instant;

use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::ErrorInternalServerError;
use actix_web::web::Data;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest};
use enrich_core::RequestId;
use enrich_wire::CallRecord;

use crate::connection::ConnectionSignals;
use crate::header;
use crate::state::{AppState, ListenerState};

/// The label of requests that match no route, in the log and the metrics.
pub(crate) const OTHER: &str = "other";

/// The context of a request. Middleware and handlers find it in the extensions of the request.
#[derive(Clone)]
pub(crate) struct CallContext(Rc<Fields>);

struct Fields {
    started: Instant,
    request_id: RequestId,
    signals: Option<Rc<ConnectionSignals>>,
    is_body_read: Cell<bool>,
    answered: RefCell<Option<Answered>>,
    listener: Data<ListenerState>,
}

/// The data of a response for the log and the metrics.
pub(crate) struct Answered {
    /// The label of the endpoint or page, in the log and the metrics.
    pub(crate) label: &'static str,
    pub(crate) status: u16,
    /// The credits, the outcome and other data of the API call; `None` if the request was not an
    /// API call, for example a request for the page `/docs`.
    pub(crate) record: Option<CallRecord>,
}

impl FromRequest for CallContext {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let context = request.extensions().get::<Self>().cloned();
        ready(context.ok_or_else(|| ErrorInternalServerError("a request without its context")))
    }
}

impl CallContext {
    /// Creates the context of a request and attaches it to the request.
    pub(crate) fn begin(request: &mut ServiceRequest, listener: Data<ListenerState>) -> Self {
        let clock = &*listener.app.service.clock;
        let context = Self(Rc::new(Fields {
            started: Instant::now(),
            request_id: header::request_id(request.headers(), clock),
            signals: request.request().conn_data::<Rc<ConnectionSignals>>().cloned(),
            is_body_read: Cell::new(false),
            answered: RefCell::default(),
            listener,
        }));
        if matches!(request.parts_mut().1, Payload::None) {
            context.end_body();
        }
        request.extensions_mut().insert(context.clone());
        context
    }

    pub(crate) fn app(&self) -> &AppState {
        &self.0.listener.app
    }

    pub(crate) fn started(&self) -> Instant {
        self.0.started
    }

    pub(crate) fn request_id(&self) -> &RequestId {
        &self.0.request_id
    }

    /// Returns the signals of the request's connection; `None` in tests without a connection.
    pub(crate) fn signals(&self) -> Option<&Rc<ConnectionSignals>> {
        self.0.signals.as_ref()
    }

    /// Whether the request's connection has a connection slot: a place within the connection limit.
    /// Returns `true` in tests without a connection.
    pub(crate) fn has_slot(&self) -> bool {
        self.signals().is_none_or(|signals| signals.admission.has_slot())
    }

    /// Records that the body of the request was read. No further input of the connection is read
    /// until the request is answered.
    pub(crate) fn end_body(&self) {
        self.0.is_body_read.set(true);
        if let Some(signals) = self.signals() {
            signals.input.close();
        }
    }

    pub(crate) fn is_body_read(&self) -> bool {
        self.0.is_body_read.get()
    }

    /// Stores the data of the response for the log and the metrics.
    pub(crate) fn answer(&self, label: &'static str, status: u16, record: Option<CallRecord>) {
        self.0.answered.replace(Some(Answered { label, status, record }));
    }

    pub(crate) fn take_answered(&self) -> Option<Answered> {
        self.0.answered.take()
    }
}
