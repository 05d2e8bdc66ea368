//! Guards of routes.

use actix_web::guard::{Guard, fn_guard};
use actix_web::http::Method;

/// Accepts only paths without percent-encoding. The router compares decoded paths, but `/v1/%63uf`
/// must not match `/v1/cuf`. No path of the server needs encoding.
pub(crate) fn is_not_escaped() -> impl Guard {
    fn_guard(|context| !context.head().uri.path().contains('%'))
}

/// Accepts only `POST`. actix-web's own guard also lists its method in every request, for a default
/// answer that no endpoint has; that takes two allocations.
pub(crate) fn is_post() -> impl Guard {
    fn_guard(|context| context.head().method == Method::POST)
}
