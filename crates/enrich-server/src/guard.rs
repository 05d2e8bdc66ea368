//! Guards of routes.

use actix_web::guard::{Guard, fn_guard};

/// Accepts only paths without percent-encoding. The router compares decoded paths, but `/v1/%63uf`
/// must not match `/v1/cuf`. No path of the server needs encoding.
pub(crate) fn is_not_escaped() -> impl Guard {
    fn_guard(|context| !context.head().uri.path().contains('%'))
}
