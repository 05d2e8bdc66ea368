//! The OpenAPI document (`/openapi.json`) and the page that shows it (`/docs`).

use actix_web::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue};
use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use enrich_openapi::{SITE, SiteFile};

use crate::context::CallContext;
use crate::encoding::{self, Encoding};
use crate::guard::is_not_escaped;
use crate::response::unmetered;
use crate::unrouted::{options, wrong_method};

/// The content security policy of `/docs`. The page may load scripts, styles and images only from
/// its own host; its style sheet may also contain images (`data:`). It may send requests only to
/// its own host.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Adds a route for each file of [`SITE`]: the OpenAPI document, the page `/docs`, and the scripts
/// and style sheets of this page. The page also has the path `/docs/`.
pub(crate) fn configure(config: &mut ServiceConfig) {
    for file in &SITE {
        add(config, file, file.path);
        if file.path == "/docs" {
            add(config, file, "/docs/");
        }
    }
}

fn add(config: &mut ServiceConfig, file: &'static SiteFile, path: &'static str) {
    let resource = web::resource(path)
        .guard(is_not_escaped())
        .route(web::get().to(move |request, context| answer(file, request, context)))
        .default_service(web::to(move |request, context| other_method(file, request, context)));
    config.service(resource);
}

async fn answer(
    file: &'static SiteFile,
    request: HttpRequest,
    context: CallContext,
) -> HttpResponse {
    let cache_control = match file.kept_seconds {
        0 => "no-store".into(),
        seconds => format!("max-age={seconds}").into(),
    };
    let headers = vec![
        ("content-type", file.content_type.into()),
        ("cache-control", cache_control),
        ("content-security-policy", POLICY.into()),
        ("referrer-policy", "no-referrer".into()),
        ("x-content-type-options", "nosniff".into()),
    ];
    let encoding = encoding::accepted(request.headers());
    let content = match encoding {
        Encoding::Identity => file.content,
        Encoding::Gzip => file.gzip,
        Encoding::Brotli => file.brotli,
    };
    let mut sent = unmetered(&context, file.path, 200, headers, Bytes::from_static(content));
    encoding::set_encoding_headers(&mut sent, encoding);
    let anybody = HeaderValue::from_static("*");
    sent.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, anybody);
    sent
}

async fn other_method(
    file: &'static SiteFile,
    request: HttpRequest,
    context: CallContext,
) -> HttpResponse {
    options(&request, &context, file.path, "GET, OPTIONS", true)
        .unwrap_or_else(|| wrong_method(&request, &context, file.path, "GET"))
}
