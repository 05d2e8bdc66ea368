//! The outer middleware: it begins a request's context, and ends a connection after a request that
//! was not read to its end, so that what is left of it can never be taken for the next request.

use actix_web::Error;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::ConnectionType;
use actix_web::middleware::Next;

use crate::connection::ConnectionSignals;
use crate::context::CallContext;
use crate::detach::DetachOnDrop;
use crate::state::AppState;

/// Answers with `Connection: close` where the connection has to end. A request that was begun goes on
/// to its end when its client hangs up.
pub(crate) async fn end_connection(
    app: &AppState,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let context = CallContext::begin(&request, &*app.service.clock);
    if context.signals().is_some_and(|signals| signals.last_answer.is_given()) {
        // This came behind the connection's last answer: its sender waits for none. The
        // connection is about to end, and this future with it.
        return std::future::pending().await;
    }
    let mut response = DetachOnDrop::new(next.call(request)).await?;
    let closes = !context.is_body_read() || !has_slot(&context) || app.is_closing();
    if closes {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    if let Some(signals) = context.signals() {
        signals.input.open();
        if closes {
            signals.last_answer.give();
        }
    }
    Ok(response)
}

/// Whether the request's connection is within the limit of connections.
pub(crate) fn has_slot(context: &CallContext) -> bool {
    let has_slot = |signals: &ConnectionSignals| signals.admission.has_place();
    context.signals().is_none_or(|signals| has_slot(signals))
}
