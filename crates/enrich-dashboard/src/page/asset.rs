//! The style sheets and scripts.

use crate::assets;
use crate::fault::Fault;
use crate::http::Response;
use crate::visit::Visit;

pub(crate) async fn show(visit: &Visit<'_>) -> Result<Response, Fault> {
    match visit.blanks.as_slice() {
        [hash, name] => assets::file(hash, name).ok_or(Fault::NoSuchPage),
        _ => Err(Fault::NoSuchPage),
    }
}
