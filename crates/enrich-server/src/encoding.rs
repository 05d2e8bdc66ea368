//! Compression: chooses the encoding, and decides which responses are compressed.
//!
//! Static files are compressed when the program is built, and some pages when they are sent.
//! Everything else, such as downloads and the answers of endpoints, is never compressed.
//!
//! The reason is the BREACH attack: if a response contains a secret, and also text that an
//! attacker chooses, the attacker can find out the secret from the lengths of the compressed
//! responses. So a page is compressed only if the request cannot influence its text: the method
//! is GET or HEAD, and the URL has no query. Answers to forms, such as the page that shows a new
//! key, and the answers of endpoints contain inputs of the request. So they are never compressed.

use std::io::{self, Write};

use actix_web::http::header::{
    self, ACCEPT_ENCODING, AcceptEncoding, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue,
    VARY,
};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::header::text;

/// A page is compressed only if it has at least this number of bytes. A shorter page would not
/// become smaller.
const MIN_BYTES: usize = 1024;
/// The quality of Brotli for pages, from 0 (fastest) to 11 (smallest result). With this quality, a
/// worker compresses a page in about one millisecond.
const BROTLI_QUALITY: i32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Brotli,
}

impl Encoding {
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Brotli => Some("br"),
        }
    }
}

/// Returns the encoding that the client prefers, of those that the server has (RFC 9110, section
/// 12.5.3). Prefers Brotli if the client accepts Brotli and gzip equally. Without the header
/// `Accept-Encoding`, returns [`Encoding::Identity`].
pub(crate) fn accepted(headers: &HeaderMap) -> Encoding {
    let Some(accepted) = text(headers, ACCEPT_ENCODING) else { return Encoding::Identity };
    let items = accepted.split(',').filter_map(|item| item.trim().parse().ok());
    let available = [header::Encoding::brotli(), header::Encoding::gzip()];
    let chosen = AcceptEncoding(items.collect()).negotiate(available.iter());
    match chosen {
        Some(chosen) if chosen == available[0] => Encoding::Brotli,
        Some(chosen) if chosen == available[1] => Encoding::Gzip,
        _ => Encoding::Identity,
    }
}

pub(crate) fn set_encoding_headers(response: &mut HttpResponse, encoding: Encoding) {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(name) = encoding.name() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
    }
}

/// Whether the request cannot influence the text of the page that answers it. Only such a page may
/// be compressed, because of the BREACH attack (see the top of this file).
pub(crate) fn is_fixed(request: &HttpRequest) -> bool {
    let has_query = request.uri().query().is_some_and(|query| !query.is_empty());
    matches!(*request.method(), Method::GET | Method::HEAD) && !has_query
}

/// Whether a response is an HTML page that is long enough to be compressed.
pub(crate) fn is_page(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    status == StatusCode::OK && kind.starts_with(b"text/html") && body.len() >= MIN_BYTES
}

/// Compresses a page with `encoding`; for [`Encoding::Identity`], returns the page unchanged.
pub(crate) fn compressed(body: &[u8], encoding: Encoding) -> io::Result<Bytes> {
    Ok(match encoding {
        Encoding::Identity => Bytes::copy_from_slice(body),
        Encoding::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(body)?;
            encoder.finish()?.into()
        }
        Encoding::Brotli => {
            let parameters =
                BrotliEncoderParams { quality: BROTLI_QUALITY, ..BrotliEncoderParams::default() };
            let mut compressed = Vec::new();
            brotli::BrotliCompress(&mut &body[..], &mut compressed, &parameters)?;
            compressed.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &'static str) -> Encoding {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT_ENCODING, HeaderValue::from_static(value));
        accepted(&headers)
    }

    #[test]
    fn a_client_gets_what_it_takes_and_wants_most() {
        let known = [
            ("", Encoding::Identity),
            ("identity", Encoding::Identity),
            ("deflate, zstd", Encoding::Identity),
            ("gzip", Encoding::Gzip),
            ("GZIP;q=0.5", Encoding::Gzip),
            ("gzip, deflate, br, zstd", Encoding::Brotli),
            ("br;q=0.5, gzip;q=0.9", Encoding::Gzip),
            ("br;q=0, gzip", Encoding::Gzip),
            ("br;q=0, gzip; q=0.0", Encoding::Identity),
            ("br;q=much", Encoding::Identity),
        ];
        for (value, encoding) in known {
            assert_eq!(of(value), encoding, "{value:?}");
        }
        assert_eq!(accepted(&HeaderMap::new()), Encoding::Identity);
    }
}
