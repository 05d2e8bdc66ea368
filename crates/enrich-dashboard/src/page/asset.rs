//! Serves style sheets and scripts.

use crate::assets;
use crate::fault::Fault;
use crate::http::Response;
use crate::page_context::PageContext;

pub(crate) async fn show(context: &PageContext<'_>) -> Result<Response, Fault> {
    match context.path_parameters.as_slice() {
        [hash, name] => assets::file(hash, name).ok_or(Fault::NoSuchPage),
        _ => Err(Fault::NoSuchPage),
    }
}
