//! A request and a response as plain values, for any HTTP server and for none.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;

use bytes::Bytes;
use futures_util::stream::{self, LocalBoxStream, StreamExt};

/// A method the pages know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Shows.
    Get,
    /// Changes.
    Post,
}

/// Why a body ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    /// The connection broke, or what came is no body.
    #[error("what was sent did not arrive whole")]
    Broken,
    /// It took too long.
    #[error("what was sent did not arrive in time")]
    TooSlow,
}

/// The bytes of a request, as they arrive.
pub type Body = LocalBoxStream<'static, Result<Bytes, BodyFault>>;

/// What of an HTTP request the pages read. `Debug` shows neither cookies nor what was typed: paths
/// and queries may hold both.
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path, as sent.
    pub path: String,
    /// What stands behind `?`; empty where nothing does.
    pub query: String,
    /// Who is at the other end of the connection.
    pub peer: IpAddr,
    /// `Host`.
    pub host: Option<String>,
    /// `Origin`.
    pub origin: Option<String>,
    /// `Sec-Fetch-Site`.
    pub fetch_site: Option<String>,
    /// `X-Forwarded-For`.
    pub forwarded_for: Option<String>,
    /// `Cookie`.
    pub cookies: Option<String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// Whether a script of the pages asks (`HX-Request`).
    pub is_from_script: bool,
    /// By what the request is found in the log.
    pub request_id: Option<String>,
    /// The body.
    pub body: Body,
    /// Called when the body turns out to be an upload of somebody who is signed in: from then on it
    /// may take as long as it goes forward. Every other body has to arrive in the time of a form.
    pub lift_time_limit: Option<Box<dyn Fn()>>,
}

impl Request {
    /// A request without headers or body.
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

/// The bytes of a response.
pub enum ResponseBody {
    /// All of them.
    Whole(Cow<'static, [u8]>),
    /// A file that is part of the program, as it is and compressed.
    File {
        /// As it is.
        plain: Cow<'static, [u8]>,
        /// Compressed with gzip.
        gzip: &'static [u8],
        /// Compressed with Brotli.
        brotli: &'static [u8],
    },
    /// One piece after the other, for what may be long.
    Pieces(LocalBoxStream<'static, Result<Bytes, Box<dyn Error>>>),
}

/// A response.
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers beside the HTTP layer's own; names are in lower case.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: ResponseBody,
    /// What failed on our side, to be logged.
    pub error: Option<Box<dyn Error + Send + Sync>>,
    /// The call that was made for it, to be counted.
    pub call: Option<Call>,
}

/// A call of an endpoint that a page has made.
#[derive(Debug)]
pub struct Call {
    /// The endpoint's path.
    pub path: &'static str,
    /// What it answered.
    pub response: enrich_wire::Response,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Response({})", self.status)
    }
}

impl Response {
    /// A page.
    pub(crate) fn html(status: u16, html: String) -> Self {
        let content_type = ("content-type", "text/html; charset=utf-8".into());
        let body = ResponseBody::Whole(html.into_bytes().into());
        Self { status, headers: vec![content_type], body, error: None, call: None }
    }

    /// Sends the browser to another page of ours.
    pub(crate) fn see(path: impl Into<Cow<'static, str>>) -> Self {
        let body = ResponseBody::Whole(Cow::Borrowed(b""));
        Self {
            status: 303,
            headers: vec![("location", path.into())],
            body,
            error: None,
            call: None,
        }
    }

    /// The same with one more header.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
