//! The files that are served for browsers: the document, and Swagger UI to read and try it.

/// A file as it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Where.
    pub path: &'static str,
    /// As what.
    pub content_type: &'static str,
    /// Its bytes.
    pub content: &'static [u8],
    /// The same, compressed with gzip.
    pub gzip: &'static [u8],
    /// The same, compressed with Brotli.
    pub brotli: &'static [u8],
    /// For how many seconds a browser may keep it: not at all what may differ from one version of
    /// the service to the next.
    pub kept_seconds: u32,
}

/// An hour: the files of Swagger UI are large, and an older one shows the document as well.
const HOUR: u32 = 60 * 60;

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// A file as the build script has prepared it.
macro_rules! file {
    ($path:literal, $name:literal, $content_type:expr, $kept_seconds:expr) => {
        SiteFile {
            path: $path,
            content_type: $content_type,
            content: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)),
            gzip: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".gz")),
            brotli: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".br")),
            kept_seconds: $kept_seconds,
        }
    };
}

/// All of them. What is needed to show the page is among them, and nothing in it is inline.
pub static SITE: [SiteFile; 7] = [
    file!("/openapi.json", "openapi.json", JSON, 0),
    file!("/docs", "docs.html", HTML, 0),
    file!("/docs/begin.js", "begin.js", SCRIPT, 0),
    file!("/docs/theme.js", "theme.js", SCRIPT, 0),
    file!("/docs/page.css", "page.css", STYLE, 0),
    file!("/docs/swagger-ui-bundle.js", "swagger-ui-bundle.js", SCRIPT, HOUR),
    file!("/docs/swagger-ui.css", "swagger-ui.css", STYLE, HOUR),
];
