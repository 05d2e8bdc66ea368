//! The interface's document and the page that shows it, as they are served.

use enrich_core::{Credits, RequestId};
use enrich_openapi::{SITE, SiteFile};
use enrich_wire::Response;

use super::encoding::Encoding;

/// What the page may load: its own files, and the pictures inside its style sheet. It sends
/// requests to the host it came from and to no other.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The file at `path`. The page is typed with a slash behind it too; what it loads is named from the
/// root, so it is whole there.
pub(super) fn at(path: &str) -> Option<&'static SiteFile> {
    let path = if path == "/docs/" { "/docs" } else { path };
    SITE.iter().find(|file| file.path == path)
}

/// The file's content in an encoding.
pub(super) fn content(file: &'static SiteFile, encoding: Encoding) -> &'static [u8] {
    match encoding {
        Encoding::Identity => file.content,
        Encoding::Gzip => file.gzip,
        Encoding::Brotli => file.brotli,
    }
}

/// The file's answer but for its body, which is the file's content as it is.
pub(super) fn answer(file: &'static SiteFile, request_id: &RequestId) -> Response {
    let cache_control = match file.kept_seconds {
        0 => "no-store".into(),
        seconds => format!("max-age={seconds}").into(),
    };
    Response {
        status: 200,
        headers: vec![
            ("content-type", file.content_type.into()),
            ("cache-control", cache_control),
            ("content-security-policy", POLICY.into()),
            ("referrer-policy", "no-referrer".into()),
            ("x-content-type-options", "nosniff".into()),
            ("x-request-id", request_id.to_string().into()),
        ],
        body: Vec::new(),
        used: Credits::ZERO,
        is_found: None,
        key: None,
        rate_limit_status: None,
        refusal: None,
    }
}
