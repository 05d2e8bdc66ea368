//! The page that shows a [`Fault`] to the user.

use askama::Template;

use crate::fault::Fault;
use crate::http::Response;
use crate::page_context::Frame;

#[derive(Template)]
#[template(path = "fault.html")]
struct FaultPage<'a> {
    frame: Frame,
    title: &'static str,
    said: String,
    /// The request id that the user reports to the operator. It is shown only if the server failed,
    /// and is otherwise `None`.
    request_id: Option<&'a str>,
}

/// Renders the error page. If the server failed, attaches the cause to the response, so that the
/// cause is logged.
pub(crate) fn response(fault: Fault, request_id: Option<&str>) -> Response {
    let ((status, title), said) = (fault.status_and_title(), fault.to_string());
    let frame = Frame { owner: None, here: "" };
    let request_id =
        request_id.filter(|_| matches!(fault, Fault::Failed(_) | Fault::Unavailable(_)));
    let page = FaultPage { frame, title, said, request_id };
    // If the template itself fails, the page contains only the title.
    let html = page.render().unwrap_or_else(|_| title.to_owned());
    let mut response = Response::html(status, html);
    if let Fault::Failed(source) | Fault::Unavailable(source) = fault {
        response.error = Some(source);
    }
    response
}

#[cfg(test)]
mod tests {
    use enrich_core::port::error::StoreError;

    use super::*;
    use crate::http::ResponseBody;

    fn fault_page(fault: Fault) -> String {
        match response(fault, Some("order-77")).body {
            ResponseBody::Whole(bytes) => String::from_utf8(bytes.into_owned()).unwrap(),
            _ => panic!("a page comes whole"),
        }
    }

    #[test]
    fn a_page_that_failed_on_our_side_names_its_request() {
        assert!(fault_page(Fault::failed("disk I/O error")).contains("<code>order-77</code>"));
        assert!(!fault_page(Fault::NoSuchPage).contains("order-77"));
    }

    #[test]
    fn a_store_that_cannot_be_used_is_named_in_the_log_only() {
        let fault = Fault::from(StoreError::unavailable("the login was refused"));
        let response = response(fault, Some("order-77"));
        assert_eq!(response.status, 503);
        assert_eq!(
            response.error.map(|error| error.to_string()).as_deref(),
            Some("the login was refused")
        );
        let page = fault_page(Fault::from(StoreError::unavailable("the login was refused")));
        assert!(page.contains("<code>order-77</code>") && !page.contains("login"), "{page}");
    }
}
