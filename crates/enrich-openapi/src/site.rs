//! The files that are served for browsers: the document, and Swagger UI to read and try it.

use crate::DOCUMENT;

/// A file as it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Where.
    pub path: &'static str,
    /// As what.
    pub content_type: &'static str,
    /// Its bytes.
    pub content: &'static [u8],
    /// For how many seconds a browser may keep it: not at all what may differ from one version of
    /// the service to the next.
    pub kept_seconds: u32,
}

/// An hour: the files of Swagger UI are large, and an older one shows the document as well.
const HOUR: u32 = 60 * 60;

/// All of them. What is needed to show the page is among them, and nothing in it is inline.
pub static SITE: [SiteFile; 7] = [
    SiteFile {
        path: "/openapi.json",
        content_type: "application/json",
        content: DOCUMENT.as_bytes(),
        kept_seconds: 0,
    },
    SiteFile {
        path: "/docs",
        content_type: "text/html; charset=utf-8",
        content: include_bytes!("site/docs.html"),
        kept_seconds: 0,
    },
    SiteFile {
        path: "/docs/begin.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_bytes!("site/begin.js"),
        kept_seconds: 0,
    },
    SiteFile {
        path: "/docs/theme.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_bytes!("site/theme.js"),
        kept_seconds: 0,
    },
    SiteFile {
        path: "/docs/page.css",
        content_type: "text/css; charset=utf-8",
        content: include_bytes!("site/page.css"),
        kept_seconds: 0,
    },
    SiteFile {
        path: "/docs/swagger-ui-bundle.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js")),
        kept_seconds: HOUR,
    },
    SiteFile {
        path: "/docs/swagger-ui.css",
        content_type: "text/css; charset=utf-8",
        content: include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css")),
        kept_seconds: HOUR,
    },
];
