//! The outer part of the server's middleware. It creates the context of each request. If a request
//! was not read to its end, it closes the connection. Otherwise the rest of this request could be
//! parsed as the next request.

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

/// Runs the handler of a request. If the connection must end after the response, adds the header
/// `Connection: close` to the response. A call runs to its end even if the client disconnects.
pub(crate) async fn end_connection(
    listener: Data<ListenerState>,
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let context = CallContext::begin(&mut request, listener);
    if context.signals().is_some_and(|signals| signals.last_answer.is_given()) {
        // An earlier response on this connection had the header `Connection: close`. So the client
        // expects no response to this request. This future never completes. It is dropped when the
        // connection closes, which is soon.
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
