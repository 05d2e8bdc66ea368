//! A connection that is kept open for several requests. After a failure, the next request opens a
//! new one.

use std::io::{self, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};

use super::connect;
use super::reply::Reply;

/// A connection to a server, used for one request at a time.
#[derive(Debug)]
pub struct Connection {
    server: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Connection {
    /// Returns a connection that is opened at its first use.
    pub fn to(server: SocketAddr) -> Self {
        Self { server, stream: None }
    }

    /// Sends a `POST` request with a JSON body, and reads the whole answer.
    ///
    /// # Errors
    ///
    /// When the connection cannot be opened, or breaks before the answer is complete.
    pub fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &str) -> io::Result<Reply> {
        let length = body.len();
        let content =
            format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        self.send((self.head("POST", path, headers) + &content).as_bytes())
    }

    /// Sends a `GET` request and reads the whole answer.
    ///
    /// # Errors
    ///
    /// The errors of [`Connection::post`].
    pub fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> io::Result<Reply> {
        self.send((self.head("GET", path, headers) + "\r\n").as_bytes())
    }

    /// Sends the bytes of a request and reads the whole answer.
    ///
    /// # Errors
    ///
    /// The errors of [`Connection::post`].
    pub fn send(&mut self, request: &[u8]) -> io::Result<Reply> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(connect(self.server)?),
        };
        stream.get_mut().write_all(request)?;
        let reply = Reply::read(&mut stream, false)?;
        if !stream.buffer().is_empty() {
            let what = "more than one answer to one request";
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        if !reply.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            self.stream = Some(stream);
        }
        Ok(reply)
    }

    fn head(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let headers = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}", self.server)
    }
}
