//! Answers a request: finds its route, checks that a POST comes from a page of this server, checks
//! the session, and calls the handler.

use futures_util::StreamExt;

use crate::assets;
use crate::dashboard::Dashboard;
use crate::fault::Fault;
use crate::form::Form;
use crate::http::{Body, Method, Request, Response};
use crate::origin;
use crate::page_context::{OwnerContext, PageContext};
use crate::pages::fault;
use crate::returning;
use crate::routes::{self, Handler};

const MAX_FORM_BYTES: usize = 64 * 1024;

/// The content security policy. Pages may load files only from this server, may contact only this
/// server, and run no inline code.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

impl Dashboard {
    /// Answers a request for a path that begins with `/account`.
    pub async fn answer(&self, mut request: Request) -> Response {
        let body =
            std::mem::replace(&mut request.body, futures_util::stream::empty().boxed_local());
        let response = match self.run(&request, body).await {
            Ok(response) => response,
            Err(fault) => fault::response(fault, request.request_id.as_deref()),
        };
        protected(response)
    }

    async fn run(&self, request: &Request, body: Body) -> Result<Response, Fault> {
        if !self.is_own_host(request) && !request.path.starts_with(assets::ROOT) {
            return Err(Fault::ForeignHost);
        }
        let (route, path_parameters) = routes::find(request.method, &request.path)?;
        if route.method == Method::Post
            && !origin::is_ours(request, self.settings.public_url.as_deref())
        {
            return Err(Fault::NotOurs);
        }
        let now = self.service.clock.now();
        let query = Form::read(request.query.as_bytes());
        let mut context = PageContext {
            dashboard: self,
            request,
            path_parameters,
            query,
            form: Form::default(),
            now,
            is_account_page: routes::is_account_page,
        };
        match route.handler {
            Handler::Open(answer) => {
                context.form = form(route.method, body).await?;
                answer(&context).await
            }
            Handler::Owner(answer) => {
                // The session is checked first, so that the server does not read a body from
                // somebody who is not signed in.
                let Some(session) = self.session(request, now).await? else {
                    return Ok(to_sign_in(request));
                };
                context.form = form(route.method, body).await?;
                answer(&OwnerContext { page: &context, session }).await
            }
            Handler::Upload(answer) => {
                let Some(session) = self.session(request, now).await? else {
                    return Ok(to_sign_in(request));
                };
                if let Some(lift_time_limit) = &request.lift_time_limit {
                    lift_time_limit();
                }
                answer(&OwnerContext { page: &context, session }, body).await
            }
        }
    }
}

/// Reads the form fields of a POST request. Any other request has an empty form.
async fn form(method: Method, mut body: Body) -> Result<Form, Fault> {
    if method != Method::Post {
        return Ok(Form::default());
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|_| Fault::Broken)?;
        if bytes.len() + chunk.len() > MAX_FORM_BYTES {
            return Err(Fault::TooLarge { limit_bytes: MAX_FORM_BYTES });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Form::read(&bytes))
}

/// Redirects to the sign-in page. A script that refreshes a part of a page cannot use a redirect:
/// the script would look for this part in the sign-in page. So a script gets a header that makes
/// the browser load the whole sign-in page.
fn to_sign_in(request: &Request) -> Response {
    let path = returning::to_sign_in(request, routes::is_account_page);
    if request.is_from_script {
        return Response::html(401, String::new()).with("hx-redirect", path);
    }
    Response::see_other(path)
}

/// Adds the security headers that every response needs. If the response has no header
/// `Cache-Control`, also forbids caching.
fn protected(mut response: Response) -> Response {
    let has_cache_control = response.headers.iter().any(|(name, _)| *name == "cache-control");
    if !has_cache_control {
        response = response.with("cache-control", "no-store");
    }
    response
        .with("content-security-policy", POLICY)
        .with("x-content-type-options", "nosniff")
        .with("referrer-policy", "no-referrer")
        .with("cross-origin-opener-policy", "same-origin")
        .with("cross-origin-resource-policy", "same-origin")
}
