//! A request that a test builds step by step.

use std::fmt;
use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use super::reply::Reply;
use super::{connect, with_timeouts};

/// A request, with the header `Connection: close`: the connection is used for this request only.
#[derive(Clone)]
pub struct Call {
    /// The method of the request.
    pub method: String,
    /// The path of the request, with its query.
    pub path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    chunked: bool,
    /// The value of the `Host` header; `None` if it is the server's address.
    host: Option<String>,
}

impl Call {
    /// Returns a `POST` request without headers and body.
    pub fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    /// Returns a request without headers and body.
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            chunked: false,
            host: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the body. Does not add the header `Content-Type`.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets a JSON body and its `Content-Type`.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.typed("application/json", body.to_string())
    }

    /// Sets a form with these fields as the body, and its `Content-Type`.
    #[must_use]
    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        self.typed("application/x-www-form-urlencoded", form(fields))
    }

    /// Sets a body and the header `Content-Type`.
    #[must_use]
    pub fn typed(self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.header("Content-Type", content_type).body(body)
    }

    /// Sets the `Host` header.
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Sends the body in chunks, without the header `Content-Length`.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// Sends the request on a new connection and reads the whole answer.
    ///
    /// # Errors
    ///
    /// When the connection cannot be opened, or breaks before the answer is complete.
    pub fn send(&self, server: SocketAddr) -> io::Result<Reply> {
        self.send_over(connect(server)?)
    }

    /// Sends the request on an open connection and reads the whole answer.
    ///
    /// # Errors
    ///
    /// When the connection breaks before the answer is complete.
    pub fn send_over(&self, stream: TcpStream) -> io::Result<Reply> {
        let mut stream = BufReader::new(with_timeouts(stream)?);
        let address = stream.get_ref().peer_addr()?.to_string();
        let bytes = self.bytes(self.host.as_deref().unwrap_or(&address));
        // The server may refuse the request before it has read the whole body. So the answer is
        // read even if writing has failed.
        let written = stream.get_mut().write_all(&bytes);
        Reply::read(&mut stream, self.method == "HEAD").or_else(|error| written.and(Err(error)))
    }

    fn bytes(&self, host: &str) -> Vec<u8> {
        let mut bytes =
            format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", self.method, self.path).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"Connection: close\r\n");
        if self.chunked {
            bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            for chunk in self.body.chunks(8 * 1024) {
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
        } else {
            let length = format!("Content-Length: {}\r\n\r\n", self.body.len());
            bytes.extend_from_slice(length.as_bytes());
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, self.path)?;
        for (name, value) in &self.headers {
            write!(formatter, " [{name}: {}]", shortened(value))?;
        }
        let size = if self.chunked { "chunked" } else { "whole" };
        write!(formatter, " {size} {}", shortened(&self.body))
    }
}

/// Returns fields in the encoding of HTML forms (`application/x-www-form-urlencoded`). Letters,
/// digits and `_` stay as they are, a space becomes `+`, and all other bytes are percent-encoded.
pub fn form(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    pairs.join("&")
}

fn shortened(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(400) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], bytes.len()),
        None => text.into_owned(),
    }
}

fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => encoded.push('+'),
            b'_' => encoded.push('_'),
            _ if byte.is_ascii_alphanumeric() => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
