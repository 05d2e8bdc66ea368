//! A plain HTTP/1.1 client that sends the given bytes and returns the received ones.
//!
//! A library would correct or refuse many of the tests' requests.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long to wait for a silent server before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request, not yet sent.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    chunked: bool,
    /// The `Host` header; by default the server's address.
    host: Option<String>,
}

impl Call {
    pub(crate) fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            chunked: false,
            host: None,
        }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// A body without a content type.
    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.typed("application/json", body.to_string())
    }

    pub(crate) fn form(self, fields: &[(&str, &str)]) -> Self {
        self.typed("application/x-www-form-urlencoded", form(fields))
    }

    pub(crate) fn typed(self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.header("Content-Type", content_type).body(body)
    }

    /// Sets the `Host` header.
    #[allow(dead_code, reason = "one test program uses it")]
    pub(crate) fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Sends the body in chunks, without its length.
    pub(crate) fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// Sends on a new connection and reads the whole answer.
    pub(crate) fn send(&self, server: SocketAddr) -> io::Result<Reply> {
        self.send_over(TcpStream::connect(server)?)
    }

    /// Sends on an open connection and reads the whole answer.
    pub(crate) fn send_over(&self, mut stream: TcpStream) -> io::Result<Reply> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        // A refusal may come before the whole body was sent; it is still read.
        let address = stream.peer_addr()?.to_string();
        let written = stream.write_all(&self.bytes(self.host.as_deref().unwrap_or(&address)));
        let mut bytes = Vec::new();
        let mut buffer = [0; 16 * 1024];
        loop {
            let read = stream.read(&mut buffer);
            let count = read.as_ref().copied().unwrap_or(0);
            bytes.extend_from_slice(&buffer[..count]);
            if let Some(reply) = Reply::parse(&bytes, self.method == "HEAD") {
                return Ok(reply);
            }
            if count == 0 {
                written?;
                read?;
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer broke off"));
            }
        }
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

impl std::fmt::Debug for Call {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.method, self.path)?;
        for (name, value) in &self.headers {
            write!(formatter, " [{name}: {}]", shortened(value))?;
        }
        let size = if self.chunked { "chunked" } else { "whole" };
        write!(formatter, " {size} {}", shortened(&self.body))
    }
}

/// An answer: status, headers in order, body.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    /// The only value of a header; a repeated header counts as missing.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        match (values.next(), values.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// The header as a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.header(name)?.parse().ok()
    }

    /// The body as JSON; `null` if it isn't JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// `None` while the answer is incomplete.
    fn parse(bytes: &[u8], without_body: bool) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let rest = &bytes[end + 4..];
        let mut reply = Self { status, headers, body: String::new() };
        let body = if without_body {
            Vec::new()
        } else if reply.header("Transfer-Encoding").is_some() {
            unchunk(rest)?
        } else {
            // Without a length, the end could not be distinguished from a broken connection.
            rest.get(..reply.header("Content-Length")?.parse().ok()?)?.to_vec()
        };
        reply.body = String::from_utf8(body).ok()?;
        Some(reply)
    }
}

/// Form fields as a browser sends them: all bytes but letters and digits are encoded.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
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

fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).ok()?, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(end + 2..end + 2 + size)?);
        rest = rest.get(end + 4 + size..)?;
    }
}
