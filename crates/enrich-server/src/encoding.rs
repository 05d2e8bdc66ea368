//! Compressed answers: which encoding a browser takes, and who gets one.
//!
//! Files are compressed when the program is built. Pages are compressed as they are sent, but not all:
//! the length of a compressed page that holds a secret beside text of somebody else's choice tells the
//! secret to who can choose that text and watch the connection (the BREACH attack). So a page is
//! compressed where the request cannot choose any of it: it was got, and its address holds no query.
//! What answers a form, as the page that reveals a key does, is sent as it is; so are the answers of
//! endpoints, which repeat what was asked beside the balance, and downloads.

use std::io::{self, Write};

use actix_web::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY,
};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::header::text;

/// What is shorter gains nothing, in bytes.
const LEAST_BYTES: usize = 1024;
/// What a page may take of a worker's time: about a millisecond.
const BROTLI_QUALITY: i32 = 4;

/// How a body is sent.
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

/// The encoding that a client wants most of those there are (RFC 9110, section 12.5.3); Brotli where
/// it has no preference.
pub(crate) fn accepted(headers: &HeaderMap) -> Encoding {
    let Some(accepted) = text(headers, ACCEPT_ENCODING) else { return Encoding::Identity };
    let weight = |encoding: Encoding| {
        let mut given = accepted.split(',').filter_map(|item| {
            let (name, parameters) = item.split_once(';').unwrap_or((item, ""));
            let is_meant = encoding.name().is_some_and(|it| it.eq_ignore_ascii_case(name.trim()));
            is_meant.then(|| quality(parameters))
        });
        given.next().unwrap_or(0.0)
    };
    let (gzip, brotli) = (weight(Encoding::Gzip), weight(Encoding::Brotli));
    if brotli > 0.0 && brotli >= gzip {
        Encoding::Brotli
    } else if gzip > 0.0 {
        Encoding::Gzip
    } else {
        Encoding::Identity
    }
}

/// The weight among the parameters of an encoding; 1 where there is none, 0 where it is unreadable.
fn quality(parameters: &str) -> f32 {
    let mut weights = parameters.split(';').filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse().unwrap_or(0.0))
    });
    weights.next().unwrap_or(1.0)
}

/// Says how a body is encoded, and that others may get it in another way.
pub(crate) fn set_encoding_headers(response: &mut HttpResponse, encoding: Encoding) {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(name) = encoding.name() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
    }
}

/// Whether a page may be compressed that answers this request.
pub(crate) fn is_fixed(request: &HttpRequest) -> bool {
    let has_query = request.uri().query().is_some_and(|query| !query.is_empty());
    matches!(*request.method(), Method::GET | Method::HEAD) && !has_query
}

/// Whether a response is a page that is worth it.
pub(crate) fn is_page(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    status == StatusCode::OK && kind.starts_with(b"text/html") && body.len() >= LEAST_BYTES
}

/// A page, compressed.
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
