//! Guards of routes: conditions for the requests that a route accepts.

use actix_web::guard::{Guard, fn_guard};
use actix_web::http::Method;

/// Returns a guard that refuses paths with percent-encoding. The router compares decoded paths, but
/// `/v1/%63uf` must not match `/v1/cuf`. No path of the server needs percent-encoding.
pub(crate) fn is_not_escaped() -> impl Guard {
    fn_guard(|context| !context.head().uri.path().contains('%'))
}

/// Returns a guard that accepts only `POST`. The guard of actix-web would make two more allocations
/// for each request. It collects the accepted methods, for actix-web's default answer to other
/// methods. No endpoint uses that answer.
pub(crate) fn is_post() -> impl Guard {
    fn_guard(|context| context.head().method == Method::POST)
}
