//! Calls a server over HTTP. Connections are reused.

mod reply;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::ApiKey;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};
use serde::Serializer;

use super::{CallResult, Caller, RowFields, Target};
use reply::{RemoteAnswers, Reply};

/// Time limit for opening a connection.
const CONNECTING: Duration = Duration::from_secs(10);
/// Time limit for a call, from sending the request to the end of the answer.
const ANSWERING: Duration = Duration::from_secs(60);
/// Maximum length of an answer, in bytes: enough for a list of 100,000 items.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENCY_REPLAYED: &str = "idempotency-replayed";
const CREDITS_USED: &str = "x-credits-used";

/// Calls a server with an API key. Its `call` must run in a tokio runtime.
pub struct RemoteCaller {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    answers: RemoteAnswers,
    uri: Uri,
    key: HeaderValue,
}

/// Why [`RemoteCaller::new`] fails, before it has sent any call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// The URL of the server is invalid.
    #[error("`{0}` is not the address of a server; write one like https://enrich.example:8443")]
    NoAddress(String),
    /// The operating system has no trusted certificates.
    #[error("the system's list of trusted certificates cannot be read: {0}")]
    NoCertificates(String),
}

impl RemoteCaller {
    /// Returns a caller of the server at `url`. The caller keeps at most `connections` idle
    /// connections open for the next calls. The account of `key` pays.
    ///
    /// # Errors
    ///
    /// When the URL is invalid, or the system has no trusted certificates.
    pub fn new(
        url: &str,
        target: Target,
        key: &ApiKey,
        connections: usize,
    ) -> Result<Self, RemoteError> {
        let no_address = || RemoteError::NoAddress(without_user(url));
        let text = url.trim().trim_end_matches('/');
        let address: Uri = text.parse().map_err(|_| no_address())?;
        let is_secure = address.scheme_str() == Some("https");
        let is_plain = address.scheme_str() == Some("http");
        let has_user = address.authority().is_some_and(|host| host.as_str().contains('@'));
        if !(is_secure || is_plain) || has_user || address.query().is_some() {
            return Err(no_address());
        }
        let uri = format!("{text}{}", target.endpoint.path);
        let mut key = HeaderValue::from_str(key.expose()).map_err(|_| no_address())?;
        key.set_sensitive(true);
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.enforce_http(false);
        http.set_connect_timeout(Some(CONNECTING));
        let client = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(connections)
            .build(connector(http, is_secure)?);
        let uri = uri.parse().map_err(|_| no_address())?;
        Ok(Self { client, answers: RemoteAnswers::of(target.endpoint), uri, key })
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<CallResult, String> {
        let response = self.client.request(request).await.map_err(|error| explained(&error))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| explained(error.as_ref()))?.to_bytes();
        let reply = Reply {
            status: head.status.as_u16(),
            retry_after: number(&head.headers, RETRY_AFTER.as_str()).map(Duration::from_secs),
            used: number(&head.headers, CREDITS_USED),
            is_replayed: head.headers.contains_key(IDEMPOTENCY_REPLAYED),
            body: &body,
        };
        Ok(reply.means(&self.answers))
    }
}

/// Returns a connector with TLS if `is_secure`. A connector without TLS does not load the system's
/// certificates.
fn connector(
    http: HttpConnector,
    is_secure: bool,
) -> Result<HttpsConnector<HttpConnector>, RemoteError> {
    let provider = rustls::crypto::ring::default_provider();
    let builder = HttpsConnectorBuilder::new();
    let no_certificates = |error: &dyn Error| RemoteError::NoCertificates(error.to_string());
    let builder = if is_secure {
        let builder = builder.with_provider_and_native_roots(provider);
        builder.map_err(|error| no_certificates(&error))?.https_only()
    } else {
        let config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| no_certificates(&error))?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        builder.with_tls_config(config).https_or_http()
    };
    Ok(builder.enable_http1().wrap_connector(http))
}

#[async_trait]
impl Caller for RemoteCaller {
    async fn call(&self, fields: &RowFields, idempotency: &str) -> CallResult {
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.uri.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(API_KEY, self.key.clone())
            .header(IDEMPOTENCY_KEY, idempotency)
            .body(Full::new(Bytes::from(body(fields))));
        let request = match request {
            Ok(request) => request,
            Err(error) => return CallResult::Failed(error.to_string()),
        };
        // An interrupted call may have been charged. A retry is safe, because it has the same
        // idempotency key.
        match tokio::time::timeout(ANSWERING, self.send(request)).await {
            Ok(sent) => sent.unwrap_or_else(CallResult::later),
            Err(_) => {
                CallResult::later(format!("no answer within {} seconds", ANSWERING.as_secs()))
            }
        }
    }

    fn is_metered(&self) -> bool {
        true
    }
}

/// Returns the fields as the text of a JSON object.
fn body(fields: &RowFields) -> Vec<u8> {
    let mut body = Vec::with_capacity(128);
    let pairs = fields.iter().map(|(name, value)| (name, value));
    // The serializer writes to memory, so it cannot fail.
    let _ = serde_json::Serializer::new(&mut body).collect_map(pairs);
    body
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// Returns the text of the error and of its causes. The last cause has the detail, such as a
/// refused connection.
fn explained(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// Returns the URL without user name and password, so that an error message can show the URL.
fn without_user(url: &str) -> String {
    match (url.find("//"), url.rfind('@')) {
        (Some(start), Some(end)) if start < end => format!("{}//…{}", &url[..start], &url[end..]),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(url: &str) -> Result<RemoteCaller, RemoteError> {
        let api_version = &enrich_wire_v1::API_VERSION;
        let endpoint = api_version.endpoint("/v1/cuf").unwrap();
        RemoteCaller::new(url, Target { api_version, endpoint }, &ApiKey::generate().unwrap(), 1)
    }

    #[test]
    fn fields_become_an_object() {
        let fields = [("a", "\"x\"\n".to_owned()), ("b", "é".to_owned())];
        let value: serde_json::Value = serde_json::from_slice(&body(&fields)).unwrap();
        assert_eq!(value, serde_json::json!({ "a": "\"x\"\n", "b": "é" }));
        assert_eq!(body(&[]), b"{}");
    }

    #[tokio::test]
    async fn an_address_is_a_scheme_a_host_and_perhaps_a_path() {
        for (url, uri) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/cuf"),
            ("http://enrich.example/api/", "http://enrich.example/api/v1/cuf"),
        ] {
            assert_eq!(caller(url).unwrap().uri, uri);
        }
        for url in ["", "enrich.example", "ftp://enrich.example", "http://", "http://x/?a=b"] {
            assert_eq!(caller(url).err(), Some(RemoteError::NoAddress(url.to_owned())), "{url}");
        }
        let error = caller("http://ada:secret@enrich.example").err().unwrap().to_string();
        assert!(!error.contains("secret"), "{error}");
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_may_be_asked_later() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let called = caller(&format!("http://{address}")).unwrap().call(&[], "row-1").await;
        assert!(matches!(called, CallResult::Later { after: None, .. }), "{called:?}");
    }
}
