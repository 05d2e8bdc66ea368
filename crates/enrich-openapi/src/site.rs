//! The files for browsers: the OpenAPI document, and Swagger UI, which shows it and makes calls.

/// A file that the server serves to browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// The URL path at which the server serves the file.
    pub path: &'static str,
    /// The value of the header `Content-Type`.
    pub content_type: &'static str,
    /// The file's bytes, not compressed.
    pub content: &'static [u8],
    /// The file's bytes, compressed with gzip.
    pub gzip: &'static [u8],
    /// The file's bytes, compressed with Brotli.
    pub brotli: &'static [u8],
    /// The time for which a browser may cache the file, in seconds. It is 0 for a file that can
    /// change with each version of this program.
    pub kept_seconds: u32,
}

/// The time for which browsers may cache the files of Swagger UI, in seconds. These files are
/// large, so caching them saves time. Old cached files also work with a newer OpenAPI document.
const HOUR: u32 = 60 * 60;

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Creates the [`SiteFile`] of a file that the build script has compressed.
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

/// All files that a browser needs for the documentation page `/docs`. Scripts and styles are in
/// files of their own, because the page's Content-Security-Policy forbids them in the HTML.
pub static SITE: [SiteFile; 7] = [
    file!("/openapi.json", "openapi.json", JSON, 0),
    file!("/docs", "docs.html", HTML, 0),
    file!("/docs/begin.js", "begin.js", SCRIPT, 0),
    file!("/docs/theme.js", "theme.js", SCRIPT, 0),
    file!("/docs/page.css", "page.css", STYLE, 0),
    file!("/docs/swagger-ui-bundle.js", "swagger-ui-bundle.js", SCRIPT, HOUR),
    file!("/docs/swagger-ui.css", "swagger-ui.css", STYLE, HOUR),
];
