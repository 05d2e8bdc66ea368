//! HTTP requests and responses as plain values, independent of the HTTP server.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;

use bytes::Bytes;
use enrich_wire::CallRecord;
use futures_util::stream::{self, LocalBoxStream, StreamExt};

/// The methods that the pages accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A request that reads a page or a file.
    Get,
    /// A request that changes something.
    Post,
}

/// Why a body ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    /// The connection broke, or the HTTP encoding of the body is invalid.
    #[error("what was sent did not arrive whole")]
    Broken,
    /// The body did not arrive within the time limit, or arrived too slowly.
    #[error("what was sent did not arrive in time")]
    TooSlow,
}

/// The bytes of a request body, as they arrive.
pub type Body = LocalBoxStream<'static, Result<Bytes, BodyFault>>;

/// The parts of an HTTP request that the pages read. `Debug` omits cookies, paths and queries,
/// because they may contain secrets.
pub struct Request {
    /// The method of the request.
    pub method: Method,
    /// The path of the request, as it was sent.
    pub path: String,
    /// The query, without `?`; empty if there is none.
    pub query: String,
    /// The address from which the connection comes: the client, or a proxy in front of the server.
    pub peer: IpAddr,
    /// The value of the header `Host`.
    pub host: Option<String>,
    /// The value of the header `Origin`.
    pub origin: Option<String>,
    /// The value of the header `Sec-Fetch-Site`.
    pub fetch_site: Option<String>,
    /// The value of the header `X-Forwarded-For`.
    pub forwarded_for: Option<String>,
    /// The value of the header `Cookie`.
    pub cookies: Option<String>,
    /// The value of the header `Content-Type`.
    pub content_type: Option<String>,
    /// Whether a script of our pages sent the request. Scripts send the header `HX-Request`.
    pub is_from_script: bool,
    /// The request's id in the log.
    pub request_id: Option<String>,
    /// The body of the request.
    pub body: Body,
    /// A function that removes the time limit for the body. The pages call it for an upload of a
    /// signed-in owner, which may take any time as long as pieces keep arriving. Every other body
    /// must arrive within the time limit.
    pub lift_time_limit: Option<Box<dyn Fn()>>,
}

impl Request {
    /// Returns a request without headers and body.
    pub fn new(method: Method, path: &str, query: &str, peer: IpAddr) -> Self {
        Self {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
            peer,
            host: None,
            origin: None,
            fetch_site: None,
            forwarded_for: None,
            cookies: None,
            content_type: None,
            is_from_script: false,
            body: stream::empty().boxed_local(),
            request_id: None,
            lift_time_limit: None,
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({:?})", self.method)
    }
}

/// The body of a response.
pub enum ResponseBody {
    /// A complete body in memory.
    Whole(Cow<'static, [u8]>),
    /// A file embedded in the program, plain and compressed.
    File {
        /// The file's content, not compressed.
        plain: &'static [u8],
        /// The file's content, compressed with gzip.
        gzip: &'static [u8],
        /// The file's content, compressed with Brotli.
        brotli: &'static [u8],
    },
    /// A stream of pieces, for a long body.
    Pieces(LocalBoxStream<'static, Result<Bytes, Box<dyn Error>>>),
}

/// A response to a request.
pub struct Response {
    /// The HTTP status code.
    pub status: u16,
    /// Headers of the response, in addition to the headers that the HTTP server sets. The names are
    /// in lower case.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body of the response.
    pub body: ResponseBody,
    /// The error that caused this response, if the server failed. The HTTP server logs this error.
    pub error: Option<Box<dyn Error + Send + Sync>>,
    /// The API call that the playground made for this page. The HTTP server counts and logs this
    /// call.
    pub call: Option<Call>,
}

/// A call of an endpoint that a page has made.
#[derive(Debug)]
pub struct Call {
    /// The endpoint's path.
    pub path: &'static str,
    /// The HTTP status code of the endpoint's response.
    pub status: u16,
    /// The details of the call that the server counts and logs.
    pub record: CallRecord,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Response({})", self.status)
    }
}

impl Response {
    pub(crate) fn new(status: u16, content_type: &'static str, body: ResponseBody) -> Self {
        let headers = vec![("content-type", content_type.into())];
        Self { status, headers, body, error: None, call: None }
    }

    pub(crate) fn html(status: u16, html: String) -> Self {
        let body = ResponseBody::Whole(html.into_bytes().into());
        Self::new(status, "text/html; charset=utf-8", body)
    }

    /// Returns a redirect (303) to another page.
    pub(crate) fn see_other(path: impl Into<Cow<'static, str>>) -> Self {
        let (headers, body) = (vec![("location", path.into())], ResponseBody::Whole(b"".into()));
        Self { status: 303, headers, body, error: None, call: None }
    }

    /// Adds a header to the response. The name must be in lower case.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
