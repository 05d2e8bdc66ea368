//! Guards of routes.

use actix_web::guard::{Guard, fn_guard};

/// Accepts only paths without percent-encoding. The router compares decoded paths, and none of our
/// paths needs encoding: `/v1/%63uf` must not match `/v1/cuf`.
pub(crate) fn is_not_escaped() -> impl Guard {
    fn_guard(|context| !context.head().uri.path().contains('%'))
}
