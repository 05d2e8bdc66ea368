//! Tests of the OpenAPI document and of the page that shows it. Also tests whether the answers of
//! the admin pages agree with the document.

use std::io::Read;
use std::sync::atomic::Ordering;

use brotli::Decompressor;
use enrich_openapi::{DOCUMENT, SITE};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::Site;
use crate::Serves;
use crate::admin::AdminPage;

#[test]
fn the_document_and_its_page_are_served_beside_the_endpoints() {
    let site = Site::serving(Serves::Interface);
    let mut client = site.client();
    for file in &SITE {
        let answer = client.request("GET", file.path, "", "");
        assert_eq!((answer.status, answer.body.as_bytes()), (200, file.content), "{}", file.path);
        assert_eq!(answer.header("Content-Type"), Some(file.content_type), "{}", file.path);
        let policy = answer.header("Content-Security-Policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"));
        assert_eq!(client.request("POST", file.path, "", "").header("Allow"), Some("GET"));
    }
    let pages = Site::serving(Serves::Admin);
    assert_eq!(pages.client().request("GET", "/docs", "", "").status, 404);
}

#[test]
fn the_page_needs_nothing_that_is_not_served_here() {
    for path in ["/docs", "/docs/begin.js"] {
        let file = SITE.iter().find(|file| file.path == path).unwrap();
        let text = std::str::from_utf8(file.content).unwrap();
        let quoted: Vec<&str> =
            text.split(['"', '\'']).filter(|part| part.starts_with('/')).collect();
        assert!(!quoted.is_empty(), "{path}");
        // Paths below `/account/` are left out: the page links to them, but loads nothing from
        // them.
        let is_loaded = |part: &&str| !part.starts_with("//") && !part.starts_with("/account/");
        for quoted in quoted.into_iter().filter(is_loaded) {
            assert!(SITE.iter().any(|file| file.path == quoted), "{path}: {quoted}");
        }
        assert!(!text.contains("://"), "{} names another host", file.path);
    }
}

fn decoded(encoding: Option<&str>, bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::new();
    match encoding {
        None => decoded.extend_from_slice(bytes),
        Some("gzip") => drop(GzDecoder::new(bytes).read_to_end(&mut decoded).unwrap()),
        Some("br") => drop(Decompressor::new(bytes, 4096).read_to_end(&mut decoded).unwrap()),
        Some(other) => panic!("nobody asked for {other}"),
    }
    decoded
}

#[test]
fn files_are_sent_compressed_to_who_takes_them_so() {
    let site = Site::open();
    let mut client = site.client();
    let known = [("br, gzip", Some("br")), ("gzip", Some("gzip")), ("identity", None)];
    for file in &SITE {
        for (accepted, encoding) in known {
            let header = format!("Accept-Encoding: {accepted}\r\n");
            let answer = client.request("GET", file.path, &header, "");
            assert_eq!(answer.header("Content-Encoding"), encoding, "{}", file.path);
            assert_eq!(answer.header("Vary"), Some("accept-encoding"), "{}", file.path);
            assert_eq!(decoded(encoding, &answer.bytes), file.content, "{} {accepted}", file.path);
        }
        let is_large = file.content.len() > 10_000;
        assert!(!is_large || file.gzip.len() * 2 < file.content.len(), "{}", file.path);
        assert!(!is_large || file.brotli.len() < file.gzip.len(), "{}", file.path);
    }
    let asked = client.request("POST", "/v1/cuf", "Accept-Encoding: gzip, br\r\n", &site.known());
    assert_eq!((asked.status, asked.header("Content-Encoding")), (200, None), "{asked:?}");
}

#[test]
fn the_page_is_dark_where_the_system_is_and_leads_back_to_the_account() {
    let content = |path: &str| {
        let file = SITE.iter().find(|file| file.path == path).unwrap();
        std::str::from_utf8(file.content).unwrap()
    };
    assert!(content("/docs").contains(r#"href="/account/""#));
    assert!(content("/docs/theme.js").contains("prefers-color-scheme: dark"));
    // Swagger UI defines the name of this CSS class.
    let class = "dark-mode";
    for path in ["/docs/theme.js", "/docs/page.css", "/docs/swagger-ui.css"] {
        assert!(content(path).contains(class), "{path}");
    }
}

/// Returns the JSON schema that the OpenAPI document specifies for an answer of the admin page at
/// `path`, if the answer has this status and content type.
fn shape(document: &Value, path: &str, status: u16, content_type: &str) -> Value {
    let response = &document["paths"][path]["get"]["responses"][status.to_string()];
    let kind = content_type.split(';').next().unwrap_or_default();
    let shape = &response["content"][kind]["schema"];
    assert!(shape.is_object(), "{path} may not answer {status} with {kind}");
    shape.clone()
}

#[test]
fn the_pages_answer_as_the_document_says() {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let site = Site::open();
    let mut client = site.client();
    for has_stopped in [false, true] {
        site.ports.has_stopped_charging.store(has_stopped, Ordering::SeqCst);
        for page in AdminPage::ALL {
            let answer = client.request("GET", page.path(), "", "");
            let content_type = answer.header("Content-Type").unwrap_or_default();
            let shape = shape(&document, page.path(), answer.status, content_type);
            let body = match content_type {
                "application/json" => answer.json(),
                _ => json!(answer.body),
            };
            let checked = jsonschema::validate(&shape, &body);
            assert!(checked.is_ok(), "{}: {}", page.path(), checked.unwrap_err());
        }
    }
}
