//! Guards of routes.

use actix_web::guard::{Guard, fn_guard};

/// Holds for paths without an escaped character. Routes are compared with the decoded path, and no
/// path of ours has to be escaped: `/v1/%63uf` is not `/v1/cuf`.
pub(crate) fn is_not_escaped() -> impl Guard {
    fn_guard(|context| !context.head().uri.path().contains('%'))
}
