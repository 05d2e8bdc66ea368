//! A client that sends raw bytes, and reads answers one by one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any expected wait; then the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection.
pub struct Client(BufReader<TcpStream>);

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its status line and headers.
    pub head: String,
    /// The body's bytes.
    pub bytes: Vec<u8>,
    /// The body as text.
    pub body: String,
}

impl Answer {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

impl Client {
    /// Connects to `address`.
    pub fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    /// Sends bytes; `false` if the connection failed.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.get_mut().write_all(bytes.as_ref()).is_ok()
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        assert!(self.try_send(bytes), "the connection takes no more");
        self
    }

    /// Sends a request with `headers` (each with its line end) and a body of known length.
    pub fn request(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        self.send(request(method, path, headers, body)).answer(method == "HEAD")
    }

    /// Closes the sending side.
    pub fn end_sending(&mut self) -> &mut Self {
        self.0.get_ref().shutdown(Shutdown::Write).unwrap();
        self
    }

    /// Reads the next answer.
    pub fn next_answer(&mut self) -> Answer {
        self.answer(false)
    }

    /// Reads to the end of the connection.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        // A reset ends it too: the server closed the connection while data was arriving.
        if let Err(error) = self.0.read_to_end(&mut rest) {
            let came = String::from_utf8_lossy(&rest);
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error} after {came:?}");
        }
        String::from_utf8(rest).unwrap()
    }

    fn answer(&mut self, is_head: bool) -> Answer {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.0.read_line(&mut head).unwrap();
            assert!(read > 0, "the connection ended after {head:?}");
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let (bytes, body) = (Vec::new(), String::new());
        let mut answer = Answer { status: status.unwrap(), head, bytes, body };
        let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; if is_head { 0 } else { length }];
        self.0.read_exact(&mut body).unwrap();
        answer.body = String::from_utf8_lossy(&body).into_owned();
        answer.bytes = body;
        answer
    }
}

/// A request's bytes.
pub fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    let length = match method {
        "POST" => format!("Content-Length: {length}\r\n"),
        _ if length > 0 => format!("Content-Length: {length}\r\n"),
        _ => String::new(),
    };
    format!("{method} {path} HTTP/1.1\r\nHost: enrich.example\r\n{headers}{length}\r\n{body}")
}
