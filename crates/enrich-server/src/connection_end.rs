//! The outer part of the middleware. It creates the request's context. It closes the connection
//! after a request that was not read completely, so that the remaining bytes are never parsed as
//! the next request.

use actix_web::Error;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::ConnectionType;
use actix_web::middleware::Next;
use actix_web::web::Data;

use crate::context::CallContext;
use crate::detach::DetachOnDrop;
use crate::record::record;
use crate::state::ListenerState;

/// Runs the request's handler, and adds `Connection: close` to the response when the connection
/// must end. A call continues to its end even if the client disconnects.
pub(crate) async fn end_connection(
    listener: Data<ListenerState>,
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let context = CallContext::begin(&mut request, listener);
    if context.signals().is_some_and(|signals| signals.last_answer.is_given()) {
        // This request arrived after the connection's last answer, so the client expects no
        // response. The connection and this future are about to be dropped.
        return std::future::pending().await;
    }
    let mut response = DetachOnDrop::new(Box::pin(record(context.clone(), request, next))).await?;
    let closes = !context.is_body_read() || !context.has_slot() || context.app().is_closing();
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
