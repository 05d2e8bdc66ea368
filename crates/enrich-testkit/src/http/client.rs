//! A connection on which tests send raw bytes.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use super::connect;
use super::reply::Reply;

/// A connection to a server. Its methods, except [`try_send`](Self::try_send), panic if the
/// connection fails.
pub struct Client(BufReader<TcpStream>);

impl Client {
    /// Opens a connection to `address`.
    pub fn to(address: SocketAddr) -> Self {
        Self(BufReader::new(connect(address).unwrap()))
    }

    /// Sends bytes. Returns `false` if the connection failed.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.get_mut().write_all(bytes.as_ref()).is_ok()
    }

    /// Sends bytes. Panics if the connection fails.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        assert!(self.try_send(bytes), "the connection takes no more");
        self
    }

    /// Makes a request with the function [`request`], sends it, and reads the answer.
    pub fn request(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        self.send(request(method, path, headers, body)).answer(method == "HEAD")
    }

    /// Closes the sending side of the connection.
    pub fn end_sending(&mut self) -> &mut Self {
        self.0.get_ref().shutdown(Shutdown::Write).unwrap();
        self
    }

    /// Reads the next answer on the connection.
    pub fn next_answer(&mut self) -> Reply {
        self.answer(false)
    }

    /// Reads all bytes until the connection ends.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        // A reset also counts as the end: if the server closes the connection while data is still
        // arriving, the operating system sends a reset.
        if let Err(error) = self.0.read_to_end(&mut rest) {
            let came = String::from_utf8_lossy(&rest);
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error} after {came:?}");
        }
        String::from_utf8(rest).unwrap()
    }

    fn answer(&mut self, is_head: bool) -> Reply {
        Reply::read(&mut self.0, is_head).unwrap()
    }
}

/// Returns the text of a request. In `headers`, each header ends with `\r\n`. A request with a
/// body, and each `POST` request, also gets a `Content-Length` header.
pub fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    let length = match method {
        "POST" => format!("Content-Length: {length}\r\n"),
        _ if length > 0 => format!("Content-Length: {length}\r\n"),
        _ => String::new(),
    };
    format!("{method} {path} HTTP/1.1\r\nHost: enrich.example\r\n{headers}{length}\r\n{body}")
}
