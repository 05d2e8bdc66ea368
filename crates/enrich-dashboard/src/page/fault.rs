//! The page that says why another is not shown.

use askama::Template;

use crate::fault::Fault;
use crate::http::Response;
use crate::visit::Frame;

#[derive(Template)]
#[template(path = "fault.html")]
struct Page {
    frame: Frame,
    title: &'static str,
    said: String,
}

/// The fault as a page; what failed on our side goes with it, to be logged.
pub(crate) fn response(fault: Fault) -> Response {
    let (status, said) = (fault.status(), fault.to_string());
    let frame = Frame { owner: None, here: "" };
    let page = Page { frame, title: fault.title(), said };
    // The words alone, where even the template fails.
    let html = page.render().unwrap_or_else(|_| fault.title().to_owned());
    let mut response = Response::html(status, html);
    if let Fault::Failed(source) = fault {
        response.error = Some(source);
    }
    response
}
