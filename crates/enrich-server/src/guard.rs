//! Guards of routes.

use actix_web::guard::{Guard, fn_guard};
use actix_web::http::Method;

/// Accepts only paths without percent-encoding. The router compares decoded paths, but `/v1/%63uf`
/// must not match `/v1/cuf`. No path of the server needs encoding.
pub(crate) fn is_not_escaped() -> impl Guard {
    fn_guard(|context| !context.head().uri.path().contains('%'))
}

/// Accepts only `POST`. actix-web's own guard takes two more allocations for each request: it lists
/// the accepted methods for a default answer, which no endpoint uses.
pub(crate) fn is_post() -> impl Guard {
    fn_guard(|context| context.head().method == Method::POST)
}
